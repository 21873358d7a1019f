package exec

import (
	"context"
	"time"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// Creation is what the log keeps of a run's first append besides its facts.
type Creation struct {
	Run, Owner     string
	IdempotencyKey string // "" when the client sent none
	BodyHash       string
}

// Append is one transaction's worth of a run's facts.
type Append struct {
	Run      string
	Expected int64 // seq of the last fact before them
	Facts    []engine.Fact
	Create   *Creation       // with a run's first facts
	Summary  *engine.Summary // for lists, when the status changed
}

// Log is the durable log of runs.
type Log interface {
	// Append adds facts and calls done once they are durable, or with the reason
	// they are not. done is quick and may run anywhere.
	Append(a Append, done func(error))
	// Load gives facts after a sequence number, at most limit of them.
	Load(ctx context.Context, run string, after int64, limit int) ([]engine.Fact, error)
	// Snapshot gives a run's newest snapshot, nil when there is none (P32).
	Snapshot(ctx context.Context, run string) ([]byte, error)
	// SaveSnapshot keeps one; losing it costs time, never truth.
	SaveSnapshot(ctx context.Context, run string, seq int64, data []byte) error
	// PutBlob stores a large output durably and returns its SHA-256 in hex (P30).
	PutBlob(ctx context.Context, run string, data []byte) (string, error)
}

// Tools performs attempts. The implementation opens the tool with the Grant.
type Tools interface {
	Perform(ctx context.Context, c engine.Perform) engine.AttemptDone
	Catalog() *plan.Catalog
}

// Planner answers the control commands: the built-in one where By says so, the
// model it names otherwise.
type Planner interface {
	Name() string
	// Propose calls sketch, from one goroutine and before it returns, with each
	// step that is complete while the answer still comes in.
	Propose(ctx context.Context, c engine.Propose, sketch func(step []byte)) (engine.Planned, error)
	Conclude(ctx context.Context, c engine.Conclude) (engine.Concluded, error)
}

// Authorities asks external authorities about calls (R47). Whatever goes wrong
// is a denial with a Failure, never an error.
type Authorities interface {
	Clear(ctx context.Context, c engine.Clear) engine.Cleared
}

// Policies gives the policy in force and those that runs pinned (P19, P29).
type Policies interface {
	Current() *policy.Policy
	ByHash(ctx context.Context, hash string) (*policy.Policy, error)
}

// Clock gives time and timers; tests replace it.
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// SystemClock is the wall clock.
type SystemClock struct{}

// Now implements Clock.
func (SystemClock) Now() time.Time { return time.Now() }

// AfterFunc implements Clock.
func (SystemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
