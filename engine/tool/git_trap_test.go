package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// planted is a program for a repository's configuration to name; running it
// leaves a file that must never appear.
func planted(t *testing.T) (script, proof string) {
	t.Helper()
	dir := t.TempDir()
	script, proof = filepath.Join(dir, "planted.sh"), filepath.Join(dir, "PROOF")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+proof+"\ncat\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return script, proof
}

func wantNoProof(t *testing.T, name, proof string) {
	t.Helper()
	if _, err := os.Stat(proof); err == nil {
		t.Errorf("%s: the planted program ran", name)
	}
}

var gitReaders = []string{"git.status", "git.log", "git.diff"}

// A control for the traps below: git itself does run the planted filter.
func TestGTraps_GitStatusRunsAPlantedFilter(t *testing.T) {
	needGit(t)
	script, proof := planted(t)
	w := newWorld(t, nil)
	repo := w.plantFilter("repo", script)
	repo.git("status")
	if _, err := os.Stat(proof); err != nil {
		t.Error("plain git status did not run the filter: the trap tests show nothing")
	}
}

// plantFilter makes a repository whose status runs script.
func (w *world) plantFilter(path, script string) testRepo {
	w.t.Helper()
	repo := w.repo(path)
	repo.commit("a.txt", "one\n", "first")
	w.write(path+"/.gitattributes", "* filter=x diff=x\n")
	w.write(path+"/a.txt", "two\n") // a changed file is read through the filter
	repo.git("config", "filter.x.clean", script)
	return repo
}

func TestGTraps_ARepositoryThatNamesProgramsIsUnavailable(t *testing.T) {
	needGit(t)
	settings := map[string][]string{
		"filter":         {"config", "filter.x.clean", "SCRIPT"},
		"filter process": {"config", "filter.x.process", "SCRIPT"},
		"filter smudge":  {"config", "Filter.x.smudge", "SCRIPT"},
		"fsmonitor":      {"config", "core.fsmonitor", "SCRIPT"},
		"diff command":   {"config", "diff.x.command", "SCRIPT"},
		"diff textconv":  {"config", "diff.x.textconv", "SCRIPT"},
		"diff external":  {"config", "diff.external", "SCRIPT"},
		"include":        {"config", "include.path", "../other"},
		"include if":     {"config", "includeIf.gitdir:/.path", "../other"},
		"gpg":            {"config", "gpg.program", "SCRIPT"},
		"promisor":       {"config", "remote.origin.promisor", "true"},
		"partial clone":  {"config", "extensions.partialClone", "origin"},
	}
	for name, args := range settings {
		script, proof := planted(t)
		w := newWorld(t, nil)
		repo := w.repo("repo")
		repo.commit("a.txt", "one\n", "first")
		w.write("repo/.gitattributes", "* filter=x diff=x\n")
		w.write("repo/a.txt", "two\n")
		w.write("repo/other", "[filter \"x\"]\n\tclean = "+script+"\n")
		repo.git(strings.Split(strings.ReplaceAll(strings.Join(args, "\x00"), "SCRIPT", script), "\x00")...)
		for _, tool := range gitReaders {
			if out := w.refuse(tool, `{"path":"repo"}`, Unavailable); out.Detail != UnavailableText {
				t.Errorf("%s, %s: got detail %q, want the constant text", name, tool, out.Detail)
			}
		}
		wantNoProof(t, name, proof)
	}
}

func TestGTraps_ConfigurationIsReadAsGitReadsIt(t *testing.T) {
	needGit(t)
	script, proof := planted(t)
	spellings := map[string]string{
		"case and blanks": "[ FILTER \"x\" ]\n  CLEAN=" + script + "\n",
		"joined":          "[FiLtEr \"x\"]clean = " + script + "\n",
		"old form":        "[filter.x]\nclean = " + script + "\n",
		"continued":       "[core]\n\tbare = fal\\\nse\n[filter \"x\"] clean = " + script,
		"after a comment": "[core] # [filter\n[filter \"]\"]\nclean = " + script + "\n",
		"broken":          "[core\n",
		"too long":        "#" + strings.Repeat("x", gitConfigBytes) + "\n",
	}
	for name, text := range spellings {
		for _, file := range []string{"config", "config.worktree"} {
			w := newWorld(t, nil)
			repo := w.repo("repo")
			repo.commit("a.txt", "one\n", "first")
			repo.git("config", "extensions.worktreeConfig", "true")
			path := "repo/.git/" + file
			before, _ := os.ReadFile(filepath.Join(w.dir, path))
			w.write(path, string(before)+text)
			if out := w.perform("git.status", `{"path":"repo"}`); out.Class != Unavailable || out.Detail != UnavailableText {
				t.Errorf("%s in %s: got %q %q, want unavailable", name, file, out.Class, out.Detail)
			}
		}
	}
	wantNoProof(t, "spellings", proof)
}

func TestGTraps_HooksAndMachineConfigurationDoNotRun(t *testing.T) {
	needGit(t)
	script, proof := planted(t)
	home := t.TempDir()
	config := "[filter \"x\"]\n\tclean = " + script + "\n[core]\n\tfsmonitor = " + script + "\n[diff]\n\texternal = " + script + "\n"
	for _, path := range []string{".gitconfig", "git/config"} {
		full := filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"),
		"GIT_EXTERNAL_DIFF=" + script, "GIT_PAGER=" + script, "GIT_DIR=/nonexistent", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=" + script,
	})
	repo := w.repo("repo")
	repo.commit("a.txt", "one\n", "first")
	w.write("repo/.gitattributes", "* filter=x diff=x\n")
	w.write("repo/a.txt", "two\n")
	hooks := filepath.Join(repo.dir, "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(script, filepath.Join(hooks, "post-index-change")); err != nil {
		t.Fatal(err)
	}
	repo.git("config", "core.hooksPath", "hooks") // harmless: overridden
	before := w.read("repo/.git/index")
	for _, tool := range gitReaders {
		if out := w.perform(tool, `{"path":"repo"}`); out.Class != OK {
			t.Errorf("%s: got %q %s, want an output", tool, out.Class, out.Detail)
		}
	}
	wantNoProof(t, "hooks and machine configuration", proof)
	if w.read("repo/.git/index") != before {
		t.Error("reading a repository wrote its index")
	}
}

func TestGTraps_SubmodulesAreNotEntered(t *testing.T) {
	needGit(t)
	script, proof := planted(t)
	w := newWorld(t, nil)
	inner := w.repo("inner")
	inner.commit("a.txt", "one\n", "first")
	outer := w.repo("outer")
	outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "sub")
	outer.git("commit", "-q", "-m", "with a submodule")
	sub := testRepo{t, filepath.Join(outer.dir, "sub")}
	sub.git("config", "filter.x.clean", script)
	w.write("outer/sub/.gitattributes", "* filter=x\n")
	w.write("outer/sub/a.txt", "two\n")
	for _, tool := range gitReaders {
		if out := w.perform(tool, `{"path":"outer"}`); out.Class != OK {
			t.Errorf("%s: got %q %s, want an output", tool, out.Class, out.Detail)
		}
	}
	w.refuse("git.status", `{"path":"outer/sub"}`, Unavailable)
	wantNoProof(t, "submodule", proof)
	sub.git("config", "--remove-section", "filter.x")
	var got gitStates
	if w.want("git.status", `{"path":"outer/sub"}`, &got); *got.Repositories[0].Clean {
		t.Error("a submodule of its own: got clean, want its change seen")
	}
}

func TestGTraps_LinkedWorkingTrees(t *testing.T) {
	needGit(t)
	script, proof := planted(t)
	w := newWorld(t, nil)
	repo := w.repo("repo")
	repo.commit("a.txt", "one\n", "first")
	repo.git("worktree", "add", "-q", filepath.Join(w.dir, "linked"))
	outside := t.TempDir()
	repo.git("worktree", "add", "-q", filepath.Join(outside, "away"), "-b", "away")
	var got gitStates
	if w.want("git.status", `{"path":"linked"}`, &got); *got.Repositories[0].Branch != "linked" {
		t.Errorf("got branch %s, want linked", or(got.Repositories[0].Branch))
	}
	repo.git("config", "filter.x.clean", script) // shared with the linked tree
	w.write("linked/.gitattributes", "* filter=x\n")
	w.write("linked/a.txt", "two\n")
	w.refuse("git.status", `{"path":"linked"}`, Unavailable)
	wantNoProof(t, "linked tree", proof)
}

func TestGTraps_ARepositoryWhoseDataLieOutsideIsUnavailable(t *testing.T) {
	needGit(t)
	outside := newWorld(t, nil)
	foreign := outside.repo("foreign")
	foreign.commit("private.txt", "private\n", "private subject")
	cases := map[string]func(w *world, repo testRepo){
		"gitdir file": func(w *world, repo testRepo) {
			w.remove("repo/.git")
			w.write("repo/.git", "gitdir: "+foreign.dir+"/.git\n")
		},
		"gitdir link": func(w *world, repo testRepo) {
			w.remove("repo/.git")
			link(w.t, foreign.dir+"/.git", repo.dir+"/.git")
		},
		"objects link": func(w *world, repo testRepo) {
			w.remove("repo/.git/objects")
			link(w.t, foreign.dir+"/.git/objects", repo.dir+"/.git/objects")
		},
		"refs link": func(w *world, repo testRepo) {
			w.remove("repo/.git/refs")
			link(w.t, foreign.dir+"/.git/refs", repo.dir+"/.git/refs")
		},
		"config link": func(w *world, repo testRepo) {
			w.remove("repo/.git/config")
			link(w.t, foreign.dir+"/.git/config", repo.dir+"/.git/config")
		},
		"alternates": func(w *world, repo testRepo) {
			w.write("repo/.git/objects/info/alternates", foreign.dir+"/.git/objects\n")
		},
		"commondir": func(w *world, repo testRepo) { w.write("repo/.git/commondir", foreign.dir+"/.git\n") },
		"worktree":  func(w *world, repo testRepo) { repo.git("config", "core.worktree", foreign.dir) },
		"no head":   func(w *world, repo testRepo) { w.remove("repo/.git/HEAD") },
	}
	for name, change := range cases {
		w := newWorld(t, nil)
		repo := w.repo("repo")
		repo.commit("a.txt", "one\n", "first")
		change(w, repo)
		if isLink := strings.HasSuffix(name, "s link"); isLink && w.registry.host.checkLayout("repo/.git", "repo/.git") == nil {
			t.Errorf("%s: the layout was accepted", name)
		}
		for _, tool := range gitReaders {
			if out := w.refuse(tool, `{"path":"repo"}`, Unavailable); strings.Contains(string(out.Output), "private") {
				t.Errorf("%s, %s: showed %s", name, tool, out.Output)
			}
		}
	}
}

func (w *world) remove(path string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, path)); err != nil {
		w.t.Fatal(err)
	}
}

// A folder inside a repository, or a bare one, is not taken for a repository.
func TestGTraps_OnlyTheFolderNamedIsTheRepository(t *testing.T) {
	needGit(t)
	w := newWorld(t, nil)
	w.write("sub/a.txt", "one\n")
	w.repo(".").commit("b.txt", "one\n", "first")
	w.repo("other").git("init", "-q", "--bare", "bare")
	w.refuse("git.status", `{"path":"sub"}`, NotFound)
	w.refuse("git.status", `{"path":"other/bare"}`, NotFound)
	w.refuse("git.status", `{"path":"sub/a.txt"}`, Invalid)
	var got gitStates
	w.want("git.status", `{}`, &got)
	if got.Repositories[0].Path != "." {
		t.Errorf("got %s, want the workspace", got.Repositories[0].Path)
	}
}

// What looks like a repository but is none does not lead git to one above it,
// which nobody has checked.
func TestGTraps_NoOtherRepositoryIsTakenInstead(t *testing.T) {
	needGit(t)
	script, proof := planted(t)
	w := newWorld(t, nil)
	outer := w.plantFilter("outer", script)
	for path, content := range map[string]string{"HEAD": "nonsense", "objects/x": "", "refs/x": ""} {
		w.write("outer/inner/.git/"+path, content)
	}
	outer.git("config", "core.bare", "false")
	for _, path := range []string{"outer", "outer/inner"} {
		w.refuse("git.status", `{"path":`+quote(path)+`}`, Unavailable)
	}
	wantNoProof(t, "a repository above", proof)
}

func TestGTraps_DubiousOwnershipHasAName(t *testing.T) {
	needGit(t)
	if os.Getuid() != 0 {
		t.Skip("only root can give a repository to somebody else")
	}
	w := newWorld(t, nil)
	repo := w.repo("repo")
	repo.commit("a.txt", "one\n", "first")
	for _, path := range []string{repo.dir, repo.dir + "/.git"} {
		if err := os.Lchown(path, 65534, 65534); err != nil {
			t.Skipf("cannot give a folder away: %v", err)
		}
	}
	for _, tool := range gitReaders {
		if out := w.refuse(tool, `{"path":"repo"}`, Invalid); out.Detail != ErrDubiousOwnership.Detail {
			t.Errorf("%s: got %q, want %q", tool, out.Detail, ErrDubiousOwnership.Detail)
		}
	}
}
