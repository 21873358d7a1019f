package handlers

import (
	"strings"
	"testing"

	"sluice/engine/plan"
	"sluice/policy"
)

func compiledPolicy(t *testing.T, change func(d *policy.Document)) *policy.Policy {
	t.Helper()
	d := policy.Default()
	d.Scopes = map[string]policy.Scope{"default": {Tools: []string{"*"}}}
	change(&d)
	p, err := policy.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestP19_APlanUnderReviewShowsWhatBothPoliciesAsk: the run's own policy asks a
// person, the one in force an authority: the plan page says both, as the dispatch
// will ask both.
func TestP19_APlanUnderReviewShowsWhatBothPoliciesAsk(t *testing.T) {
	writes := policy.When{Tools: []string{"write"}}
	pinned := compiledPolicy(t, func(d *policy.Document) { d.Approvals.Rules = []policy.ApprovalRule{{ID: "W", When: writes}} })
	current := compiledPolicy(t, func(d *policy.Document) {
		d.Approvals.Rules = []policy.ApprovalRule{}
		d.Clearance = []policy.ClearanceRule{{ID: "C1", When: writes, URL: "https://a.example/clear"}}
	})
	catalog, err := plan.NewCatalog([]plan.Tool{{Tool: policy.Tool{Name: "write", Effect: policy.Idempotent, Impact: policy.Operate}}})
	if err != nil {
		t.Fatal(err)
	}
	c := &plan.Compiled{Steps: []plan.CompiledStep{{ID: "put", Tool: "write"}}}
	answers := GateAnswers(c, catalog, Asker{Intent: policy.Operate, Scopes: []string{"default"}}, [2]*policy.Policy{pinned, current})
	a := &answers[0]
	if a.Decision != policy.Ask || len(a.Asks) != 1 || len(a.Clear) != 1 {
		t.Fatalf("got %+v, want one person and one authority", a)
	}
	row := gateRow(a, &ruleBook{known: map[string]*ruledVersion{current.Hash(): {PolicyVersion: PolicyVersion{Version: 4}}}}, 0)
	if row.Answer != "both" || !strings.Contains(row.Why, "(version 4)") || strings.Contains(row.Why, "sha256:") {
		t.Errorf("got %+v, want both named, and the version instead of its hash", row)
	}
}
