package engine

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

// walk is one random run against every invariant.
type walk struct {
	d       dice
	env     Env
	s       *State // stepped
	twin    *State // folded from encoded facts alone
	now     int64
	facts   []Fact
	states  map[string]NodeState
	starts  map[string]int // attempts started by node
	notDone map[string]int // attested as not having happened
	retired []*AttemptDone // results to send again
	loose   *policy.Policy
	tight   *policy.Policy
	inputs  int
	first   string // the plan that a planner will propose
	added   int    // steps that planners added, to name the next
}

// grounds are what random runs share: compiled once, never changed.
type grounds struct{ asks, plain, tight Env }

func newGrounds(t checker) grounds {
	g := grounds{asks: testEnv(t, both(askFor("patch", 2), clearFor("write", "C1")))}
	g.plain, g.tight = g.asks, g.asks
	g.plain.Pinned = testPolicy(t, nil)
	g.plain.Current = g.plain.Pinned
	g.tight.Current = testPolicy(t, both(kill("patch", "erase"), clearFor("look", "C2", "C3")))
	return g
}

func newWalk(t checker, g grounds, d dice, most int) *walk {
	env := g.asks
	if oneIn(d, "ask", 3) {
		env = g.plain
	}
	w := &walk{d: d, env: env, s: New(env), twin: New(env), now: startUS, states: map[string]NodeState{},
		starts: map[string]int{}, notDone: map[string]int{}, loose: env.Current, tight: g.tight.Current}
	w.twin.SetRun("r_1")
	switch d.pick("models", 4) {
	case 0:
		w.env.Models = testModels()
	case 1:
		w.env.Models.Executor = testModels().Executor
	}
	w.s.env.Models = w.env.Models
	c, doc := w.plan(t, most)
	if oneIn(d, "planner", 3) {
		w.first, c, doc = doc, nil, ""
	}
	review := ""
	if oneIn(d, "review", 4) {
		review = ReviewPlan
	}
	in := &Create{Head: w.head(), Run: "r_1", Goal: "g", Intent: []policy.Rank{0, 100, 200, 200}[d.pick("intent", 4)],
		Scopes: []string{"default"}, Mode: "reflect", Plan: c, PlanDoc: []byte(doc), PlanAuthor: plan.Builtin, Review: review}
	if oneIn(d, "budget", 6) {
		name := dimensionName(d.pick("dimension", dimCount))
		in.Budget = map[string]int64{name: []int64{0, 1, 3, 2000}[d.pick("limit", 4)]}
		if err := w.s.acceptCreate(in); err != nil {
			in.Budget = nil
		}
	}
	w.must(t, in)
	return w
}

// plan draws one that compiles.
func (w *walk) plan(t checker, most int) (*plan.Compiled, string) {
	doc := drawPlan(w.d, most)
	p, findings := plan.Parse([]byte(doc))
	if p == nil {
		t.Fatalf("parse %s: %+v", doc, findings)
	}
	cenv := plan.Env{Catalog: w.env.Catalog, Policy: w.env.Pinned, Scopes: []string{"default"}, Intent: policy.Override, Requester: requester, Author: plan.Builtin}
	c, _ := plan.Compile(p, cenv)
	if c == nil { // C03 and C05 do not admit every any_of
		doc = strings.ReplaceAll(doc, `"any_of"`, `"all_done"`)
		c = compiled(t, w.env, doc)
	}
	return c, doc
}

func (w *walk) head() Head {
	w.now += int64(w.d.pick("ms", 3)) * 1000
	return Head{At: w.now, Actor: requester}
}

func (w *walk) must(t checker, in Input) {
	t.Helper()
	if problem := w.input(in); problem != "" {
		t.Fatalf("%s\nafter %T %+v\n%s", problem, in, in, w.log())
	}
}

// input steps once and returns the first invariant that does not hold.
func (w *walk) input(in Input) string {
	w.inputs++
	before := digest(w.s)
	out, err := w.s.Step(in)
	if err != nil || len(out.Facts) == 0 {
		if after := digest(w.s); after != before {
			return fmt.Sprintf("an input that decided nothing changed the state (%v): %s", err, firstDifference(before, after))
		}
		return ""
	}
	var transitions []Transition
	for i, f := range out.Facts {
		if f.Seq != w.twin.Seq()+1 || f.Cause != out.Facts[0].Seq || i == 0 && f.Kind == AttemptStarted {
			return fmt.Sprintf("fact %d %s has cause %d", f.Seq, f.Kind, f.Cause)
		}
		w.twin.Apply(f)
		transitions = append(transitions, w.twin.Transitions()...)
		w.count(f)
	}
	w.facts = append(w.facts, out.Facts...)
	if a, b := digest(w.s), digest(w.twin); a != b {
		return "the state is not the fold of its facts: " + firstDifference(a, b)
	}
	if !slices.Equal(transitions, out.Transitions) {
		return fmt.Sprintf("transitions %v, folded %v", out.Transitions, transitions)
	}
	if p := w.follow(out.Transitions); p != "" {
		return p
	}
	for _, check := range []func(*State) string{restProblem, progressProblem} {
		if p := check(w.s); p != "" {
			return p
		}
	}
	if p := w.historyProblem(out); p != "" {
		return p
	}
	return w.changePlace()
}

// changePlace goes on from a restored snapshot now and then: whoever folds from
// one must step as if it had folded from zero (R60, P32).
func (w *walk) changePlace() string {
	if w.inputs%5 != 0 {
		return ""
	}
	back, problem := snapshotProblem(w.s)
	if problem == "" && !bytes.Equal(w.s.Snapshot(), w.twin.Snapshot()) {
		return "the snapshot of the fold has other bytes"
	}
	if problem == "" {
		back.SetEnv(w.s.env)
		w.s = back
	}
	return problem
}

func (w *walk) count(f Fact) {
	switch f.Kind {
	case AttemptStarted:
		if ControlKind(f.Node) == "" {
			w.starts[f.Node]++
		}
	case InputReplace: // the steps are others, and nothing of them was dispatched
		maps.DeleteFunc(w.states, func(id string, _ NodeState) bool { return ControlKind(id) == "" })
	}
}

// follow replays transitions: every one leaves the state where the last left
// it, by a rule of the table, and never a terminal one (R14).
func (w *walk) follow(list []Transition) string {
	for _, t := range list {
		from := w.states[t.Node]
		if from == "" {
			from = NodePending
		}
		if from != t.From || !slices.Contains(tableRules(t.From, t.To), t.Rule) {
			return fmt.Sprintf("transition %+v from %s is not in the table (R14)", t, from)
		}
		if i, ok := w.s.index[t.Node]; ok && t.From == NodeRunning && t.To == NodeSkipped && w.s.effectful(i) {
			return t.Node + " was skipped while its effect ran (T13)"
		}
		w.states[t.Node] = t.To
	}
	for _, v := range w.s.Nodes() {
		if got := w.states[v.ID]; got != v.State && !(got == "" && v.State == NodePending) {
			return fmt.Sprintf("%s is %s, its transitions say %s", v.ID, v.State, got)
		}
	}
	return ""
}

// historyProblem checks what a whole run must not do.
func (w *walk) historyProblem(out Effects) string {
	for i := range w.s.nodes {
		step := &w.s.plan.Steps[i]
		if most := step.Retries + 1 + w.notDone[step.ID]; w.starts[step.ID] > most {
			return fmt.Sprintf("%s started %d times, at most %d are allowed (R16, R38)", step.ID, w.starts[step.ID], most)
		}
		if w.s.nodes[i].state == cancelled && w.s.nodes[i].inherited && !w.hasBadDep(i) {
			return step.ID + " was cancelled although nothing before it failed (R24)"
		}
	}
	for _, c := range out.Commands {
		p, ok := c.(Perform)
		if ok && (!p.Grant.Valid() || !p.Grant.Covers(p.Call) || w.states[p.Node] != NodeRunning) {
			return "command " + p.ID + " without a grant or a running node (P18)"
		}
	}
	if ended := w.kinds(RunEnded); ended > 1 || (ended == 1) != w.s.Ended() {
		return fmt.Sprintf("%d codes (P6)", ended)
	}
	if w.s.run.code == InternalFault {
		return "internal fault: " + strings.Join(w.s.run.causes, ", ")
	}
	return ""
}

func (w *walk) hasBadDep(i int) bool {
	for _, d := range w.s.plan.Steps[i].Deps {
		if st := w.s.nodes[d.From].state; st == failed || st == cancelled {
			return true
		}
	}
	return false
}

func (w *walk) kinds(k Kind) int {
	n := 0
	for i := range w.facts {
		if w.facts[i].Kind == k {
			n++
		}
	}
	return n
}

func (w *walk) log() string { return logOf(w.facts) }
