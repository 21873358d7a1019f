package engine

import (
	"fmt"
	"testing"
	"time"

	"sluice/policy"
)

// shape writes a plan of n steps without effects: "fan" all at once, "chain"
// one after another, "layered" in rows of 20 where each step needs three above.
func shape(kind string, n int) string {
	list := make([]string, n)
	for i := range list {
		deps := ""
		switch {
		case kind == "chain" && i > 0:
			deps = fmt.Sprintf(`,"depends_on":["s%d"]`, i-1)
		case kind == "layered" && i >= 20:
			row := i/20*20 - 20
			deps = fmt.Sprintf(`,"depends_on":["s%d","s%d","s%d"]`, row+i%20, row+(i+1)%20, row+(i+7)%20)
		}
		list[i] = fmt.Sprintf(`{"id":"s%d","tool":"look","params":{"n":%d}%s}`, i, i, deps)
	}
	return steps(list...)
}

// playThrough answers every command at once and returns the facts of the run.
func playThrough(t checker, s *State, create *Create) int {
	out, err := s.Step(create)
	facts, now := len(out.Facts), create.At
	queue := out.Commands
	for len(queue) > 0 && err == nil {
		c := queue[0]
		queue = queue[1:]
		now++
		switch c := c.(type) {
		case Perform:
			out, err = s.Step(&AttemptDone{Head: Head{At: now, Actor: "tool:look"}, Node: c.Node, Attempt: c.Attempt, Output: []byte(`{"v":1}`)})
		case Conclude:
			out, err = s.Step(&Concluded{Head: Head{At: now, Actor: "system"}, Attempt: c.Attempt, Ruling: "conclude", Verdict: Verdict{Text: "t", By: "builtin"}})
		}
		facts += len(out.Facts)
		queue = append(queue, out.Commands...)
	}
	if err != nil || s.run.code != Success {
		t.Fatalf("the run ended with %q: %v", s.run.code, err)
	}
	return facts
}

func benchCreate(t checker, env Env, kind string, n int) *Create {
	doc := shape(kind, n)
	return &Create{Head: Head{At: startUS, Actor: requester}, Run: "r_1", Goal: "g", Intent: policy.Observe, Scopes: []string{"default"},
		Mode: "reflect", Profile: "bench", Plan: compiled(t, env, doc), PlanDoc: []byte(doc)}
}

// BenchmarkR26_StepPerNode is the whole life of a node: two facts decided,
// encoded and applied.
func BenchmarkR26_StepPerNode(b *testing.B) {
	env := testEnv(b, nil)
	for _, kind := range []string{"fan", "chain", "layered"} {
		for _, n := range []int{1000, 10000} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				create := benchCreate(b, env, kind, n)
				b.ReportAllocs()
				for b.Loop() {
					playThrough(b, New(env), create)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/node")
			})
		}
	}
}

// BenchmarkR60_FoldPerNode folds the same runs from their encoded facts.
func BenchmarkR60_FoldPerNode(b *testing.B) {
	env := testEnv(b, nil)
	create := benchCreate(b, env, "layered", 1000)
	s, facts := New(env), []Fact(nil)
	keep := &keeper{State: s, facts: &facts}
	keep.play(b, create)
	b.ReportAllocs()
	for b.Loop() {
		if fold(env, "r_1", facts).run.code != Success {
			b.Fatal("the fold did not end")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/node")
}

// keeper plays a run and keeps its facts.
type keeper struct {
	*State
	facts *[]Fact
}

func (k *keeper) play(t checker, create *Create) {
	var in Input = create
	for queue := []Command(nil); ; {
		out, err := k.Step(in)
		if err != nil {
			t.Fatal(err)
		}
		*k.facts = append(*k.facts, out.Facts...)
		queue = append(queue, out.Commands...)
		if len(queue) == 0 {
			return
		}
		c := queue[0]
		queue = queue[1:]
		switch c := c.(type) {
		case Perform:
			in = &AttemptDone{Head: Head{At: startUS, Actor: "tool:look"}, Node: c.Node, Attempt: c.Attempt, Output: []byte(`{"v":1}`)}
		case Conclude:
			in = &Concluded{Head: Head{At: startUS}, Attempt: c.Attempt, Ruling: "conclude", Verdict: Verdict{By: "builtin"}}
		}
	}
}

// R26: what an input costs does not grow with the plan. Times vary from box to
// box, so a test counts allocations and the benchmark below shows the times; a
// walk over all nodes that allocates nothing shows in the benchmark alone.
func TestR26_MemoryPerNodeDoesNotGrowWithThePlan(t *testing.T) {
	env := testEnv(t, nil)
	for _, kind := range []string{"fan", "chain", "layered"} {
		small, large := allocations(t, env, kind, 500), allocations(t, env, kind, 5000)
		if large > 1.5*small {
			t.Errorf("%s: a node allocates %.1f times in a plan of 5,000 steps and %.1f in one of 500", kind, large, small)
		}
	}
}

// allocations are counted, not timed: the count is the same on a busy machine.
func allocations(t *testing.T, env Env, kind string, n int) float64 {
	t.Helper()
	create := benchCreate(t, env, kind, n)
	return testing.AllocsPerRun(1, func() { playThrough(t, New(env), create) }) / float64(n)
}

// BenchmarkCostPerNode shows what a node costs in a plan of 5,000 steps as a
// multiple of one of 500 (R26): x/small.
func BenchmarkCostPerNode(b *testing.B) {
	env := testEnv(b, nil)
	for _, kind := range []string{"fan", "chain", "layered"} {
		b.Run(kind, func(b *testing.B) {
			var small, large time.Duration
			for b.Loop() {
				small, large = fastest(b, env, kind, 500), fastest(b, env, kind, 5000)
			}
			b.ReportMetric(float64(large)/float64(small), "x/small")
		})
	}
}

func fastest(t testing.TB, env Env, kind string, n int) time.Duration {
	t.Helper()
	create := benchCreate(t, env, kind, n)
	best := time.Duration(1 << 62)
	for range 5 {
		begin := time.Now()
		playThrough(t, New(env), create)
		best = min(best, time.Since(begin))
	}
	return best / time.Duration(n)
}
