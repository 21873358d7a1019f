package tool

import (
	"strings"
	"testing"
)

func TestGitDiff_AgainstTheLastCommit(t *testing.T) {
	needGit(t)
	w := newWorld(t, nil)
	repo := w.repo("repo")
	w.refuse("git.diff", `{"path":"repo"}`, Conflict)
	repo.commit("a.txt", "one\ntwo\n", "first")
	repo.commit("b.bin", "\x00\x01", "binary")
	var got gitDifference
	if w.want("git.diff", `{"path":"repo"}`, &got); got.Diff != "" || got.ChangedCount != 0 || len(got.Files) != 0 {
		t.Errorf("clean: got %+v", got)
	}
	w.write("repo/a.txt", "one\nthree\nfour\n")
	w.write("repo/b.bin", "\x00\x02")
	w.want("git.diff", `{"path":"repo"}`, &got)
	if len(got.Files) != 2 || *got.Files[0].Added != 2 || *got.Files[0].Removed != 1 || got.Files[1].Added != nil || got.ChangedCount != 2 {
		t.Errorf("got %+v", got.Files)
	}
	for _, line := range []string{"-two\n", "+three\n", "+four\n", "Binary files"} {
		if !strings.Contains(got.Diff, line) {
			t.Errorf("got %q, want %q in it", got.Diff, line)
		}
	}
	w.write("repo/a.txt", strings.Repeat("another line\n", 10_000))
	w.want("git.diff", `{"path":"repo"}`, &got)
	if len(got.Diff) > diffBytesMax || !got.Truncated || !strings.HasSuffix(got.Diff, "another line\n") {
		t.Errorf("got %d bytes, truncated %v; want whole lines up to %d", len(got.Diff), got.Truncated, diffBytesMax)
	}
}
