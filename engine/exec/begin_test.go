package exec

import (
	"context"
	"errors"
	"testing"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// TestP19_APolicyPublishedAsARunBeginsIsMet: whoever finds the runner of a new run
// comes after its creation.
func TestP19_APolicyPublishedAsARunBeginsIsMet(t *testing.T) {
	g := newGoverned(t, func(*policy.Document) {})
	doc := []byte(`{"format":1,"goal":"g","steps":[{"id":"a","tool":"read"}]}`)
	c, findings := plan.Check(doc, plan.Env{Catalog: g.tools.Catalog(), Policy: g.rules.Current(), Scopes: []string{"default"},
		Intent: policy.Override, Requester: "user:1", Author: plan.Person})
	if c == nil {
		t.Fatal(findings)
	}
	// Under review the run has not ended when the policy comes.
	in := &engine.Create{Head: engine.Head{At: g.clock.Now().UnixMicro(), Actor: "user:1"}, Run: "r_1", Goal: "g", Intent: policy.Operate,
		Scopes: []string{"default"}, Mode: "reflect", Profile: "default", Plan: c, PlanDoc: doc, PlanAuthor: plan.Person, Review: engine.ReviewPlan}
	reply := make(chan error, 1)
	if err := g.shell.begin(message{in: in, reply: reply}, in.Run, &Creation{}); err != nil {
		t.Fatal(err)
	}
	g.publish(func(d *policy.Document) { d.KillSwitches = []string{"write"} })
	if err := <-reply; err != nil {
		t.Fatal(err)
	}
	// A run that was let go in between meets the policy with its next input.
	if err := g.send("r_1", &engine.Start{Head: engine.Head{At: g.clock.Now().UnixMicro(), Actor: "user:1"}}); err != nil {
		t.Fatal(err)
	}
	g.until("the input", func() bool { return g.log.count("r_1", "", engine.InputPolicy) == 1 })
}

// TestR16_ARefusedCreationLeavesNothingBehind: neither a goroutine nor a run.
func TestR16_ARefusedCreationLeavesNothingBehind(t *testing.T) {
	w := newWorld(t)
	in := &engine.Create{Head: w.head(), Run: "r_1", Goal: " ", Mode: "reflect", Profile: "default"}
	var refused *engine.Refusal
	if err := w.shell.Submit(context.Background(), in, Creation{}); !errors.As(err, &refused) {
		t.Fatalf("got %v, want a refusal", err)
	}
	w.until("eviction", func() bool { return w.shell.Live() == 0 })
}
