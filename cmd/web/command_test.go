package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

// sluice runs a command in this process, as the shell would.
func sluice(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return sluiceUntil(t.Context(), stdin, args...)
}

func sluiceUntil(ctx context.Context, stdin string, args ...string) result {
	var out, err bytes.Buffer
	code := dispatch(ctx, streams{strings.NewReader(stdin), &out, &err}, args)
	return result{code, out.String(), err.String()}
}
