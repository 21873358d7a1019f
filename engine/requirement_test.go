package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/engine/plan"
)

// walked are the facts of random runs that ended, shared by the tests of this
// file: with models and without, reviewed, cancelled, denied, grown.
var walked = sync.OnceValue(func() [][]Fact {
	t := &plainChecker{}
	g := newGrounds(t)
	var logs [][]Fact
	for seed := range 400 {
		w := newWalk(t, g, &seedDice{x: uint64(seed) * 7919}, 10)
		w.run(t)
		logs = append(logs, w.facts)
	}
	return logs
})

// plainChecker is for what several tests share: what goes wrong there is a panic.
type plainChecker struct{}

func (*plainChecker) Helper()                   {}
func (*plainChecker) Errorf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (*plainChecker) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }
func (*plainChecker) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func each(do func(log []Fact, before *State, f Fact)) {
	for _, log := range walked() {
		s := New(Env{})
		s.SetRun("r_1")
		for _, f := range log {
			do(log, s, f)
			s.Apply(f)
		}
	}
}

// TestR1_RunsMoveByTheFixedTableAlone: every move of every run is a row of the
// table, and the version of the engine that fixed it is on record.
func TestR1_RunsMoveByTheFixedTableAlone(t *testing.T) {
	moves := map[string]int{}
	for _, log := range walked() {
		created, err := readData(log[0].Kind, log[0].Data)
		if err != nil || created.(*createdData).EngineVersion != Version {
			t.Fatalf("got %s, %v, want the engine's version in the first fact", log[0].Data, err)
		}
		s := New(Env{})
		s.SetRun("r_1")
		at := map[string]NodeState{}
		for _, f := range log {
			s.Apply(f)
			if f.Kind == InputReplace {
				clear(at)
			}
			for _, m := range s.Transitions() {
				from, moved := at[m.Node]
				if moved && from != m.From || !moved && m.From != NodePending || !slices.Contains(tableRules(m.From, m.To), m.Rule) {
					t.Errorf("%+v after %q is not in the table", m, from)
				}
				at[m.Node] = m.To
				moves[m.Rule]++
			}
		}
	}
	if len(moves) < 15 {
		t.Errorf("got moves %v: these runs show too little", moves)
	}
}

// TestR2_VersionsOfAPlanNeverChange: each has the hash of its bytes, follows the
// one before, and holds its steps byte for byte unless a person edited it before
// anything ran.
func TestR2_VersionsOfAPlanNeverChange(t *testing.T) {
	grown := 0
	for _, log := range walked() {
		var last *versionData
		var lastSteps []json.RawMessage
		for _, f := range log {
			if f.Kind != VersionAdded {
				continue
			}
			d, err := readData(f.Kind, f.Data)
			if err != nil {
				t.Fatal(err)
			}
			v := d.(*versionData)
			sum := sha256.Sum256(v.Plan)
			var form struct{ Steps []json.RawMessage }
			if err := json.Unmarshal(v.Plan, &form); err != nil || v.Hash != "sha256:"+hex.EncodeToString(sum[:]) {
				t.Fatalf("version %d has the hash %s, not that of its bytes: %v", v.Version, v.Hash, err)
			}
			if last == nil && v.Version != 1 || last != nil && (v.Version != last.Version+1 || v.Parent != last.Version) {
				t.Errorf("version %d with parent %d follows %+v", v.Version, v.Parent, last)
			}
			if last != nil && v.Cause == causeReplan {
				grown++
				for i := range lastSteps {
					if string(form.Steps[i]) != string(lastSteps[i]) {
						t.Errorf("version %d changed step %d: %s, was %s", v.Version, i, form.Steps[i], lastSteps[i])
					}
				}
			}
			last, lastSteps = v, form.Steps
		}
	}
	if grown == 0 {
		t.Error("no plan grew: this shows too little")
	}
}

// TestR3_SuccessLeavesThroughTheFinalReflection, never while a person is asked,
// something runs or work was not looked at.
func TestR3_SuccessLeavesThroughTheFinalReflection(t *testing.T) {
	successes := 0
	each(func(log []Fact, s *State, f Fact) {
		if f.Kind != RunEnded || !strings.Contains(string(f.Data), `"code":"SUCCESS"`) || s.run.version == 0 {
			return
		}
		successes++
		c := s.last(KindReflection)
		if c == nil || c.state != executed || c.version != s.run.version || s.open() > 0 || s.unknown > 0 || s.running > 0 {
			t.Errorf("a run succeeded with its reflection at %+v, %d steps open, %d in question\n%s", c, s.open(), s.unknown, logOf(log))
		}
	})
	if successes < 15 {
		t.Errorf("%d runs succeeded: this shows too little", successes)
	}
}

// TestR10_ReferencesResolveToVerifiedOutputsAlone: whenever a step starts, all it
// reads from was executed before.
func TestR10_ReferencesResolveToVerifiedOutputsAlone(t *testing.T) {
	seen := 0
	each(func(log []Fact, s *State, f Fact) {
		if f.Kind != AttemptStarted || ControlKind(f.Node) != "" {
			return
		}
		step := &s.plan.Steps[s.index[f.Node]]
		for _, d := range step.Deps {
			if !d.Data {
				continue
			}
			seen++
			if from := &s.nodes[d.From]; from.state != executed || len(from.output) == 0 && from.blob == nil {
				t.Errorf("%s started while %s was %s\n%s", f.Node, s.plan.Steps[d.From].ID, from.state.name(), logOf(log))
			}
		}
	})
	if seen < 40 {
		t.Errorf("%d references were read: this shows too little", seen)
	}
}

// TestR19_AllOfStartsWhenAllAreExecuted and at no other time: in random runs, and
// at once with the last of them, in either order.
func TestR19_AllOfStartsWhenAllAreExecuted(t *testing.T) {
	each(func(log []Fact, s *State, f Fact) {
		if f.Kind != AttemptStarted || ControlKind(f.Node) != "" {
			return
		}
		step := &s.plan.Steps[s.index[f.Node]]
		for _, d := range step.Deps {
			if step.Join == plan.AllOf && s.nodes[d.From].state != executed {
				t.Errorf("%s started while %s was %s\n%s", f.Node, s.plan.Steps[d.From].ID, s.nodes[d.From].state.name(), logOf(log))
			}
		}
	})
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"b","tool":"look","params":{"n":1}}`, `{"id":"c","tool":"look","params":{"n":2},"depends_on":["a","b"]}`)
		r.done(order[0], `{"v":1}`)
		r.wantState("c", NodePending)
		r.done(order[1], `{"v":1}`)
		r.wantState("c", NodeRunning)
	}
}

// TestR4_AVersionHoldsTheWholePlan: number, steps with edges and settings, the
// contract of the whole and the bound on its steps, so that it compiles again to
// the same bytes.
func TestR4_AVersionHoldsTheWholePlan(t *testing.T) {
	doc := `{"format":1,"goal":"g","max_steps":4,"contract":{"schema":{"type":"object"}},"steps":[{"id":"a","tool":"look","timeout_s":2,"retries":1,
		"contract":{"schema":{"type":"object","required":["v"]}}},{"id":"b","tool":"write","param_refs":{"p":{"step":"a","field":"v"}}}]}`
	r := newRig(t, testEnv(t, nil))
	facts := r.must(r.create(doc))
	for _, f := range facts {
		if f.Kind != VersionAdded {
			continue
		}
		d, err := readData(f.Kind, f.Data)
		if err != nil {
			t.Fatal(err)
		}
		v := d.(*versionData)
		for _, want := range []string{`"max_steps":4`, `"contract":{"type":"object"}`, `"retries":1`, `"timeout_us":2000000`, `"required":["v"]`, `"from":0`, `"join":"all_of"`, `"class":"act"`} {
			if !strings.Contains(string(v.Plan), want) {
				t.Errorf("got %s, want %s in it", v.Plan, want)
			}
		}
		again, err := plan.Load(v.Plan)
		if err != nil || v.Version != 1 || f.Version != 1 || again.Hash != v.Hash || again.MaxSteps != 4 {
			t.Errorf("got version %d with %s, %v, want what it was compiled to", v.Version, v.Plan, err)
		}
		return
	}
	t.Error("no version was added")
}

// TestR7_AStepsOwnSettingsHold: its timeout, its retries, its approval
// and its contract.
func TestR7_AStepsOwnSettingsHold(t *testing.T) {
	r := begin(t, noAsk, `{"id":"a","tool":"look","timeout_s":2,"retries":1,"contract":{"schema":{"type":"object","properties":{"v":{"const":7}}}}}`,
		`{"id":"w","tool":"write","approval":true}`)
	p, ok := r.cmds[0].(Perform)
	if !ok || p.Timeout != 2*time.Second {
		t.Errorf("got %+v, want the step's own timeout", r.cmds[0])
	}
	r.wantState("w", NodeWaiting)
	for attempt, want := range []NodeState{NodeRetryable, NodeFailed} {
		r.done("a", `{"v":6}`)
		r.wantState("a", want)
		if attempt == 0 {
			r.now += second
			r.must(&Timer{Head: r.head("system")})
		}
	}
	if got := r.node("a").Class; got != ClassContract {
		t.Errorf("got class %s, want its contract missed", got)
	}
}

// TestR12_PlansThatDoNotCompileGoBackThreeRoundsAtMost: then the built-in planner
// has its turn, and what it cannot plan either ends as IMPOSSIBLE.
func TestR12_PlansThatDoNotCompileGoBackThreeRoundsAtMost(t *testing.T) {
	env := testEnv(t, nil)
	env.Models = testModels()
	r := newRig(t, env)
	r.must(r.create(""))
	for round := range 3 {
		c := r.cmds[len(r.cmds)-1].(Propose)
		if c.By != "model:big" || len(c.Again) != round {
			t.Fatalf("round %d: got %+v, want the model with its errors so far", round, c)
		}
		r.must(r.plannedSteps(`{"id":"a","tool":"nothing"},{"id":"b","tool":"look","depends_on":["gone"]}`))
		r.now += second
		r.must(&Timer{Head: r.head("system")})
		if again := r.s.last(KindPlanner).again; round < 2 && (!strings.Contains(again[round].Error, "C10 /steps/0/tool") || !strings.Contains(again[round].Error, "/steps/1/depends_on")) {
			t.Errorf("round %d: got %q, want rule and place of each error", round, again[round].Error)
		}
	}
	c := r.cmds[len(r.cmds)-1].(Propose)
	if c.By != BuiltinBy || len(c.Again) != 0 {
		t.Fatalf("got %+v, want the built-in planner", c)
	}
	r.must(r.planned())
	r.wantCode(Impossible, Summarise(r.s).Causes...)
	if !slices.Equal(Summarise(r.s).Fallbacks, []string{"planner"}) {
		t.Errorf("got %v, want the fall back marked", Summarise(r.s).Fallbacks)
	}
}

// TestR21_AFailedCandidateIsNotTriedAgainOnceASiblingExecuted.
func TestR21_AFailedCandidateIsNotTriedAgainOnceASiblingExecuted(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look","retries":2}`, `{"id":"b","tool":"look","params":{"n":1}}`,
		`{"id":"c","tool":"look","params":{"n":2},"depends_on":["a","b"],"join":"any_of"}`)
	r.fail("a", ClassTransient)
	r.wantState("a", NodeRetryable)
	r.done("b", `{"v":1}`)
	r.now += 60 * second
	r.must(&Timer{Head: r.head("system")})
	r.wantState("a", NodeSkipped)
	if got := r.performs(); strings.Contains(got, "a#2") {
		t.Errorf("got %s, want no second attempt", got)
	}
	late := begin(t, noAsk, `{"id":"w","tool":"write","retries":2}`, `{"id":"b","tool":"look"}`,
		`{"id":"c","tool":"look","params":{"n":2},"depends_on":["w","b"],"join":"any_of"}`)
	late.done("b", `{"v":1}`)
	late.wantState("w", NodeRunning) // an effect under way is not taken back
	late.fail("w", ClassTransient)
	late.wantState("w", NodeFailed)
}

// TestR24_AFailureFailsItsDownstreamAndNothingElse.
func TestR24_AFailureFailsItsDownstreamAndNothingElse(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"a2","tool":"look","params":{"n":1},"depends_on":["a"]}`, `{"id":"a3","tool":"look","params":{"n":2},"depends_on":["a2"]}`,
		`{"id":"b","tool":"look","params":{"n":3}}`, `{"id":"b2","tool":"look","params":{"n":4},"depends_on":["b"]}`)
	r.fail("a", ClassInvalid)
	for id, want := range map[string]NodeState{"a": NodeFailed, "a2": NodeCancelled, "a3": NodeCancelled, "b": NodeRunning, "b2": NodePending} {
		r.wantState(id, want)
	}
	r.done("b", `{"v":1}`)
	r.done("b2", `{"v":1}`)
	r.conclude()
	r.wantCode(PartialSuccess, Summarise(r.s).Causes...)
	if got := Summarise(r.s).Counts["executed"]; got != 2 {
		t.Errorf("%d steps count as done, want the other branch whole", got)
	}
}

// TestR38_ARetryUsesItsKeyAgain, and what has an effect that can not be repeated
// is not retried after it was sent.
func TestR38_ARetryUsesItsKeyAgain(t *testing.T) {
	r := begin(t, noAsk, writeStep, `{"id":"p","tool":"patch"}`)
	r.fail("w", ClassTransient)
	r.fail("p", ClassTransient)
	r.wantState("p", NodeWaiting)
	r.now += second
	r.must(&Timer{Head: r.head("system")})
	keys := map[string][]string{}
	for _, c := range r.cmds {
		if p, ok := c.(Perform); ok {
			keys[p.Node] = append(keys[p.Node], p.Call.Key)
		}
	}
	if k := keys["w"]; len(k) != 2 || k[0] == "" || k[0] != k[1] || len(keys["p"]) != 1 {
		t.Errorf("got keys %v, want the same twice for the write, and the patch sent once", keys)
	}
}

// TestR89_TheGateIsTheSameInEveryMode: decisions, requests and codes of one plan.
func TestR89_TheGateIsTheSameInEveryMode(t *testing.T) {
	decisions := func(mode string) string {
		r := newRig(t, testEnv(t, both(askFor("patch", 2), kill("write"))))
		in := r.create(steps(writeStep, `{"id":"p","tool":"patch"}`, `{"id":"l","tool":"look"}`, `{"id":"e","tool":"erase","depends_on":["l"]}`))
		in.Mode = mode
		r.must(in)
		r.done("l", `{"v":1}`)
		var b strings.Builder
		for _, f := range r.facts {
			if f.Kind != RunCreated {
				fmt.Fprintf(&b, "%s %s %d %s\n", f.Kind, f.Node, f.Attempt, f.Data)
			}
		}
		return b.String()
	}
	want := decisions("reflect")
	if !strings.Contains(want, `"allow"`) || !strings.Contains(want, `"deny"`) || !strings.Contains(want, `"ask"`) {
		t.Fatalf("got %s, want every decision", want)
	}
	if got := decisions("plan-once"); got != want {
		t.Errorf("plan-once: %s", firstDifference(got, want))
	}
}
