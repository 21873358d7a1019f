package engine

import (
	"fmt"
	"strings"

	"sluice/engine/plan"
)

// The models of these tests: 3 micro-USD a token in, 15 out.
func testModels() Models {
	return Models{Planner: ModelInfo{Name: "big", By: "model:big", MaxOutput: 2000, Overhead: 500, PriceIn: 3_000_000, PriceOut: 15_000_000},
		Executor: ModelInfo{Name: "small", By: "model:small", MaxOutput: 1000, Overhead: 300, PriceIn: 1_000_000, PriceOut: 5_000_000}}
}

// asked shows what goes to a model besides the goal; of the built-in planner nothing.
func asked(by string, again []Again, records [][]byte, note string) string {
	if by == BuiltinBy {
		return ""
	}
	line := " by " + by
	if len(records) > 0 {
		line += fmt.Sprintf(" with %d records", len(records))
	}
	if note != "" {
		line += fmt.Sprintf(" note %q", note)
	}
	for _, a := range again {
		line += fmt.Sprintf(" again %q: %q", a.Output, a.Error)
	}
	return line
}

// setting reads "models planner executor unpriced" and "budget DIMENSION=LIMIT …".
func (p *player) setting(verb string, words []string) {
	all := testModels()
	for _, word := range words {
		name, limit, isLimit := strings.Cut(word, "=")
		switch {
		case verb == "budget" && isLimit:
			n := int64(0)
			if _, err := fmt.Sscan(limit, &n); err != nil {
				p.t.Fatal(err)
			}
			if p.budget == nil {
				p.budget = map[string]int64{}
			}
			p.budget[name] = n
		case word == "planner":
			p.models.Planner = all.Planner
		case word == "executor":
			p.models.Executor = all.Executor
		case word == "unpriced":
			p.models.Planner.PriceIn = -1
		default:
			p.t.Fatalf("no setting %s %s", verb, word)
		}
	}
}

// running gives the control node of a kind that runs.
func (r *rig) running(kind string) NodeView {
	r.t.Helper()
	for _, v := range r.s.Nodes() {
		if v.Kind == kind && v.State == NodeRunning {
			return v
		}
	}
	r.t.Fatalf("no %s runs", kind)
	return NodeView{}
}

// planned is a model's answer to the proposal that runs.
func (r *rig) planned() *Planned {
	v := r.running(KindPlanner)
	in := &Planned{Head: r.head("model:planner"), Node: v.ID, Attempt: v.Attempt, By: v.By, Author: plan.Model, Usage: Usage{InputTokens: 700, OutputTokens: 100}}
	if v.By == BuiltinBy {
		in.Actor, in.Author, in.Usage = "system", plan.Builtin, Usage{}
	}
	return in
}

func (r *rig) plannedSteps(list string) *Planned {
	in := r.planned()
	made, findings := plan.Parse([]byte(steps(list)))
	if made == nil {
		r.t.Fatalf("%s: %+v", list, findings)
	}
	in.Plan = made
	return in
}

// concluded is an answer to the reflection that runs.
func (r *rig) concluded(ruling, text string) *Concluded {
	v := r.running(KindReflection)
	in := &Concluded{Head: r.head("model:executor"), Node: v.ID, Attempt: v.Attempt, Ruling: ruling,
		Verdict: Verdict{Text: text, By: v.By}, Usage: Usage{InputTokens: 400, OutputTokens: 50}}
	if v.By == BuiltinBy {
		in.Actor, in.Usage = "system", Usage{}
	}
	return in
}

// model reads the answers of control nodes, whoever runs them.
func (p *player) model(verb, rest string) Input {
	raw, problem, _ := strings.Cut(rest, " ! ")
	switch verb {
	case "plan":
		return p.r.plannedSteps(rest)
	case "says":
		in := p.r.planned()
		in.Answer = rest
		return in
	case "nothing":
		return p.r.planned()
	case "unreadable":
		in := p.r.planned()
		in.Raw, in.Problem = raw, problem
		return in
	case "down":
		in := p.r.planned()
		in.Class, in.Detail, in.Usage = Class(rest), "503 from MARKER", Usage{}
		return in
	case "sketch":
		v := p.r.running(KindPlanner)
		return &Sketched{Head: p.r.head("model:planner"), Node: v.ID, Attempt: v.Attempt, Step: []byte(rest)}
	case "reflect":
		in := p.r.concluded("conclude", rest)
		in.Verdict.Claims = p.claims()
		return in
	case "more":
		in := p.r.concluded("replan", "so far")
		in.Note = rest
		return in
	case "murmurs":
		in := p.r.concluded("", "")
		in.Raw, in.Problem = raw, problem
		return in
	case "faints":
		in := p.r.concluded("", "")
		in.Class, in.Detail, in.Usage = Class(rest), "timeout of MARKER", Usage{}
		return in
	}
	return nil
}
