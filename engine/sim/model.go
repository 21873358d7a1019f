package sim

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/plan"
)

// drawModels gives a third of the worlds a model in each role, and a third one
// that only reflects.
func (w *World) drawModels() engine.Models {
	info := func(name string) engine.ModelInfo {
		return engine.ModelInfo{Name: name, By: "model:" + name, MaxOutput: 2_000, Overhead: 500, PriceIn: 3_000_000, PriceOut: 15_000_000}
	}
	switch w.draw(3, "models") {
	case 0:
		return engine.Models{Planner: info("big"), Executor: info("small")}
	case 1:
		return engine.Models{Executor: info("small")}
	}
	return engine.Models{}
}

// drawBudget lowers one limit now and then.
func (w *World) drawBudget() map[string]int64 {
	if w.draw(8, "budget") > 0 {
		return nil
	}
	names := []string{"model_calls", "retries", "reflections", "output_tokens", "cost_micro_usd", "tool_calls"}
	return map[string]int64{names[w.draw(len(names), "dimension")]: int64(w.draw(5, "limit"))}
}

func isModel(by string) bool { return strings.HasPrefix(by, "model:") }

func usage(in, out int) engine.Usage {
	return engine.Usage{InputTokens: int64(in), OutputTokens: int64(out), Estimated: in%7 == 0}
}

// modelPlans draws what a model answers to a proposal, and what of it is
// streamed: it depends on the attempt's name alone.
func (w *World) modelPlans(c engine.Propose) *flight {
	in := &engine.Planned{Head: engine.Head{Actor: "model:planner"}, Node: c.Node, Attempt: c.Attempt, By: c.By, Author: plan.Model,
		Usage: usage(200+w.draw(900, "in", c.ID), w.draw(2_200, "out", c.ID))}
	doc := string(w.doc)
	if len(c.Steps) > 0 {
		doc = w.makeGraft(&c)
	}
	f := &flight{command: c, startsAt: w.now, endsAt: w.now + int64(30+w.draw(900, "thinks", c.ID))*ms, result: in}
	drawn := w.draw(10, "answers", c.ID)
	if w.draw(6, "model is away") == 0 {
		drawn = 0
	}
	switch drawn {
	case 0, 1:
		classes := []engine.Class{engine.ClassTransient, engine.ClassTimeout, engine.ClassUnavailable, engine.ClassInvalid}
		in.Class, in.Detail = classes[w.draw(len(classes), "breaks", c.ID)], "told by the provider"
		in.Wait = []time.Duration{0, 0, 2 * time.Second, 20 * time.Second, time.Hour}[w.draw(5, "wait", c.ID)]
		f.sketches = steps(doc)[:1]
		return f
	case 2:
		in.Raw, in.Problem = "I would look around.", "the answer is not JSON"
		return f
	case 3:
		doc = strings.Replace(doc, `"tool":"look"`, `"tool":"nothing"`, 1)
	case 4:
		in.Answer = "nothing to do"
		return f
	}
	in.Plan, _ = plan.Parse([]byte(doc))
	f.sketches = steps(doc)
	return f
}

// steps are the steps of a document, as a stream would give them.
func steps(doc string) [][]byte {
	var form struct{ Steps []json.RawMessage }
	if err := json.Unmarshal([]byte(doc), &form); err != nil {
		return nil
	}
	list := make([][]byte, len(form.Steps))
	for i := range list {
		list[i] = form.Steps[i]
	}
	return list
}

// makeGraft draws steps that follow those there are; now and then one of them
// takes an id that is taken.
func (w *World) makeGraft(c *engine.Propose) string {
	known := append([]string(nil), c.Steps...)
	list := make([]string, 1+w.draw(4, "grafts", c.ID))
	for k := range list {
		id := "g" + strconv.Itoa(len(known))
		name := c.ID + " " + id
		if w.draw(12, "taken", name) == 0 {
			id = known[0]
		}
		tool := []string{"look", "look", "write", "patch", "secret"}[w.draw(5, "tool", name)]
		refs, deps, join := "", "", ""
		if w.draw(2, "reads", name) == 0 {
			refs = fmt.Sprintf(`"p":{"step":"%s","field":"n"}`, known[w.draw(len(known), "read", name)])
		}
		if w.draw(2, "follows", name) == 0 {
			deps = `"` + known[w.draw(len(known), "dep", name)] + `"`
			join = `,"join":"` + []string{"all_of", "all_done"}[w.draw(2, "join", name)] + `"`
		}
		list[k] = fmt.Sprintf(`{"id":"%s","tool":"%s","params":{"i":"%s"},"param_refs":{%s},"depends_on":[%s]%s}`, id, tool, name, refs, deps, join)
		known = append(known, id)
	}
	return `{"format":1,"goal":"seed","steps":[` + strings.Join(list, ",") + `]}`
}

// modelReflects draws a ruling.
func (w *World) modelReflects(c engine.Conclude) *flight {
	in, _ := conclude(c).(*engine.Concluded)
	in.Actor, in.Verdict.By, in.Usage = "model:executor", c.By, usage(w.draw(900, "in", c.ID), w.draw(1_200, "out", c.ID))
	drawn := w.draw(8, "rules", c.ID)
	if w.draw(6, "model is away") == 0 {
		drawn = 4
	}
	switch drawn {
	case 0, 1, 2:
		in.Ruling, in.Note = "replan", "look again"
	case 3:
		in.Raw, in.Problem = "hm", "the answer is not JSON"
	case 4:
		in.Class, in.Detail = engine.ClassUnavailable, "told by the provider"
	}
	return &flight{command: c, startsAt: w.now, endsAt: w.now + int64(20+w.draw(500, "thinks", c.ID))*ms, result: in}
}

// stream plans the sketches of a flight that have not been given yet; those that
// a process gave before it died are given again, and refused.
func (w *World) stream(f *flight, isLive func() bool) {
	c, ok := f.command.(engine.Propose)
	if !ok {
		return
	}
	for k, step := range f.sketches {
		at := min(f.startsAt+int64(k+1)*4*ms, f.endsAt)
		w.agenda.plan(max(at, w.now), func() {
			if isLive() {
				w.input(&engine.Sketched{Head: engine.Head{Actor: "model:planner"}, Node: c.Node, Attempt: c.Attempt, Step: step})
			}
		})
	}
}
