package tool

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"sluice/engine/compute"
	"sluice/engine/plan"
)

// Limits of the process that evaluates one program.
const (
	workerMemoryBytes = 128 << 20
	workerCPUSeconds  = 15 // should who started it be gone
)

// ComputeWorker is the argument that makes a program evaluate instead of serve.
const ComputeWorker = "compute-worker"

// WorkCompute is the whole life of that process: the parameters of one compute
// call on in, its answer on out. It limits the process and must not be called in
// any other.
func WorkCompute(in io.Reader, out io.Writer) error {
	if err := limitWorker(); err != nil {
		return fmt.Errorf("limit worker: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(in, plan.ParamsBytesMax+1))
	if err != nil {
		return fmt.Errorf("read call: %w", err)
	}
	var params computeParams
	if err := decode(raw, &params); err != nil {
		return fmt.Errorf("read call: %w", err)
	}
	var answer computed
	value, err := compute.EvaluateWith(params.Code, params.Input, params.Args)
	if err != nil {
		answer.Error = err.Error()
	} else {
		answer.Value, answer.Log = value.JSON, value.Log
	}
	text, err := encode(answer)
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// limitWorker leaves the process so much memory beyond what it has, and so much
// processor time. The collector works harder before the end is reached, so that
// garbage does not count.
func limitWorker() error {
	debug.SetMemoryLimit(workerMemoryBytes / 2)
	if used, known := dataBytes(); known {
		limit := syscall.Rlimit{Cur: used + workerMemoryBytes, Max: used + workerMemoryBytes}
		if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
			return err
		}
	}
	return syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: workerCPUSeconds, Max: workerCPUSeconds})
}

// dataBytes is what counts for RLIMIT_DATA now; not known where the system does
// not tell, and there the limit on time alone bounds a program.
func dataBytes() (uint64, bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		var kib uint64
		if n, _ := fmt.Sscanf(lines.Text(), "VmData: %d kB", &kib); n == 1 {
			return kib << 10, true
		}
	}
	return 0, false
}
