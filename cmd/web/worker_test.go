package main

import (
	"os"
	"testing"

	"sluice/engine/tool"
)

// TestMain lets the test program be what it is started as by compute: a worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == tool.ComputeWorker {
		os.Exit(computeWorker(streams{os.Stdin, os.Stdout, os.Stderr}))
	}
	os.Exit(m.Run())
}
