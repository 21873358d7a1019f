package engine

import "sluice/policy"

// Status is where a run stands (P3).
type Status string

// The closed set of statuses.
const (
	Planning Status = "planning"
	Active   Status = "running"
	Waiting  Status = "waiting" // nothing can happen before a person or an authority answers
	Paused   Status = "paused"
	Ended    Status = "ended"
)

// Summary is a run in the shape of P39, as lists and the API show it. It is a
// projection: Summarise derives it from a State and nothing else.
type Summary struct {
	ID          string           `json:"id"`
	Goal        string           `json:"goal"`
	Status      Status           `json:"status"`
	Code        Code             `json:"code"` // "" until ended
	Causes      []string         `json:"causes"`
	Mode        string           `json:"mode"`
	ModeOptions ModeOptions      `json:"mode_options"`
	Intent      policy.Rank      `json:"-"` // by name on the wire
	Requester   string           `json:"requester"`
	Policy      string           `json:"policy"`
	PlanVersion int              `json:"plan_version"`
	Seq         int64            `json:"seq"`
	Counts      map[string]int   `json:"counts"` // nodes by state, control nodes left out
	Budget      map[string]Spend `json:"budget"`
	Verdict     *Verdict         `json:"verdict"`
	Unplanned   []Unplanned      `json:"unplanned"`
	Waiting     []string         `json:"waiting"` // open approval ids
	Questions   []Question       `json:"questions,omitempty"`
	Template    string           `json:"template,omitempty"`  // "name@2" while the plan is an instance of it
	Review      bool             `json:"review,omitempty"`    // stands at its plan; a person starts it
	Fallbacks   []string         `json:"fallbacks,omitempty"` // roles where the built-in planner acts for a model: "planner", "executor"
	Unpriced    bool             `json:"unpriced,omitempty"`  // a model has no price: its cost counts as 0
	Estimated   bool             `json:"estimated,omitempty"` // of a model's usage some is estimated
	CreatedAt   int64            `json:"-"`                   // µs UTC; RFC 3339 on the wire
	EndedAt     int64            `json:"-"`                   // 0 until ended
}

// Question is an outcome that nobody recorded and a person has to tell (T18).
type Question struct {
	Node    string `json:"node"`
	Attempt int    `json:"attempt"`
	Tool    string `json:"tool"`
	At      int64  `json:"started_at"` // µs UTC, when the attempt started
	Expires int64  `json:"expires_at"` // µs UTC, when the step is given up unanswered (R74)
}

// ModeOptions of a run (P39).
type ModeOptions struct {
	Checkpoints string `json:"checkpoints,omitempty"` // "final"
}

// Spend is one budget dimension: limit, reserved by calls in flight, spent (R62).
type Spend struct {
	Limit    int64 `json:"limit"`
	Reserved int64 `json:"reserved"`
	Spent    int64 `json:"spent"`
}

// Verdict is a run's final answer. Every claim points to verified observations (R55).
type Verdict struct {
	Text   string  `json:"text"`
	Claims []Claim `json:"claims"`
	By     string  `json:"by"` // "builtin" or "model:…"
}

// Claim is one statement of a verdict with the observations it stands on.
type Claim struct {
	Text         string   `json:"text"`
	Observations []string `json:"observations"` // "o_…"
}

// Unplanned is a part of the goal that no step covers, and why.
type Unplanned struct {
	Clause string `json:"clause"`
	Why    string `json:"why"`
}

// Code is how a run ended (requirements §14, P6).
type Code string

// The closed set of termination codes.
const (
	Success          Code = "SUCCESS"
	PartialSuccess   Code = "PARTIAL_SUCCESS"
	Impossible       Code = "IMPOSSIBLE"
	MissingInfo      Code = "MISSING_INFO"
	AmbiguousIntent  Code = "AMBIGUOUS_INTENT"
	ConfirmRequired  Code = "CONFIRM_REQUIRED"
	ReviewRequired   Code = "REVIEW_REQUIRED"
	BudgetExhausted  Code = "BUDGET_EXHAUSTED"
	Timeout          Code = "TIMEOUT"
	ValidationFail   Code = "VALIDATION_FAIL"
	LowConfidence    Code = "LOW_CONFIDENCE"
	SourceConflict   Code = "SOURCE_CONFLICT"
	RepeatedFailure  Code = "REPEATED_FAILURE"
	PermissionDenied Code = "PERMISSION_DENIED"
	UnsafeDetection  Code = "UNSAFE_DETECTION"
	UnavailableDep   Code = "UNAVAILABLE_DEP"
	UserCancel       Code = "USER_CANCEL"
	InternalFault    Code = "INTERNAL_FAULT"
)

// NodeState is a node's state (P2).
type NodeState string

// The closed set of node states; the last four are terminal (R14).
const (
	NodePending   NodeState = "pending"
	NodeReady     NodeState = "ready"
	NodeRunning   NodeState = "running"
	NodeWaiting   NodeState = "waiting_human"
	NodeBlocked   NodeState = "blocked"
	NodeRetryable NodeState = "failed_retryable"
	NodeExecuted  NodeState = "executed"
	NodeFailed    NodeState = "failed"
	NodeSkipped   NodeState = "skipped"
	NodeCancelled NodeState = "cancelled"
)
