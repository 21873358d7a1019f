package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine"
	"sluice/store"
)

// likeLists holds the log against its naive twin, a list per stream: whatever
// is asked of both, in whatever order, they answer the same.
func likeLists(t *testing.T, log Log) {
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		twin := make(map[string][]engine.Fact)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			name := fmt.Sprintf("run/r_%d-%d", round, rapid.IntRange(0, 2).Draw(rt, "stream"))
			expected := int64(len(twin[name])) + rapid.SampledFrom([]int64{0, 0, 0, 0, -1, 1, 5}).Draw(rt, "miss")
			facts := Facts(max(expected, 0), rapid.IntRange(1, 40).Draw(rt, "facts"))
			want := error(nil)
			switch {
			case expected < 0:
				continue
			case expected != int64(len(twin[name])):
				want = store.ErrConflict
			default:
				twin[name] = append(twin[name], facts...)
			}
			if err := log.AppendAt(context.Background(), name, expected, facts); !errors.Is(err, want) {
				rt.Fatalf("append %d facts to %s at %d: got %v, want %v", len(facts), name, expected, err, want)
			}
		}
		for _, name := range keys(twin) {
			expectTwin(rt, log, name, twin[name])
		}
	})
	manyAtOnce(t, log)
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func expectTwin(t fataler, log Log, name string, want []engine.Fact) {
	got, err := log.Facts(context.Background(), name, 0, 0)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%s: got %d facts and %v, want %d", name, len(got), err, len(want))
	}
	for i := range want {
		if !equalFacts(got[i].Fact, want[i]) {
			t.Fatalf("%s: fact %d: got %+v, want %+v", name, i+1, got[i].Fact, want[i])
		}
	}
}

// manyAtOnce lets streams grow side by side; none loses or mixes a fact.
func manyAtOnce(t *testing.T, log Log) {
	const streams, rounds, width = 8, 20, 3
	var all sync.WaitGroup
	for s := range streams {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range int64(rounds) {
				if err := log.AppendAt(context.Background(), fmt.Sprintf("run/r_many%d", s), i*width, Facts(i*width, width)); err != nil {
					t.Errorf("stream %d round %d: %v", s, i, err)
					return
				}
			}
		}()
	}
	all.Wait()
	for s := range streams {
		expectTwin(t, log, fmt.Sprintf("run/r_many%d", s), Facts(0, rounds*width))
	}
}
