package store_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine"
	"sluice/store"
	"sluice/store/storetest"
)

var dropTriggers = []string{"facts_next", "facts_erase_only", "facts_keep", "streams_next", "streams_fixed", "streams_keep",
	"seals_next", "seals_fixed", "seals_keep"}

// disarm opens the database past the store and takes its triggers away.
func disarm(t testing.TB, s *store.Store) *sql.DB {
	t.Helper()
	db := attack(t, s)
	for _, trigger := range dropTriggers {
		mustExec(t, db, "DROP TRIGGER "+trigger)
	}
	return db
}

func sealKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

func mustSeal(t testing.TB, s *store.Store) {
	t.Helper()
	if _, err := s.Seal(ctx, sealKey(), 1_700_000_000_000_000); err != nil {
		t.Fatalf("seal: %v", err)
	}
}

func export(t testing.TB, s *store.Store) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := s.WriteExport(ctx, &out); err != nil {
		t.Fatalf("export: %v", err)
	}
	return out.Bytes()
}

// sealLines are the lines of an export that are seals.
func sealLines(export []byte) []byte {
	var seals []byte
	for line := range bytes.Lines(export) {
		if bytes.HasPrefix(line, []byte(`{"seal":`)) {
			seals = append(seals, line...)
		}
	}
	return seals
}

func verify(t testing.TB, s *store.Store, o store.VerifyOptions) store.Report {
	t.Helper()
	report, err := s.Verify(ctx, o)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	return report
}

// expectStatus wants one stream at a status and the report to say so as a whole.
func expectStatus(t testing.TB, report store.Report, stream, status string, seq int64) {
	t.Helper()
	for _, s := range report.Streams {
		if s.Stream != stream {
			continue
		}
		if s.Status != status || s.Seq != seq || (s.Reason == "") != (status == store.StatusOK) {
			t.Errorf("got %+v, want %s at %d", s, status, seq)
		}
		if isGood := status == store.StatusOK || status == store.StatusErased; !isGood && report.OK {
			t.Errorf("the report is ok with %+v", s)
		}
		return
	}
	t.Errorf("no stream %s in %+v", stream, report)
}

// threeStreams is a store with two runs and admin, five facts each.
func threeStreams(t testing.TB) *store.Store {
	s := open(t)
	for _, stream := range []string{"run/r_a", store.Admin, "run/r_b"} {
		mustAppend(t, s, stream, 0, storetest.Facts(0, 5)...)
	}
	return s
}

func TestR81_AWholeLogVerifies(t *testing.T) {
	s := threeStreams(t)
	mustSeal(t, s)
	report := verify(t, s, store.VerifyOptions{Seal: export(t, s), PublicKey: sealKey().Public().(ed25519.PublicKey)})
	if !report.OK || len(report.Streams) != 3 {
		t.Errorf("got %+v, want three whole streams", report)
	}
	for _, stream := range []string{store.Admin, "run/r_a", "run/r_b"} {
		expectStatus(t, report, stream, store.StatusOK, 5)
	}
}

func TestR81_EveryChangedColumnIsFound(t *testing.T) {
	for name, query := range map[string]string{
		"at":           "UPDATE facts SET at = at + 1",
		"kind":         "UPDATE facts SET kind = 'run.created'",
		"cause":        "UPDATE facts SET cause = cause + 1",
		"plan_version": "UPDATE facts SET plan_version = plan_version + 1",
		"node":         "UPDATE facts SET node = 'other'",
		"attempt":      "UPDATE facts SET attempt = attempt + 1",
		"actor":        "UPDATE facts SET actor = 'user:1'",
		"data":         "UPDATE facts SET data = CAST('{\"x\":2}' AS BLOB)",
		"salt":         "UPDATE facts SET salt = zeroblob(16)",
		"data_hash":    "UPDATE facts SET data_hash = zeroblob(32)",
		"hash":         "UPDATE facts SET hash = zeroblob(32)",
		"data gone":    "UPDATE facts SET data = NULL",
		"salt gone":    "UPDATE facts SET salt = NULL",
		"both gone":    "UPDATE facts SET data = NULL, salt = NULL",
		"row gone":     "DELETE FROM facts",
		"row moved":    "UPDATE facts SET id = id + 100",
	} {
		t.Run(name, func(t *testing.T) {
			s := threeStreams(t)
			mustExec(t, disarm(t, s), query+" WHERE id = (1 << 32) + 3")
			report := verify(t, s, store.VerifyOptions{})
			expectStatus(t, report, "run/r_a", store.StatusBroken, 3)
			expectStatus(t, report, "run/r_b", store.StatusOK, 5)
		})
	}
}

func TestR81_AFlippedByteIsFound(t *testing.T) {
	s := threeStreams(t)
	db := disarm(t, s)
	columns := []string{"kind", "node", "actor", "data", "salt", "data_hash", "hash"}
	rapid.Check(t, func(rt *rapid.T) {
		id := int64(rapid.IntRange(1, 3).Draw(rt, "stream"))<<32 + int64(rapid.IntRange(1, 5).Draw(rt, "seq"))
		column := rapid.SampledFrom(columns).Draw(rt, "column")
		read := fmt.Sprintf("SELECT CAST(%s AS BLOB) FROM facts WHERE id = ?", column)
		write := fmt.Sprintf("UPDATE facts SET %s = CASE WHEN typeof(%s) = 'text' THEN CAST(?1 AS TEXT) ELSE ?1 END WHERE id = ?2", column, column)
		var value []byte
		if err := db.QueryRow(read, id).Scan(&value); err != nil {
			rt.Fatalf("read %s of %d: %v", column, id, err)
		}
		flipped := bytes.Clone(value)
		flipped[rapid.IntRange(0, len(value)-1).Draw(rt, "byte")] ^= 1 << rapid.IntRange(0, 6).Draw(rt, "bit")
		if _, err := db.Exec(write, flipped, id); err != nil {
			rt.Fatal(err)
		}
		report, err := s.Verify(ctx, store.VerifyOptions{})
		if _, undo := db.Exec(write, value, id); undo != nil {
			rt.Fatal(undo)
		}
		if err != nil || report.OK {
			rt.Fatalf("%s of %d flipped from %q to %q: got %+v %v, want it found", column, id, value, flipped, report, err)
		}
	})
	if report := verify(t, s, store.VerifyOptions{}); !report.OK {
		t.Errorf("the log is %+v after every flip was undone", report)
	}
}

func TestR81_ChangedTypesAndStreamsAreFound(t *testing.T) {
	for name, query := range map[string]string{
		"format":         "UPDATE streams SET v = 2 WHERE number = 1",
		"name":           "UPDATE streams SET name = 'run/r_c' WHERE number = 1",
		"name lost":      "DELETE FROM streams WHERE number = 1",
		"column type":    "UPDATE facts SET kind = CAST(kind AS BLOB) WHERE id = (1 << 32) + 2",
		"rows exchanged": "UPDATE facts SET data = (SELECT data FROM facts f WHERE f.id = (3 << 32) + 2), salt = (SELECT salt FROM facts f WHERE f.id = (3 << 32) + 2) WHERE id = (1 << 32) + 2",
	} {
		t.Run(name, func(t *testing.T) {
			s := threeStreams(t)
			db := disarm(t, s)
			mustExec(t, db, query)
			if report := verify(t, s, store.VerifyOptions{}); report.OK {
				t.Errorf("got %+v, want the change found", report)
			}
		})
	}
}

func TestR81_ADroppedTableIsAFindingNotAFailure(t *testing.T) {
	s := threeStreams(t)
	db := disarm(t, s)
	mustExec(t, db, "DROP VIEW facts_v")
	mustExec(t, db, "DROP TABLE facts")
	report := verify(t, s, store.VerifyOptions{})
	expectStatus(t, report, "run/r_a", store.StatusTruncated, 0)
	expectStatus(t, report, "database", store.StatusBroken, 0)
}

func TestP36a_WhatAChainCannotShowASealDoes(t *testing.T) {
	rewrite := func(t *testing.T, _ *store.Store, db *sql.DB) {
		// A whole stream that is well chained, taken from another store.
		other := open(t)
		facts := storetest.Facts(0, 5)
		facts[2].Actor = "user:99"
		mustAppend(t, other, "run/r_a", 0, facts...)
		mustExec(t, db, "ATTACH ? AS other", other.Path())
		mustExec(t, db, "DELETE FROM facts WHERE id >> 32 = 1")
		mustExec(t, db, "INSERT INTO facts SELECT * FROM other.facts")
	}
	run := func(queries ...string) func(*testing.T, *store.Store, *sql.DB) {
		return func(t *testing.T, _ *store.Store, db *sql.DB) {
			for _, query := range queries {
				mustExec(t, db, query)
			}
		}
	}
	const noSeals = "DELETE FROM seals"
	for _, test := range []struct {
		name   string
		attack func(*testing.T, *store.Store, *sql.DB)
		status string
		seq    int64
	}{
		{"dropped tail", run("DELETE FROM facts WHERE id IN ((1 << 32) + 4, (1 << 32) + 5)"), store.StatusTruncated, 3},
		{"removed stream", run("DELETE FROM facts WHERE id >> 32 = 1", "DELETE FROM streams WHERE number = 1"), store.StatusMissing, 0},
		{"rewritten whole", rewrite, store.StatusBroken, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := threeStreams(t)
			mustSeal(t, s)
			whole := export(t, s)
			db := disarm(t, s)
			db.SetMaxOpenConns(1) // ATTACH belongs to a connection
			test.attack(t, s, db)
			expectStatus(t, verify(t, s, store.VerifyOptions{}), "run/r_a", test.status, test.seq)
			mustExec(t, db, noSeals)
			if test.status != store.StatusBroken { // an attacker thorough enough leaves no trace inside
				if report := verify(t, s, store.VerifyOptions{}); !report.OK {
					t.Errorf("without seals: got %+v, expected nothing to be seen", report)
				}
			}
			for name, outside := range map[string][]byte{"export": whole, "seal lines": sealLines(whole)} {
				report := verify(t, s, store.VerifyOptions{Seal: outside})
				expectStatus(t, report, "run/r_a", test.status, test.seq)
				expectStatus(t, report, "run/r_b", store.StatusOK, 5)
				expectStatus(t, report, "seals", map[bool]string{true: store.StatusTruncated}[len(outside) > 0], 0)
				if report.OK {
					t.Errorf("%s: the report is ok", name)
				}
			}
		})
	}
}

func TestP36a_ASealCoversStreamsThatDidNotMove(t *testing.T) {
	s := threeStreams(t)
	mustSeal(t, s)
	mustAppend(t, s, "run/r_b", 5, storetest.Facts(5, 1)...)
	mustSeal(t, s)
	seals, err := s.Seals(ctx)
	if err != nil || len(seals) != 2 || len(seals[1].Heads) != 1 {
		t.Fatalf("got %+v %v, want two seals, the second with one head", seals, err)
	}
	if again, err := s.Seal(ctx, sealKey(), 2); again != nil || err != nil {
		t.Errorf("sealing twice: got %+v %v, want nothing to do", again, err)
	}
	lines := bytes.SplitAfter(bytes.TrimSpace(sealLines(export(t, s))), []byte("\n"))
	db := disarm(t, s)
	mustExec(t, db, "DELETE FROM facts WHERE id = (1 << 32) + 5")
	// The newest seal by itself says where every stream stood.
	expectStatus(t, verify(t, s, store.VerifyOptions{Seal: lines[1]}), "run/r_a", store.StatusTruncated, 4)
	mustExec(t, db, "DELETE FROM seals")
	expectStatus(t, verify(t, s, store.VerifyOptions{Seal: lines[1]}), "run/r_a", store.StatusTruncated, 4)
}

func TestP36a_SealsGoOnAfterReopening(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 2)...)
	mustSeal(t, s)
	_ = s.Close()
	s = openAt(t, dir)
	if seal, err := s.Seal(ctx, sealKey(), 5); seal != nil || err != nil {
		t.Errorf("sealing an unmoved log: got %+v %v, want nothing", seal, err)
	}
	mustAppend(t, s, "run/r_b", 0, storetest.Facts(0, 2)...)
	seal, err := s.Seal(ctx, sealKey(), 6)
	if err != nil || seal == nil || seal.N != 2 || len(seal.Heads) != 1 || seal.Heads[0].Stream != "run/r_b" {
		t.Fatalf("got %+v %v, want seal 2 with the head of r_b", seal, err)
	}
	if report := verify(t, s, store.VerifyOptions{}); !report.OK {
		t.Errorf("got %+v, want all whole", report)
	}
}

func TestP36a_AForgedSealIsFound(t *testing.T) {
	public := sealKey().Public().(ed25519.PublicKey)
	for name, query := range map[string]string{
		"signature": "UPDATE seals SET sig = zeroblob(64) WHERE n = 1",
		"time":      "UPDATE seals SET at = at + 1 WHERE n = 1",
		"root":      "UPDATE seals SET root = zeroblob(32) WHERE n = 1",
		"heads":     "UPDATE seals SET heads = CAST(substr(heads, 1, length(heads) - 1) || x'00' AS BLOB) WHERE n = 1",
		"cut heads": "UPDATE seals SET heads = substr(heads, 1, 20) WHERE n = 1",
		"key":       "UPDATE seals SET key = zeroblob(32) WHERE n = 1",
		"first":     "DELETE FROM seals WHERE n = 1",
	} {
		t.Run(name, func(t *testing.T) {
			s := threeStreams(t)
			mustSeal(t, s)
			mustAppend(t, s, "run/r_a", 5, storetest.Facts(5, 1)...)
			mustSeal(t, s)
			mustExec(t, disarm(t, s), query)
			report := verify(t, s, store.VerifyOptions{PublicKey: public})
			if report.OK || !strings.Contains(fmt.Sprint(report.Streams), "seals") {
				t.Errorf("got %+v, want the seals broken", report)
			}
		})
	}
	t.Run("sealed anew with another key", func(t *testing.T) {
		s := threeStreams(t)
		mustSeal(t, s)
		outside := sealLines(export(t, s))
		mustExec(t, disarm(t, s), "DELETE FROM seals")
		forger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
		_ = s.Close()
		again, err := store.Open(ctx, store.Options{Path: s.Path(), WALBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = again.Close() }()
		if _, err := again.Seal(ctx, forger, 9); err != nil {
			t.Fatal(err)
		}
		if report := verify(t, again, store.VerifyOptions{PublicKey: public}); report.OK {
			t.Errorf("known key: got %+v, want the forged seal found", report)
		}
		if report := verify(t, again, store.VerifyOptions{Seal: outside}); report.OK {
			t.Errorf("seal outside: got %+v, want the forged seal found", report)
		}
	})
}

func TestP36a_UselessEvidenceIsRefused(t *testing.T) {
	s := threeStreams(t)
	for _, text := range []string{"", "\n\n", "not json", `{"other":1}`, `{"seal":1,"at":"yesterday"}`,
		`{"stream":"run/r_a","seq":1,"hash":"abcd"}`} {
		if _, err := s.Verify(ctx, store.VerifyOptions{Seal: []byte(text)}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: got %v, want invalid", text, err)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Verify(canceled, store.VerifyOptions{}); err == nil {
		t.Error("a canceled verification gave a report")
	}
}

func TestR59_ExportLinesNameWhatTheyAreAbout(t *testing.T) {
	s := open(t)
	mustAppend(t, s, "run/r_a", 0, engine.Fact{Seq: 1, At: 1_700_000_000_000_042, Kind: "node.changed", Cause: 1, Version: 2,
		Node: `n"1`, Attempt: 3, Actor: "user:1", Data: []byte(`{"text":"<é>"}`)})
	mustAppend(t, s, store.Admin, 0, storetest.Fact(1))
	mustSeal(t, s)
	lines := strings.Split(strings.TrimSpace(string(export(t, s))), "\n")
	if len(lines) != 3 {
		t.Fatalf("got %d lines, want two facts and a seal", len(lines))
	}
	rows, _ := s.Facts(ctx, "run/r_a", 0, 0)
	want := fmt.Sprintf(`{"id":4294967297,"stream":"run/r_a","seq":1,"v":1,"run":"r_a","at":"2023-11-14T22:13:20.000042Z",`+
		`"kind":"node.changed","cause":1,"plan_version":2,"node":"n\"1","attempt":3,"actor":"user:1","data":{"text":"<é>"},`+
		`"salt":"%x","data_hash":"%x","prev_hash":"%064d","hash":"%x"}`, rows[0].Salt, rows[0].DataHash, 0, rows[0].Hash)
	if lines[0] != want {
		t.Errorf("got  %s\nwant %s", lines[0], want)
	}
	if !strings.Contains(lines[1], `"stream":"admin"`) || !strings.HasPrefix(lines[2], `{"seal":1,`) {
		t.Errorf("got %s and %s, want a fact of admin and a seal", lines[1], lines[2])
	}
}
