package sim

import (
	"strings"

	"sluice/engine"
	"sluice/engine/plan"
)

// reviewPlan lets people look at a plan that waits to be started: most start
// it, some change it first, and now and then nobody looks (R74).
func (w *World) reviewPlan() {
	if !w.State.Reviewing() || w.asked["review"] {
		return
	}
	w.asked["review"] = true
	if w.draw(6, "review", "ignore") == 0 {
		return
	}
	if w.draw(2, "review", "edit") == 0 {
		w.later("edit", "", 60_000, w.edited())
	}
	seen := w.State.Plan().Hash
	w.agenda.plan(w.now+int64(60_001+w.draw(60_000, "review", "start"))*ms, func() {
		// Who started what was seen first is refused when it was edited meanwhile,
		// looks again, and starts that.
		w.input(&engine.Start{Head: engine.Head{Actor: requester}, Base: seen})
		if w.State.Reviewing() {
			w.input(&engine.Start{Head: engine.Head{Actor: requester}, Base: w.State.Plan().Hash})
		}
	})
}

// edited is the plan with one value changed.
func (w *World) edited() *engine.Replace {
	doc := strings.Replace(string(w.doc), `"i":0`, `"i":1000`, 1)
	in := &engine.Replace{Head: engine.Head{Actor: requester}, PlanDoc: []byte(doc), Base: w.State.Plan().Hash}
	if p, _ := plan.Parse(in.PlanDoc); p != nil {
		in.Plan, _ = plan.Compile(p, plan.Env{Catalog: w.Env.Catalog, Policy: w.Env.Pinned, Scopes: []string{"default"},
			Intent: w.intent, Requester: requester, Author: plan.Builtin})
	}
	return in
}
