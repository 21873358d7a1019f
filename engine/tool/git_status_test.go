package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGitStatus_BranchAndChanges(t *testing.T) {
	needGit(t)
	w := newWorld(t, nil)
	repo := w.repo("projects/web")
	repo.commit("kept.txt", "1\n2\n3\n4\n5\n", "first")
	repo.commit("moved.txt", "a\nb\nc\nd\ne\n", "second")
	repo.git("clone", "-q", ".", filepath.Join(w.dir, "clean"))
	w.write("projects/web/kept.txt", "changed\n")
	w.write("projects/web/new file.txt", "x")
	repo.git("mv", "moved.txt", "renamed.txt")
	var got gitStates
	w.want("git.status", `{"path":"projects/web"}`, &got)
	state := got.Repositories[0]
	if len(got.Repositories) != 1 || *state.Branch != "main" || len(*state.Commit) != 40 || state.Upstream != nil || *state.Clean || state.Problem != nil {
		t.Errorf("got %+v", state)
	}
	var changes []string
	for _, c := range state.Changes {
		changes = append(changes, strings.Join([]string{c.Path, or(c.From), or(c.Staged), or(c.Unstaged)}, "|"))
	}
	want := "kept.txt|-|-|modified, renamed.txt|moved.txt|renamed|-, new file.txt|-|-|untracked"
	if strings.Join(changes, ", ") != want || state.ChangedCount != 3 {
		t.Errorf("got %s, want %s", strings.Join(changes, ", "), want)
	}
	if strings.Join(got.Dirty, " ") != "projects/web" || len(got.Clean) != 0 {
		t.Errorf("got dirty %v, clean %v", got.Dirty, got.Clean)
	}
}

func or(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

func TestGitStatus_AheadBehindDetachedAndEmpty(t *testing.T) {
	needGit(t)
	w := newWorld(t, nil)
	origin := w.repo("origin")
	origin.commit("a", "1", "first")
	origin.git("clone", "-q", ".", filepath.Join(w.dir, "clone"))
	clone := testRepo{t, filepath.Join(w.dir, "clone")}
	clone.git("config", "user.name", "Ana")
	clone.git("config", "user.email", "ana@example.org")
	clone.commit("b", "1", "one more")
	clone.commit("c", "1", "two more")
	origin.commit("d", "1", "meanwhile")
	clone.git("fetch", "-q")
	w.repo("empty")
	origin.git("checkout", "-q", "--detach")
	var got gitStates
	w.want("git.status", `{"paths":["clone","empty","origin"]}`, &got)
	a, b, c := got.Repositories[0], got.Repositories[1], got.Repositories[2]
	if *a.Upstream != "origin/main" || *a.Ahead != 2 || *a.Behind != 1 || !*a.Clean {
		t.Errorf("clone: got %+v", a)
	}
	if b.Commit != nil || *b.Branch != "main" || b.Ahead != nil {
		t.Errorf("empty: got %+v", b)
	}
	if c.Branch != nil || c.Commit == nil {
		t.Errorf("detached: got %+v", c)
	}
	if strings.Join(got.Clean, " ") != "clone empty origin" {
		t.Errorf("got clean %v", got.Clean)
	}
}

func TestGitStatus_OneBadRepositoryDoesNotHideTheOthers(t *testing.T) {
	needGit(t)
	w := newWorld(t, nil)
	w.repo("good").commit("a", "1", "first")
	w.repo("bad").git("config", "filter.x.clean", "touch planted")
	var got gitStates
	w.want("git.status", `{"paths":["bad","gone","good","../out"]}`, &got)
	if len(got.Repositories) != 4 || strings.Join(got.Clean, " ") != "good" || len(got.Dirty) != 0 {
		t.Fatalf("got %+v", got)
	}
	if p := got.Repositories[0].Problem; p == nil || *p != UnavailableText {
		t.Errorf("bad: got problem %v, want the constant text", or(p))
	}
	for _, i := range []int{1, 3} {
		if p := got.Repositories[i].Problem; p == nil || *p == UnavailableText {
			t.Errorf("%s: got problem %v, want its own", got.Repositories[i].Path, or(p))
		}
	}
	w.refuse("git.status", `{"path":"good","paths":["good"]}`, Invalid)
	w.refuse("git.status", `{"paths":[`+strings.TrimSuffix(strings.Repeat(`"good",`, statusRepositoriesMax+1), ",")+`]}`, Invalid)
}

func TestGitStatus_ChangesAreBounded(t *testing.T) {
	needGit(t)
	w := newWorld(t, nil)
	repo := w.repo("repo")
	for i := range statusChangesMax + 5 {
		if err := os.WriteFile(filepath.Join(repo.dir, "f"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+quote(strings.Repeat("y", i/50))), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var got gitStates
	w.want("git.status", `{"path":"repo"}`, &got)
	if state := got.Repositories[0]; len(state.Changes) != statusChangesMax || state.ChangedCount <= statusChangesMax {
		t.Errorf("got %d of %d changes, want %d shown", len(state.Changes), state.ChangedCount, statusChangesMax)
	}
}
