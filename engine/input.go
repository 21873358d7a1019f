package engine

import (
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits on inputs from outside.
const (
	GoalBytesMax   = 8 << 10
	ReasonBytesMax = 4 << 10
	DetailBytesMax = 2 << 10
	OutputBytesMax = 64 << 10 // inline outputs; larger ones are blobs (P30)
	ClaimsMax      = 1_000
	UnplannedMax   = 1_000
)

// Input is one thing that happened outside: the only way into a State. The set
// is closed.
type Input interface{ inputTime() int64 }

// Head is what every input carries.
type Head struct {
	At    int64  // µs UTC; a time before the state's is taken as the state's
	Actor string // principal, P25
}

func (h Head) inputTime() int64 { return h.At }

// Create starts a run. It is the first input of every stream.
type Create struct {
	Head
	Run         string // "r_" + ULID
	Goal        string
	Intent      policy.Rank // chosen by the trigger, never by a model or plan (R45)
	Scopes      []string
	Mode        string // "plan-once" or "reflect"
	ModeOptions ModeOptions
	Profile     string // "default" or "bench"
	Key         string // client's idempotency key, may be ""
	Requester   string // the person a token acts for; "" means Actor
	Plan        *plan.Compiled
	PlanDoc     []byte      // the plan as submitted, JSON; nil when a planner is to propose
	PlanAuthor  plan.Author // who wrote Plan
	Review      string      // "" or "plan": stop at the compiled plan
	Template    string      // "name@2" when Plan is an instance of a template

	Budget map[string]int64 // lowers limits of the profile, by dimension
}

// Planned is a planner's answer to Propose: a plan, a direct answer, neither, or
// why there is none.
type Planned struct {
	Head
	Node      string // the control node that asked; "" is the one that runs
	Attempt   int
	By        string // "builtin" or "model:…"
	Author    plan.Author
	Plan      *plan.Plan
	Answer    string
	Unplanned []Unplanned

	Usage    Usage
	Class    Class         // the call failed: transient, timeout, unavailable …
	Detail   string        // of the failure, for operators; no model sees it
	Wait     time.Duration // the server asks to be left alone so long
	Raw      string        // the model's answer as it came
	Problem  string        // why Raw could not be read; it goes back to the model with it
	Template string        // "name@2" when Plan is an instance of a template
}

// Sketched is one complete step of an answer that is still coming in. Nothing
// runs from it; what counts is the Planned that follows.
type Sketched struct {
	Head
	Node    string
	Attempt int
	Step    []byte // one step as JSON
}

// Class is the class of a failure (P24); "" is none.
type Class string

// The closed set of failure classes.
const (
	ClassNone        Class = ""
	ClassTransient   Class = "transient"
	ClassTimeout     Class = "timeout"
	ClassInvalid     Class = "invalid"
	ClassNotFound    Class = "not_found"
	ClassConflict    Class = "conflict"
	ClassUnavailable Class = "unavailable" // one constant text, no detail
	ClassContract    Class = "contract"    // given by the core when an output misses its contract
	ClassStopped     Class = "stopped"     // ended by a stop the core asked for
)

// AttemptDone is the result of a Perform command.
type AttemptDone struct {
	Head
	Node      string
	Attempt   int
	Output    []byte // JSON; nil on failure
	Blob      *Blob  // where the output is larger than OutputBytesMax
	Class     Class
	Detail    string // digest without secrets; "" for unavailable
	Unsent    bool   // the failure is provably before the effect (P5)
	StartedAt int64  // µs UTC
	EndedAt   int64  // µs UTC
}

// Blob names content stored outside the log, durable before the fact (P30).
type Blob struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Type   string `json:"type"`
	Head   string `json:"head"`
	Tail   string `json:"tail"`
}

// Concluded is the answer to a Conclude command: the final reflection.
type Concluded struct {
	Head
	Node    string // the control node that asked; "" is the one that runs
	Attempt int
	Ruling  string // "conclude" or "replan"
	Note    string // with replan: what is missing
	Verdict Verdict

	Usage   Usage
	Class   Class
	Detail  string
	Wait    time.Duration
	Raw     string
	Problem string
}

// OutcomeUnknown says that nobody knows whether a dispatched effect happened (P5).
type OutcomeUnknown struct {
	Head
	Node    string
	Attempt int
	Cause   string // "process death", "lost"
}

// Withdrawn says that an attempt was not performed again after a restart
// because the gate no longer allows it.
type Withdrawn struct {
	Head
	Node    string
	Attempt int
}

// Attest is a person's word on an outcome that is unknown (T19, T4, T5).
type Attest struct {
	Head
	Node    string
	Attempt int
	Outcome string // "done", "not_done" or "abort"
	Note    string
}

// Verdicts of people on approvals.
const (
	Approve = "approve"
	Reject  = "deny"
)

// Decide is a person's verdict on an approval request (P23).
type Decide struct {
	Head
	Approval string // "a_…"
	Verdict  string // "approve" or "deny"
	Reason   string // needed to deny
	Hash     string // binding the person saw
	Roles    []string
}

// Timer says that the time of Deadline has come. Nothing due: no facts.
type Timer struct{ Head }

// Cancel ends the run (P7).
type Cancel struct {
	Head
	Reason string
}

// Pause stops dispatch; Resume lets it go on (P7).
type Pause struct{ Head }

// Resume lets a paused run dispatch again.
type Resume struct{ Head }

// PolicyChanged makes a newly published policy the current one (P19).
type PolicyChanged struct {
	Head
	Policy *policy.Policy
}
