package engine

// Version is the engine version that run.created pins (P29): re-stepping gives
// the same facts only within one version; folding works across versions.
const Version = "2"

// Kind names what a fact says. Kinds are coarse (P28).
type Kind string

// The closed set of kinds in a run's stream.
const (
	RunCreated         Kind = "run.created"
	VersionAdded       Kind = "version.added"
	PlanSketched       Kind = "plan.sketched" // a step of an answer still coming in; nothing runs from it
	AttemptStarted     Kind = "attempt.started"
	AttemptEnded       Kind = "attempt.ended"
	NodeChanged        Kind = "node.changed"
	ClearanceRequested Kind = "clearance.requested"
	ClearanceAnswered  Kind = "clearance.answered"
	ApprovalRequested  Kind = "approval.requested"
	ApprovalDecided    Kind = "approval.decided"
	OutcomeAttested    Kind = "outcome.attested"
	InputTimer         Kind = "input.timer"
	InputCancel        Kind = "input.cancel"
	InputPause         Kind = "input.pause"
	InputResume        Kind = "input.resume"
	InputPolicy        Kind = "input.policy"
	InputStart         Kind = "input.start"   // a plan under review may run
	InputReplace       Kind = "input.replace" // another plan in its place
	InputUnknown       Kind = "input.outcome_unknown"
	InputOrphan        Kind = "input.orphan" // a late result, kept, never committed (R15)
	BudgetWarned       Kind = "budget.warned"
	RunHalting         Kind = "run.halting" // the code is decided, attempts in flight drain
	RunEnded           Kind = "run.ended"
	RunErased          Kind = "run.erased" // written by `sluice erase`, by the store's owner
)

// Fact is one stored row without what the writer gives it (stream, hashes, salt; P27).
type Fact struct {
	Seq     int64  // from 1 in its stream
	At      int64  // µs UTC, the time of the input
	Kind    Kind   //
	Cause   int64  // seq of the first fact of the Step that decided this one
	Version int    // plan version that governed it, 0 before the first (R59)
	Node    string // "" for facts about the run
	Attempt int    // from 1; 0 where no attempt is meant
	Actor   string // principal, P25
	Data    []byte // JSON object, UTF-8, at most FactBytesMax
}

// FactBytesMax bounds one fact's data: the largest plan with what compiling adds.
const FactBytesMax = 16 << 20
