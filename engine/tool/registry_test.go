package tool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine/plan"
	"sluice/policy"
)

// counting is a scripted tool that counts how often it ran.
func counting(name string, effect policy.Effect) (Extra, *atomic.Int64) {
	ran := &atomic.Int64{}
	return scripted(name, effect, func(context.Context, Request) ([]byte, error) {
		ran.Add(1)
		return []byte(`{}`), nil
	}), ran
}

func TestP18_OpenRefusesACallTheGrantDoesNotCover(t *testing.T) {
	extra, ran := counting("test.a", policy.Idempotent)
	other, ranOther := counting("test.b", policy.Idempotent)
	changes := map[string]func(*policy.Call){
		"run":       func(c *policy.Call) { c.Run = "r_2" },
		"node":      func(c *policy.Call) { c.Node = "m" },
		"attempt":   func(c *policy.Call) { c.Attempt++ },
		"parameter": func(c *policy.Call) { c.Params[0].Value = []byte(`"other"`) },
		"name":      func(c *policy.Call) { c.Params[0].Name = "y" },
		"added":     func(c *policy.Call) { c.Params = append(c.Params, policy.Param{Name: "z", Value: []byte("1")}) },
		"dropped":   func(c *policy.Call) { c.Params = nil },
		"tool":      func(c *policy.Call) { c.Tool.Name = "test.b" },
		"impact":    func(c *policy.Call) { c.Tool.Impact = policy.Observe },
		"effect":    func(c *policy.Call) { c.Tool.Effect = policy.Read },
		"external":  func(c *policy.Call) { c.Tool.External = true },
	}
	for name, change := range changes {
		w := newWorld(t, nil, extra, other)
		call := w.call("test.a", `{"x":"given"}`)
		grant := w.grant(call)
		granted := call
		granted.Params = append([]policy.Param{}, call.Params...)
		change(&call)
		if _, err := w.registry.Open(grant, call); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s changed: Open got %v, want %v", name, err, ErrMismatch)
		}
		out := w.executor.Perform(context.Background(), Job{Grant: grant, Call: call, Params: plan.Splice(call.Params)})
		if out.Class != Unavailable || out.Detail != UnavailableText || !out.BeforeSend || !errors.Is(out.Fault, ErrMismatch) {
			t.Errorf("%s changed: Perform got %q %q, fault %v", name, out.Class, out.Detail, out.Fault)
		}
		if _, err := w.registry.Open(grant, granted); err != nil {
			t.Errorf("%s changed: the refusals spent the grant: %v", name, err)
		}
	}
	if got := ran.Load() + ranOther.Load(); got != 0 {
		t.Errorf("tools ran %d times, want 0", got)
	}
}

func TestP18_OneGrantOpensOnce(t *testing.T) {
	extra, ran := counting("test.a", policy.Once)
	w := newWorld(t, nil, extra)
	job := w.job("test.a", `{}`)
	var opened atomic.Int64
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if w.executor.Perform(context.Background(), job).Class == OK {
				opened.Add(1)
			}
		})
	}
	group.Wait()
	if opened.Load() != 1 || ran.Load() != 1 {
		t.Errorf("50 uses of one grant: got %d successes and %d runs, want 1 and 1", opened.Load(), ran.Load())
	}
	out := w.executor.Perform(context.Background(), job)
	if out.Class != Unavailable || !errors.Is(out.Fault, ErrUsedGrant) {
		t.Errorf("a later use: got %q, fault %v; want unavailable, %v", out.Class, out.Fault, ErrUsedGrant)
	}
}

func TestP18_ZeroGrantOpensNothing(t *testing.T) {
	extra, ran := counting("test.a", policy.Read)
	w := newWorld(t, nil, extra)
	call := w.call("test.a", `{}`)
	if _, err := w.registry.Open(policy.Grant{}, call); !errors.Is(err, ErrZeroGrant) {
		t.Errorf("Open with the zero grant: got %v, want %v", err, ErrZeroGrant)
	}
	out := w.executor.Perform(context.Background(), Job{Call: call, Params: []byte(`{}`)})
	if out.Class != Unavailable || ran.Load() != 0 {
		t.Errorf("Perform with the zero grant: got %q and %d runs, want unavailable and 0", out.Class, ran.Load())
	}
	denied := call
	denied.Scopes = nil
	if grant, _ := policy.Authorise(w.policy, w.policy, denied); grant.Valid() {
		t.Error("a denied call got a valid grant")
	}
}

func TestP18_UnknownToolOpensNothing(t *testing.T) {
	w := newWorld(t, nil)
	call := w.call("test.gone", `{}`)
	if _, err := w.registry.Open(w.grant(call), call); !errors.Is(err, ErrUnknownTool) {
		t.Errorf("Open of a tool that is not there: got %v, want %v", err, ErrUnknownTool)
	}
}

func TestP18_OnlyTheGrantedParametersRun(t *testing.T) {
	extra, ran := counting("test.a", policy.Read)
	w := newWorld(t, nil, extra)
	job := w.job("test.a", `{"path":"harmless"}`)
	job.Params = []byte(`{"path":"other"}`)
	out := w.executor.Perform(context.Background(), job)
	if out.Class != Unavailable || ran.Load() != 0 || out.Fault == nil {
		t.Errorf("other parameters under a grant: got %q, %d runs, fault %v; want unavailable, 0 and a fault", out.Class, ran.Load(), out.Fault)
	}
}

func TestP18_HandleRunsOnce(t *testing.T) {
	extra, ran := counting("test.a", policy.Read)
	w := newWorld(t, nil, extra)
	call := w.call("test.a", `{}`)
	handle, err := w.registry.Open(w.grant(call), call)
	if err != nil {
		t.Fatal(err)
	}
	again := handle // a copy is the same right
	if _, err := handle.Run(context.Background(), []byte(`{}`)); err != nil {
		t.Errorf("first run: %v", err)
	}
	if _, err := again.Run(context.Background(), []byte(`{}`)); !errors.Is(err, errSpentHandle) {
		t.Errorf("second run: got %v, want %v", err, errSpentHandle)
	}
	if _, err := (Handle{}).Run(context.Background(), []byte(`{}`)); !errors.Is(err, errSpentHandle) {
		t.Errorf("zero handle: got %v, want %v", err, errSpentHandle)
	}
	if ran.Load() != 1 {
		t.Errorf("got %d runs, want 1", ran.Load())
	}
}

// The memory of used grants never forgets one of the last max opens and never
// holds more than twice that many.
func TestP18_UsedGrantsAreRememberedWithinBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		generation := rapid.IntRange(1, 8).Draw(t, "max")
		used := newUsedGrants(generation)
		var opened [][32]byte
		for range rapid.IntRange(1, 60).Draw(t, "opens") {
			id := [32]byte{byte(rapid.IntRange(0, 40).Draw(t, "id"))}
			recent := opened[max(0, len(opened)-generation):]
			isRecent := false
			for _, past := range recent {
				isRecent = isRecent || past == id
			}
			took := used.take(id)
			if took && isRecent {
				t.Fatalf("grant %d used twice within %d opens", id[0], generation)
			}
			if took {
				opened = append(opened, id)
			}
			if held := len(used.current) + len(used.older); held > 2*generation {
				t.Fatalf("got %d grants held, want at most %d", held, 2*generation)
			}
		}
	})
}

func TestP18_ANameIsTakenOnce(t *testing.T) {
	extra, _ := counting("sysinfo", policy.Read)
	if _, err := New(Config{Workspace: t.TempDir(), Extra: []Extra{extra}}); err == nil {
		t.Error("an extra tool named sysinfo: got no error, want one")
	}
}

func TestP18_NoOpRunsThroughTheDoor(t *testing.T) {
	w := newWorld(t, nil, NoOp("test.noop"))
	var out struct{}
	if got := w.want("test.noop", `{}`, &out); string(got.Output) != `{}` {
		t.Errorf("got %s, want {}", got.Output)
	}
}
