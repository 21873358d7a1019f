package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine"
	"sluice/store"
)

// TestP33_VerifyHoldsProjectionsAgainstAFold edits what pages read and what a
// run goes on from, without touching a fact; the verifier must say so.
func TestP33_VerifyHoldsProjectionsAgainstAFold(t *testing.T) {
	for name, edit := range map[string]string{
		"snapshot": "UPDATE snapshots SET data = CAST(data || X'00' AS BLOB)",
		"summary":  `UPDATE runs SET summary = CAST(replace(CAST(summary AS TEXT), '"status":"waiting"', '"status":"ended"') AS BLOB)`,
		"goal":     `UPDATE runs SET summary = CAST(replace(CAST(summary AS TEXT), 'delete notes.txt', 'read notes.txt') AS BLOB)`,
		"columns":  "UPDATE runs SET status = 'ended', code = 'SUCCESS'",
		"erased":   "UPDATE runs SET erased = 1",
		"hidden":   "DELETE FROM runs",
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t)
			waitingRun(t, cfg)
			if report, err := verifyLog(context.Background(), cfg, ""); err != nil || !report.OK {
				t.Fatalf("before the edit: got %v and %+v, want a log that verifies", err, report)
			}
			db, err := sql.Open("sqlite", filepath.Join(cfg.Data, store.FileName))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(edit); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			report, err := verifyLog(context.Background(), cfg, "")
			if err != nil || report.OK {
				t.Fatalf("after the edit: got %v and %+v, want it found", err, report)
			}
			found := false
			for _, s := range report.Streams {
				found = found || s.Status == store.StatusBroken && (strings.Contains(s.Reason, "is not what the facts say") || strings.Contains(s.Reason, "list of runs"))
			}
			if !found {
				t.Errorf("got %+v, want a reason that names the projection", report.Streams)
			}
		})
	}
}

// waitingRun leaves a closed data directory with one run that waits for approval.
func waitingRun(t *testing.T, cfg config) {
	t.Helper()
	a, err := open(context.Background(), cfg, &safeBuffer{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	raw, err := a.runHere(context.Background(), &runRequest{Goal: "delete notes.txt", Intent: "override", Mode: "reflect"})
	if err != nil || !strings.Contains(string(raw), string(engine.Waiting)) {
		t.Fatalf("got %v and %s, want a waiting run", err, raw)
	}
	for deadline := time.Now().Add(restWithin); a.shell.Live() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the waiting run was not evicted")
		}
	}
}
