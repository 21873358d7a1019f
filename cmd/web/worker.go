package main

import (
	"fmt"
	"os"

	"sluice/engine/tool"
)

// self is this program, also after its file was replaced by an update.
const self = "/proc/self/exe"

// worker is the command that evaluates the program of one compute call.
func worker() []string {
	if _, err := os.Stat(self); err == nil {
		return []string{self, tool.ComputeWorker}
	}
	path, err := os.Executable()
	if err != nil {
		return nil // compute is unavailable then
	}
	return []string{path, tool.ComputeWorker}
}

// computeWorker is the life of such a process. It is no command of its own: it
// answers nobody but who started it.
func computeWorker(s streams) int {
	if err := tool.WorkCompute(s.in, s.out); err != nil {
		fmt.Fprintln(s.err, "sluice: "+err.Error())
		return exitNo
	}
	return exitYes
}
