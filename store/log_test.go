package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sluice/engine"
	"sluice/store"
	"sluice/store/storetest"
)

func TestP27_TheTableRefusesWhatIsNotAnAppend(t *testing.T) {
	s := open(t)
	mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 3)...)
	db := attack(t, s)
	const columns = "(id,at,kind,cause,plan_version,node,attempt,actor,data,salt,data_hash,hash)"
	const like = columns + " SELECT %d,at,kind,cause,plan_version,node,attempt,actor,data,salt,data_hash,hash FROM facts WHERE id = 4294967297"
	for name, query := range map[string]string{
		"change a column":        "UPDATE facts SET actor = 'user:9' WHERE id = 4294967298",
		"change data":            "UPDATE facts SET data = x'7b7d' WHERE id = 4294967298",
		"erase data, not salt":   "UPDATE facts SET data = NULL WHERE id = 4294967298",
		"erase and change":       "UPDATE facts SET data = NULL, salt = NULL, at = 5 WHERE id = 4294967298",
		"delete a row":           "DELETE FROM facts WHERE id = 4294967299",
		"delete all":             "DELETE FROM facts",
		"replace a row":          fmt.Sprintf("INSERT OR REPLACE INTO facts "+like, 4294967298),
		"replace the last row":   fmt.Sprintf("INSERT OR REPLACE INTO facts "+like, 4294967299),
		"replace the first row":  fmt.Sprintf("INSERT OR REPLACE INTO facts "+like, 4294967297),
		"leave a gap":            fmt.Sprintf("INSERT INTO facts "+like, 4294967301),
		"seq 0":                  fmt.Sprintf("INSERT INTO facts "+like, 2<<32),
		"a stream nobody named":  fmt.Sprintf("INSERT INTO facts "+like, 2<<32+1),
		"rename a stream":        "UPDATE streams SET name = 'run/r_b'",
		"remove a stream":        "DELETE FROM streams",
		"replace a stream":       "INSERT OR REPLACE INTO streams VALUES (1, 'run/r_b', 1)",
		"replace a stream's key": "INSERT OR REPLACE INTO streams VALUES (2, 'run/r_a', 1)",
	} {
		if _, err := db.Exec(query); err == nil {
			t.Errorf("%s: the database took it", name)
		}
	}
	report, err := s.Verify(ctx, store.VerifyOptions{})
	if err != nil || !report.OK || report.Streams[0].Seq != 3 {
		t.Errorf("got %+v %v, want three facts as they were", report, err)
	}
	mustExec(t, db, fmt.Sprintf("INSERT INTO facts "+like, 4294967300)) // the next id is the one thing let in
}

func TestP27_TheViewGivesTheDerivedColumns(t *testing.T) {
	s := open(t)
	first := engine.Fact{Seq: 1, At: 1_700_000_000_000_042, Kind: engine.RunCreated, Cause: 1, Data: []byte(`{"a":1}`)}
	mustAppend(t, s, "run/r_a", 0, first)
	mustAppend(t, s, "run/r_a", 1, storetest.Fact(2))
	rows, err := s.Facts(ctx, "run/r_a", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	db := attack(t, s)
	for i, row := range rows {
		var stream, run, at string
		var id, seq, v int64
		var prev, data []byte
		if err := db.QueryRow("SELECT id, stream, seq, v, run, at, prev_hash, data FROM facts_v WHERE seq = ?", i+1).
			Scan(&id, &stream, &seq, &v, &run, &at, &prev, &data); err != nil {
			t.Fatal(err)
		}
		if id != 1<<32+int64(i)+1 || stream != "run/r_a" || seq != row.Seq || v != engine.FormatVersion || run != "r_a" {
			t.Errorf("row %d: got id %d stream %s seq %d v %d run %s", i, id, stream, seq, v, run)
		}
		if at != engine.WireTime(row.At) || !bytes.Equal(prev, row.PrevHash) || !bytes.Equal(data, row.Data) {
			t.Errorf("row %d: got at %s prev %x data %s, want %s %x %s", i, at, prev, data, engine.WireTime(row.At), row.PrevHash, row.Data)
		}
	}
	if got := engine.WireTime(first.At); got != "2023-11-14T22:13:20.000042Z" {
		t.Errorf("time form is %s", got)
	}
}

func TestP31_ManyRequestsShareACommit(t *testing.T) {
	s := open(t)
	const runs = 50
	mustAppend(t, s, store.Admin, 0, storetest.Fact(1))
	before := s.Commits()
	// The first request's callback holds the writer until all others are queued:
	// they must then share one transaction.
	queued, results := make(chan struct{}), make(chan error, runs+1)
	s.Append(store.Append{Stream: store.Admin, Expected: 1, Facts: storetest.Facts(1, 1)}, func(err error) {
		<-queued
		results <- err
	})
	for i := range runs {
		s.Append(store.Append{Stream: fmt.Sprintf("run/r_%d", i), Facts: storetest.Facts(0, 2)}, func(err error) { results <- err })
	}
	close(queued)
	for range runs + 1 {
		if err := <-results; err != nil {
			t.Fatalf("append: %v", err)
		}
	}
	// The first may have been joined by some of the others.
	if got := s.Commits() - before; got < 1 || got > 2 {
		t.Errorf("%d requests took %d commits, want 1 or 2", runs+1, got)
	}
}

func TestP31_AConflictFailsAloneInItsCommit(t *testing.T) {
	s := open(t)
	held, results := make(chan struct{}), make(chan error, 1)
	s.Append(store.Append{Stream: store.Admin, Facts: storetest.Facts(0, 1)}, func(err error) { <-held; results <- err })
	got := make(map[string]error)
	var mutex sync.Mutex
	var all sync.WaitGroup
	send := func(name string, a store.Append) {
		all.Add(1)
		s.Append(a, func(err error) {
			mutex.Lock()
			defer mutex.Unlock()
			got[name] = err
			all.Done()
		})
	}
	send("good", store.Append{Stream: "run/r_a", Facts: storetest.Facts(0, 2)})
	send("behind", store.Append{Stream: "run/r_a", Facts: storetest.Facts(0, 1)})
	send("follows", store.Append{Stream: "run/r_a", Expected: 2, Facts: storetest.Facts(2, 1)})
	send("ahead", store.Append{Stream: "run/r_b", Expected: 7, Facts: storetest.Facts(7, 1)})
	close(held)
	all.Wait()
	if err := <-results; err != nil {
		t.Errorf("first: %v", err)
	}
	for name, wantConflict := range map[string]bool{"good": false, "behind": true, "follows": false, "ahead": true} {
		if isConflict := errors.Is(got[name], store.ErrConflict); isConflict != wantConflict || got[name] != nil && !isConflict {
			t.Errorf("%s: got %v, want conflict: %v", name, got[name], wantConflict)
		}
	}
	if a, b := head(t, s, "run/r_a"), head(t, s, "run/r_b"); a != 3 || b != 0 {
		t.Errorf("heads are %d and %d, want 3 and 0", a, b)
	}
	var conflict *store.ConflictError
	if !errors.As(got["behind"], &conflict) || conflict.Head != 2 || conflict.Expected != 0 {
		t.Errorf("the conflict is %+v, want expected 0 and head 2", conflict)
	}
}

func TestP31_AFailedCommitFailsAllAndIsForgotten(t *testing.T) {
	s := open(t)
	mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 1)...)
	db := attack(t, s)
	mustExec(t, db, "CREATE TRIGGER trap BEFORE INSERT ON facts WHEN NEW.node = 'n3' BEGIN SELECT RAISE(ABORT, 'trap'); END")
	held, results := make(chan struct{}), make(chan error, 2)
	s.Append(store.Append{Stream: store.Admin, Facts: storetest.Facts(0, 1)}, func(error) { <-held })
	s.Append(store.Append{Stream: "run/r_a", Expected: 1, Facts: storetest.Facts(1, 2)}, func(err error) { results <- err })
	s.Append(store.Append{Stream: "run/r_b", Facts: storetest.Facts(0, 1)}, func(err error) { results <- err })
	close(held)
	first, second := <-results, <-results
	if first == nil || errors.Is(first, store.ErrConflict) {
		t.Errorf("trapped append: got %v, want an operating failure", first)
	}
	if second != nil && head(t, s, "run/r_b") != 0 {
		t.Errorf("the failed companion left facts: %v", second)
	}
	mustExec(t, db, "DROP TRIGGER trap")
	if got := head(t, s, "run/r_a"); got != 1 {
		t.Fatalf("head is %d after a failed commit, want 1", got)
	}
	mustAppend(t, s, "run/r_a", 1, storetest.Facts(1, 2)...)
	if report, err := s.Verify(ctx, store.VerifyOptions{}); err != nil || !report.OK {
		t.Errorf("got %+v %v, want a whole log after the failure", report, err)
	}
}

func TestP31a_TheWALIsGrownBeforeTheFirstCommitAndStays(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(ctx, store.Options{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	size := func() int64 {
		info, err := os.Stat(s.Path() + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	if before < 32<<20 {
		t.Fatalf("WAL has %d bytes after opening, want at least 32 MiB", before)
	}
	for i := range int64(20) {
		mustAppend(t, s, "run/r_a", i, storetest.Fact(i+1))
	}
	if after := size(); after != before {
		t.Errorf("commits changed the WAL from %d to %d bytes", before, after)
	}
	info, err := os.Stat(s.Path())
	if err != nil || info.Size() > 4<<20 {
		t.Errorf("growing the WAL left a database of %d bytes (%v)", info.Size(), err)
	}
}

func TestP31a_AWALInUseIsCheckpointedWhileServing(t *testing.T) {
	s := open(t)
	filler := append(append([]byte(`{"filler":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}`...)
	for i := range int64(30) {
		fact := storetest.Fact(i + 1)
		fact.Data = filler
		mustAppend(t, s, "run/r_a", i, fact)
	}
	// 30 MiB went through; without checkpoints the WAL would hold all of it and
	// the database next to nothing. The checkpoint runs beside the writer.
	tick, deadline := time.NewTicker(time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for {
		info, err := os.Stat(s.Path())
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() >= 8<<20 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the database has %d bytes, want at least 8 MiB moved out of the WAL", info.Size())
		}
	}
}

// copyCrashed copies the files of an open store as a killed process leaves
// them: the WAL not merged, its index lost.
func copyCrashed(t *testing.T, s *store.Store) string {
	t.Helper()
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal"} {
		bytes, err := os.ReadFile(s.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, store.FileName+suffix), bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestR53_CommittedFactsSurviveAKill(t *testing.T) {
	s := open(t)
	mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 4)...)
	for name, readOnly := range map[string]bool{"read-only": true, "writing": false} {
		again, err := store.Open(ctx, store.Options{Path: copyCrashed(t, s), ReadOnly: readOnly, WALBytes: -1})
		if err != nil {
			t.Fatalf("%s: open after a kill: %v", name, err)
		}
		if got := head(t, again, "run/r_a"); got != 4 {
			t.Errorf("%s: head is %d after a kill, want 4", name, got)
		}
		_ = again.Close()
	}
}

func TestP27_AnOversizedFactLeavesTheHeadAlone(t *testing.T) {
	s := open(t)
	largest := append(append([]byte(`{"x":"`), bytes.Repeat([]byte("x"), engine.FactBytesMax-8)...), `"}`...)
	fact := storetest.Fact(1)
	fact.Data = largest
	mustAppend(t, s, "run/r_a", 0, fact)
	_, before, _ := s.Head(ctx, "run/r_a")
	fact = storetest.Fact(2)
	fact.Data = append(append([]byte(`{"x":"`), bytes.Repeat([]byte("x"), engine.FactBytesMax)...), `"}`...)
	if err := s.AppendAt(ctx, "run/r_a", 1, []engine.Fact{fact}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, want the fact refused", err)
	}
	if seq, hash, _ := s.Head(ctx, "run/r_a"); seq != 1 || !bytes.Equal(hash, before) {
		t.Errorf("the refused fact moved the head to %d %x", seq, hash)
	}
}
