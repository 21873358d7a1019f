package engine

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"sluice/policy"
)

// watchedEnv is an environment in which a model reads what steps came to.
func watchedEnv(t checker, change func(*policy.Document)) Env {
	env := testEnv(t, change)
	env.Models.Executor = ModelInfo{Name: "m", By: "model:m", MaxOutput: 100, PriceIn: -1, PriceOut: -1}
	env.Latency = map[string][]int64{"write": recorded()}
	return env
}

// recorded are latencies as a tool might have them: many quick, a few slow.
func recorded() []int64 {
	list := make([]int64, LatenciesMax)
	for i := range list {
		list[i] = int64(20 + i*i/2 + i%7*13)
	}
	return list
}

func beginAs(t checker, env Env, run string) *rig {
	t.Helper()
	r := newRig(t, env)
	in := r.create(steps(writeStep))
	in.Run = run
	r.must(in)
	return r
}

// toldAfter plays the clock until a model is asked and gives the time that
// passed since the denial, in ms.
func toldAfter(r *rig) int64 {
	r.t.Helper()
	r.wantState("w", NodeFailed)
	denied := r.s.Now()
	for range 10 {
		for _, c := range r.cmds {
			if c, ok := c.(Conclude); ok && c.By == "model:m" {
				return (r.s.Now() - denied) / 1000
			}
		}
		at, ok := r.s.Deadline()
		if !ok {
			break
		}
		r.now = at
		r.must(&Timer{Head: Head{At: at, Actor: "system"}})
	}
	r.t.Fatal("no model was asked")
	return 0
}

// TestP24_DenialsAreAsSlowAsFailures: 200 denials against the latencies on
// record, by the two-sample test of Kolmogorov and Smirnov on a virtual clock.
func TestP24_DenialsAreAsSlowAsFailures(t *testing.T) {
	for name, change := range map[string]func(*policy.Document){"gate": kill("write"), "clearance": clearFor("write", "C1")} {
		t.Run(name, func(t *testing.T) {
			var draws []int64
			for k := range 200 {
				r := beginAs(t, watchedEnv(t, change), "r_"+strconv.Itoa(k))
				if len(r.clears()) > 0 {
					r.must(r.answer(0, false))
				}
				draws = append(draws, toldAfter(r))
			}
			if p := smirnov(draws, recorded()); p <= 0.01 {
				t.Errorf("p = %.4f: denials can be told by their speed: %v", p, draws)
			}
		})
	}
}

// smirnov gives the probability that two samples of one distribution differ as
// much as these do.
func smirnov(a, b []int64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	share := func(list []int64, x int64) float64 {
		n, _ := slices.BinarySearch(list, x+1)
		return float64(n) / float64(len(list))
	}
	most := 0.0
	for _, x := range slices.Concat(a, b) {
		most = max(most, math.Abs(share(a, x)-share(b, x)))
	}
	n := float64(len(a)*len(b)) / float64(len(a)+len(b))
	lambda := (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * most
	p := 0.0
	for k := 1.0; k <= 100; k++ {
		p += 2 * math.Pow(-1, k-1) * math.Exp(-2*k*k*lambda*lambda)
	}
	return min(max(p, 0), 1)
}

// The test above must be able to fail.
func TestP24_TheTestTellsConstantsApart(t *testing.T) {
	constant := make([]int64, 200)
	for i := range constant {
		constant[i] = 500
	}
	if p := smirnov(constant, recorded()); p > 0.01 {
		t.Errorf("p = %.4f for a constant", p)
	}
}

func TestP24_WithoutAHistoryATenthOfTheTimeout(t *testing.T) {
	env := watchedEnv(t, kill("write"))
	env.Latency = nil
	if got := toldAfter(beginAs(t, env, "r_1")); got != 500 {
		t.Errorf("told after %d ms, want a tenth of five seconds", got)
	}
}

// TestP24_TheDrawIsOnRecord: a fold needs no history, and a restart keeps the time.
func TestP24_TheDrawIsOnRecord(t *testing.T) {
	env := watchedEnv(t, kill("write"))
	r, again := beginAs(t, env, "r_1"), beginAs(t, env, "r_1")
	at, ok := r.s.Deadline()
	if !ok || at <= r.s.Now() {
		t.Fatalf("deadline %d at %d, want one ahead", at, r.s.Now())
	}
	if other, _ := again.s.Deadline(); other != at {
		t.Errorf("the same attempt was drawn twice: %d and %d", at, other)
	}
	env.Latency = nil
	folded := fold(env, "r_1", r.facts)
	restored, problem := snapshotProblem(r.s)
	if problem != "" {
		t.Fatal(problem)
	}
	restored.SetEnv(env)
	for name, s := range map[string]*State{"fold": folded, "snapshot": restored} {
		if got, _ := s.Deadline(); got != at {
			t.Errorf("%s: deadline %d, want %d", name, got, at)
		}
		early, err := s.Step(&Timer{Head: Head{At: at - 1, Actor: "system"}})
		if err != nil || len(early.Commands)+len(early.Facts) > 0 {
			t.Errorf("%s: %v and %v before the time", name, early, err)
		}
		late, err := s.Step(&Timer{Head: Head{At: at, Actor: "system"}})
		if err != nil || len(late.Commands) != 1 {
			t.Errorf("%s: %v and %v at the time, want the model asked", name, late, err)
		}
	}
}

// TestP24_PeopleSeeADenialAtOnce, and the built-in report waits for nothing.
func TestP24_PeopleSeeADenialAtOnce(t *testing.T) {
	r := beginAs(t, watchedEnv(t, kill("write")), "r_1")
	if r.node("w").Cause != "gate" || r.s.Now() != startUS {
		t.Errorf("cause %q at %d", r.node("w").Cause, r.s.Now()-startUS)
	}
	env := watchedEnv(t, kill("write"))
	env.Models = Models{}
	r = beginAs(t, env, "r_1")
	if c, ok := r.cmds[len(r.cmds)-1].(Conclude); !ok || c.By != BuiltinBy {
		t.Errorf("the last command is %+v, want the built-in report at once", r.cmds[len(r.cmds)-1])
	}
	for _, f := range r.facts {
		if f.Kind == NodeChanged && hasVisibleAt(f.Data) {
			t.Errorf("a time is on record although no model reads it: %s", f.Data)
		}
	}
}

func hasVisibleAt(data []byte) bool {
	d, err := readData(NodeChanged, data)
	c, ok := d.(*changedData)
	return err == nil && ok && c.VisibleAt != 0
}

// TestP24_PeopleAreToolTime: a rejection took its time already.
func TestP24_PeopleAreToolTime(t *testing.T) {
	r := beginAs(t, watchedEnv(t, askFor("write", 1)), "r_1")
	r.must(r.verdict("user:2", Reject, "no"))
	if c, ok := r.cmds[len(r.cmds)-1].(Conclude); !ok || c.By != "model:m" {
		t.Errorf("the last command is %+v, want the model asked at once", r.cmds[len(r.cmds)-1])
	}
}
