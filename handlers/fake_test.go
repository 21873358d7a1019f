package handlers

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alexedwards/scs/v2/memstore"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// ports are fakes of function fields: a test sets what it wants to go wrong;
// what is not set answers as an empty installation would.
type ports struct {
	submit    func(*engine.Create) (string, bool, error)
	send      func(run string, in engine.Input) error
	rows      func(run string, after int64, limit int) ([]engine.Row, error)
	run       func(id string) (engine.Summary, error)
	runs      func(RunFilter) ([]engine.Summary, string, error)
	approvals func(ApprovalFilter) ([]Approval, string, error)
	approval  func(id string) (Approval, error)
	user      func(id string) (User, error)
	proof     func(run string) (Proof, error)
	verify    func() (json.RawMessage, error)
	export    func(io.Writer) error
	propose   func(goal string) (Proposal, error)
	roles     []string
	saved     Draft // the draft saved last
	tools     []plan.Tool
	clearance []policy.ClearanceRule // added to the default policy
}

var errNone = &engine.Refusal{Code: "not_found", Message: "there is no such thing", Fix: "check the id"}

func (p *ports) Submit(_ context.Context, in *engine.Create, _ Submission) (string, bool, error) {
	if p.submit == nil {
		return in.Run, false, nil
	}
	return p.submit(in)
}

func (p *ports) Send(_ context.Context, run string, in engine.Input) error {
	if p.send == nil {
		return nil
	}
	return p.send(run, in)
}

func (p *ports) Watch(string) (<-chan struct{}, func()) { return make(chan struct{}), func() {} }
func (p *ports) NewRun() string                         { return "r_1" }
func (p *ports) Now() int64                             { return 1_800_000_000_000_000 }

func (p *ports) Rows(_ context.Context, run string, after int64, limit int) ([]engine.Row, error) {
	if p.rows == nil {
		return nil, nil
	}
	return p.rows(run, after, limit)
}

func (p *ports) Run(_ context.Context, id string) (engine.Summary, error) {
	if p.run == nil {
		return engine.Summary{}, errNone
	}
	return p.run(id)
}

func (p *ports) Runs(_ context.Context, f RunFilter) ([]engine.Summary, string, error) {
	if p.runs == nil {
		return nil, "", nil
	}
	return p.runs(f)
}

func (p *ports) Approvals(_ context.Context, f ApprovalFilter) ([]Approval, string, error) {
	if p.approvals == nil {
		return nil, "", nil
	}
	return p.approvals(f)
}

func (p *ports) Approval(_ context.Context, id string) (Approval, error) {
	if p.approval == nil {
		return Approval{}, errNone
	}
	return p.approval(id)
}

func (p *ports) UseSignIn(context.Context, string) (User, error) {
	return p.User(context.Background(), "user:1")
}

func (p *ports) Users(ctx context.Context) ([]User, error) {
	u, err := p.User(ctx, "user:1")
	return []User{u}, err
}

func (p *ports) User(_ context.Context, id string) (User, error) {
	if p.user == nil {
		return User{ID: id, Name: "Operator", Roles: p.roles}, nil
	}
	return p.user(id)
}

func (p *ports) Token(context.Context, string) (Token, error) { return Token{}, errNone }

func (p *ports) AddToken(context.Context, string, policy.Rank, string) (string, string, error) {
	return "t_1", "secret", nil
}

func (p *ports) Proof(_ context.Context, run string) (Proof, error) {
	if p.proof == nil {
		return Proof{Status: "ok"}, nil
	}
	return p.proof(run)
}

func (p *ports) Verify(context.Context) (json.RawMessage, error) {
	if p.verify == nil {
		return json.RawMessage(`{"ok":true,"streams":[]}`), nil
	}
	return p.verify()
}

func (p *ports) Export(_ context.Context, w io.Writer) error {
	if p.export == nil {
		return nil
	}
	return p.export(w)
}

func (p *ports) ExportRun(_ context.Context, _ string, w io.Writer) error {
	return p.Export(context.Background(), w)
}
func (p *ports) Erase(context.Context, string, string, string) error  { return nil }
func (p *ports) Blob(context.Context, string, string) ([]byte, error) { return nil, errNone }
func (p *ports) Propose(_ context.Context, r ProposalRequest) (Proposal, error) {
	if p.propose == nil {
		return Proposal{By: "builtin"}, nil
	}
	return p.propose(r.Goal)
}

// Catalog and Policy are those of an installation without tools.
func (p *ports) Catalog() *plan.Catalog {
	c, err := plan.NewCatalog(p.tools)
	if err != nil {
		panic(err)
	}
	return c
}

func (p *ports) Policy() *policy.Policy {
	doc := policy.Default()
	doc.Clearance = p.clearance
	compiled, err := policy.Compile(doc)
	if err != nil {
		panic(err)
	}
	return compiled
}

func (p *ports) PolicyByHash(context.Context, string) (*policy.Policy, error) { return p.Policy(), nil }

// bed is a server over fakes with user 1 signed in.
type bed struct {
	t       *testing.T
	handler http.Handler
	cookie  *http.Cookie
	logs    *strings.Builder
}

func newBed(t *testing.T, p *ports) *bed {
	t.Helper()
	if p.roles == nil {
		p.roles = []string{"viewer", "operator", "approver", "auditor", "admin"}
	}
	b := &bed{t: t, logs: &strings.Builder{}}
	s, err := New(Config{Engine: p, Log: p, Accounts: p, Audit: p, Planner: p, Rules: p, Drafts: p,
		Sessions: memstore.New(), Logger: slog.New(slog.NewTextHandler(b.logs, nil))})
	if err != nil {
		t.Fatal(err)
	}
	b.handler = s.Handler()
	got := b.send(http.MethodGet, "/signin?token=x", "")
	for _, c := range got.Result().Cookies() {
		b.cookie = c
	}
	if b.cookie == nil {
		t.Fatalf("sign in: got %d without a cookie", got.Code)
	}
	return b
}

func (b *bed) send(method, path, body string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if b.cookie != nil {
		r.AddCookie(b.cookie)
	}
	if !strings.HasPrefix(path, "/api/") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

// problem reads an answer that must be a problem with the status (P41).
func (b *bed) problem(status int, w *httptest.ResponseRecorder) Problem {
	b.t.Helper()
	var p Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != status || p.Status != status {
		b.t.Fatalf("got %d %.300s, want a problem with status %d: %v", w.Code, w.Body, status, err)
	}
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		b.t.Errorf("got content type %q, want application/problem+json", got)
	}
	return p
}
