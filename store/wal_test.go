package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"sluice/store"
	"sluice/store/storetest"
)

const walWant = 1 << 20

func openGrown(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(ctx, store.Options{Path: dir, WALBytes: walWant})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func expectWAL(t *testing.T, s *store.Store, when string) {
	t.Helper()
	if info, err := os.Stat(s.Path() + "-wal"); err != nil || info.Size() != walWant {
		t.Errorf("%s: WAL is %v %v, want %d bytes", when, info, err, walWant)
	}
}

func TestP31a_AGrownWALIsReadLikeAnyOther(t *testing.T) {
	dir := t.TempDir()
	s := openGrown(t, dir)
	expectWAL(t, s, "fresh")
	mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 3)...)
	_ = s.Close()

	s = openGrown(t, dir)
	expectWAL(t, s, "reopened")
	if got := head(t, s, "run/r_a"); got != 3 {
		t.Fatalf("head is %d after reopening, want 3", got)
	}
	endRun(t, s, "r_a")
	if err := s.Erase(ctx, store.Erasure{Run: "r_a", Actor: "user:1", At: 1}); err != nil {
		t.Fatal(err)
	}
	expectWAL(t, s, "erased")    // emptied by the erasure, then grown again
	for want := range int64(3) { // killed before the next commit, after it, after one more
		if want > 0 {
			mustAppend(t, s, "run/r_b", want-1, storetest.Fact(want))
		}
		again := openAt(t, copyCrashed(t, s))
		if report := verify(t, again, store.VerifyOptions{}); !report.OK {
			t.Errorf("killed after %d commits: got %+v, want the log whole", want, report)
		}
		if got := head(t, again, "run/r_b"); got != want {
			t.Errorf("killed after %d commits: head is %d", want, got)
		}
	}
}

func TestP42_ADirectoryWithOddCharactersIsOneName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "50% of ?a#b&c=d é")
	s := openAt(t, dir+string(filepath.Separator))
	mustAppend(t, s, "run/r_a", 0, storetest.Fact(1))
	if s.Path() != filepath.Join(dir, store.FileName) {
		t.Errorf("path is %s", s.Path())
	}
	if _, err := os.Stat(s.Path()); err != nil {
		t.Errorf("the database is elsewhere: %v", err)
	}
	if got := head(t, s, "run/r_a"); got != 1 {
		t.Errorf("head is %d, want 1", got)
	}
}
