package engine

import "sluice/policy"

// ApprovalAsk is the data of an approval.requested fact: everything a packet
// shows and everything the answer is bound to (P21, P23).
type ApprovalAsk struct {
	ID        string          `json:"id"`         // "a_…", derived from run, node and attempt
	Hash      string          `json:"hash"`       // policy.Binding at ExpiresAt
	ExpiresAt int64           `json:"expires_at"` // µs UTC
	Asks      []policy.AskFor `json:"asks"`
	Self      bool            `json:"self"` // the requester may approve
	Requester string          `json:"requester"`
	Tool      string          `json:"tool"`
	Impact    policy.Rank     `json:"impact"`
}

// ApprovalResult is how a request stands after a verdict.
type ApprovalResult string

// The closed set of results.
const (
	Counted  ApprovalResult = "counted"  // approved by one of several, quorum not reached
	Approved ApprovalResult = "approved" // quorum reached
	Denied   ApprovalResult = "denied"
	Expired  ApprovalResult = "expired"
	Voided   ApprovalResult = "voided" // the run ended or the step was cancelled first
)

// ApprovalOutcome is the data of an approval.decided fact.
type ApprovalOutcome struct {
	ID     string         `json:"id"`
	Result ApprovalResult `json:"result"`
	Reason string         `json:"reason,omitempty"` // of a person; never shown to a model (P24)
}
