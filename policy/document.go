package policy

// Document is a policy document, version 1 (P16). policy/document reads it from
// YAML; Compile turns it into a Policy.
type Document struct {
	Version      int                 `json:"version"`
	Intents      map[string]Rank     `json:"intents"`
	Scopes       map[string]Scope    `json:"scopes"`
	Tools        map[string]ToolRule `json:"tools,omitempty"`
	Clearance    []ClearanceRule     `json:"clearance,omitempty"`
	Approvals    Approvals           `json:"approvals"`
	KillSwitches []string            `json:"kill_switches,omitempty"` // tool name globs
}

// Scope is an allowlist of tool globs with caps by glob.
type Scope struct {
	Tools []string        `json:"tools"`
	Caps  map[string]Rank `json:"caps,omitempty"`
}

// ToolRule overrides a declared impact: upwards freely, downwards only with a reason.
type ToolRule struct {
	Impact *Rank  `json:"impact,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Approvals says who may approve and which calls ask (P16, P17).
type Approvals struct {
	Self  string         `json:"self,omitempty"` // "allowed" or "denied"; "" means denied
	Rules []ApprovalRule `json:"rules,omitzero"` // nil: the defaults of P17; empty: nothing asks
}

// ApprovalRule asks for approval where its When matches.
type ApprovalRule struct {
	ID       string   `json:"id"`
	When     When     `json:"when"`
	Per      string   `json:"per"` // "call"; "plan" is refused as not yet available
	Quorum   int      `json:"quorum,omitempty"`
	Roles    []string `json:"roles,omitempty"`
	ExpiresS int64    `json:"expires_s,omitempty"`
}

// When is the condition of an approval or clearance rule: every stated part must hold.
type When struct {
	ImpactAtLeast *Rank    `json:"impact_at_least,omitempty"`
	External      *bool    `json:"external,omitempty"`
	Tools         []string `json:"tools,omitempty"` // globs
}
