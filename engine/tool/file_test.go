package tool

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fileCalls are the file tools with a path to fill in.
var fileCalls = map[string]string{
	"file.read": `{"path":PATH}`, "file.list": `{"path":PATH}`, "file.search": `{"path":PATH,"query":"x"}`,
	"file.write": `{"path":PATH,"content":"new"}`, "file.delete": `{"path":PATH}`,
	"git.find": `{"path":PATH}`, "git.status": `{"path":PATH}`, "git.log": `{"path":PATH}`, "git.diff": `{"path":PATH}`,
}

func withPath(params, path string) string { return strings.ReplaceAll(params, "PATH", quote(path)) }

func TestGTraps_NoPathLeavesTheWorkspace(t *testing.T) {
	needGit(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil)
	w.write("in/a.txt", "x")
	link(t, outside, filepath.Join(w.dir, "dirlink"))
	link(t, secret, filepath.Join(w.dir, "filelink"))
	link(t, "../../"+filepath.Base(outside), filepath.Join(w.dir, "in", "uplink"))
	link(t, "loop", filepath.Join(w.dir, "loop"))
	paths := []string{
		"..", "../x", "in/../../x", secret, "/", "/proc/self/environ", "", "a\x00b", strings.Repeat("a/", 2100),
		"dirlink", "dirlink/secret.txt", "dirlink/new.txt", "filelink", "in/uplink/secret.txt", "loop",
	}
	for tool, params := range fileCalls {
		for _, path := range paths {
			w.refuse(tool, withPath(params, path), Invalid)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder outside was changed: %v %v", entries, err)
	}
	if content, err := os.ReadFile(secret); err != nil || string(content) != "outside" {
		t.Errorf("the file outside was changed: %q %v", content, err)
	}
}

// The path is judged by itself, before the file system is asked: what os.Root
// says of an escape could not be told from other errors.
func TestGTraps_APathIsJudgedBeforeItIsUsed(t *testing.T) {
	for _, path := range []string{"..", "../x", "a/../../x", "/", "/etc/passwd", "", "a\x00", strings.Repeat("a", 4097)} {
		if got, err := localPath(path); err == nil {
			t.Errorf("%.20q: got %q, want an error", path, got)
		}
	}
	for path, want := range map[string]string{"a": "a", "a/../b": "b", "./a/": "a", ".": ".", "..a": "..a", strings.Repeat("a", 4096): strings.Repeat("a", 4096)} {
		if got, err := localPath(path); err != nil || got != want {
			t.Errorf("%.20q: got %.20q, %v; want %.20q", path, got, err, want)
		}
	}
}

// What is not a regular file is refused for what it is, without being opened.
func TestGTraps_ASocketIsNotOpened(t *testing.T) {
	w := newWorld(t, nil)
	t.Chdir(w.dir) // the name of a socket is short
	listener, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, tool := range []string{"file.read", "file.search", "file.write", "file.delete"} {
		w.refuse(tool, withPath(fileCalls[tool], "socket"), Invalid)
	}
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestGTraps_AFIFODoesNotBlock(t *testing.T) {
	w := newWorld(t, nil)
	if err := syscall.Mkfifo(filepath.Join(w.dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.write("a.txt", "x")
	for _, tool := range []string{"file.read", "file.search", "file.write", "file.delete"} {
		w.refuse(tool, withPath(fileCalls[tool], "pipe"), Invalid)
	}
	var found fileMatches
	w.want("file.search", `{"query":"x"}`, &found)
	if len(found.Matches) != 1 || found.Matches[0].Path != "a.txt" {
		t.Errorf("search beside a FIFO: got %v, want a.txt", found.Matches)
	}
	var listing fileListing
	w.want("file.list", `{}`, &listing)
	if listing.Entries[1].Kind != "other" {
		t.Errorf("FIFO listed as %q, want other", listing.Entries[1].Kind)
	}
}

func TestGTraps_AFileWithSeveralNamesIsNotChanged(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.txt")
	if err := os.WriteFile(outside, []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil)
	if err := os.Link(outside, filepath.Join(w.dir, "hard.txt")); err != nil {
		t.Skipf("no hard links between temporary folders: %v", err)
	}
	w.refuse("file.write", `{"path":"hard.txt","content":"changed"}`, Conflict)
	w.refuse("file.delete", `{"path":"hard.txt"}`, Conflict)
	if got := w.read("hard.txt"); got != "outside" {
		t.Errorf("got %q, want the file as it was", got)
	}
	var content fileContent
	w.want("file.read", `{"path":"hard.txt"}`, &content)
}

func TestGTraps_ALinkIsNotWrittenThroughOrDeleted(t *testing.T) {
	w := newWorld(t, nil)
	w.write("real.txt", "kept")
	link(t, "real.txt", filepath.Join(w.dir, "link.txt"))
	w.refuse("file.write", `{"path":"link.txt","content":"changed"}`, Invalid)
	w.refuse("file.delete", `{"path":"link.txt"}`, Invalid)
	if got := w.read("link.txt"); got != "kept" {
		t.Errorf("got %q, want kept", got)
	}
	var content fileContent
	if w.want("file.read", `{"path":"link.txt"}`, &content); content.Content != "kept" {
		t.Errorf("a link inside the workspace reads as %q, want kept", content.Content)
	}
}

func TestP41_WhatIsNotThereIsNotFound(t *testing.T) {
	w := newWorld(t, nil)
	for _, tool := range []string{"file.read", "file.list", "file.search", "file.delete", "git.find"} {
		w.refuse(tool, withPath(fileCalls[tool], "gone/there"), NotFound)
	}
	w.write("a.txt", "x")
	for _, tool := range []string{"file.read", "file.list", "file.search", "file.write", "file.delete"} {
		w.refuse(tool, withPath(fileCalls[tool], "a.txt/below"), Invalid)
	}
	for _, tool := range []string{"file.read", "file.write", "file.delete"} {
		w.refuse(tool, withPath(fileCalls[tool], "."), Invalid)
	}
}

// A directory or file exchanged for a link while the tools run never lets them out.
func TestGTraps_ASwapRaceStaysInside(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, nil)
	w.write("real/f", "inside")
	swap := filepath.Join(w.dir, "swap")
	link(t, "real", swap)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			target := []string{"real", outside}[i%2]
			// Errors only make a round of the race idle.
			_ = os.Symlink(target, swap+".new")
			_ = os.Rename(swap+".new", swap)
		}
	}()
	for range 300 {
		out := w.perform("file.read", `{"path":"swap/f"}`)
		if strings.Contains(string(out.Output), "outside") {
			t.Fatalf("read outside: %s", out.Output)
		}
		w.perform("file.write", `{"path":"swap/g","content":"mine"}`)
		w.perform("file.delete", `{"path":"swap/f2"}`)
	}
	close(stop)
	<-stopped
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside got %v (%v), want f alone", entries, err)
	}
}
