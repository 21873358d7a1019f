package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// testWithin bounds a mutant's test: one that hangs has noticed.
const testWithin = "3m"

// outputTailBytes is how much of a test's output an error shows.
const outputTailBytes = 2000

// Bed is a copy of the module in which mutants live one at a time.
type Bed struct{ dir string }

// Lay copies what git keeps or would keep of root; without git, every file
// but build output.
func Lay(root, dir string) (Bed, error) {
	names, err := tracked(root)
	if err != nil {
		return Bed{}, err
	}
	for _, name := range names {
		if err := copyFile(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			return Bed{}, fmt.Errorf("copy module: %w", err)
		}
	}
	return Bed{dir}, nil
}

func tracked(root string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		return found(root)
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list files with git: %w", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

func found(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "node_modules" || d.Name() == "bin" {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, path)
		names = append(names, name)
		return err
	})
	return names, err
}

// copyFile leaves out what is no regular file, and what git still lists but the
// disk no longer has.
func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && !info.Mode().IsRegular()) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// Control runs the mutant's test on the unchanged copy: it must exist and pass.
func (b Bed) Control(m Mutant) error {
	out, err := b.test(m)
	if err != nil {
		return fmt.Errorf("%s fails without the mutant:\n%s", m.command(), tail(out))
	}
	if bytes.Contains(out, []byte("no tests to run")) || bytes.Contains(out, []byte("[no test files]")) {
		return fmt.Errorf("%s runs no test", m.command())
	}
	return nil
}

// Try applies the mutant, runs its test and takes the mutant back. It says
// whether the test noticed.
func (b Bed) Try(m Mutant) (killed bool, err error) {
	if err := b.apply(m); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.apply(m, "--reverse")) }()
	out, failed := b.test(m)
	if bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")) {
		return false, fmt.Errorf("does not compile:\n%s", tail(out))
	}
	return failed != nil, nil
}

func (b Bed) apply(m Mutant, flags ...string) error {
	cmd := exec.Command("git", append([]string{"apply", "--whitespace=nowarn"}, flags...)...)
	cmd.Stdin = bytes.NewReader(m.Patch)
	if out, err := b.run(cmd); err != nil {
		return fmt.Errorf("does not apply: %s", tail(out))
	}
	return nil
}

func (b Bed) test(m Mutant) ([]byte, error) {
	return b.run(exec.Command(m.Kills[0], append([]string{"test", "-count=1", "-timeout=" + testWithin}, m.Kills[2:]...)...))
}

// run works in the copy. REQUIRE is dropped: data beside the checkout is not
// copied, so a test that wants it must be able to skip.
func (b Bed) run(cmd *exec.Cmd) ([]byte, error) {
	cmd.Dir = b.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "REQUIRE=") && !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	// GIT_CEILING_DIRECTORIES keeps git from finding a repository above the copy,
	// in which it would apply nothing and say nothing.
	cmd.Env = append(cmd.Env, "GIT_CEILING_DIRECTORIES="+filepath.Dir(b.dir))
	return cmd.CombinedOutput()
}

func tail(out []byte) string {
	if len(out) > outputTailBytes {
		out = out[len(out)-outputTailBytes:]
	}
	return strings.TrimSpace(string(out))
}
