package tool

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func matched(m fileMatches) string {
	var at []string
	for _, match := range m.Matches {
		at = append(at, fmt.Sprintf("%s:%d", match.Path, match.Line))
	}
	return strings.Join(at, " ")
}

func TestFileSearch_QueryAndPath(t *testing.T) {
	w := newWorld(t, nil)
	w.write("src/a.go", "one\nTODO: two\r\ntodo three\n")
	w.write("src/b/c.go", "a.b\naxb\n")
	w.write("src/.git/x", "TODO")
	w.write("other.txt", "TODO")
	w.write("src/bin", "TODO\x00")
	link(t, "../other.txt", filepath.Join(w.dir, "src", "link"))
	cases := []struct{ params, want string }{
		{`{"query":"TODO","path":"src"}`, "src/a.go:2"},
		{`{"query":"todo","path":"src","ignore_case":true}`, "src/a.go:2 src/a.go:3"},
		{`{"query":"TODO"}`, "other.txt:1 src/a.go:2"},
		{`{"query":"a.b"}`, "src/b/c.go:1"},
		{`{"query":"a.b","regex":true}`, "src/b/c.go:1 src/b/c.go:2"},
		{`{"query":"^todo","regex":true,"ignore_case":true}`, "other.txt:1 src/a.go:2 src/a.go:3"},
		{`{"query":"two","path":"src/a.go"}`, "src/a.go:2"},
		{`{"query":"absent"}`, ""},
	}
	for _, c := range cases {
		var got fileMatches
		w.want("file.search", c.params, &got)
		if matched(got) != c.want || got.Truncated {
			t.Errorf("%s: got %s, truncated %v; want %s", c.params, matched(got), got.Truncated, c.want)
		}
	}
	var got fileMatches
	w.want("file.search", `{"query":"TODO","path":"src"}`, &got)
	if got.Matches[0].Text != "TODO: two" || strings.Join(got.Files, " ") != "src/a.go" || got.FilesSearched != 2 || got.FilesSkipped != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestFileSearch_Limits(t *testing.T) {
	w := newWorld(t, nil)
	w.write("many", strings.Repeat("x\n", 150))
	w.write("wide", strings.Repeat("é", 5000)+"needle"+strings.Repeat("é", 5000))
	w.write("endless", strings.Repeat("x", searchLineBytesMax+1)+"\nneedle")
	for _, params := range []string{
		`{}`, `{"query":""}`, `{"query":"x","limit":0}`, `{"query":"x","limit":1001}`, `{"query":"(","regex":true}`,
		`{"query":` + quote(strings.Repeat("x", searchQueryBytesMax+1)) + `}`,
		`{"query":"(?=x)","regex":true}`,
	} {
		w.refuse("file.search", params, Invalid)
	}
	var got fileMatches
	w.want("file.search", `{"query":"x","path":"many"}`, &got)
	if len(got.Matches) != searchMatchesDefault || !got.Truncated {
		t.Errorf("got %d matches, truncated %v; want %d", len(got.Matches), got.Truncated, searchMatchesDefault)
	}
	w.want("file.search", `{"query":"x","path":"many","limit":150}`, &got)
	if len(got.Matches) != 150 || got.Truncated {
		t.Errorf("got %d matches, truncated %v; want all 150", len(got.Matches), got.Truncated)
	}
	w.want("file.search", `{"query":"needle","path":"wide"}`, &got)
	if text := got.Matches[0].Text; len(text) > searchSnippetBytes+4 || !strings.Contains(text, "needle") {
		t.Errorf("got a snippet of %d bytes, want the match in at most %d", len(text), searchSnippetBytes)
	}
	w.want("file.search", `{"query":"needle","path":"endless"}`, &got)
	if len(got.Matches) != 0 || !got.Truncated {
		t.Errorf("endless line: got %d matches, truncated %v; want the search cut", len(got.Matches), got.Truncated)
	}
}

func TestFileSearch_LargeFilesAreSkippedAndCounted(t *testing.T) {
	w := newWorld(t, nil)
	w.write("large", strings.Repeat("needle\n", searchFileBytesMax/7+1))
	w.write("small", "needle")
	var got fileMatches
	w.want("file.search", `{"query":"needle"}`, &got)
	if matched(got) != "small:1" || got.FilesSkipped != 1 {
		t.Errorf("got %s, skipped %d; want small:1 and 1", matched(got), got.FilesSkipped)
	}
}
