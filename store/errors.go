package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// The errors a caller can act on. All others are operating failures.
var (
	// ErrConflict: the stream is not where the caller thought, or a key is
	// taken by another request body. Nothing was written.
	ErrConflict = errors.New("conflict")
	// ErrExists: the idempotency key already made a run of the same body; the
	// error is an *ExistsError that names it. Nothing was written.
	ErrExists = errors.New("already exists")
	// ErrInvalid: the request breaks a rule or a limit. Nothing was written.
	ErrInvalid = errors.New("invalid")
	// ErrNotFound: no such run, blob, approval, user or token.
	ErrNotFound = errors.New("not found")
	// ErrLocked: another process holds the data directory (P34).
	ErrLocked = errors.New("data directory is locked by another process")
	// ErrClosed: the store was closed before the request was taken.
	ErrClosed = errors.New("store is closed")
	// ErrDisk: the disk is full, failing or not writable. Nothing was written.
	ErrDisk = errors.New("the disk takes no more")
	// ErrReadOnly: the store was opened for reading.
	ErrReadOnly = errors.New("store is read-only")
)

// ConflictError says where a stream stands that was expected elsewhere.
type ConflictError struct {
	Stream   string
	Expected int64 // the seq the caller thought to be last
	Head     int64 // the seq that is last
}

// Error names the stream and both numbers.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("append to %s at %d: the head is %d", e.Stream, e.Expected, e.Head)
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// ExistsError names the run an idempotency key has already made.
type ExistsError struct{ Run string }

// Error names the run.
func (e *ExistsError) Error() string { return "run " + e.Run + " was already made by this key" }

// Is makes errors.Is(err, ErrExists) true.
func (e *ExistsError) Is(target error) bool { return target == ErrExists }

// Primary result codes of SQLite that are about the disk.
const (
	sqliteReadOnly = 8
	sqliteIOError  = 10
	sqliteFull     = 13
)

// onDisk marks an error that is about the disk rather than about the request.
func onDisk(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	switch failure.Code() & 0xff {
	case sqliteReadOnly, sqliteIOError, sqliteFull:
		return fmt.Errorf("%w: %w", ErrDisk, err)
	}
	return err
}

func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrInvalid)...)
}
