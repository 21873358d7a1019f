package tool

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestGitFind_EveryRepositoryOnce(t *testing.T) {
	w := newWorld(t, nil)
	for _, path := range []string{"projects/a/.git/HEAD", "projects/b/c/.git/HEAD", "projects/a/sub/.git", "elsewhere/.git/HEAD", "projects/plain/x"} {
		w.write(path, "x")
	}
	link(t, "../elsewhere", filepath.Join(w.dir, "projects", "link"))
	cases := []struct{ params, want string }{
		{`{"path":"projects"}`, "projects/a projects/a/sub projects/b/c"},
		{`{}`, "elsewhere projects/a projects/a/sub projects/b/c"},
		{`{"path":"projects","depth":2}`, "projects/a"},
		{`{"path":"projects/plain"}`, ""},
		{`{"path":"projects/a"}`, "projects/a projects/a/sub"},
	}
	for _, c := range cases {
		var got foundRepositories
		w.want("git.find", c.params, &got)
		if strings.Join(got.Paths, " ") != c.want || got.Count != len(got.Paths) || len(got.Repositories) != got.Count || got.Truncated {
			t.Errorf("%s: got %+v, want %s", c.params, got, c.want)
		}
		for i, repository := range got.Repositories {
			if repository.Path != got.Paths[i] {
				t.Errorf("%s: repositories and paths differ: %+v", c.params, got)
			}
		}
	}
	w.refuse("git.find", `{"depth":0}`, Invalid)
	w.refuse("git.find", `{"depth":33}`, Invalid)
}

// The paths found are what git.status takes, as a reference passes them.
func TestGitFind_FeedsGitStatus(t *testing.T) {
	needGit(t)
	w := newWorld(t, nil)
	w.repo("projects/a").commit("x", "1", "first")
	w.repo("projects/b").commit("x", "1", "first")
	w.write("projects/b/x", "2")
	var found foundRepositories
	w.want("git.find", `{"path":"projects"}`, &found)
	var got gitStates
	w.want("git.status", `{"paths":["`+strings.Join(found.Paths, `","`)+`"]}`, &got)
	if strings.Join(got.Dirty, " ") != "projects/b" || strings.Join(got.Clean, " ") != "projects/a" {
		t.Errorf("got dirty %v, clean %v", got.Dirty, got.Clean)
	}
}
