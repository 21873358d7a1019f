package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hanging is a program that starts a child, which tells both numbers through a
// FIFO, and waits for it. Either may ignore TERM.
func hanging(t *testing.T, leader, child string) (script, fifo string) {
	t.Helper()
	dir := t.TempDir()
	script, fifo = filepath.Join(dir, "git"), filepath.Join(dir, "ready")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "inner")
	for path, text := range map[string]string{
		inner:  child + "\necho $PPID $$ > " + fifo + "\nexec sleep 600\n",
		script: leader + "\n" + inner + " &\nwait\nwait\n",
	} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return script, fifo
}

// numbers waits for the program to say its own and its child's number.
func numbers(t *testing.T, fifo string) (leader, child int) {
	t.Helper()
	text, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text))
	if len(fields) != 2 {
		t.Fatalf("got %q, want two numbers", text)
	}
	leader, _ = strconv.Atoi(fields[0])
	child, _ = strconv.Atoi(fields[1])
	return leader, child
}

// wantGone waits until a process is no more, or only its entry is left.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d is still there", pid)
}

func TestP7_StoppingAGitToolEndsItsWholeProcessGroup(t *testing.T) {
	const obeys, ignores = "", "trap '' TERM"
	const silent = "exec >/dev/null 2>&1" // holds no pipe, so the leader's end is seen at once
	for name, c := range map[string]struct{ leader, child string }{
		"both obey": {"trap 'exit 1' TERM", obeys}, "both ignore": {ignores, ignores}, "only the child ignores": {"trap 'exit 1' TERM", ignores},
		"only a silent child ignores": {"trap 'exit 1' TERM", ignores + "\n" + silent},
	} {
		script, fifo := hanging(t, c.leader, c.child)
		w := newWorld(t, []string{"PATH=" + filepath.Dir(script) + ":" + os.Getenv("PATH")})
		w.write("repo/.git/HEAD", "ref: refs/heads/main\n")
		w.write("repo/.git/config", "[core]\n")
		w.write("repo/.git/objects/x", "")
		w.write("repo/.git/refs/x", "")
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan Outcome, 1)
		job := w.job("git.status", `{"path":"repo"}`)
		go func() { done <- w.executor.Perform(ctx, job) }()
		leader, child := numbers(t, fifo)
		start := time.Now()
		cancel()
		out := <-done
		took := time.Since(start)
		if out.Class != Stopped || took >= abandonAfter {
			t.Errorf("%s: got %q after %v, want stopped", name, out.Class, took)
		}
		if isPatient := took >= killAfter; isPatient != (c.child == ignores) {
			t.Errorf("%s: took %v, want KILL only after %v", name, took, killAfter)
		}
		wantGone(t, leader)
		wantGone(t, child)
	}
}

func TestCommand_OutputAndErrorsAreBounded(t *testing.T) {
	c := command{path: "/bin/sh", args: []string{"-c", "cat; head -c 100000 /dev/zero >&2; exit 3"}, stdin: []byte("0123456789"), max: 4}
	got, err := c.run(context.Background())
	if err != nil || string(got.stdout) != "0123" || !got.cut || got.code != 3 || len(got.stderr) != stderrBytesMax {
		t.Errorf("got %q, cut %v, code %d, %d bytes of stderr, %v", got.stdout, got.cut, got.code, len(got.stderr), err)
	}
	c = command{path: "/bin/sh", args: []string{"-c", "printf 0123"}, max: 4}
	if got, err = c.run(context.Background()); err != nil || got.cut || got.code != 0 || string(got.stdout) != "0123" {
		t.Errorf("at the limit: got %+v, %v", got, err)
	}
}

func TestP24_AProgramThatCannotStartIsUnavailable(t *testing.T) {
	_, err := command{path: "/nonexistent/program"}.run(context.Background())
	var failure *Failure
	if !errors.As(err, &failure) || failure.Class != Unavailable || failure.Detail != UnavailableText {
		t.Errorf("got %v, want unavailable", err)
	}
}

func TestCommand_ProgramsAreFoundInAbsoluteFoldersOnly(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"program": 0o755, "text": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if got, err := findProgram([]string{"PATH=/nonexistent:" + dir}, "program"); err != nil || got != filepath.Join(dir, "program") {
		t.Errorf("got %q, %v", got, err)
	}
	for _, c := range [][2]string{{".", "program"}, {"", "program"}, {dir, "text"}, {dir, "gone"}} {
		if got, err := findProgram([]string{"PATH=" + c[0]}, c[1]); err == nil {
			t.Errorf("PATH %q, %s: got %q, want nothing", c[0], c[1], got)
		}
	}
}
