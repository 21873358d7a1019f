package engine

import (
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"sluice/policy"
)

// run drives a random plan: first anything, then only what the run waits for,
// until it ends within its bound (R16).
func (w *walk) run(t checker) {
	for range w.d.pick("chaos inputs", 60) {
		if w.s.Ended() {
			break
		}
		w.chaos(t)
	}
	if w.s.run.paused && !w.s.Ended() {
		w.must(t, &Resume{Head: w.head()})
	}
	// Every node: attempts, each asked about by up to two people and once more
	// after a stricter policy, a retry timer, a question; then the reflection.
	for extra := 0; !w.s.Ended(); extra++ {
		if extra > 60*(len(w.s.nodes)+15)+200 { // a plan may grow by five steps three times
			t.Fatalf("no end after %d inputs for %d steps (R16)\n%s", w.inputs, len(w.s.nodes), w.log())
		}
		w.progress(t)
	}
	w.afterwards(t)
}

// afterwards checks the whole: the fold from zero, its code, and that nothing
// changes an ended run.
func (w *walk) afterwards(t checker) {
	if a, b := digest(w.s), digest(fold(Env{}, "r_1", w.facts)); a != b {
		t.Fatalf("the fold from zero differs (R60): %s", firstDifference(a, b))
	}
	if want := naiveCode(w); want != "" && want != w.s.run.code {
		t.Fatalf("code %s %v, want %s\n%s", w.s.run.code, w.s.run.causes, want, w.log())
	}
	if took, bound := w.now-startUS, w.timeBoundUS(); took > bound {
		t.Fatalf("the run took %d s of its own time, the bound is %d s (R16)\n%s", took/second, bound/second, w.log())
	}
	w.late(t)
	for _, in := range []Input{&Cancel{Head: w.head()}, &Pause{Head: w.head()}, &Resume{Head: w.head()}, &Timer{Head: w.head()},
		&Start{Head: w.head()}, &PolicyChanged{Head: w.head(), Policy: w.tight}} {
		count := len(w.facts)
		w.must(t, in)
		if len(w.facts) != count {
			t.Fatalf("%T was taken by a run that has ended\n%s", in, w.log())
		}
	}
}

// timeBoundUS is R16 written out: the timeouts and backoffs of every attempt, and
// T_human for every request and question; besides, the milliseconds that pass
// with each input of this test.
func (w *walk) timeBoundUS() int64 {
	human := questionTTL.Microseconds()
	if w.s.run.review != "" {
		human += reviewTTL.Microseconds()
	}
	bound := human + int64(len(w.s.approval))*human + int64(w.inputs)*2000
	if w.kinds(ClearanceRequested) > 0 {
		bound += w.s.wallUS() // of authorities that never answer
	}
	for _, c := range w.s.control { // calls of models take as long as this test lets them
		bound += int64(c.attempt) * max(callBackoff(callRetriesMax), callWaitMax).Microseconds()
	}
	if w.s.plan == nil {
		return bound
	}
	for i := range w.s.plan.Steps {
		step := &w.s.plan.Steps[i]
		attempts := int64(step.Retries + 1 + w.notDone[step.ID])
		bound += attempts * (step.Timeout + backoffMax).Microseconds()
		if step.Effect == policy.Once {
			bound += attempts * human
		}
	}
	return bound
}

// naiveCode reads the code off the final states where only one can hold (P6, R71).
func naiveCode(w *walk) Code {
	good, left := 0, 0
	if w.s.plan == nil {
		return ""
	}
	for i := range w.s.nodes {
		n := &w.s.nodes[i]
		switch {
		case !w.wasExit(i):
		case n.state == executed:
			good++
		case n.state != skipped:
			left++
		}
	}
	isCancelled, isHalted := w.kinds(InputCancel) > 0, w.kinds(RunHalting) > 0
	switch {
	case isCancelled:
		return UserCancel
	case isHalted:
		return "" // budget or denial: see TestR71
	case left == 0 && good+w.s.count[executed] > 0:
		return Success
	case good > 0:
		return PartialSuccess
	}
	return ""
}

func TestR17_RandomRunsKeepEveryInvariant(t *testing.T) {
	g := newGrounds(t)
	rapid.Check(t, func(rt *rapid.T) {
		newWalk(rt, g, rapidDice{rt}, 12).run(rt)
	})
}

// runsFromEnv is how many random runs the seeded test makes: 10,000 when asked
// for by R16, fewer in an ordinary run of the suite.
func runsFromEnv() int {
	if n, err := strconv.Atoi(os.Getenv("CORE_RUNS")); err == nil {
		return n
	}
	return 400
}

func TestR16_RandomRunsEndWithinTheirBound(t *testing.T) {
	g := newGrounds(t)
	for seed := range runsFromEnv() {
		most := 12
		if seed%20 == 0 {
			most = 60 // more side effects than the budget of the profile
		}
		newWalk(seeded{t, seed}, g, &seedDice{x: uint64(seed)}, most).run(seeded{t, seed})
	}
}

// seeded names the seed with every failure.
type seeded struct {
	*testing.T
	seed int
}

// Fatalf implements checker.
func (s seeded) Fatalf(format string, args ...any) {
	s.Helper()
	s.T.Fatalf("seed %d: "+format, append([]any{s.seed}, args...)...)
}
