package policy

// Outcome is the gate's answer. Deny beats ask beats allow (P16).
type Outcome string

// The closed set of outcomes.
const (
	Allow Outcome = "allow"
	Ask   Outcome = "ask"
	Deny  Outcome = "deny"
)

// The stages at which a decision can stop (P37); "" means none did.
const (
	StageScope  = "scope"
	StageImpact = "impact"
	StageInput  = "input"
)

// AskFor is one approval that a rule wants before the call may run.
type AskFor struct {
	Rule     string   `json:"rule"`
	Per      string   `json:"per"` // "call"
	Quorum   int      `json:"quorum"`
	Roles    []string `json:"roles"`
	ExpiresS int64    `json:"expires_s"`
}

// Decision is the gate's whole answer to one Call (P20, P37). It grants nothing.
type Decision struct {
	Outcome    Outcome  `json:"decision"`
	Impact     Rank     `json:"impact"`
	ImpactName string   `json:"impact_name"`
	Limit      Rank     `json:"limit"` // min(intent, cap)
	Stage      string   `json:"-"`     // null on the wire when empty
	Rules      []string `json:"rules"`
	Reasons    []string `json:"reasons"`
	Asks       []AskFor `json:"asks"`   // what is still to be asked; empty unless Ask
	Policy     string   `json:"policy"` // "sha256:…" of the document decided under
	// Clear is what authorities have still to be asked; empty unless Stage is clearance.
	Clear []ClearFor `json:"clear,omitempty"`
}
