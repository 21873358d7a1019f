package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/engine/plan"
	"sluice/policy"
)

// InlineBytesMax is the largest output kept inside a fact, and the output cap
// of a tool that declares none. Larger outputs, up to the tool's own cap, are
// for the shell to store as blobs (P30).
const InlineBytesMax = 64 << 10

// abandonAfter is how long a tool may go on after its context ended: the two
// seconds between TERM and KILL (P7) and time to collect the remains. Past it
// the attempt is reported as stopped though the system has not let go of it.
const abandonAfter = 5 * time.Second

// Job is one attempt to perform.
type Job struct {
	Grant   policy.Grant
	Call    policy.Call
	Params  []byte        // canonical JSON object; must equal the granted parameters
	Timeout time.Duration // 0 means the tool's own
	Key     string        // idempotency key, "" for reads
}

// Outcome is how an attempt ended. Output and Detail are redacted.
type Outcome struct {
	Output     []byte       // one valid JSON value; nil unless Class is OK
	Class      FailureClass // "" when the tool answered
	Detail     string       // at most DetailBytesMax bytes; "" when the tool answered
	BeforeSend bool         // the failure provably came before any effect (P5)
	Started    time.Time    // by Config.Now
	Ended      time.Time
	Fault      error // a broken invariant (refused grant, panic), for the operator's log only
}

// Executor performs attempts. It is safe for concurrent use and holds no state
// of its own.
type Executor struct {
	registry *Registry
}

// NewExecutor makes the executor of a registry.
func NewExecutor(r *Registry) *Executor { return &Executor{registry: r} }

// Perform runs one attempt to its end and never panics. It returns at the latest
// a few seconds after ctx or the timeout has ended.
func (e *Executor) Perform(ctx context.Context, job Job) Outcome {
	started := e.registry.now()
	out := e.perform(ctx, job)
	out.Started, out.Ended = started, e.registry.now()
	return out
}

func (e *Executor) perform(ctx context.Context, job Job) Outcome {
	if ctx.Err() != nil { // nothing is begun after a stop (P7)
		end := ended(ctx, true)
		return Outcome{Class: end.Class, Detail: end.Detail, BeforeSend: true}
	}
	handle, err := e.registry.Open(job.Grant, job.Call)
	if err != nil {
		// R49: what the gate refuses reads like any tool that is not there.
		return Outcome{Class: Unavailable, Detail: UnavailableText, BeforeSend: true, Fault: fmt.Errorf("open tool: %w", err)}
	}
	if handle.request.Key == "" {
		handle.request.Key = job.Key
	}
	timeout := job.Timeout
	if timeout <= 0 {
		timeout = handle.timeout()
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer := await(ctx, handle, job.Params)
	if answer.err == nil {
		answer.err = checkOutput(answer.output, handle.bytesMax())
	}
	if answer.err != nil {
		return e.failed(ctx, answer.err, job.Call.Tool.Effect)
	}
	return Outcome{Output: e.registry.redact.JSON(answer.output)}
}

// answer is what a tool's goroutine hands back.
type answer struct {
	output []byte
	err    error
}

// await runs the handle and waits for it, or for abandonAfter past the end of
// ctx: a system call on a dead network disk cannot be stopped, but the run can
// go on without it.
func await(ctx context.Context, handle Handle, params []byte) answer {
	done := make(chan answer, 1)
	go func() { done <- runGuarded(ctx, handle, params) }()
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
	}
	grace := time.NewTimer(abandonAfter)
	defer grace.Stop()
	select {
	case a := <-done:
		return a
	case <-grace.C:
		return answer{err: ctx.Err()}
	}
}

// panicked is a tool's panic as an error.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprintf("tool panicked: %v", p.value) }

// runGuarded keeps a panic of a tool inside this package.
func runGuarded(ctx context.Context, handle Handle, params []byte) (a answer) {
	defer func() {
		if value := recover(); value != nil {
			a = answer{err: panicked{value}}
		}
	}()
	result, err := handle.Run(ctx, params)
	return answer{output: result.Output, err: err}
}

// internalText is the whole detail of a tool that broke an invariant of its own.
const internalText = "the tool broke off with an internal error"

// failed classifies an error. Order matters: a tool that names its failure is
// believed before the state of the context is.
func (e *Executor) failed(ctx context.Context, err error, effect policy.Effect) Outcome {
	var failure *Failure
	var panicValue panicked
	switch {
	case errors.As(err, &panicValue):
		fault := errors.New(e.registry.redact.Text(panicValue.Error()))
		return Outcome{Class: panicClass(effect), Detail: internalText, Fault: fault}
	case errors.Is(err, errOtherParams), errors.Is(err, errSpentHandle):
		return Outcome{Class: Unavailable, Detail: UnavailableText, BeforeSend: true, Fault: fmt.Errorf("run tool: %w", err)}
	case errors.As(err, &failure) && failure.Class != Unavailable && failure.Class != OK:
		return Outcome{Class: failure.Class, Detail: e.detail(failure.Detail), BeforeSend: failure.BeforeSend}
	case ctx.Err() != nil:
		end := ended(ctx, false)
		return Outcome{Class: end.Class, Detail: end.Detail}
	}
	return Outcome{Class: Unavailable, Detail: UnavailableText, BeforeSend: failure != nil && failure.BeforeSend}
}

// panicClass is permanent, except that nobody knows how far a tool got whose
// effect must not be repeated (P5).
func panicClass(effect policy.Effect) FailureClass {
	if effect == policy.Once {
		return Transient
	}
	return Invalid
}

// detail redacts before it clips, so that no half of a secret survives the cut.
func (e *Executor) detail(text string) string {
	text = e.registry.redact.Text(text)
	if len(text) > DetailBytesMax {
		text = text[:DetailBytesMax]
	}
	return strings.ToValidUTF8(text, "")
}

// checkOutput refuses what is not one JSON value within the cap and the depth of P14.
func checkOutput(output []byte, bytesMax int) error {
	if len(output) > bytesMax {
		return &Failure{Class: Invalid, Detail: fmt.Sprintf("the output is above the tool's limit of %d bytes", bytesMax)}
	}
	if !jsontext.Value(output).IsValid() {
		return &Failure{Class: Invalid, Detail: "the output is not valid JSON"}
	}
	if depth(output) > plan.DepthMax {
		return &Failure{Class: Invalid, Detail: fmt.Sprintf("the output nests deeper than %d", plan.DepthMax)}
	}
	return nil
}

// depth counts the nesting of valid JSON.
func depth(valid []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(valid); i++ {
		switch valid[i] {
		case '"':
			i = stringEnd(valid, i) - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}
