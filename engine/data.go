package engine

import (
	"encoding/json"

	"sluice/engine/plan"
	"sluice/policy"
)

// The data of facts. Each type has a hand-written encoder in data_encode.go
// that is byte-equal to encoding/json over these tags (P27); folds decode with
// encoding/json and read only what Apply needs.

type createdData struct {
	Input         createInput `json:"input"`
	Policy        string      `json:"policy"` // content hash of the pinned document (P29)
	Tools         string      `json:"tools"`  // content hash of the tool declarations
	Profile       Profile     `json:"profile"`
	Planner       string      `json:"planner"`
	EngineVersion string      `json:"engine_version"`
	Models        *Models     `json:"models,omitempty"` // nil: none
}

type createInput struct {
	Kind        string          `json:"kind"` // "create"
	Goal        string          `json:"goal"`
	Intent      int             `json:"intent"`
	Scopes      []string        `json:"scopes"`
	Mode        string          `json:"mode"`
	Checkpoints string          `json:"checkpoints,omitempty"`
	Key         string          `json:"idempotency_key,omitempty"`
	Requester   string          `json:"requester,omitempty"`
	Author      string          `json:"plan_author,omitempty"`
	Plan        json.RawMessage `json:"plan,omitempty"`
	Review      string          `json:"review,omitempty"`
	Template    string          `json:"template,omitempty"`
	Budget      []limitData     `json:"budget,omitempty"`
}

// limitData is one limit that a run lowered.
type limitData struct {
	Dimension string `json:"dimension"`
	Limit     int64  `json:"limit"`
}

type versionData struct {
	Version   int             `json:"version"`
	Parent    int             `json:"parent"`
	Cause     string          `json:"cause"` // "initial", "edit", "replan"
	By        string          `json:"by"`
	Hash      string          `json:"hash"`
	Added     []string        `json:"added"` // the diff against the parent: new step ids
	Removed   []string        `json:"removed,omitempty"`
	Changed   []string        `json:"changed,omitempty"`
	Findings  json.RawMessage `json:"findings"`
	Unplanned []Unplanned     `json:"unplanned"`
	Plan      json.RawMessage `json:"plan"`

	compiled *plan.Compiled // known while stepping; a fold loads it from Plan
}

type startedData struct {
	ID        string           `json:"id"` // request id of the attempt (R53)
	Kind      string           `json:"kind"`
	TimeoutMS int64            `json:"timeout_ms"`
	Hash      string           `json:"args_hash,omitempty"`
	Reserve   reserve          `json:"reserve"`
	Call      *callData        `json:"call,omitempty"`
	Decision  *policy.Decision `json:"decision,omitempty"`
	By        string           `json:"by,omitempty"`       // of a control node: the model asked; "" is built in
	Fallback  string           `json:"fallback,omitempty"` // why the built-in planner acts for a model
}

type reserve struct {
	ToolCalls    int64 `json:"tool_calls"`
	SideEffects  int64 `json:"side_effects"`
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	CostMicroUSD int64 `json:"cost_micro_usd,omitempty"`
	ModelCalls   int64 `json:"model_calls,omitempty"`
	Retries      int64 `json:"retries,omitempty"`
	Reflections  int64 `json:"reflections,omitempty"`
}

type callData struct {
	Tool      string             `json:"tool"`
	Effect    policy.Effect      `json:"effect"`
	External  bool               `json:"external"`
	Declared  int                `json:"declared_impact"`
	Params    []paramData        `json:"params"`
	Intent    int                `json:"intent"`
	Scopes    []string           `json:"scopes"`
	Requester string             `json:"requester"`
	Approval  bool               `json:"approval,omitempty"`
	Key       string             `json:"key,omitempty"`
	Held      []policy.Approval  `json:"held,omitempty"`
	Cleared   []policy.Clearance `json:"cleared,omitempty"`
}

type paramData struct {
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
	Labels []policy.Label  `json:"labels"`
	Source string          `json:"source"`
}

type endedData struct {
	Input       endedInput `json:"input"`
	Observation string     `json:"observation"` // "o_…"
	To          NodeState  `json:"to"`
	Method      string     `json:"verified_by,omitempty"` // "schema", "form" (R29)
	Problem     string     `json:"problem,omitempty"`     // why verification refused the output
	Settle      reserve    `json:"settle"`
	RetryAt     int64      `json:"retry_at,omitempty"` // µs UTC
	Fallback    string     `json:"fallback,omitempty"` // why the model is not asked again
	Replan      bool       `json:"replan,omitempty"`   // the reflection is granted more steps
}

type endedInput struct {
	Kind      string          `json:"kind"` // "done", "planned", "concluded", "withdrawn"
	Output    json.RawMessage `json:"output,omitempty"`
	Blob      *Blob           `json:"blob,omitempty"`
	Class     Class           `json:"class,omitempty"`
	Detail    string          `json:"detail,omitempty"`
	Unsent    bool            `json:"unsent,omitempty"`
	StartedAt int64           `json:"started_at,omitempty"`
	EndedAt   int64           `json:"ended_at,omitempty"`
	By        string          `json:"by,omitempty"`
	Plan      json.RawMessage `json:"plan,omitempty"`
	Answer    string          `json:"answer,omitempty"`
	Unplanned []Unplanned     `json:"unplanned,omitempty"`
	Ruling    string          `json:"ruling,omitempty"`
	Verdict   *Verdict        `json:"verdict,omitempty"`
	Findings  json.RawMessage `json:"findings,omitempty"`
	Note      string          `json:"note,omitempty"`
	Raw       string          `json:"raw,omitempty"` // an answer that could not be used
	Template  string          `json:"template,omitempty"`
	Usage     *Usage          `json:"usage,omitempty"`

	RetryAfter int64 `json:"retry_after_ms,omitempty"` // what the server of a model asks to wait
}

type sketchData struct {
	Step json.RawMessage `json:"step,omitempty"` // as the answer states it
}

type changedData struct {
	To        NodeState        `json:"to"`
	Reason    string           `json:"reason"`
	Cause     string           `json:"cause,omitempty"` // root cause handed on to the downstream
	Detail    string           `json:"detail,omitempty"`
	Rule      string           `json:"rule"`                 // T-number
	VisibleAt int64            `json:"visible_at,omitempty"` // µs UTC, before which no model is told (P24)
	Call      *callData        `json:"call,omitempty"`
	Decision  *policy.Decision `json:"decision,omitempty"`
}

type requestedData struct {
	ApprovalAsk
	Call     *callData        `json:"call,omitempty"`
	Decision *policy.Decision `json:"decision,omitempty"`
}

type decidedData struct {
	ApprovalOutcome
	Input decideInput `json:"input"`
}

type decideInput struct {
	Kind    string   `json:"kind"` // "decide", "timer" or ""
	Verdict string   `json:"verdict,omitempty"`
	Hash    string   `json:"hash,omitempty"`
	Roles   []string `json:"roles,omitempty"`
}

type unknownData struct {
	Cause string `json:"cause"`
}

type attestedData struct {
	Outcome     string    `json:"outcome"` // "done", "not_done", "abort", "expired"
	Note        string    `json:"note,omitempty"`
	Observation string    `json:"observation,omitempty"`
	To          NodeState `json:"to"`
	Cause       string    `json:"cause,omitempty"` // root cause handed on to the downstream
}

type inputData struct {
	Reason string          `json:"reason,omitempty"`
	Policy string          `json:"policy,omitempty"`
	Base   string          `json:"base,omitempty"` // hash of the version that was edited
	Plan   json.RawMessage `json:"plan,omitempty"` // as submitted
}

type warnedData struct {
	Dimension string `json:"dimension"`
	Limit     int64  `json:"limit"`
	Used      int64  `json:"used"`
}

type runEndedData struct {
	Code   Code     `json:"code"`
	Causes []string `json:"causes"`
}
