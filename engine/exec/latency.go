package exec

import (
	"slices"
	"sync"

	"sluice/engine"
)

// latencies are the newest latencies of attempts by tool, in ms: what the core
// times denials by before a model is told (P24).
type latencies struct {
	mu   sync.Mutex
	past map[string][]int64
	next map[string]int // the place to overwrite, once a tool's list is full
}

func newLatencies(past map[string][]int64) *latencies {
	l := &latencies{past: map[string][]int64{}, next: map[string]int{}}
	for tool, list := range past {
		l.past[tool] = slices.Clone(list[:min(len(list), engine.LatenciesMax)])
	}
	return l
}

func (l *latencies) note(tool string, ms int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.past[tool]
	if len(list) < engine.LatenciesMax {
		l.past[tool] = append(list, max(ms, 0))
		return
	}
	list[l.next[tool]] = max(ms, 0)
	l.next[tool] = (l.next[tool] + 1) % engine.LatenciesMax
}

// now is a copy for one run.
func (l *latencies) now() map[string][]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	past := make(map[string][]int64, len(l.past))
	for tool, list := range l.past {
		past[tool] = slices.Clone(list)
	}
	return past
}
