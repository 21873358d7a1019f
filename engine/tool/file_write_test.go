package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestFileWrite_ReplacesTheWholeFile(t *testing.T) {
	w := newWorld(t, nil)
	for _, content := range []string{"long first content", "short", "", "grüße\n"} {
		var got fileWritten
		w.want("file.write", `{"path":"out/deep/report.md","content":`+quote(content)+`}`, &got)
		sum := sha256.Sum256([]byte(content))
		want := fileWritten{Path: "out/deep/report.md", SizeBytes: len(content), SHA256: hex.EncodeToString(sum[:])}
		if got != want || w.read("out/deep/report.md") != content {
			t.Errorf("got %+v and file %q, want %+v", got, w.read("out/deep/report.md"), want)
		}
	}
	if names := entries(t, filepath.Join(w.dir, "out/deep")); names != "report.md" {
		t.Errorf("got %s, want no temporary file left", names)
	}
}

func entries(t *testing.T, dir string) string {
	t.Helper()
	read, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range read {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

func TestFileWrite_KeepsTheModeOfTheFile(t *testing.T) {
	w := newWorld(t, nil)
	w.write("run.sh", "old")
	if err := os.Chmod(filepath.Join(w.dir, "run.sh"), 0o777); err != nil {
		t.Fatal(err)
	}
	w.perform("file.write", `{"path":"run.sh","content":"new"}`)
	if info, err := os.Stat(filepath.Join(w.dir, "run.sh")); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("got mode %v (%v), want 0777", info.Mode().Perm(), err)
	}
}

// A reader sees one whole content or the other, and writers at the same time
// leave one of them.
func TestFileWrite_IsAtomic(t *testing.T) {
	w := newWorld(t, nil)
	contents := map[string]bool{strings.Repeat("a", 60_000): true, strings.Repeat("b", 50_000): true}
	w.write("f", strings.Repeat("a", 60_000))
	var jobs []Job
	for range 20 {
		for content := range contents {
			jobs = append(jobs, w.job("file.write", `{"path":"f","content":`+quote(content)+`}`))
		}
	}
	var group sync.WaitGroup
	for _, job := range jobs {
		group.Go(func() {
			if out := w.executor.Perform(context.Background(), job); out.Class != OK {
				t.Errorf("got %q %s", out.Class, out.Detail)
			}
		})
	}
	for range 50 {
		if got := w.read("f"); !contents[got] {
			t.Fatalf("a reader saw %d bytes of neither content", len(got))
		}
	}
	group.Wait()
	if names := entries(t, w.dir); names != "f" {
		t.Errorf("got %s, want f alone", names)
	}
}

func TestP14_FileWriteIsBounded(t *testing.T) {
	w := newWorld(t, nil)
	w.refuse("file.write", `{"path":"f","content":`+quote(strings.Repeat("x", writeBytesMax+1))+`}`, Invalid)
	w.refuse("file.write", `{"path":"f"}`, Invalid)
	w.refuse("file.write", `{"content":"x"}`, Invalid)
	var got fileWritten
	w.want("file.write", `{"path":"f","content":`+quote(strings.Repeat("x", writeBytesMax))+`}`, &got)
	if got.SizeBytes != writeBytesMax {
		t.Errorf("got %d bytes, want %d", got.SizeBytes, writeBytesMax)
	}
}

// TestP45_AnAbandonedTemporaryFileIsTakenUp: what a crash left of an attempt is
// no file of the workspace, and the attempt's repeat leaves none.
func TestP45_AnAbandonedTemporaryFileIsTakenUp(t *testing.T) {
	w := newWorld(t, nil)
	w.write("a.txt", "alpha")
	r := Request{Run: "r_1", Node: "two", Attempt: 1, Params: []byte(`{"path":"b.txt","content":"beta"}`)}
	left := (&replacement{by: &r}).temporary(".")
	w.write(left, "be")
	var listed struct{ Total int }
	w.want("file.list", `{}`, &listed)
	var found struct {
		FilesSearched int `json:"files_searched"`
	}
	w.want("file.search", `{"query":"a"}`, &found)
	if listed.Total != 1 || found.FilesSearched != 1 {
		t.Errorf("got %d entries and %d files searched, want the one file", listed.Total, found.FilesSearched)
	}
	if _, err := w.registry.host.writeFile(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if names := entries(t, w.dir); names != "a.txt b.txt" {
		t.Errorf("got %s, want no temporary file left", names)
	}
	for _, name := range []string{".sluice-notes.tmp", ".sluice-.tmp", "sluice-000000000000000000000000.tmp"} {
		if isTemporary(name) {
			t.Errorf("%s is hidden", name)
		}
	}
}
