package store_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sluice/engine"
	"sluice/store"
	"sluice/store/storetest"
)

var ctx = context.Background()

// open gives a store in a directory of its own with a small WAL.
func open(t testing.TB) *store.Store {
	t.Helper()
	return openAt(t, t.TempDir())
}

func openAt(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(ctx, store.Options{Path: dir, WALBytes: -1})
	if err != nil {
		t.Fatalf("open store: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// attack opens the database file as somebody with an editor would, past the store.
func attack(t testing.TB, s *store.Store) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.Path()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func mustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func mustAppend(t testing.TB, s *store.Store, stream string, expected int64, facts ...engine.Fact) {
	t.Helper()
	if err := s.AppendAt(ctx, stream, expected, facts); err != nil {
		t.Fatalf("append to %s at %d: %v", stream, expected, err)
	}
}

func head(t testing.TB, s *store.Store, stream string) int64 {
	t.Helper()
	seq, _, err := s.Head(ctx, stream)
	if err != nil {
		t.Fatalf("head of %s: %v", stream, err)
	}
	return seq
}

func TestP31_StorePassesTheSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Log { return open(t) })
}

func TestR53_FactsSurviveReopening(t *testing.T) {
	dir := t.TempDir()
	first := openAt(t, dir)
	mustAppend(t, first, "run/r_a", 0, storetest.Facts(0, 3)...)
	if err := first.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	second := openAt(t, dir)
	mustAppend(t, second, "run/r_a", 3, storetest.Facts(3, 2)...)
	mustAppend(t, second, "run/r_b", 0, storetest.Facts(0, 1)...)
	report, err := second.Verify(ctx, store.VerifyOptions{})
	if err != nil || !report.OK || len(report.Streams) != 2 || report.Streams[0].Seq != 5 {
		t.Errorf("got %+v %v, want two whole streams, the first with 5 facts", report, err)
	}
}

func TestP34_ReadOnlyReadsWhileAnotherWrites(t *testing.T) {
	dir := t.TempDir()
	writer := openAt(t, dir)
	mustAppend(t, writer, "run/r_a", 0, storetest.Facts(0, 2)...)
	reader, err := store.Open(ctx, store.Options{Path: dir, ReadOnly: true})
	if err != nil {
		t.Fatalf("open for reading: %v", err)
	}
	defer func() { _ = reader.Close() }()
	mustAppend(t, writer, "run/r_a", 2, storetest.Facts(2, 1)...)
	if got := head(t, reader, "run/r_a"); got != 3 {
		t.Errorf("reader sees head %d, want 3", got)
	}
	if err := reader.AppendAt(ctx, "run/r_a", 3, storetest.Facts(3, 1)); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("append through a reader: got %v, want ErrReadOnly", err)
	}
	if got := head(t, writer, "run/r_a"); got != 3 {
		t.Errorf("head is %d after a refused append, want 3", got)
	}
}

func TestP34_ReadOnlyReadsAClosedStoreAndMakesNone(t *testing.T) {
	dir := t.TempDir()
	writer := openAt(t, dir)
	mustAppend(t, writer, "run/r_a", 0, storetest.Facts(0, 2)...)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := store.Open(ctx, store.Options{Path: dir, ReadOnly: true})
	if err != nil {
		t.Fatalf("open for reading: %v", err)
	}
	defer func() { _ = reader.Close() }()
	if got := head(t, reader, "run/r_a"); got != 2 {
		t.Errorf("head is %d, want 2", got)
	}
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := store.Open(ctx, store.Options{Path: missing, ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open a missing store for reading: got %v, want fs.ErrNotExist", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening for reading made %s", missing)
	}
}

func TestP34_ADirectoryIsLockedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	lock, err := store.LockDir(dir)
	if err != nil {
		t.Fatalf("lock: %v", err)
	}
	if _, err := store.LockDir(dir); !errors.Is(err, store.ErrLocked) {
		t.Errorf("second lock: got %v, want ErrLocked", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Errorf("unlock: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Errorf("unlock again: %v", err)
	}
	again, err := store.LockDir(dir)
	if err != nil {
		t.Fatalf("lock after unlock: %v", err)
	}
	_ = again.Unlock()
}

func TestP42_TheDatabaseIsClosedToOthers(t *testing.T) {
	s := open(t)
	mustAppend(t, s, "run/r_a", 0, storetest.Fact(1))
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(s.Path() + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s%s: got %v %v, want mode 0600", s.Path(), suffix, info.Mode(), err)
		}
	}
}

func TestP33_ANewerFormIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	mustExec(t, attack(t, s), "PRAGMA user_version = 99")
	_ = s.Close()
	if _, err := store.Open(ctx, store.Options{Path: dir, WALBytes: -1}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, want the newer form refused", err)
	}
}

// clock is a time that stands until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }
