//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// commandWithin bounds one command; none of them waits for a person.
const commandWithin = 2 * time.Minute

// result is how a command ended.
type result struct {
	stdout, stderr string
	code           int
}

// sluice runs the shipped binary with the given standard input.
func sluice(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return command(t, must(t, shipped), stdin, args...)
}

func command(t *testing.T, binary, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %v: %v", args, err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// wantCode fails unless the command ended with the exit code (P36).
func (r result) wantCode(t *testing.T, want int) result {
	t.Helper()
	if r.code != want {
		t.Fatalf("got exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, want, r.stdout, r.stderr)
	}
	return r
}

// decode reads the command's standard output as one JSON value.
func decode[T any](t *testing.T, r result) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatalf("read output: %v\nstdout: %s\nstderr: %s", err, r.stdout, r.stderr)
	}
	return out
}
