package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// needGit skips a test where there is no git to try.
func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
}

// testRepo is a repository in a world's workspace.
type testRepo struct {
	t   *testing.T
	dir string
}

// repo makes a repository with nothing in it.
func (w *world) repo(path string) testRepo {
	w.t.Helper()
	r := testRepo{w.t, filepath.Join(w.dir, path)}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main", ".")
	r.git("config", "user.name", "Ana")
	r.git("config", "user.email", "ana@example.org")
	return r
}

// git runs git apart from any configuration of the machine.
func (r testRepo) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_DATE=2030-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2030-01-02T03:04:05Z",
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, output)
	}
}

// commit writes a file of the repository and commits it.
func (r testRepo) commit(path, content, message string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, path), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", message)
}
