package policy

// Label says where a value came from (P20).
type Label string

// The closed set of labels.
const (
	LabelUser      Label = "user"      // the user's words or a person's plan literal
	LabelConstant  Label = "constant"  // written by the built-in planner or a template
	LabelTrusted   Label = "trusted"   // a tool field declared trusted
	LabelUntrusted Label = "untrusted" // any other tool output
)

// Param is one resolved parameter with its provenance (P20).
type Param struct {
	Name   string
	Value  []byte  // canonical JSON (RFC 8785)
	Labels []Label // sorted, without duplicates
	Source string  // "plan:/steps/0/params/path", or "step:cal/slots.0.start" for a reference
}

// Approval is one approval a call already holds: the verdicts of people on one
// request, bound to exactly this call by Hash (P21).
type Approval struct {
	ID        string   `json:"id"`
	Hash      string   `json:"hash"`       // Binding of the call it was given for
	ExpiresAt int64    `json:"expires_at"` // µs UTC; not valid after it
	Approvers []string `json:"approvers"`  // distinct principals that approved, in order
}

// Call is everything the gate looks at. It is data: Decide reads no clock and
// no other state, so a recorded Call can be decided again under a draft policy.
type Call struct {
	Run       string
	Node      string
	Attempt   int // from 1; 0 at compile and in gate check
	Tool      Tool
	Known     bool    // false: no such tool in the pinned catalogue
	Params    []Param // sorted by name
	Partial   bool    // some parameters are not yet resolved (compile time): ranks at Tool.Impact
	Intent    Rank    // from the trigger, never from a model or plan (R45)
	Scopes    []string
	Requester string // principal, P25
	Approval  bool   // the plan's own approval flag: adds an ask, never removes one (R51)
	Key       string // idempotency key, "" for reads
	Held      []Approval
	Cleared   []Clearance // what authorities answered
	At        int64       // µs UTC, the time of the input being stepped
}
