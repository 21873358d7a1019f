package sim

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	"sluice/engine"
)

// seeds is how many worlds are tried: 200 unless SIM_SEEDS says otherwise.
func seeds(t *testing.T) int {
	t.Helper()
	text, ok := os.LookupEnv("SIM_SEEDS")
	if !ok {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SIM_SEEDS=%q is no number of seeds", text)
	}
	return n
}

// world runs the world of a seed, killed at a fact index where one is given.
func world(t *testing.T, seed uint64, crashAt int, loses bool) *World {
	t.Helper()
	env, policies, err := NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(seed, env, policies)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	w.CrashAt(crashAt, loses)
	if err := w.Run(); err != nil {
		t.Fatalf("%v\n%s", err, text(w.Facts))
	}
	return w
}

func text(facts []engine.Fact) string {
	var b bytes.Buffer
	for _, f := range facts {
		fmt.Fprintf(&b, "%d %d %s %s#%d %s %s\n", f.Seq, f.At-startUS, f.Kind, f.Node, f.Attempt, f.Actor, f.Data)
	}
	return b.String()
}

func TestR25_SameSeedGivesTheSameLog(t *testing.T) {
	for seed := range uint64(seeds(t)) {
		a, b := world(t, seed, 0, false), world(t, seed, 0, false)
		if got, want := text(b.Facts), text(a.Facts); got != want {
			t.Fatalf("seed %d: the second run differs\n%s\nfrom the first\n%s", seed, got, want)
		}
	}
}

// Every seed is killed at three of its facts, once before and once after the
// commit that holds it.
func TestP45_KilledRunsEndLikeTheOthers(t *testing.T) {
	compared := 0
	for seed := range uint64(seeds(t)) {
		whole := world(t, seed, 0, false)
		for k := range 3 {
			at := 1 + whole.draw(len(whole.Facts), "kill", strconv.Itoa(k))
			for _, loses := range []bool{false, true} {
				killed := world(t, seed, at, loses)
				if killed.MayDiffer {
					continue // a once effect was in flight: a person was asked
				}
				compared++
				compare(t, whole, killed)
			}
		}
	}
	if want := 2 * seeds(t); compared < want {
		t.Errorf("only %d kills could be compared, want at least %d: the worlds ask too much of people", compared, want)
	}
}

func compare(t *testing.T, whole, killed *World) {
	t.Helper()
	want, err := whole.Log()
	if err != nil {
		t.Fatal(err)
	}
	got, err := killed.Log()
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range []map[string][]string{want, got} {
		for node := range log {
			if !slices.Equal(got[node], want[node]) {
				t.Fatalf("seed %d killed at %d (before commit: %v): %q has\n%q, want\n%q\n%s", whole.Seed, killed.crashAt, killed.loses,
					node, got[node], want[node], text(killed.Facts))
			}
		}
	}
}

// The worlds must be worth something: all that can happen happens in some.
func TestP45_WorldsShowEverything(t *testing.T) {
	kinds, codes, states := map[engine.Kind]int{}, map[engine.Code]int{}, map[engine.NodeState]int{}
	fallbacks, grown := 0, 0
	for seed := range uint64(200) {
		w := world(t, seed, 0, false)
		for _, f := range w.Facts {
			kinds[f.Kind]++
		}
		sum := engine.Summarise(w.State)
		codes[sum.Code]++
		fallbacks += len(sum.Fallbacks)
		if _, again := w.State.Node(engine.ReflectNode + ".2"); again && sum.PlanVersion > 1 {
			grown++
		}
		for _, v := range w.State.Nodes() {
			states[v.State]++
		}
	}
	for _, k := range []engine.Kind{engine.PlanSketched, engine.ClearanceRequested, engine.ClearanceAnswered, engine.ApprovalDecided, engine.OutcomeAttested, engine.InputOrphan, engine.InputPolicy, engine.InputCancel, engine.InputTimer, engine.InputStart, engine.InputReplace} {
		if kinds[k] == 0 {
			t.Errorf("no world has %s: %v", k, kinds)
		}
	}
	for _, c := range []engine.Code{engine.Success, engine.PartialSuccess, engine.PermissionDenied, engine.UserCancel, engine.ConfirmRequired, engine.Impossible} {
		if codes[c] == 0 {
			t.Errorf("no world ends with %s: %v", c, codes)
		}
	}
	for _, s := range []engine.NodeState{engine.NodeExecuted, engine.NodeFailed, engine.NodeSkipped, engine.NodeCancelled} {
		if states[s] == 0 {
			t.Errorf("no node ends %s: %v", s, states)
		}
	}
	if fallbacks < 10 || grown < 10 {
		t.Errorf("%d fall-backs and %d plans that grew, want at least 10 of each", fallbacks, grown)
	}
	t.Logf("kinds %v codes %v states %v", kinds, codes, states)
}
