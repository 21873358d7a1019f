package tool

import (
	"fmt"
	"strings"
	"testing"
)

func TestGitLog_NewestFirstWithinTheLimit(t *testing.T) {
	needGit(t)
	w := newWorld(t, nil)
	repo := w.repo("repo")
	var got gitHistory
	if w.want("git.log", `{"path":"repo"}`, &got); len(got.Commits) != 0 || got.Truncated {
		t.Errorf("before the first commit: got %+v", got)
	}
	for i := range 3 {
		repo.commit("a.txt", fmt.Sprint(i), fmt.Sprintf("change %d\n\nbody", i))
	}
	w.want("git.log", `{"path":"repo","limit":2}`, &got)
	if len(got.Commits) != 2 || !got.Truncated || got.Commits[0].Subject != "change 2" || got.Commits[1].Subject != "change 1" {
		t.Errorf("got %+v", got)
	}
	if c := got.Commits[0]; c.Author != "Ana" || len(c.Hash) != 40 || !strings.HasPrefix(c.Date, "2030-01-02T03:04:05") {
		t.Errorf("got %+v", c)
	}
	if w.want("git.log", `{"path":"repo","limit":3}`, &got); len(got.Commits) != 3 || got.Truncated {
		t.Errorf("all: got %d commits, truncated %v", len(got.Commits), got.Truncated)
	}
	repo.commit("a.txt", "long", strings.Repeat("é", 400))
	if w.want("git.log", `{"path":"repo","limit":1}`, &got); len(got.Commits[0].Subject) > logSubjectBytesMax+3 {
		t.Errorf("got a subject of %d bytes, want it cut", len(got.Commits[0].Subject))
	}
	for _, params := range []string{`{"path":"repo","limit":0}`, `{"path":"repo","limit":101}`} {
		w.refuse("git.log", params, Invalid)
	}
}
