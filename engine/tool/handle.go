package tool

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// Request is what a tool is run with.
type Request struct {
	Params  []byte // canonical JSON object of all parameters
	Run     string
	Node    string
	Attempt int    // from 1
	Key     string // idempotency key, "" for reads
}

// Func runs a tool once. It honours ctx, returns one JSON value, and reports
// trouble as *Failure; any other error is unexplained.
type Func func(ctx context.Context, r Request) ([]byte, error)

// Result is what a tool answered, not yet checked or redacted.
type Result struct {
	Output []byte
}

// Handle is the right to run one tool once with the parameters of one call.
// The zero value runs nothing.
type Handle struct {
	entry   *entry
	request Request
	spent   *atomic.Bool
}

// errSpentHandle and errOtherParams are broken invariants of whoever holds a Handle.
var (
	errSpentHandle = errors.New("handle was used before or is the zero value")
	errOtherParams = errors.New("parameters are not those of the granted call")
)

func newHandle(e *entry, c policy.Call) Handle {
	return Handle{
		entry: e,
		request: Request{
			Params: plan.Splice(c.Params), Run: c.Run, Node: c.Node, Attempt: c.Attempt, Key: c.Key,
		},
		spent: &atomic.Bool{},
	}
}

// Run runs the tool. params must be the canonical parameters of the call that
// was granted, byte for byte: a grant for one set never runs another (P18).
func (h Handle) Run(ctx context.Context, params []byte) (Result, error) {
	if h.entry == nil || !h.spent.CompareAndSwap(false, true) {
		return Result{}, errSpentHandle
	}
	if !bytes.Equal(params, h.request.Params) {
		return Result{}, errOtherParams
	}
	output, err := h.entry.run(ctx, h.request)
	return Result{Output: output}, err
}

// timeout and bytesMax are the tool's declared limits.
func (h Handle) timeout() time.Duration { return h.entry.decl.Timeout }

func (h Handle) bytesMax() int {
	if h.entry.decl.Bytes > 0 {
		return h.entry.decl.Bytes
	}
	return InlineBytesMax
}
