package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"sluice/engine"
	"sluice/store"
)

// Log is what the suite exercises.
type Log interface {
	AppendAt(ctx context.Context, stream string, expected int64, facts []engine.Fact) error
	AppendNext(ctx context.Context, stream string, facts []engine.Fact) error
	Facts(ctx context.Context, stream string, after int64, limit int) ([]engine.Row, error)
	Head(ctx context.Context, stream string) (seq int64, hash []byte, err error)
	Close() error
}

const stream = "run/r_suite"

// Run exercises logs that open makes; each call gives an empty one.
func Run(t *testing.T, open func(t *testing.T) Log) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, log Log)
	}{
		{"R53_WhatWasAppendedIsReadBack", readBack},
		{"P31_AWrongExpectationFailsAndChangesNothing", refuseConflict},
		{"P27_AnInvalidFactFailsAndChangesNothing", refuseInvalid},
		{"P31_NextAppendsWhereverTheStreamStands", appendNext},
		{"R81_EveryRowIsChainedToTheOneBefore", chained},
		{"P27_PagesMakeTheWhole", pages},
		{"P31_OneOfManyAppendsAtTheSamePlaceWins", race},
		{"P31_LikeAListPerStream", likeLists},
		{"P31_AClosedLogTakesNothing", closed},
	} {
		t.Run(test.name, func(t *testing.T) {
			log := open(t)
			t.Cleanup(func() { _ = log.Close() })
			test.run(t, log)
		})
	}
}

// Fact makes a fact that differs from every other in all columns.
func Fact(seq int64) engine.Fact {
	return engine.Fact{Seq: seq, At: 1_700_000_000_000_000 + seq, Kind: engine.NodeChanged, Cause: seq, Version: int(seq % 7),
		Node: fmt.Sprintf("n%d", seq), Attempt: int(seq % 3), Actor: fmt.Sprintf("user:%d", seq),
		Data: fmt.Appendf(nil, `{"seq":%d,"text":"é"}`, seq)}
}

// Facts makes count facts behind the fact `after`.
func Facts(after int64, count int) []engine.Fact {
	facts := make([]engine.Fact, count)
	for i := range facts {
		facts[i] = Fact(after + 1 + int64(i))
	}
	return facts
}

// mustAppend appends facts where their first one belongs.
func mustAppend(t testing.TB, log Log, stream string, facts []engine.Fact) {
	t.Helper()
	if err := log.AppendAt(context.Background(), stream, facts[0].Seq-1, facts); err != nil {
		t.Fatalf("append %d facts to %s at %d: %v", len(facts), stream, facts[0].Seq-1, err)
	}
}

// read gives all facts of a stream.
func read(t testing.TB, log Log, stream string) []engine.Row {
	t.Helper()
	var all []engine.Row
	for after := int64(0); ; {
		page, err := log.Facts(context.Background(), stream, after, 0)
		if err != nil {
			t.Fatalf("read %s after %d: %v", stream, after, err)
		}
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), page[len(page)-1].Seq
	}
}

func equalFacts(a, b engine.Fact) bool {
	left, right := a.Data, b.Data
	a.Data, b.Data = nil, nil
	return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) && bytes.Equal(left, right)
}

func expectFacts(t testing.TB, got []engine.Row, want []engine.Fact) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d facts, want %d", len(got), len(want))
	}
	for i := range got {
		if !equalFacts(got[i].Fact, want[i]) {
			t.Fatalf("fact %d: got %+v, want %+v", i, got[i].Fact, want[i])
		}
	}
}

func readBack(t *testing.T, log Log) {
	// 67 rows take every width of a multi-row insert at least once.
	want := Facts(0, 67)
	mustAppend(t, log, stream, want[:1])
	mustAppend(t, log, stream, want[1:])
	got := read(t, log, stream)
	expectFacts(t, got, want)
	if got[0].Stream != stream || got[0].Run != "r_suite" || got[0].Erased {
		t.Errorf("got stream %q run %q erased %v", got[0].Stream, got[0].Run, got[0].Erased)
	}
	seq, hash, err := log.Head(context.Background(), stream)
	if err != nil || seq != 67 || !bytes.Equal(hash, got[66].Hash) {
		t.Errorf("head: got %d %x %v, want 67 %x", seq, hash, err, got[66].Hash)
	}
	if none := read(t, log, "run/r_other"); len(none) != 0 {
		t.Errorf("an unknown stream has %d facts, want 0", len(none))
	}
}

func refuseConflict(t *testing.T, log Log) {
	mustAppend(t, log, stream, Facts(0, 3))
	for _, expected := range []int64{0, 2, 4} {
		err := log.AppendAt(context.Background(), stream, expected, Facts(expected, 2))
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("append at %d: got %v, want a conflict", expected, err)
		}
	}
	expectFacts(t, read(t, log, stream), Facts(0, 3))
	mustAppend(t, log, stream, Facts(3, 1))
}

func refuseInvalid(t *testing.T, log Log) {
	mustAppend(t, log, stream, Facts(0, 2))
	broken := func(change func(*engine.Fact)) []engine.Fact {
		facts := Facts(2, 2)
		change(&facts[1])
		return facts
	}
	for name, facts := range map[string][]engine.Fact{
		"no facts":             nil,
		"a gap in seq":         broken(func(f *engine.Fact) { f.Seq = 5 }),
		"no kind":              broken(func(f *engine.Fact) { f.Kind = "" }),
		"data too long":        broken(func(f *engine.Fact) { f.Data = []byte("{" + strings.Repeat(" ", engine.FactBytesMax) + "}") }),
		"not an object":        broken(func(f *engine.Fact) { f.Data = []byte(`"text"`) }),
		"a line break":         broken(func(f *engine.Fact) { f.Data = []byte("{\n}") }),
		"a number beyond 2^53": broken(func(f *engine.Fact) { f.At = 1 << 53 }),
	} {
		if err := log.AppendAt(context.Background(), stream, 2, facts); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
	for _, name := range []string{"", "run/", "run/x", "run/r_", "run/r_a/b", "admin2", "run/r_" + strings.Repeat("x", 100)} {
		if err := log.AppendAt(context.Background(), name, 0, Facts(0, 1)); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("stream %q: got %v, want invalid", name, err)
		}
	}
	expectFacts(t, read(t, log, stream), Facts(0, 2))
	mustAppend(t, log, stream, Facts(2, 1))
}

func appendNext(t *testing.T, log Log) {
	for range 3 {
		facts := []engine.Fact{{At: 1, Kind: "policy.saved", Actor: "user:1", Data: []byte(`{}`)}, {At: 1, Kind: "policy.saved"}}
		if err := log.AppendNext(context.Background(), store.Admin, facts); err != nil {
			t.Fatalf("append next: %v", err)
		}
	}
	rows := read(t, log, store.Admin)
	if len(rows) != 6 {
		t.Fatalf("got %d facts, want 6", len(rows))
	}
	for i, row := range rows {
		first := int64(i - i%2 + 1)
		if row.Seq != int64(i+1) || row.Cause != first || row.Run != "" {
			t.Errorf("fact %d: got seq %d cause %d run %q, want seq %d cause %d and no run", i, row.Seq, row.Cause, row.Run, i+1, first)
		}
	}
}

func chained(t *testing.T, log Log) {
	mustAppend(t, log, stream, Facts(0, 5))
	mustAppend(t, log, "run/r_twin", Facts(0, 5))
	prev := make([]byte, 32)
	rows, twins := read(t, log, stream), read(t, log, "run/r_twin")
	for i, row := range rows {
		if !bytes.Equal(row.PrevHash, prev) {
			t.Errorf("fact %d: got prev_hash %x, want %x", row.Seq, row.PrevHash, prev)
		}
		if bytes.Equal(row.Hash, twins[i].Hash) || bytes.Equal(row.Salt, twins[i].Salt) || bytes.Equal(row.DataHash, twins[i].DataHash) {
			t.Errorf("fact %d has a salt or hash in common with its twin in another stream", row.Seq)
		}
		prev = row.Hash
	}
}

func pages(t *testing.T, log Log) {
	const count = 25
	mustAppend(t, log, stream, Facts(0, count))
	whole := read(t, log, stream)
	for _, width := range []int{1, 4, 24, 25, 26} {
		var got []engine.Row
		for len(got) < count {
			page, err := log.Facts(context.Background(), stream, int64(len(got)), width)
			if err != nil || len(page) == 0 || len(page) > width {
				t.Fatalf("page of %d after %d: got %d facts, %v", width, len(got), len(page), err)
			}
			got = append(got, page...)
		}
		for i := range got {
			if !bytes.Equal(got[i].PrevHash, whole[i].PrevHash) || !bytes.Equal(got[i].Hash, whole[i].Hash) {
				t.Fatalf("width %d: fact %d differs from the one read in whole", width, i+1)
			}
		}
	}
	if _, err := log.Facts(context.Background(), stream, -1, 1); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("facts after -1: got %v, want invalid", err)
	}
}

func race(t *testing.T, log Log) {
	const racers = 20
	results := make([]error, racers)
	var all sync.WaitGroup
	for i := range racers {
		all.Add(1)
		go func() {
			defer all.Done()
			results[i] = log.AppendAt(context.Background(), stream, 0, Facts(0, 2))
		}()
	}
	all.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, store.ErrConflict) {
			t.Errorf("got %v, want a conflict", err)
		}
	}
	if won != 1 {
		t.Errorf("%d appends won, want 1", won)
	}
	expectFacts(t, read(t, log, stream), Facts(0, 2))
}

func closed(t *testing.T, log Log) {
	mustAppend(t, log, stream, Facts(0, 1))
	if err := log.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if err := log.AppendAt(context.Background(), stream, 1, Facts(1, 1)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("append to a closed log: got %v, want ErrClosed", err)
	}
	if err := log.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}

// keys gives the names of a map in order.
func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
