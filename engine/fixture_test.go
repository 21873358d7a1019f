package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// The people and times of these tests.
const (
	requester = "user:1"
	startUS   = int64(1_700_000_000_000_000)
	second    = int64(1_000_000)
)

// declaration is short for a tool whose output is an object with a value v.
func declaration(name string, effect policy.Effect, impact policy.Rank) plan.Tool {
	return plan.Tool{
		Tool:  policy.Tool{Name: name, Effect: effect, Impact: impact},
		Input: json.RawMessage(`{"type":"object"}`), Output: json.RawMessage(`{"type":"object","required":["v"]}`),
		Timeout: 5 * time.Second, Bytes: 65536,
	}
}

// testCatalog has a tool of every effect; "hidden" is in no scope.
func testCatalog(t checker) *plan.Catalog {
	t.Helper()
	sum := declaration("sum", policy.Read, policy.Observe)
	sum.Pure = true
	trusted := declaration("look", policy.Read, policy.Observe)
	trusted.Trusted = []string{"v"}
	strict := declaration("strict", policy.Read, policy.Observe)
	strict.Input = json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"}}}`)
	send := declaration("send", policy.Once, policy.Override)
	send.External = true
	c, err := plan.NewCatalog([]plan.Tool{
		trusted, sum, strict, send, declaration("write", policy.Idempotent, policy.Operate), declaration("patch", policy.Once, policy.Operate),
		declaration("erase", policy.Once, policy.Override), declaration("hidden", policy.Read, policy.Observe),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testPolicy(t checker, change func(*policy.Document)) *policy.Policy {
	t.Helper()
	doc := policy.Default()
	doc.Scopes = map[string]policy.Scope{"default": {Tools: []string{"look", "sum", "strict", "write", "patch", "erase", "send"}}}
	doc.Tools = nil
	if change != nil {
		change(&doc)
	}
	p, err := policy.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func kill(tools ...string) func(*policy.Document) {
	return func(d *policy.Document) { d.KillSwitches = tools }
}

func askFor(tool string, quorum int) func(*policy.Document) {
	return func(d *policy.Document) {
		d.Approvals.Rules = []policy.ApprovalRule{{ID: "A1", When: policy.When{Tools: []string{tool}}, Per: "call",
			Quorum: quorum, Roles: []string{"approver"}, ExpiresS: 600}}
	}
}

func testEnv(t checker, change func(*policy.Document)) Env {
	t.Helper()
	p := testPolicy(t, change)
	return Env{Catalog: testCatalog(t), Pinned: p, Current: p, Planner: "builtin/1"}
}

// steps wraps steps into a plan document.
func steps(list ...string) string {
	return `{"format":1,"goal":"g","steps":[` + strings.Join(list, ",") + `]}`
}

// compiled compiles as the built-in planner's, so that what the policy denies
// compiles and meets the gate at dispatch (P12).
func compiled(t checker, env Env, doc string) *plan.Compiled {
	t.Helper()
	p, findings := plan.Parse([]byte(doc))
	if p == nil {
		t.Fatalf("parse %s: %+v", doc, findings)
	}
	c, findings := plan.Compile(p, plan.Env{Catalog: env.Catalog, Policy: env.Pinned, Scopes: []string{"default"},
		Intent: policy.Override, Requester: requester, Author: plan.Builtin})
	if c == nil {
		t.Fatalf("compile %s: %+v", doc, findings)
	}
	return c
}

// rig drives one run by hand and keeps what it decided.
type rig struct {
	t     checker
	env   Env
	s     *State
	now   int64
	facts []Fact
	cmds  []Command
}

func newRig(t checker, env Env) *rig {
	return &rig{t: t, env: env, s: New(env), now: startUS}
}

// begin starts a run of a plan at intent override.
func begin(t checker, change func(*policy.Document), list ...string) *rig {
	t.Helper()
	r := newRig(t, testEnv(t, change))
	r.must(r.create(steps(list...)))
	return r
}

func (r *rig) create(doc string) *Create {
	c := &Create{Head: Head{At: r.now, Actor: requester}, Run: "r_1", Goal: "g", Intent: policy.Override,
		Scopes: []string{"default"}, Mode: "reflect"}
	if doc != "" {
		c.Plan, c.PlanDoc, c.PlanAuthor = compiled(r.t, r.env, doc), []byte(doc), plan.Builtin
	}
	return c
}

// step gives an input one millisecond after the last.
func (r *rig) step(in Input) ([]Fact, error) {
	r.t.Helper()
	out, err := r.s.Step(in)
	r.facts = append(r.facts, out.Facts...)
	r.cmds = append(r.cmds, out.Commands...)
	return out.Facts, err
}

func (r *rig) must(in Input) []Fact {
	r.t.Helper()
	facts, err := r.step(in)
	if err != nil {
		r.t.Fatalf("input %T %+v refused: %v", in, in, err)
	}
	return facts
}

func (r *rig) head(actor string) Head {
	r.now += 1000
	return Head{At: r.now, Actor: actor}
}

func (r *rig) done(node, output string) []Fact {
	r.t.Helper()
	return r.must(&AttemptDone{Head: r.head("tool:t"), Node: node, Attempt: r.node(node).Attempt, Output: []byte(output)})
}

func (r *rig) fail(node string, class Class) []Fact {
	r.t.Helper()
	return r.must(&AttemptDone{Head: r.head("tool:t"), Node: node, Attempt: r.node(node).Attempt, Class: class, Detail: "why"})
}

func (r *rig) approve(actor string) error {
	r.t.Helper()
	_, err := r.step(r.verdict(actor, Approve, ""))
	return err
}

// verdict on the latest request.
func (r *rig) verdict(actor, verdict, reason string) *Decide {
	r.t.Helper()
	list := r.s.Approvals()
	if len(list) == 0 {
		r.t.Fatal("nothing asks for approval")
	}
	a := list[len(list)-1]
	return &Decide{Head: r.head(actor), Approval: a.ID, Verdict: verdict, Reason: reason, Hash: a.Hash, Roles: []string{"approver"}}
}

func (r *rig) conclude() []Fact {
	r.t.Helper()
	return r.must(&Concluded{Head: r.head("system"), Attempt: 1, Ruling: "conclude", Verdict: Verdict{Text: "done", By: "builtin"}})
}

func (r *rig) node(id string) NodeView {
	r.t.Helper()
	v, ok := r.s.Node(id)
	if !ok {
		r.t.Fatalf("no node %s", id)
	}
	return v
}

func (r *rig) wantState(id string, want NodeState) {
	r.t.Helper()
	if got := r.node(id).State; got != want {
		r.t.Errorf("%s is %s, want %s (cause %q)", id, got, want, r.node(id).Cause)
	}
}

func (r *rig) wantCode(want Code, causes ...string) {
	r.t.Helper()
	sum := Summarise(r.s)
	if sum.Code != want || strings.Join(sum.Causes, " ") != strings.Join(causes, " ") {
		r.t.Errorf("code %q causes %q, want %q %q", sum.Code, sum.Causes, want, causes)
	}
}

// performs lists the calls that were commanded, in order.
func (r *rig) performs() string {
	var list []string
	for _, c := range r.cmds {
		if p, ok := c.(Perform); ok {
			list = append(list, fmt.Sprintf("%s#%d", p.Node, p.Attempt))
		}
	}
	return strings.Join(list, " ")
}

func refusalCode(err error) string {
	if r, ok := err.(*Refusal); ok {
		return r.Code
	}
	return fmt.Sprint(err)
}
