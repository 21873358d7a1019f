//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// root is the checkout, seen from this folder.
const root = ".."

func TestMain(m *testing.M) {
	code := m.Run()
	closeBrowser()
	os.RemoveAll(binaries())
	os.Exit(code)
}

// binaries is the folder of this test process's builds.
func binaries() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("sluice-e2e-%d", os.Getpid()))
}

// shipped is the binary as users get it; faulty has the kill points of the
// build tag faultinject (P45). Each is built at most once.
var (
	shipped = sync.OnceValues(func() (string, error) { return compile("sluice") })
	faulty  = sync.OnceValues(func() (string, error) { return compile("sluice-faulty", "-tags", "faultinject") })
)

func compile(name string, flags ...string) (string, error) {
	out := filepath.Join(binaries(), name)
	args := append([]string{"build", "-o", out}, flags...)
	cmd := exec.Command("go", append(args, "./cmd/web")...)
	cmd.Dir = root
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, text)
	}
	return out, nil
}

func must[T any](t *testing.T, make func() (T, error)) T {
	t.Helper()
	value, err := make()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// requires says whether a skip of this kind is a failure (P44).
func requires(kind string) bool {
	for word := range strings.SplitSeq(os.Getenv("REQUIRE"), ",") {
		if strings.TrimSpace(word) == kind {
			return true
		}
	}
	return false
}

// lack skips a test for want of something, or fails it where that is required.
func lack(t *testing.T, kind, format string, args ...any) {
	t.Helper()
	if requires(kind) {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
