package engine

import (
	"math"
	"strings"
	"testing"
	"time"

	"sluice/policy"
)

// TestR62_WhatAServerSaysItUsedOverflowsNothing: absurd and negative numbers
// never open a budget again.
func TestR62_WhatAServerSaysItUsedOverflowsNothing(t *testing.T) {
	for _, use := range []Usage{{math.MaxInt64, math.MaxInt64, 0, false}, {math.MaxInt64 / 3, 1, 0, false}, {1, math.MaxInt64 / 5, 0, false}, {-1, math.MaxInt64, -1, false}} {
		env := testEnv(t, nil)
		env.Models = testModels()
		r := newRig(t, env)
		r.must(r.create(""))
		in := r.plannedSteps(`{"id":"a","tool":"look"}`)
		in.Usage = use
		r.must(in)
		r.done("a", `{"v":1}`)
		for d := range dimCount {
			if b := r.s.spend(d); b.Spent < 0 || b.Reserved < 0 || b.Spent > 1<<53 {
				t.Errorf("%+v: %s stands at %+v", use, dimensionName(d), b)
			}
		}
		if r.s.run.halt != BudgetExhausted {
			t.Errorf("%+v: halt %q, want no further call of a model", use, r.s.run.halt)
		}
	}
	if u := (Usage{-5, -5, -5, false}).bounded(); u != (Usage{}) {
		t.Errorf("got %+v for less than nothing", u)
	}
}

// TestP28_AGraftIsStoredAsItsModelWroteIt: that a person is asked is our wish,
// and the version says so.
func TestP28_AGraftIsStoredAsItsModelWroteIt(t *testing.T) {
	env := testEnv(t, nil)
	env.Models = testModels()
	r := newRig(t, env)
	r.must(r.create(""))
	r.must(r.plannedSteps(`{"id":"a","tool":"look"}`))
	r.done("a", `{"v":1}`)
	in := r.concluded("replan", "so far")
	in.Note = "more"
	r.must(in)
	added := r.plannedSteps(`{"id":"b","tool":"write"}`)
	facts := r.must(added)
	if added.Plan.Steps[0].Approval {
		t.Error("the input itself was changed")
	}
	var ended *endedData
	var version *versionData
	for _, f := range facts {
		d, err := readData(f.Kind, f.Data)
		if err != nil {
			t.Fatal(err)
		}
		switch d := d.(type) {
		case *endedData:
			ended = d
		case *versionData:
			version = d
		}
	}
	if ended == nil || version == nil {
		t.Fatalf("no version came\n%s", logOf(facts))
	}
	if strings.Contains(string(ended.Input.Plan), "approval") {
		t.Errorf("stored %s, want the model's own words", ended.Input.Plan)
	}
	if !strings.Contains(string(version.Plan), `"approval":true`) || !strings.Contains(string(version.Findings), `"rule":"P22"`) {
		t.Errorf("got plan %s and findings %s, want the approval, and that it is not the model's", version.Plan, version.Findings)
	}
	if r.s.run.openApprovals != 1 {
		t.Errorf("%d approvals are open, want one", r.s.run.openApprovals)
	}
}

// TestP19_TheGateUsesThePolicyTheRunWasToldOf: a run that was folded while one
// policy was in force, and told of none since, takes the earlier one back.
func TestP19_TheGateUsesThePolicyTheRunWasToldOf(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`)
	back := r.s.env.Current
	r.s.env.Current = testPolicy(t, func(d *policy.Document) { d.KillSwitches = []string{"nothing"} })
	r.must(&PolicyChanged{Head: r.head("user:9"), Policy: back})
	if r.s.env.Current.Hash() != back.Hash() {
		t.Error("the gate still uses a policy that is not in force")
	}
	if _, err := r.step(&PolicyChanged{Head: r.head("user:9"), Policy: back}); refusalCode(err) != "conflict" {
		t.Errorf("got %v for what is known, want a conflict", err)
	}
}

// TestAServersWishToBeLeftAloneIsKept: a short one is waited for, a long one
// leaves the rest to the built-in planner at once.
func TestAServersWishToBeLeftAloneIsKept(t *testing.T) {
	for wait, want := range map[time.Duration]time.Duration{0: time.Second, 100 * time.Millisecond: time.Second, 20 * time.Second: 20 * time.Second,
		time.Minute: time.Minute, time.Minute + time.Second: 0, 100 * 24 * time.Hour: 0, -time.Hour: time.Second} {
		env := testEnv(t, nil)
		env.Models = testModels()
		r := newRig(t, env)
		r.must(r.create(""))
		in := r.planned()
		in.Class, in.Wait, in.Usage = ClassTransient, wait, Usage{}
		r.must(in)
		c := r.s.last(KindPlanner)
		if isFallen := c.fell != ""; isFallen != (want == 0) {
			t.Errorf("%s: fell %q, want the model given up where the wait is long", wait, c.fell)
		}
		if at, ok := r.s.Deadline(); want > 0 && (!ok || at != r.now+want.Microseconds()) {
			t.Errorf("%s: asked again after %d µs, want %s", wait, at-r.now, want)
		}
	}
}
