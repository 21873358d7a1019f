package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"sluice/store"
	"sluice/store/storetest"
)

// closedStore gives the bytes of a closed database with two streams.
func closedStore(t *testing.T) []byte {
	t.Helper()
	s := open(t)
	mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 20)...)
	mustAppend(t, s, "run/r_b", 0, storetest.Facts(0, 20)...)
	path := s.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// verifyFile verifies a database of these bytes as `audit verify` does.
func verifyFile(t testing.TB, content []byte) (store.Report, error) {
	path := filepath.Join(t.TempDir(), store.FileName)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, store.Options{Path: path, ReadOnly: true})
	if err != nil {
		return store.Report{}, err
	}
	defer func() { _ = s.Close() }()
	return s.Verify(ctx, store.VerifyOptions{})
}

func TestR81_ABitFlippedInTheFileIsFoundWhereARowIs(t *testing.T) {
	whole := closedStore(t)
	if report, err := verifyFile(t, whole); err != nil || !report.OK {
		t.Fatalf("got %+v %v, want the untouched file whole", report, err)
	}
	for _, word := range []string{`{"seq":7,"text":"é"}`, "user:7", "node.changed", "n12"} {
		at := bytes.Index(whole, []byte(word))
		if at < 0 {
			t.Fatalf("%q is not in the file", word)
		}
		for offset := range len(word) {
			content := bytes.Clone(whole)
			content[at+offset] ^= 1
			if report, err := verifyFile(t, content); err == nil && report.OK {
				t.Errorf("a bit flipped in %q at %d was not found", word, offset)
			}
		}
	}
}

// Wherever a file is damaged, the verifier answers; it never fails otherwise
// than by an error or a report.
func TestR81_AnyDamageIsAnswered(t *testing.T) {
	whole := closedStore(t)
	rapid.Check(t, func(rt *rapid.T) {
		content := bytes.Clone(whole)
		for range rapid.IntRange(1, 4).Draw(rt, "flips") {
			content[rapid.IntRange(0, len(content)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "with"))
		}
		if rapid.Bool().Draw(rt, "cut") {
			content = content[:rapid.IntRange(0, len(content)).Draw(rt, "length")]
		}
		report, err := verifyFile(t, content)
		if err == nil && len(report.Streams) == 0 {
			rt.Fatalf("neither an error nor a finding: %+v", report)
		}
	})
}
