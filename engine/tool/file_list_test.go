package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func listed(l fileListing) string {
	var paths []string
	for _, e := range l.Entries {
		paths = append(paths, e.Path)
	}
	return strings.Join(paths, " ")
}

func TestFileList_OrderKindAndDepth(t *testing.T) {
	w := newWorld(t, nil)
	for i, path := range []string{"inbox/c.txt", "inbox/a.txt", "inbox/sub/b.txt"} {
		w.write(path, strings.Repeat("x", 10*(i+1)))
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(filepath.Join(w.dir, path), at, at); err != nil {
			t.Fatal(err)
		}
	}
	w.write("inbox/.git/config", "")
	link(t, "sub", filepath.Join(w.dir, "inbox", "link"))
	cases := []struct{ params, want string }{
		{`{"path":"inbox","kind":"file"}`, "inbox/a.txt inbox/c.txt"},
		{`{"path":"inbox","kind":"directory"}`, "inbox/.git inbox/sub"},
		{`{"path":"inbox"}`, "inbox/.git inbox/a.txt inbox/c.txt inbox/link inbox/sub"},
		{`{"path":"inbox","kind":"file","sort":"modified"}`, "inbox/a.txt inbox/c.txt"},
		{`{"path":"inbox","kind":"file","sort":"modified","recursive":true}`, "inbox/sub/b.txt inbox/a.txt inbox/c.txt"},
		{`{"path":"inbox","kind":"file","sort":"size","recursive":true,"limit":1}`, "inbox/sub/b.txt"},
		{`{"recursive":true,"kind":"any","sort":"name"}`, "inbox inbox/.git inbox/a.txt inbox/c.txt inbox/link inbox/sub inbox/sub/b.txt"},
	}
	for _, c := range cases {
		var got fileListing
		w.want("file.list", c.params, &got)
		if listed(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.params, listed(got), c.want)
		}
	}
	var got fileListing
	w.want("file.list", `{"path":"inbox","kind":"file","limit":1}`, &got)
	want := fileEntry{Name: "a.txt", Path: "inbox/a.txt", Kind: "file", SizeBytes: 20, Modified: "1970-01-01T00:16:41Z"}
	if got.Entries[0] != want || got.Total != 2 || !got.Truncated {
		t.Errorf("got %+v of %d, truncated %v; want %+v of 2", got.Entries[0], got.Total, got.Truncated, want)
	}
}

func TestFileList_Limits(t *testing.T) {
	w := newWorld(t, nil)
	for _, params := range []string{`{"limit":0}`, `{"limit":5001}`, `{"sort":"colour"}`, `{"kind":"link"}`} {
		w.refuse("file.list", params, Invalid)
	}
	for i := range listEntriesDefault + 1 {
		w.write(fmt.Sprintf("many/%04d", i), "")
	}
	var got fileListing
	w.want("file.list", `{"path":"many"}`, &got)
	if len(got.Entries) != listEntriesDefault || got.Total != listEntriesDefault+1 || !got.Truncated {
		t.Errorf("got %d of %d, truncated %v", len(got.Entries), got.Total, got.Truncated)
	}
	deep := strings.Repeat("d/", walkDepthMax+3) + "f"
	w.write("deep/"+deep, "")
	w.want("file.list", `{"path":"deep","recursive":true}`, &got)
	if len(got.Entries) != walkDepthMax || !got.Truncated {
		t.Errorf("deep: got %d entries, truncated %v; want %d and true", len(got.Entries), got.Truncated, walkDepthMax)
	}
}

func TestWalk_LooksAtABoundedNumberOfEntries(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 30 {
		w.write(fmt.Sprintf("a/%02d", i), "")
	}
	visited := 0
	walk := walker{host: w.registry.host, depthMax: 1, seen: walkEntriesMax - 10, visit: func(string, os.FileInfo) (bool, error) {
		visited++
		return false, nil
	}}
	if err := walk.walk(t.Context(), "a"); err != nil || visited != 10 || !walk.full {
		t.Errorf("got %d entries, full %v, %v; want 10 and full", visited, walk.full, err)
	}
}
