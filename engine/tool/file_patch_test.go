package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFilePatch_ReplacesWhatOccursOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.write("app.yaml", "port: 8080\nname: x\nhost: old")
	if err := os.Chmod(filepath.Join(w.dir, "app.yaml"), 0o640); err != nil {
		t.Fatal(err)
	}
	var got filePatched
	w.want("file.patch", `{"path":"app.yaml","edits":[{"old":"host: old","new":"host: new"},{"old":"8080","new":"9090"}],"append":"end\n"}`, &got)
	if want := "port: 9090\nname: x\nhost: new\nend\n"; w.read("app.yaml") != want || got.SizeBytes != len(want) || got.SHA256 != sumOf([]byte(want)) {
		t.Errorf("got %q and %+v, want %q", w.read("app.yaml"), got, want)
	}
	if len(got.Lines) != 2 || got.Lines[0] != 3 || got.Lines[1] != 1 || got.SHA256Before != sumOf([]byte("port: 8080\nname: x\nhost: old")) {
		t.Errorf("got %+v, want the lines 3 and 1", got)
	}
	if info, err := os.Stat(filepath.Join(w.dir, "app.yaml")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("got mode %v (%v), want 0640", info.Mode(), err)
	}
	w.want("file.patch", `{"path":"app.yaml","append":"more"}`, &got)
	w.want("file.patch", `{"path":"app.yaml","edits":[{"old":"name: x\n","new":""}]}`, &got)
	if want := "port: 9090\nhost: new\nend\nmore\n"; w.read("app.yaml") != want {
		t.Errorf("got %q, want %q", w.read("app.yaml"), want)
	}
}

// A text that is not there once is a conflict that says what was found, and
// nothing is changed, not even by the edits that would fit.
func TestFilePatch_ConflictsSayWhatWasFound(t *testing.T) {
	w := newWorld(t, nil)
	w.write("a.txt", "one\ntwo\ntwo\naaa\n")
	for edits, want := range map[string]string{
		`[{"old":"one","new":"1"},{"old":"three","new":"3"}]`: "edit 2 does not occur",
		`[{"old":"two","new":"2"}]`:                           "edit 1 occurs 2 times in \"a.txt\", on lines 2, 3;",
		`[{"old":"aa","new":"b"}]`:                            "occurs 2 times",
		`[{"old":"o","new":"0"}]`:                             "occurs 3 times",
	} {
		if out := w.refuse("file.patch", `{"path":"a.txt","edits":`+edits+`}`, Conflict); !strings.Contains(out.Detail, want) {
			t.Errorf("%s: got %q, want %q", edits, out.Detail, want)
		}
	}
	for _, params := range []string{`{"path":"a.txt"}`, `{"path":"a.txt","edits":[]}`, `{"path":"a.txt","edits":[{"old":"","new":"x"}]}`,
		`{"path":"a.txt","edits":[{"old":"one","new":"one"}]}`, `{"path":"a.txt","edits":[{"old":"one\ntwo","new":"x"},{"old":"e\nt","new":"y"}]}`} {
		w.refuse("file.patch", params, Invalid)
	}
	if got := w.read("a.txt"); got != "one\ntwo\ntwo\naaa\n" {
		t.Errorf("got %q, want the file as it was", got)
	}
	w.refuse("file.patch", `{"path":"none.txt","append":"x"}`, NotFound)
	w.refuse("file.patch", `{"path":"../a.txt","append":"x"}`, Invalid)
	if err := os.Link(filepath.Join(w.dir, "a.txt"), filepath.Join(w.dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	w.refuse("file.patch", `{"path":"a.txt","append":"x"}`, Conflict)
	if err := os.Symlink("a.txt", filepath.Join(w.dir, "link")); err != nil {
		t.Fatal(err)
	}
	w.refuse("file.patch", `{"path":"link","append":"x"}`, Invalid)
}

func TestP14_FilePatchIsBounded(t *testing.T) {
	w := newWorld(t, nil)
	w.write("big", strings.Repeat("x", patchBytesMax-1))
	w.refuse("file.patch", `{"path":"big","append":"more"}`, Invalid)
	w.write("bigger", strings.Repeat("x", patchBytesMax+1))
	w.refuse("file.patch", `{"path":"bigger","append":"x"}`, Invalid)
	w.refuse("file.patch", `{"path":"big","edits":[`+strings.TrimSuffix(strings.Repeat(`{"old":"a","new":"b"},`, editsMax+1), ",")+`]}`, Invalid)
}

// The edits made at once give what making them one after another gives, in any
// order, wherever each text occurs once.
func TestFilePatch_AgreesWithItsNaiveTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		marks := []string{"<A>", "<B>", "<C>", "<D>"}
		content := rapid.StringMatching(`[a-c\n]{0,6}`).Draw(t, "head")
		for _, mark := range rapid.Permutation(marks).Draw(t, "order") {
			content += mark + rapid.StringMatching(`[a-c\n]{0,6}`).Draw(t, "tail")
		}
		var params filePatchParams
		want := content
		for _, mark := range rapid.SliceOfNDistinct(rapid.SampledFrom(marks), 1, 4, rapid.ID).Draw(t, "edits") {
			edit := fileEdit{Old: mark, New: rapid.StringMatching(`[x-z\n]{0,4}`).Draw(t, "new")}
			params.Edits = append(params.Edits, edit)
			want = strings.Replace(want, edit.Old, edit.New, 1)
		}
		got, _, err := patched("f", []byte(content), params)
		if err != nil || string(got) != want {
			t.Fatalf("got %q (%v), want %q", got, err, want)
		}
	})
}
