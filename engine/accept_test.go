package engine

import (
	"strings"
	"testing"

	"sluice/policy"
)

func TestP28_CreateIsRefusedWholeOrTakenWhole(t *testing.T) {
	cases := map[string]func(*Create){
		"goal is empty":     func(c *Create) { c.Goal = " \n" },
		"8 KiB":             func(c *Create) { c.Goal = strings.Repeat("x", GoalBytesMax+1) },
		"not UTF-8":         func(c *Create) { c.Goal = "g\xff" },
		"mode react":        func(c *Create) { c.Mode = "react" },
		"checkpoints":       func(c *Create) { c.ModeOptions.Checkpoints = "every-wave" },
		"profile huge":      func(c *Create) { c.Profile = "huge" },
		"id and a request":  func(c *Create) { c.Run = "" },
		"the plan is not J": func(c *Create) { c.PlanDoc = []byte("{") },
	}
	for word, change := range cases {
		r := newRig(t, testEnv(t, nil))
		in := r.create(steps(`{"id":"a","tool":"look"}`))
		change(in)
		r.wantRefused(in, "invalid", word)
	}
	r := newRig(t, testEnv(t, nil))
	r.wantRefused(&Cancel{Head: r.head(requester)}, "not_found", "does not exist")
	r.must(r.create(""))
	r.wantRefused(r.create(""), "conflict", "exists already")
	none := newRig(t, Env{})
	none.wantRefused(&Create{Head: none.head(requester), Run: "r_1", Goal: "g", Mode: "reflect"}, "internal", "catalogue")
}

// R15: late results are kept as orphans; what they say changes nothing.
func TestR15_LateResultsAreOrphans(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"b","tool":"look","params":{"n":1}}`)
	r.fail("a", ClassTransient)
	r.now += second
	r.must(&Timer{Head: r.head("system")})
	before := nodesDigest(r.s)
	facts := r.must(&AttemptDone{Head: r.head("tool:look"), Node: "a", Attempt: 1, Output: []byte(`{"v":"late"}`)})
	if len(facts) != 1 || facts[0].Kind != InputOrphan || nodesDigest(r.s) != before {
		t.Errorf("a result of attempt 1 while 2 runs gives %s, want one orphan and no change", logOf(facts))
	}
	r.wantState("a", NodeRunning)
	r.wantRefused(&AttemptDone{Head: r.head("tool:look"), Node: "a", Attempt: 3}, "not_found", "a")
	r.wantRefused(&AttemptDone{Head: r.head("tool:look"), Node: "z", Attempt: 1}, "not_found", "z")
}

// P5: only what cannot be repeated has an unknown outcome; only what can be is
// withdrawn; nothing of the kind happens to control nodes.
func TestP5_UnknownOutcomesAreOfOnceEffects(t *testing.T) {
	r := begin(t, nil, `{"id":"read","tool":"look"}`, `{"id":"same","tool":"write"}`, `{"id":"once","tool":"patch"}`)
	for _, id := range []string{"read", "same"} {
		r.wantRefused(&OutcomeUnknown{Head: r.head("system"), Node: id, Attempt: 1}, "invalid", "effect")
		r.wantRefused(&Attest{Head: r.head("user:2"), Node: id, Attempt: 1, Outcome: "done"}, "conflict", "not in question")
	}
	r.wantRefused(&Withdrawn{Head: r.head("system"), Node: "once", Attempt: 1}, "invalid", "once")
	r.wantRefused(&OutcomeUnknown{Head: r.head("system"), Node: "once", Attempt: 2}, "conflict", "once")
	r.must(&OutcomeUnknown{Head: r.head("system"), Node: "once", Attempt: 1, Cause: "lost"})
	r.wantState("once", NodeWaiting)
	r.wantRefused(&Attest{Head: r.head("token:1"), Node: "once", Attempt: 1, Outcome: "done"}, "denied", "people")
	r.wantRefused(&Attest{Head: r.head("user:2"), Node: "once", Attempt: 1, Outcome: "perhaps"}, "invalid", "perhaps")
	planner := newRig(t, testEnv(t, nil))
	planner.must(planner.create(""))
	planner.wantRefused(&OutcomeUnknown{Head: planner.head("system"), Node: PlannerNode, Attempt: 1}, "conflict", PlannerNode)
}

// Results that cannot be part of the log are failures, not refusals: their step
// must not run for ever (R53).
func TestR53_UnusableResultsAreFailures(t *testing.T) {
	for name, done := range map[string]AttemptDone{
		"not JSON":         {Output: []byte(`{"v":`)},
		"not UTF-8":        {Output: []byte("{\"v\":\"\xff\"}")},
		"larger, no blob":  {Output: []byte(`{"v":"` + strings.Repeat("x", OutputBytesMax) + `"}`)},
		"class of the day": {Class: "odd"},
	} {
		r := begin(t, nil, `{"id":"a","tool":"look"}`)
		done.Head, done.Node, done.Attempt = r.head("tool:look"), "a", 1
		r.must(&done)
		if v := r.node("a"); v.State != NodeFailed || v.Class != ClassInvalid {
			t.Errorf("%s: %s of class %q, want failed, invalid", name, v.State, v.Class)
		}
	}
}

// P30: a large output is cited, not stored; a whole handle may be passed on, a
// path into it may not.
func TestP30_BlobsAreCitedNotStored(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"whole","tool":"look","param_refs":{"x":{"step":"a","field":""}}}`,
		`{"id":"part","tool":"look","param_refs":{"y":{"step":"a","field":"v"}}}`)
	facts := r.must(&AttemptDone{Head: r.head("tool:look"), Node: "a", Attempt: 1, Output: []byte(`{"v":"large"}`),
		Blob: &Blob{SHA256: "ab12", Size: 70000, Type: "application/json", Head: `{"v"`, Tail: `e"}`}})
	if strings.Contains(string(facts[0].Data), "large") || !strings.Contains(string(facts[0].Data), `"blob":{"sha256":"ab12","size":70000`) {
		t.Errorf("the fact is %s, want the blob cited and no output", facts[0].Data)
	}
	p := r.cmds[1].(Perform)
	if got, want := string(p.Params), `{"x":{"blob":"sha256:ab12"}}`; p.Node != "whole" || got != want {
		t.Errorf("%s gets %s, want %s", p.Node, got, want)
	}
	r.wantState("part", NodeFailed)
	missing := begin(t, nil, `{"id":"a","tool":"look","retries":0}`)
	missing.must(&AttemptDone{Head: missing.head("tool:look"), Node: "a", Attempt: 1, Output: []byte(`{"other":1}`),
		Blob: &Blob{SHA256: "ab12", Size: 70000}})
	missing.wantState("a", NodeFailed) // R29: a large output is verified like any other
}

// A clock that goes back does not take the run with it.
func TestP31_TimeNeverGoesBack(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`)
	facts := r.must(&AttemptDone{Head: Head{At: startUS - 1000*second, Actor: "tool:look"}, Node: "a", Attempt: 1, Output: []byte(`{"v":1}`)})
	if facts[0].At != startUS {
		t.Errorf("the fact is at %d, want the time of the run %d", facts[0].At, startUS)
	}
}

// P29: what the run is pinned to.
func TestP29_RunPinsItsContent(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`)
	for _, want := range []string{r.env.Pinned.Hash(), r.env.Catalog.Hash(), `"profile":{"name":"default"`, `"planner":"builtin/1"`, `"engine_version":"` + Version} {
		if !strings.Contains(string(r.facts[0].Data), want) {
			t.Errorf("run.created %s lacks %s", r.facts[0].Data, want)
		}
	}
	strict := testPolicy(t, kill("look"))
	r.must(&PolicyChanged{Head: r.head("user:9"), Policy: strict})
	if got := Summarise(r.s).Policy; got != r.env.Pinned.Hash() {
		t.Errorf("after a publication the run is pinned to %s, want %s", got, r.env.Pinned.Hash())
	}
}

// P19: loosening has no effect on a run.
func TestP19_LooseningHasNoEffect(t *testing.T) {
	r := begin(t, kill("write"), `{"id":"a","tool":"look"}`, `{"id":"w","tool":"write","depends_on":["a"]}`)
	r.must(&PolicyChanged{Head: r.head("user:9"), Policy: testPolicy(t, nil)})
	r.done("a", `{"v":1}`)
	r.wantState("w", NodeFailed)
	if v := r.node("w"); v.Cause != "gate" {
		t.Errorf("cause %q, want gate", v.Cause)
	}
}

// R57, R59: the version is in the log before any of its nodes starts, and every
// fact names the version that governed it.
func TestR57_VersionComesBeforeItsNodes(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`)
	for _, f := range r.facts {
		want := 1
		if f.Kind == RunCreated {
			want = 0
		}
		if f.Version != want {
			t.Errorf("%s names version %d, want %d", f.Kind, f.Version, want)
		}
	}
	if r.facts[1].Kind != VersionAdded || r.facts[2].Kind != AttemptStarted {
		t.Errorf("the log starts\n%s", logOf(r.facts))
	}
}

func TestP25_RolesOfRulesAreKept(t *testing.T) {
	r := begin(t, func(d *policy.Document) {
		d.Approvals.Rules = []policy.ApprovalRule{{ID: "A1", When: policy.When{Tools: []string{"erase"}}, Per: "call", Quorum: 1, Roles: []string{"admin"}, ExpiresS: 60},
			{ID: "A2", When: policy.When{Tools: []string{"erase"}}, Per: "call", Quorum: 1, Roles: []string{"approver"}, ExpiresS: 600}}
	}, `{"id":"x","tool":"erase"}`)
	in := r.verdict("user:2", Approve, "")
	r.wantRefused(in, "denied", "A1")
	in.Roles = []string{"approver", "admin"}
	r.must(in)
	if a := r.s.Approvals()[0]; a.ExpiresAt != startUS+60*second {
		t.Errorf("expires at %d, want the soonest of the rules", a.ExpiresAt)
	}
}
