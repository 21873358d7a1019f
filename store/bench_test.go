package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"sluice/engine"
)

// benchFact is about as large as the facts of a node (P47: 430 B).
func benchFact(seq int64) engine.Fact {
	data := append([]byte(`{"filler":"`), bytes.Repeat([]byte("x"), 417)...)
	return engine.Fact{Seq: seq, At: 1_700_000_000_000_000, Kind: engine.AttemptEnded, Cause: seq, Version: 1, Node: "node-1",
		Attempt: 1, Actor: "tool:noop", Data: append(data, `"}`...)}
}

func benchStore(b *testing.B) *Store {
	b.Helper()
	s, err := Open(context.Background(), Options{Path: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkAppendSingle commits one fact at a time: the cost of a step in a chain.
func BenchmarkAppendSingle(b *testing.B) {
	s := benchStore(b)
	b.ReportAllocs()
	for i := range int64(b.N) {
		if err := s.AppendAt(context.Background(), "run/r_bench", i, []engine.Fact{benchFact(i + 1)}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendSummary is BenchmarkAppendSingle with the run's summary in each commit.
func BenchmarkAppendSummary(b *testing.B) {
	s := benchStore(b)
	result := make(chan error, 1)
	b.ResetTimer()
	for i := range int64(b.N) {
		summary := engine.Summary{ID: "r_bench", Seq: i + 1, Goal: "g", Status: engine.Active}
		s.Append(Append{Stream: "run/r_bench", Expected: i, Facts: []engine.Fact{benchFact(i + 1)}, Summary: &summary},
			func(err error) { result <- err })
		if err := <-result; err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppendBatch100 commits a hundred facts at a time and reports the cost of one.
func BenchmarkAppendBatch100(b *testing.B) {
	const width = 100
	s := benchStore(b)
	facts := make([]engine.Fact, width)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range int64(b.N) {
		for k := range facts {
			facts[k] = benchFact(i*width + int64(k) + 1)
		}
		if err := s.AppendAt(context.Background(), "run/r_bench", i*width, facts); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*width), "ns/row")
}

// BenchmarkAppendGroup shows group commit: many runs append one fact each at once.
func BenchmarkAppendGroup(b *testing.B) {
	const runs = 64
	s := benchStore(b)
	b.ResetTimer()
	var all sync.WaitGroup
	for r := range runs {
		all.Add(1)
		go func() {
			defer all.Done()
			stream := fmt.Sprintf("run/r_%d", r)
			for i := range int64(b.N/runs + 1) {
				if err := s.AppendAt(context.Background(), stream, i, []engine.Fact{benchFact(i + 1)}); err != nil {
					b.Error(err)
					return
				}
			}
		}()
	}
	all.Wait()
	b.ReportMetric(float64(s.Commits())/float64(b.N), "commits/row")
}

// BenchmarkBareSingle and BenchmarkBareBatch100 are the limit: prepared inserts
// of the same bytes without hashes, salts, triggers or a queue.
func BenchmarkBareSingle(b *testing.B)   { benchBare(b, 1) }
func BenchmarkBareBatch100(b *testing.B) { benchBare(b, 100) }

func benchBare(b *testing.B, width int) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(0)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE log (run TEXT NOT NULL, seq INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (run, seq))"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO log VALUES (?, ?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	data := benchFact(1).Data
	b.ResetTimer()
	for i := range b.N {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		for k := range width {
			if _, err := tx.Stmt(insert).Exec("r_bench", i*width+k, data); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*width), "ns/row")
}
