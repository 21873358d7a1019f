package static

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// needNode skips without REQUIRE=node; with it, missing packages are a failure (P44).
func needNode(t *testing.T) {
	t.Helper()
	required := false
	for _, kind := range strings.Split(os.Getenv("REQUIRE"), ",") {
		required = required || kind == "node"
	}
	if !required {
		t.Skip("needs npm packages and a fresh build; set REQUIRE=node to run")
	}
	if _, err := os.Stat("../island/node_modules"); err != nil {
		t.Fatalf("REQUIRE=node, but web/island/node_modules is absent: run npm ci there (%v)", err)
	}
}

func inIsland(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = "../island"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// TestP44_BundlesAreFresh builds again beside the committed bundles and compares bytes.
func TestP44_BundlesAreFresh(t *testing.T) {
	needNode(t)
	dir, err := os.MkdirTemp("..", ".dist-fresh-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	inIsland(t, "./build.sh", "../"+filepath.Base(dir))
	for _, name := range []string{"app.css", "graph.css", "live.js", "graph.js", "builder.css", "builder.js", "policy.css", "policy.js", "icon.svg", "LICENSES.txt"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := bundles.ReadFile("dist/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: the committed bundle is not what its source builds (got %d bytes, want %d): run make generate", name, len(got), len(want))
		}
	}
}

func TestP44_TypesAndGraphRules(t *testing.T) {
	needNode(t)
	inIsland(t, "npm", "run", "--silent", "check")
	inIsland(t, "npm", "run", "--silent", "test")
}
