package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNumbersIn(t *testing.T) {
	cases := map[string]string{
		"TestR33_PatchNeedsRetryFirst": "R33",
		"TestP4_T14_CancelsDown":       "P4 T14",
		"TestC01RefusesACycle":         "C01",
		"TestC1":                       "C01",
		"TestP36a_ServePrintsALink":    "P36a",
		"TestP31a":                     "P31a",
		"FuzzP18_Splice":               "P18",
		"TestR19_R20_R22_Joins":        "R19 R20 R22",
		"TestSHA256OfAnEmptyPlan":      "",
		"TestHTTP2":                    "",
		"TestR1234":                    "",
		"R14 holds under any input":    "R14",
	}
	for name, want := range cases {
		if got := strings.Join(numbersIn(name), " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestSeries_HasEveryNumberOnce(t *testing.T) {
	var all []string
	for _, numbers := range series() {
		all = append(all, numbers...)
	}
	if got, want := len(all), 108+21+19+49+4; got != want {
		t.Errorf("got %d numbers, want %d", got, want)
	}
	slices.Sort(all)
	if got := len(slices.Compact(all)); got != 108+21+19+49+4 {
		t.Errorf("got %d distinct numbers, want no repetition", got)
	}
	for _, n := range []string{"R1", "R108", "C01", "C21", "T19", "P11a", "P49"} {
		if !slices.Contains(all, n) {
			t.Errorf("%s is missing", n)
		}
	}
}

// fixture is a repository with one test of each form and one mutant.
func fixture(t *testing.T) string {
	t.Helper()
	files := map[string]string{
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestR9_NoCall(t *testing.T) {\n" +
			"\tt.Run(\"C16 lower bound\", func(t *testing.T) {})\n\tcases := []string{\"C05\", \"no C07 here\"}\n\t_ = cases\n}\n\n" +
			"func helperR10() {}\n",
		"a/a.go":               "package a\n\n// TestR11 is no test.\nfunc TestR11() {}\n",
		"a/testdata/x_test.go": "broken",
		"e2e/req/x_test.go":    "package main\n\nfunc TestR12() {}\n",
		"e2e/mutants/m.patch":  "# P31: commit before dispatch\n# kills: go test ./a -run TestR9\n--- a/a.go\n+++ b/a.go\n+R55\n",
	}
	dir := t.TempDir()
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestScan_ReadsTestsTablesAndMutants(t *testing.T) {
	named, err := Scan(fixture(t))
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Sorted(maps.Keys(named))
	want := []string{"C05", "C16", "P31", "R9"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestScan_RefusesATestFileThatDoesNotParse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x_test.go"), []byte("package"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan(dir); err == nil {
		t.Error("got no error, want the file named")
	}
}

func TestPrint_ListsWhatNoTestNames(t *testing.T) {
	var b strings.Builder
	Print(&b, Named{"C01": 1, "C21": 2})
	out := b.String()
	if !strings.Contains(out, "C01-C21: 2 of 21 named by a test") {
		t.Errorf("got %q, want the count of the C series", out)
	}
	if strings.Contains(out, "  C01") || !strings.Contains(out, "  C02") {
		t.Errorf("got %q, want C02 listed and C01 not", out)
	}
	for line := range strings.SplitSeq(out, "\n") {
		if len(line) > columns {
			t.Errorf("got a line of %d bytes, want at most %d", len(line), columns)
		}
	}
}
