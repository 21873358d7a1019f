package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/engine"
	"sluice/store"
	"sluice/store/storetest"
)

const canary = "CANARY-7f3a9c"

// grep counts the canary in all files of a store's directory.
func grep(t testing.TB, s *store.Store, word string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(s.Path() + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of %s: %v", s.Path(), err)
	}
	found := make(map[string]int)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if count := bytes.Count(content, []byte(word)); count > 0 {
			found[filepath.Base(file)] = count
		}
	}
	return found
}

// secretive is a fact whose data holds the canary.
func secretive(seq int64, kind engine.Kind, pad int) engine.Fact {
	fact := storetest.Fact(seq)
	fact.Kind = kind
	fact.Data = fmt.Appendf(nil, `{"text":"%s %s"}`, canary, strings.Repeat("p", pad))
	return fact
}

// canaryRun fills a store with a run full of canaries, interleaved with another
// run so that pages are split and rows moved.
func canaryRun(t *testing.T, s *store.Store) {
	t.Helper()
	const rounds = 60
	for i := range int64(rounds) {
		pad := int(i*i*7) % 9_000 // some rows go to overflow pages
		summary := &engine.Summary{ID: "r_a", Seq: i + 1, Goal: fmt.Sprint(canary, i), Status: engine.Active, Requester: "user:1"}
		result := make(chan error, 1)
		s.Append(store.Append{Stream: "run/r_a", Expected: i, Facts: []engine.Fact{secretive(i+1, engine.NodeChanged, pad)},
			Summary: summary}, func(err error) { result <- err })
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		mustAppend(t, s, "run/r_b", i, storetest.Fact(i+1))
	}
	ask := fmt.Sprintf(`{"id":"a_1","hash":"%s","expires_at":9,"asks":[{"rule":"%s"}],"tool":"file.delete","impact":200,"requester":"user:1"}`, canary, canary)
	decide := fmt.Sprintf(`{"id":"a_1","result":"denied","reason":"%s"}`, canary)
	mustAppend(t, s, "run/r_a", rounds,
		engine.Fact{Seq: rounds + 1, At: 5, Kind: engine.ApprovalRequested, Node: "del", Data: []byte(ask)},
		engine.Fact{Seq: rounds + 2, At: 6, Kind: engine.ApprovalDecided, Node: "del", Actor: "user:1", Data: []byte(decide)})
	for _, run := range []string{"r_a", "r_b"} {
		if _, err := s.PutBlob(ctx, run, []byte("shared")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.PutBlob(ctx, "r_a", []byte(canary+strings.Repeat("b", 100_000))); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveSnapshot(ctx, store.Snapshot{Run: "r_a", Seq: rounds, Version: 1, Data: []byte(canary)}); err != nil {
		t.Fatal(err)
	}
}

func endRun(t *testing.T, s *store.Store, run string) {
	t.Helper()
	at := head(t, s, store.StreamOf(run))
	mustAppend(t, s, store.StreamOf(run), at, secretive(at+1, engine.RunEnded, 10))
}

func TestP27_ErasedWordsAreInNoFile(t *testing.T) {
	s := open(t)
	canaryRun(t, s)
	endRun(t, s, "r_a")
	if found := grep(t, s, canary); len(found) == 0 {
		t.Fatal("the canary is nowhere before the erasure: the test shows nothing")
	}
	if err := s.Erase(ctx, store.Erasure{Run: "r_a", Reason: "asked to", Actor: "user:1", At: 1_700_000_000_000_000}); err != nil {
		t.Fatalf("erase: %v", err)
	}
	if found := grep(t, s, canary); len(found) != 0 {
		t.Errorf("the canary is still in %v", found)
	}
	report := verify(t, s, store.VerifyOptions{})
	expectStatus(t, report, "run/r_a", store.StatusErased, 64)
	expectStatus(t, report, "run/r_b", store.StatusOK, 60)
	expectStatus(t, report, store.Admin, store.StatusOK, 1)
	if !report.OK {
		t.Errorf("an erased log is not ok: %+v", report)
	}
}

func TestP27_AnErasureIsAFactAndReachesEveryProjection(t *testing.T) {
	s := open(t)
	canaryRun(t, s)
	endRun(t, s, "r_a")
	before, _ := s.Facts(ctx, "run/r_a", 0, 0)
	mustSeal(t, s)
	outside := export(t, s)
	if err := s.Erase(ctx, store.Erasure{Run: "r_a", Reason: "asked <to>", Actor: "user:1", At: 77}); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Facts(ctx, "run/r_a", 0, 0)
	if err != nil || len(rows) != len(before)+1 {
		t.Fatalf("got %d facts and %v, want %d", len(rows), err, len(before)+1)
	}
	for i := range before {
		if !rows[i].Erased || rows[i].Data != nil || rows[i].Salt != nil || !bytes.Equal(rows[i].Hash, before[i].Hash) {
			t.Fatalf("fact %d is %+v, want it erased under its old hash", i+1, rows[i])
		}
	}
	admin, _ := s.Facts(ctx, store.Admin, 0, 0)
	for _, record := range []engine.Row{rows[len(before)], admin[0]} {
		if record.Kind != engine.RunErased || record.Actor != "user:1" || record.At != 77 ||
			string(record.Data) != fmt.Sprintf(`{"run":"r_a","reason":"asked <to>","through":%d}`, len(before)) {
			t.Errorf("record is %+v %s", record, record.Data)
		}
	}
	run, err := s.Run(ctx, "r_a")
	if err != nil || !run.Erased || run.Goal != "" || run.Seq != int64(len(rows)) {
		t.Errorf("got %+v %v, want the run marked, without its goal, at %d", run, err, len(rows))
	}
	if err := s.SaveSummary(ctx, engine.Summary{ID: "r_a", Goal: canary, Seq: 1_000}); err != nil {
		t.Fatal(err)
	}
	if run, _ := s.Run(ctx, "r_a"); run.Goal != "" {
		t.Errorf("a late summary brought back %q", run.Goal)
	}
	if approval, err := s.Approval(ctx, "a_1"); err != nil || approval.Reason != "" || approval.State != store.ApprovalDenied {
		t.Errorf("got %+v %v, want the approval without its reason", approval, err)
	}
	if _, err := s.Snapshot(ctx, "r_a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("snapshot: got %v, want it gone", err)
	}
	report := verify(t, s, store.VerifyOptions{Seal: outside})
	expectStatus(t, report, "run/r_a", store.StatusErased, int64(len(rows)))
}

func TestP27_ErasingKeepsBlobsOfOthers(t *testing.T) {
	s := open(t)
	for _, run := range []string{"r_a", "r_b"} {
		mustAppend(t, s, store.StreamOf(run), 0, storetest.Fact(1))
		endRun(t, s, run)
	}
	shared, _ := s.PutBlob(ctx, "r_a", []byte("shared"))
	_, _ = s.PutBlob(ctx, "r_b", []byte("shared"))
	own, _ := s.PutBlob(ctx, "r_a", []byte("own"))
	if err := s.Erase(ctx, store.Erasure{Run: "r_a", Reason: "", Actor: "user:1", At: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Blob(ctx, own); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("own blob: got %v, want it gone", err)
	}
	if data, err := s.Blob(ctx, shared); err != nil || string(data) != "shared" {
		t.Errorf("shared blob: got %q %v", data, err)
	}
	if runs, _ := s.BlobRuns(ctx, shared); len(runs) != 1 || runs[0] != "r_b" {
		t.Errorf("shared blob belongs to %v, want r_b", runs)
	}
}

func TestP27_OnlyAnEndedRunIsErased(t *testing.T) {
	s := open(t)
	mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 2)...)
	if err := s.Erase(ctx, store.Erasure{Run: "r_a", Reason: "", Actor: "user:1", At: 1}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("live run: got %v, want a conflict", err)
	}
	if err := s.Erase(ctx, store.Erasure{Run: "r_none", Reason: "", Actor: "user:1", At: 1}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown run: got %v, want not found", err)
	}
	if a, admin := head(t, s, "run/r_a"), head(t, s, store.Admin); a != 2 || admin != 0 {
		t.Errorf("refused erasures moved heads to %d and %d", a, admin)
	}
	endRun(t, s, "r_a")
	for range 2 { // a second time changes nothing but says so again
		if err := s.Erase(ctx, store.Erasure{Run: "r_a", Reason: "", Actor: "user:1", At: 1}); err != nil {
			t.Fatalf("erase: %v", err)
		}
	}
	expectStatus(t, verify(t, s, store.VerifyOptions{}), "run/r_a", store.StatusErased, 5)
}

func TestP27_AnErasureWithoutItsRecordIsBroken(t *testing.T) {
	const nulled = "UPDATE facts SET data = NULL, salt = NULL WHERE id >> 32 = 1 AND kind <> 'run.erased'"
	t.Run("nothing on record", func(t *testing.T) {
		s := threeStreams(t)
		mustExec(t, attack(t, s), nulled) // the triggers allow it
		expectStatus(t, verify(t, s, store.VerifyOptions{}), "run/r_a", store.StatusBroken, 5)
	})
	erased := func(t *testing.T) *store.Store {
		s := open(t)
		mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 2)...)
		endRun(t, s, "r_a")
		if err := s.Erase(ctx, store.Erasure{Run: "r_a", Reason: "", Actor: "user:1", At: 1}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("facts behind the record", func(t *testing.T) {
		s := erased(t)
		mustAppend(t, s, "run/r_a", 4, storetest.Fact(5))
		expectStatus(t, verify(t, s, store.VerifyOptions{}), "run/r_a", store.StatusErased, 5)
		mustExec(t, attack(t, s), nulled)
		expectStatus(t, verify(t, s, store.VerifyOptions{}), "run/r_a", store.StatusBroken, 5)
	})
	t.Run("record in admin only forged in the run", func(t *testing.T) {
		s := erased(t)
		db := disarm(t, s)
		mustExec(t, db, "DELETE FROM facts WHERE id >> 32 = (SELECT number FROM streams WHERE name = 'admin')")
		mustExec(t, db, "DELETE FROM streams WHERE name = 'admin'")
		expectStatus(t, verify(t, s, store.VerifyOptions{}), "run/r_a", store.StatusBroken, 3)
	})
	t.Run("the record itself emptied", func(t *testing.T) {
		s := erased(t)
		mustExec(t, attack(t, s), "UPDATE facts SET data = NULL, salt = NULL WHERE id >> 32 = 1")
		expectStatus(t, verify(t, s, store.VerifyOptions{}), "run/r_a", store.StatusBroken, 4)
	})
}
