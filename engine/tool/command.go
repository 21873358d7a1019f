package tool

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// killAfter is how long a process group has between TERM and KILL (P7).
const killAfter = 2 * time.Second

// command is one program to run without a shell.
type command struct {
	path  string   // absolute
	args  []string // without the program's name
	env   []string // the whole environment
	dir   string
	stdin []byte
	max   int // bytes of standard output kept
}

// stderrBytesMax bounds what is kept of standard error.
const stderrBytesMax = 16 << 10

// ran is what a program left behind.
type ran struct {
	stdout []byte
	stderr string
	cut    bool // standard output was longer than max
	code   int  // exit code; -1 when a signal ended it
}

// run runs the program in a process group of its own and waits for it. When ctx
// ends the whole group gets TERM, and KILL two seconds later (P7); the error is
// then that of ctx. A program that cannot be started is unavailable (P24).
func (c command) run(ctx context.Context) (ran, error) {
	if err := ctx.Err(); err != nil {
		return ran{}, err
	}
	stdout, stderr := &limited{max: c.max}, &limited{max: stderrBytesMax}
	cmd := exec.Command(c.path, c.args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.env, c.dir, bytes.NewReader(c.stdin), stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = killAfter // a child that kept the pipes open does not hold us
	if err := cmd.Start(); err != nil {
		return ran{}, errUnavailable()
	}
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	select {
	case err := <-waited:
		return finished(cmd, err, stdout, stderr)
	case <-ctx.Done():
	}
	stopGroup(cmd.Process.Pid, waited)
	return ran{}, ctx.Err()
}

// stopGroup ends a process group and waits for its leader. Negative means the group.
func stopGroup(group int, waited <-chan error) {
	// An error here means that nobody is left to signal.
	_ = syscall.Kill(-group, syscall.SIGTERM)
	grace := time.NewTimer(killAfter)
	defer grace.Stop()
	select {
	case <-waited: // the leader went; whoever ignored TERM goes now
		_ = syscall.Kill(-group, syscall.SIGKILL)
	case <-grace.C:
		_ = syscall.Kill(-group, syscall.SIGKILL)
		<-waited
	}
}

func finished(cmd *exec.Cmd, err error, stdout, stderr *limited) (ran, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return ran{}, errUnavailable()
	}
	return ran{
		stdout: stdout.kept.Bytes(), stderr: stderr.kept.String(), cut: stdout.cut, code: cmd.ProcessState.ExitCode(),
	}, nil
}

// limited keeps the first max bytes written and drops the rest.
type limited struct {
	kept bytes.Buffer
	max  int
	cut  bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := l.max - l.kept.Len()
	if len(p) > room {
		l.cut = true
		l.kept.Write(p[:room])
		return len(p), nil
	}
	return l.kept.Write(p)
}

// findProgram looks a program up in the PATH of env. Only absolute folders
// count: a relative one would depend on where the server was started.
func findProgram(env []string, name string) (string, error) {
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", errUnavailable()
}

// lookup gives a variable's value; the last one stated counts.
func lookup(env []string, name string) string {
	value := ""
	for _, pair := range env {
		if got, found := strings.CutPrefix(pair, name+"="); found {
			value = got
		}
	}
	return value
}
