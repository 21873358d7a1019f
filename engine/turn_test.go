package engine

import (
	"fmt"
	"testing"
)

// A running effect is never cut off by a sibling that was quicker (T13, C8).
func TestR20_RunningEffectIsNotSkipped(t *testing.T) {
	for _, tool := range []string{"write", "look"} {
		r := begin(t, nil, `{"id":"slow","tool":"`+tool+`"}`, `{"id":"quick","tool":"look","params":{"n":1}}`,
			`{"id":"either","tool":"look","params":{"n":2},"depends_on":["slow","quick"],"join":"any_of"}`)
		if got, want := r.performs(), "slow#1 quick#1"; got != want {
			t.Errorf("%s: started %s, want %s", tool, got, want)
		}
		r.done("quick", `{"v":1}`)
		r.wantState("either", NodeRunning)
		stops := 0
		for _, c := range r.cmds {
			if _, ok := c.(Stop); ok {
				stops++
			}
		}
		if tool == "look" {
			r.wantState("slow", NodeSkipped)
			if stops != 1 {
				t.Errorf("a skipped read is stopped %d times, want once", stops)
			}
			continue
		}
		r.wantState("slow", NodeRunning)
		if stops != 0 {
			t.Errorf("a running effect is stopped (%d times)", stops)
		}
		r.fail("slow", ClassTransient)
		r.wantState("slow", NodeFailed) // R21: not tried again, the sibling has executed
		r.done("either", `{"v":1}`)
		r.conclude()
		r.wantCode(Success)
	}
}

// C05, C8: act candidates run one after another, in the order of the plan.
func TestR20_ActCandidatesRunOneAfterAnother(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"write","retries":0}`, `{"id":"b","tool":"write","params":{"n":1},"retries":0}`,
		`{"id":"c","tool":"look","params":{"n":2},"retries":0}`, `{"id":"d","tool":"write","params":{"n":3},"retries":0}`,
		`{"id":"either","tool":"look","params":{"n":4},"depends_on":["a","b","c","d"],"join":"any_of"}`)
	want := "a#1 c#1"
	for _, failing := range []string{"a", "b", "c"} {
		if got := r.performs(); got != want {
			t.Fatalf("started %s, want %s", got, want)
		}
		r.fail(failing, ClassNotFound)
		switch failing {
		case "a":
			want += " b#1"
		case "c":
			want += " d#1"
		}
	}
	if got := r.performs(); got != want {
		t.Errorf("started %s, want %s", got, want)
	}
}

// A candidate before the other in the plan may depend on it: waiting for a turn
// and waiting for a dependency must not form a circle.
func TestR17_TurnsNeverWaitInACircle(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"write","depends_on":["b"],"join":"all_done"}`, `{"id":"b","tool":"write","params":{"n":1},"retries":0}`,
		`{"id":"either","tool":"look","params":{"n":2},"depends_on":["a","b"],"join":"any_of"}`)
	if got := r.performs(); got != "b#1" {
		t.Fatalf("started %q, want b#1: a depends on it", got)
	}
	r.fail("b", ClassNotFound)
	r.wantState("a", NodeRunning)
	// Two joins whose wishes contradict each other only together.
	two := begin(t, nil, `{"id":"a","tool":"write","depends_on":["d"]}`, `{"id":"b","tool":"write","params":{"n":1}}`,
		`{"id":"c","tool":"write","params":{"n":2},"depends_on":["b"]}`, `{"id":"d","tool":"write","params":{"n":3}}`,
		`{"id":"x","tool":"look","params":{"n":4},"depends_on":["a","b"],"join":"any_of"}`,
		`{"id":"y","tool":"look","params":{"n":5},"depends_on":["c","d"],"join":"any_of"}`)
	for range 10 {
		for _, v := range two.s.Nodes() {
			if v.State == NodeRunning && v.Kind == "tool" {
				two.fail(v.ID, ClassNotFound)
			}
		}
	}
	if two.s.open() > 0 {
		t.Errorf("%d steps wait for ever: %+v", two.s.open(), two.s.count)
	}
}

// Plan order is kept wherever dependencies do not force another: the first
// candidate is tried first although it has to wait for something.
func TestR20_FirstCandidateIsTriedFirst(t *testing.T) {
	r := begin(t, nil, `{"id":"before","tool":"look"}`, `{"id":"first","tool":"write","depends_on":["before"]}`,
		`{"id":"second","tool":"write","params":{"n":1}}`,
		`{"id":"either","tool":"look","params":{"n":2},"depends_on":["first","second"],"join":"any_of"}`)
	if got := r.performs(); got != "before#1" {
		t.Fatalf("started %q, want before#1 alone", got)
	}
	r.done("before", `{"v":1}`)
	r.done("first", `{"v":1}`)
	r.wantState("second", NodeSkipped)
	r.wantState("either", NodeRunning)
}

// R22: what any_of reads by a reference is no candidate; it must be executed.
func TestR22_AnyOfWaitsForWhatItReads(t *testing.T) {
	list := []string{`{"id":"a","tool":"look"}`, `{"id":"b","tool":"look","params":{"n":1}}`, `{"id":"data","tool":"look","params":{"n":2},"retries":0}`,
		`{"id":"either","tool":"look","depends_on":["a","b"],"join":"any_of","param_refs":{"x":{"step":"data","field":"v"}}}`}
	r := begin(t, nil, list...)
	r.done("data", `{"v":7}`)
	r.wantState("either", NodePending)
	r.done("a", `{"v":1}`)
	r.wantState("either", NodeRunning)
	r.wantState("b", NodeSkipped)

	late := begin(t, nil, list...)
	late.done("a", `{"v":1}`)
	late.wantState("either", NodePending)
	late.wantState("b", NodeSkipped)
	late.done("data", `{"v":7}`)
	late.wantState("either", NodeRunning)

	lost := begin(t, nil, list...)
	lost.done("a", `{"v":1}`)
	lost.fail("data", ClassNotFound)
	lost.wantState("either", NodeCancelled)
	lost.wantState("data", NodeFailed)
}

// A candidate that something else needs runs on.
func TestT13_CandidateNeededElsewhereRunsOn(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"b","tool":"look","params":{"n":1}}`,
		`{"id":"either","tool":"look","params":{"n":2},"depends_on":["a","b"],"join":"any_of"}`,
		`{"id":"other","tool":"look","params":{"n":3},"depends_on":["b","c"]}`, `{"id":"c","tool":"look","params":{"n":4},"retries":0}`)
	r.done("a", `{"v":1}`)
	r.wantState("b", NodeRunning)
	r.fail("c", ClassNotFound) // other is cancelled: now nobody needs b
	r.wantState("b", NodeSkipped)
}

// P31a: an attempt is started only while a slot is free.
func TestP31a_AttemptsStartOnlyIntoFreeSlots(t *testing.T) {
	list := make([]string, 70)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"s%d","tool":"look","params":{"n":%d}}`, i, i)
	}
	r := begin(t, nil, list...)
	count := func(st nodeState) int { return r.s.count[st] }
	if count(running) != 64 || count(ready) != 6 {
		t.Fatalf("%d running and %d ready, want 64 and 6", count(running), count(ready))
	}
	r.done("s5", `{"v":1}`)
	if count(running) != 64 || r.node("s64").State != NodeRunning {
		t.Errorf("%d running, s64 is %s; want the next in plan order in the free slot", count(running), r.node("s64").State)
	}
}
