package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"sluice/engine"
)

// FailureClass says what kind of failure an attempt ended with. The engine
// decides from it whether a retry makes sense; "" means that it did not fail.
type FailureClass string

// The closed set of failure classes.
const (
	OK          FailureClass = ""
	Invalid     FailureClass = "invalid"     // parameters or structure are wrong: permanent
	Transient   FailureClass = "transient"   // may work a moment later
	Timeout     FailureClass = "timeout"     // ended by its deadline before it answered
	Stopped     FailureClass = "stopped"     // ended on request before it answered (P7)
	Unavailable FailureClass = "unavailable" // P24: one constant text, no detail
	NotFound    FailureClass = "not_found"   // the thing named does not exist
	Conflict    FailureClass = "conflict"    // the thing named is not as the call needs it
)

// UnavailableText is the whole detail of every failure of class unavailable.
// P24: a missing program, a refusal by the system, a refused connection, a
// repository that could run code and anything unexplained look alike, and alike
// a denial.
const UnavailableText = engine.UnavailableText

// DetailBytesMax bounds the detail of an outcome, in bytes.
const DetailBytesMax = 300

// Failure is an error of a tool with its class. A tool that returns any other
// error is unexplained and counts as Unavailable.
type Failure struct {
	Class      FailureClass
	Detail     string // short, for people and models; replaced by UnavailableText when Unavailable
	BeforeSend bool   // provably failed before any effect (P5)
}

// Error gives class and detail.
func (f *Failure) Error() string { return string(f.Class) + ": " + f.Detail }

// Fail makes a Failure that happened before any effect.
func Fail(class FailureClass, detail string) error {
	return &Failure{Class: class, Detail: detail, BeforeSend: true}
}

// failf is Fail with a formatted detail.
func failf(class FailureClass, format string, args ...any) error {
	return Fail(class, fmt.Sprintf(format, args...))
}

// errUnavailable is what a tool returns for a cause that P24 keeps silent about.
func errUnavailable() error { return Fail(Unavailable, UnavailableText) }

// errUnsure is what a tool returns when an effect was begun and its end was not
// seen: never "not done", so that a person is asked where it matters (P5).
func errUnsure() error {
	return &Failure{Class: Transient, Detail: "the change was begun, but its end was not confirmed"}
}

// ended is the failure of an attempt whose context is over.
func ended(ctx context.Context, isUnsent bool) *Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Failure{Class: Timeout, Detail: "no answer within the time limit", BeforeSend: isUnsent}
	}
	return &Failure{Class: Stopped, Detail: "stopped before it answered", BeforeSend: isUnsent}
}

// unsent keeps what is known of an error that came before any effect: also the
// end of the context is then no reason to doubt what happened.
func unsent(ctx context.Context, err error) error {
	var failure *Failure
	if err != nil && ctx.Err() != nil && !errors.As(err, &failure) {
		return ended(ctx, true)
	}
	return err
}

// fileFailure turns an error of an os.Root operation on name into a Failure.
// An escape through a symbolic link matches no fs.Err* and is no errno
// (spec.md part G), so what is neither is an escape.
func fileFailure(name string, err error) error {
	var failure *Failure
	var errno syscall.Errno
	switch {
	case errors.As(err, &failure):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return failf(NotFound, "%q does not exist in the workspace", clip(name))
	case errors.Is(err, syscall.ENOTDIR):
		return failf(Invalid, "a part of %q is not a directory", clip(name))
	case errors.Is(err, syscall.EISDIR):
		return failf(Invalid, "%q is a directory", clip(name))
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL):
		return failf(Invalid, "%q is not a usable path", clip(name))
	case errors.As(err, &errno): // refused by the system, full, broken: P24
		return errUnavailable()
	}
	return failf(Invalid, "%q leaves the workspace", clip(name))
}

// nameBytesMax bounds a path quoted in a detail.
const nameBytesMax = 120

// clip shortens a name from outside so that it fits into a detail.
func clip(name string) string {
	if len(name) <= nameBytesMax {
		return name
	}
	return name[:nameBytesMax] + "..."
}
