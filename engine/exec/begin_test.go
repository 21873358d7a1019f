package exec

import (
	"context"
	"errors"
	"testing"

	"sluice/engine"
	"sluice/policy"
)

// TestP19_APolicyPublishedAsARunBeginsIsMet: whoever finds the runner of a new run
// comes after its creation.
func TestP19_APolicyPublishedAsARunBeginsIsMet(t *testing.T) {
	g := newGoverned(t, func(*policy.Document) {})
	in := &engine.Create{Head: g.head(), Run: "r_1", Goal: "g", Intent: policy.Operate, Scopes: []string{"default"}, Mode: "reflect", Profile: "default"}
	reply := make(chan error, 1)
	if err := g.shell.begin(message{in: in, reply: reply}, in.Run, &Creation{}); err != nil {
		t.Fatal(err)
	}
	g.publish(func(d *policy.Document) { d.KillSwitches = []string{"write"} })
	if err := <-reply; err != nil {
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
