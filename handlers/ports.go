package handlers

import (
	"context"
	"encoding/json"
	"io"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// Engine is the running side. Errors that a caller can act on are
// *engine.Refusal.
type Engine interface {
	// Submit creates a run; existing is true when the same key and body did before.
	Submit(ctx context.Context, in *engine.Create, s Submission) (run string, existing bool, err error)
	Send(ctx context.Context, run string, in engine.Input) error
	Watch(run string) (woken <-chan struct{}, stop func())
	NewRun() string // a fresh run id, "r_" + ULID
	Now() int64     // µs UTC
}

// Submission is what idempotency needs of a request.
type Submission struct {
	Owner    string
	Key      string // "" when the client sent none
	BodyHash string // SHA-256 of the body, hex
}

// Log is the reading side of the store.
type Log interface {
	Rows(ctx context.Context, run string, after int64, limit int) ([]engine.Row, error)
	Run(ctx context.Context, id string) (engine.Summary, error)
	Runs(ctx context.Context, f RunFilter) (page []engine.Summary, next string, err error)
	Approvals(ctx context.Context, f ApprovalFilter) (page []Approval, next string, err error)
	Approval(ctx context.Context, id string) (Approval, error)
}

// RunFilter selects runs for a list, newest first.
type RunFilter struct {
	Owner  string // "" for every owner
	Status engine.Status
	Code   engine.Code
	Query  string
	Limit  int
	Cursor string
}

// ApprovalFilter selects approval requests, newest first.
type ApprovalFilter struct {
	Run    string
	Open   bool // only those that wait
	Closed bool // only those decided
	Limit  int
	Cursor string
}

// Approval is a request as projected for lists (P33).
type Approval struct {
	engine.ApprovalAsk
	Run, Node   string
	Seq         int64  // of the fact that holds the whole request
	State       string // pending, counted, approved, denied, expired, voided
	RequestedAt int64
	DecidedAt   int64
	Actor       string // who decided
	Reason      string
	Approvers   []string
}

// Accounts knows people and tokens.
type Accounts interface {
	UseSignIn(ctx context.Context, token string) (User, error)
	User(ctx context.Context, id string) (User, error)
	Users(ctx context.Context) ([]User, error)
	Token(ctx context.Context, secret string) (Token, error)
	AddToken(ctx context.Context, name string, ceiling policy.Rank, user string) (id, secret string, err error)
}

// User is a person. ID is a principal, "user:1".
type User struct {
	ID, Name string
	Roles    []string
}

// Token is an API token with the person it acts for (P42a).
type Token struct {
	ID      string // "token:…"
	User    User
	Ceiling policy.Rank
}

// Audit proves and hands out the log.
type Audit interface {
	// Proof says how one run's stream stands.
	Proof(ctx context.Context, run string) (Proof, error)
	// Verify gives the whole report in the shape of P36a.
	Verify(ctx context.Context) (json.RawMessage, error)
	Export(ctx context.Context, w io.Writer) error
	ExportRun(ctx context.Context, run string, w io.Writer) error
	Erase(ctx context.Context, run, reason, actor string) error
	Blob(ctx context.Context, run, sha string) ([]byte, error)
}

// Proof is how a stream stands: ok, broken, erased, truncated or missing.
type Proof struct {
	Status   string
	Facts    int64
	Head     string // hex
	SealedAt int64  // µs UTC, 0 when no seal covers it
	Seq      int64
	Reason   string
}

// Planner proposes without running (P38).
type Planner interface {
	// Propose asks the built-in planner, or with By "model" the planner model.
	Propose(ctx context.Context, r ProposalRequest) (Proposal, error)
}

// ProposalRequest asks for a proposal.
type ProposalRequest struct {
	Goal  string
	By    string // "model", or anything else for the built-in planner
	Owner string // the person whose limit counts
	Actor string // who asks: the person, or a token
}

// Proposal is what a planner makes of a goal.
type Proposal struct {
	Plan      *plan.Plan
	Answer    string
	Unplanned []engine.Unplanned
	By        string
	Template  string // "name@2" when the plan is an instance of it
	Author    plan.Author
}

// Redactor replaces secrets by value (P26).
type Redactor interface {
	Text(string) string
	JSON(valid []byte) []byte
}

// Rules gives what compiling and deciding need.
type Rules interface {
	Catalog() *plan.Catalog
	Policy() *policy.Policy
	// PolicyByHash gives one that a run was started under (P29).
	PolicyByHash(ctx context.Context, hash string) (*policy.Policy, error)
}
