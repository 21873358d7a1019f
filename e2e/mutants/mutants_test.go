package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module is a tiny module with one function and its test.
var module = map[string]string{
	"go.mod":        "module tiny\n\ngo 1.26\n",
	"sum.go":        "package tiny\n\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n",
	"sum_test.go":   "package tiny\n\nimport \"testing\"\n\nfunc TestR1_Sum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Error(\"sum\")\n\t}\n}\n",
	"other_test.go": "package tiny\n\nimport \"testing\"\n\nfunc TestR2_Other(t *testing.T) {}\n",
}

const (
	kills = "# R1: subtracts\n# kills: go test . -run TestR1_Sum\n"
	diff  = "--- a/sum.go\n+++ b/sum.go\n@@ -3,3 +3,3 @@\n func Sum(a, b int) int {\n-\treturn a + b\n+\treturn a - b\n }\n"
)

func lay(t *testing.T, patches map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	files := maps.Clone(module)
	for name, text := range patches {
		files["e2e/mutants/"+name] = text
	}
	for name, text := range files {
		full := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func judged(t *testing.T, patches map[string]string) (string, error) {
	t.Helper()
	root := lay(t, patches)
	var out strings.Builder
	err := Judge(&out, root, filepath.Join(root, "e2e", "mutants"))
	return out.String(), err
}

func TestP46_KilledMutantsPass(t *testing.T) {
	out, err := judged(t, map[string]string{"a.patch": kills + diff, "b.patch": kills + diff})
	if err != nil {
		t.Fatalf("got %v, want no error; output:\n%s", err, out)
	}
	// Two alike: the first must have been taken back before the second applied.
	if !strings.Contains(out, "2 of 2 mutants killed") {
		t.Errorf("got %q, want both killed", out)
	}
}

func TestP46_WhatIsNotKilledFails(t *testing.T) {
	cases := []struct{ name, patch, want string }{
		{"survivor", strings.Replace(kills, "TestR1_Sum", "TestR2_Other", 1) + diff, "SURVIVED"},
		{"does not apply", kills + strings.Replace(diff, "return a + b", "return a * b", 1), "does not apply"},
		{"does not compile", kills + strings.Replace(diff, "return a - b", "return c", 1), "does not compile"},
		{"names no test", strings.Replace(kills, "TestR1_Sum", "TestR3", 1) + diff, "runs no test"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := judged(t, map[string]string{"a.patch": c.patch})
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("got error %v and output %q, want an error and %q", err, out, c.want)
			}
		})
	}
}

func TestP46_HeadersAreChecked(t *testing.T) {
	cases := map[string]string{
		"no header":      diff,
		"no reason":      "# kills: go test . -run TestR1_Sum\n" + diff,
		"another tool":   "# R1: x\n# kills: rm -rf . -run x\n" + diff,
		"a whole module": "# R1: x\n# kills: go test ./...\n" + diff,
	}
	for name, patch := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := parse([]byte(patch)); err == nil {
				t.Error("got no error, want the header refused")
			}
		})
	}
	if _, err := judged(t, nil); err == nil {
		t.Error("an empty folder: got no error, want one")
	}
}

// TestP46_EveryPatchApplies keeps the shipped mutants in step with the product:
// one that no longer applies is found by make test, long before make mutants.
func TestP46_EveryPatchApplies(t *testing.T) {
	root := filepath.Join("..", "..")
	all, err := Read(".")
	if err != nil {
		t.Fatal(err)
	}
	bed, err := Lay(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Error("got no patches, want those of P46")
	}
	for _, m := range all {
		if err := bed.apply(m, "--check"); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}
