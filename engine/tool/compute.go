package tool

import (
	"context"
	"encoding/json"
	"time"

	"sluice/engine/compute"
	"sluice/engine/plan"
	"sluice/policy"
)

const (
	computeTimeout     = 10 * time.Second
	computeOutputBytes = compute.ValueBytesMax + (64 << 10) // the value and what was printed
)

const computeInput = `{
	"type": "object", "additionalProperties": false, "required": ["code"],
	"properties": {
		"code": {"type": "string", "minLength": 1, "maxLength": 65536, "description": "A program in Starlark (a small Python): one expression over input, or a file that defines main(input) and returns the value. No load, while, recursion, clock or files. Beside the language's own names: sum(items), round(x, digits), parse_date(\"2026-01-02\") -> days since 1970-01-01, format_date(days), days_between(from, to), csv(text, separator=\",\", header=True) -> list of dicts of strings."},
		"input": {"description": "Any JSON value; what another step gave comes in here. Left out: null, None in the program."},
		"args": {"description": "A second JSON value, which the program knows as args: limits, names, what to look for. Left out: None."}
	}}`

const computeOutput = `{
	"type": "object", "additionalProperties": false, "required": ["value"],
	"properties": {
		"value": {"description": "What the program gave back, as JSON."},
		"log": {"type": "array", "description": "What it printed: at most 50 lines of 200 bytes.", "items": {"type": "string"}}
	}}`

func computeTool(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "compute", Effect: policy.Read, Pure: true, Impact: policy.Observe},
			Summary: "Compute a value from input by a small Starlark program: arithmetic, filters, dates, CSV.",
			Input:   json.RawMessage(computeInput), Output: json.RawMessage(computeOutput),
			Literal: []string{"code"},
			Timeout: computeTimeout,
			Bytes:   computeOutputBytes,
		},
		run: h.compute,
	}
}

type computeParams struct {
	Code  string          `json:"code"`
	Input json.RawMessage `json:"input"`
	Args  json.RawMessage `json:"args"`
}

// computed is what the worker answers: one of error and value.
type computed struct {
	Value json.RawMessage `json:"value,omitempty"`
	Log   []string        `json:"log,omitempty"`
	Error string          `json:"error,omitempty"`
}

// compute evaluates in a process of its own: a program may ask for more memory
// than there is, or for an operation that nothing can interrupt, and then only
// that process ends.
func (h *host) compute(ctx context.Context, r Request) ([]byte, error) {
	var params computeParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	if params.Code == "" || len(params.Code) > compute.CodeBytesMax {
		return nil, failf(Invalid, "code must be given and at most %d bytes", compute.CodeBytesMax)
	}
	if len(h.worker) == 0 {
		return nil, errUnavailable()
	}
	done, err := command{path: h.worker[0], args: h.worker[1:], dir: "/", stdin: r.Params, max: computeOutputBytes,
		env: []string{"GOMAXPROCS=2", "GOTRACEBACK=none"}}.run(ctx)
	if err != nil {
		return nil, err
	}
	return computeAnswer(done)
}

// workerFailed is the exit code of a worker that could not do its work.
const workerFailed = 1

func computeAnswer(done ran) ([]byte, error) {
	var answer computed
	switch {
	case done.code == workerFailed:
		return nil, errUnavailable()
	case done.code != 0: // ended by its runtime or by the system
		return nil, failf(Invalid, "the program was ended: it needs more than %d MiB of memory or %d s of processor time", workerMemoryBytes>>20, workerCPUSeconds)
	case done.cut || json.Unmarshal(done.stdout, &answer) != nil:
		return nil, Fail(Invalid, "the value could not be read")
	case answer.Error != "":
		return nil, Fail(Invalid, answer.Error)
	}
	return done.stdout, nil
}
