package handlers

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine"
	"sluice/engine/trace"
)

// drawRows makes a log whose facts come in Steps.
func drawRows(t *rapid.T) []engine.Row {
	var rows []engine.Row
	for range rapid.IntRange(0, 150).Draw(t, "steps") {
		cause := int64(len(rows) + 1)
		for range rapid.IntRange(1, 5).Draw(t, "facts") {
			rows = append(rows, engine.Row{Fact: engine.Fact{Seq: int64(len(rows) + 1), Cause: cause}})
		}
	}
	return rows
}

// TestP40_SplittingLosesNothing: every row is in one batch, in order; a played
// run has at most so many batches, and no Step is cut in two (P28).
func TestP40_SplittingLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		play := rapid.Bool().Draw(t, "play")
		parts := split(rows, play)
		var joined []engine.Row
		for i, part := range parts {
			if len(part) == 0 {
				t.Fatalf("batch %d is empty", i)
			}
			if last := len(joined) - 1; last >= 0 && joined[last].Cause == part[0].Cause {
				t.Fatalf("the Step of fact %d is cut in two", part[0].Cause)
			}
			joined = append(joined, part...)
		}
		if !slices.EqualFunc(joined, rows, func(a, b engine.Row) bool { return a.Seq == b.Seq }) {
			t.Fatalf("got %d rows in %d batches, want %d in order", len(joined), len(parts), len(rows))
		}
		if play && len(parts) > playBatches || !play && len(parts) > 1 {
			t.Fatalf("got %d batches", len(parts))
		}
	})
}

// TestP40_CoalescingKeepsTheLastOfEachNode: above 32 events only the last
// change of a node stays; cards and versions always do, and the order holds.
func TestP40_CoalescingKeepsTheLastOfEachNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []trace.Event
		for i := range rapid.IntRange(0, 120).Draw(t, "events") {
			id := strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "node"))
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				events = append(events, trace.Event{K: "node_added", N: i, Node: &trace.Node{ID: id}})
			case 1:
				events = append(events, trace.Event{K: "version", N: i})
			default:
				events = append(events, trace.Event{K: "node", N: i, ID: id})
			}
		}
		kept := coalesce(events)
		if len(events) <= coalesceAbove && len(kept) != len(events) {
			t.Fatalf("got %d of %d events, want all below the limit", len(kept), len(events))
		}
		if got, want := last(kept), last(events); !mapsEqual(got, want) {
			t.Fatalf("got the last changes %v, want %v", got, want)
		}
		if fixed(kept) != fixed(events) || !slices.IsSortedFunc(kept, func(a, b trace.Event) int { return a.N - b.N }) {
			t.Fatalf("cards or versions are lost or out of order: %v of %v", kept, events)
		}
		if nodes := len(kept) - fixed(kept); len(events) > coalesceAbove && nodes != len(last(events)) {
			t.Fatalf("got %d changes for %d nodes", nodes, len(last(events)))
		}
	})
}

func last(events []trace.Event) map[string]int {
	at := map[string]int{}
	for _, e := range events {
		if e.K == "node" {
			at[e.ID] = e.N
		}
	}
	return at
}

func mapsEqual(a, b map[string]int) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

func fixed(events []trace.Event) int {
	n := 0
	for _, e := range events {
		if e.K != "node" {
			n++
		}
	}
	return n
}

// TestP35_TheRegistryOfSocketsForgets who left, and closes all of one session only.
func TestP35_TheRegistryOfSocketsForgets(t *testing.T) {
	var s sockets
	closed := map[string]int{}
	enter := func(session, name string) func() { return s.enter(session, func() { closed[name]++ }) }
	leave := enter("a", "a1")
	enter("a", "a2")
	enter("b", "b1")
	leave()
	s.closeAll("a")
	s.closeAll("none")
	if closed["a1"] != 0 || closed["a2"] != 1 || closed["b1"] != 0 {
		t.Errorf("got %v, want the open socket of a closed alone", closed)
	}
	s.closeEvery()
	if closed["b1"] != 1 {
		t.Errorf("got %v, want b closed too", closed)
	}
	enter("c", "c1")()
	if _, known := s.open["c"]; known {
		t.Error("a session without sockets is remembered")
	}
}
