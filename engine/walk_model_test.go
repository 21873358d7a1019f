package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/engine/plan"
)

// propose lets a planner do one of the things it can do.
func (w *walk) propose(t checker, v NodeView) {
	in := &Planned{Head: w.head(), Node: v.ID, Attempt: v.Attempt, By: v.By, Author: plan.Builtin}
	if isModel(v.By) {
		in.Author, in.Usage = plan.Model, Usage{InputTokens: int64(w.d.pick("in", 900)), OutputTokens: int64(w.d.pick("out", 2500))}
	}
	doc := w.first
	if w.s.plan != nil {
		doc = w.drawGraft()
	}
	switch w.d.pick("proposal", 8) {
	case 0:
		in.Answer = "no tool is needed"
	case 1:
	case 2:
		in.Raw, in.Problem = "I think\xff", "not JSON\xff"
	case 3:
		in.Class, in.Detail = []Class{ClassTransient, ClassTimeout, ClassUnavailable, ClassInvalid, "odd"}[w.d.pick("class", 5)], "MARKER"
		in.Wait = time.Duration(w.d.pick("wait", 3)-1) * 40 * time.Second
	case 4:
		doc = strings.Replace(doc, `"tool":"look"`, `"tool":"nothing"`, 1)
		in.Plan = w.parsed(t, doc)
	default:
		in.Plan = w.parsed(t, doc)
	}
	w.sketches(t, v, doc)
	before := w.oldNodes()
	count := len(w.facts)
	w.must(t, in)
	w.grownProblem(t, before, w.facts[count:])
}

// sketches streams some of the steps, one of them twice.
func (w *walk) sketches(t checker, v NodeView, doc string) {
	if !isModel(v.By) {
		return
	}
	var form struct{ Steps []json.RawMessage }
	if err := json.Unmarshal([]byte(doc), &form); err != nil {
		t.Fatal(err)
	}
	for _, step := range form.Steps[:w.d.pick("sketches", len(form.Steps)+1)] {
		w.must(t, &Sketched{Head: w.head(), Node: v.ID, Attempt: v.Attempt, Step: step})
	}
	w.must(t, &Sketched{Head: w.head(), Node: v.ID, Attempt: v.Attempt, Step: form.Steps[0]})
	w.must(t, &Sketched{Head: w.head(), Node: v.ID, Attempt: v.Attempt, Step: []byte("{")})
	if n := len(w.s.Sketches()); n > len(form.Steps) {
		t.Fatalf("%d sketches of %d steps\n%s", n, len(form.Steps), w.log())
	}
}

func (w *walk) parsed(t checker, doc string) *plan.Plan {
	p, findings := plan.Parse([]byte(doc))
	if p == nil {
		t.Fatalf("parse %s: %+v", doc, findings)
	}
	return p
}

// drawGraft draws steps that read and follow what is there, or one that is there
// already.
func (w *walk) drawGraft() string {
	known := make([]string, 0, len(w.s.plan.Steps)+4)
	for i := range w.s.plan.Steps {
		known = append(known, w.s.plan.Steps[i].ID)
	}
	list := make([]string, 1+w.d.pick("more", 4))
	for k := range list {
		w.added++
		id := fmt.Sprintf("g%d", w.added)
		if oneIn(w.d, "taken", 20) {
			id = known[0]
		}
		list[k] = w.drawGrafted(id, known)
		if !slices.Contains(known, id) {
			known = append(known, id)
		}
	}
	return steps(list...)
}

func (w *walk) drawGrafted(id string, known []string) string {
	tool := []string{"look", "look", "write", "patch", "erase"}[w.d.pick("tool", 5)]
	deps, refs := "", ""
	for k := range w.d.pick("deps", 4) {
		deps += fmt.Sprintf(`%s"%s"`, comma(k), known[w.d.pick("dep", len(known))])
	}
	if oneIn(w.d, "ref", 2) {
		refs = fmt.Sprintf(`"p":{"step":"%s","field":"v"}`, known[w.d.pick("read", len(known))])
	}
	join := []string{"", `,"join":"any_of"`, `,"join":"all_done"`}[w.d.pick("join", 3)]
	if deps == "" {
		join = ""
	}
	return fmt.Sprintf(`{"id":"%s","tool":"%s","params":{"n":"%s"},"param_refs":{%s},"depends_on":[%s]%s}`, id, tool, id, refs, deps, join)
}

// conclude lets a reflection rule, murmur or fail.
func (w *walk) conclude(t checker, v NodeView) {
	in := &Concluded{Head: w.head(), Node: v.ID, Attempt: v.Attempt, Ruling: "conclude", Note: "more",
		Verdict: Verdict{Text: "t", By: v.By, Claims: []Claim{{Text: "none"}, {Text: "c\xff", Observations: []string{"o_none"}}}}}
	if len(w.s.nodes) > 0 {
		in.Verdict.Claims[0] = Claim{Text: "c", Observations: []string{w.s.nodes[0].observation}}
	}
	if isModel(v.By) {
		in.Usage = Usage{InputTokens: int64(w.d.pick("in", 900)), OutputTokens: int64(w.d.pick("out", 1200))}
		switch w.d.pick("ruling", 6) {
		case 0, 1:
			in.Ruling = "replan"
		case 2:
			in.Ruling, in.Verdict.Text = "replan", ""
		case 3:
			in.Raw, in.Problem = "hm", "not JSON"
		case 4:
			in.Class, in.Detail = ClassUnavailable, "MARKER"
		}
	}
	w.must(t, in)
}

// oldNodes is everything that a growing plan must leave as it is (R58).
func (w *walk) oldNodes() []NodeView {
	var list []NodeView
	for _, v := range w.s.Nodes() {
		if v.Kind == "tool" {
			list = append(list, v)
		}
	}
	return list
}

// grownProblem holds a version that grew against R57 and R58.
func (w *walk) grownProblem(t checker, before []NodeView, facts []Fact) {
	at := slices.IndexFunc(facts, func(f Fact) bool { return f.Kind == VersionAdded })
	if at < 0 || w.s.run.version < 2 {
		return
	}
	for _, f := range facts[:at] {
		if f.Kind == AttemptStarted {
			t.Fatalf("%s started before its version was in the log (R57)\n%s", f.Node, w.log())
		}
	}
	for i, old := range before {
		now := w.s.Nodes()[slices.IndexFunc(w.s.Nodes(), func(v NodeView) bool { return v.ID == old.ID })]
		if w.s.plan.Steps[i].ID != old.ID {
			t.Fatalf("%s lost its place (R58)\n%s", old.ID, w.log())
		}
		was, is := old.Step, now.Step
		old.Step, now.Step = nil, nil
		if !bytes.Equal(marshal(old), marshal(now)) {
			t.Fatalf("a node that was over changed (R58): %+v, was %+v\n%s", now, old, w.log())
		}
		a, b := *was, *is
		a.Next, b.Next = nil, nil
		if !bytes.Equal(marshal(a), marshal(b)) {
			t.Fatalf("a step changed (R58): %+v, was %+v\n%s", b, a, w.log())
		}
	}
	if _, err := plan.Load(w.s.plan.Canonical); err != nil {
		t.Fatalf("the version that grew cannot be loaded: %v\n%s", err, w.log())
	}
}

// wasExit says whether a step was an exit of the version that added it.
func (w *walk) wasExit(i int) bool {
	version := map[string]int{}
	for _, f := range w.facts {
		var d versionData
		if f.Kind != VersionAdded || json.Unmarshal(f.Data, &d) != nil {
			continue
		}
		if d.Cause != causeReplan {
			version = map[string]int{}
			for _, s := range w.s.plan.Steps {
				version[s.ID] = d.Version
			}
			continue
		}
		for _, id := range d.Added {
			version[id] = d.Version
		}
	}
	steps := w.s.plan.Steps
	for _, j := range steps[i].Next {
		if version[steps[j].ID] == version[steps[i].ID] {
			return false
		}
	}
	return true
}
