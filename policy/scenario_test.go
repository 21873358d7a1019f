package policy

import (
	"strings"
	"testing"
)

// TestR51_ApprovalFromAskToExpiry follows one call through its life: asked,
// approved, edited, asked again, approved by too few, expired.
func TestR51_ApprovalFromAskToExpiry(t *testing.T) {
	p := withRules(t, selfDenied, ApprovalRule{ID: "Two", When: When{ImpactAtLeast: rankOf(Override)}, Quorum: 2, ExpiresS: 60})
	c := callOf(deleter())
	_, d := Authorise(p, p, c)
	wantOutcome(t, d, Ask, "", "Two")
	expires := c.At + d.Asks[0].ExpiresS*second

	held := Approval{ID: "a_1", Hash: Binding(c, expires), ExpiresAt: expires, Approvers: []string{"user:2"}}
	c.Held = []Approval{held}
	_, d = Authorise(p, p, c)
	wantOutcome(t, d, Ask, "", "Two")
	if text := strings.Join(d.Reasons, " "); !strings.Contains(text, "1 of 2 needed people") {
		t.Errorf("one of two approved: got %q", text)
	}

	c.Held[0].Approvers = []string{"user:2", "user:3"}
	g, d := Authorise(p, p, c)
	wantOutcome(t, d, Allow, "", "Two")
	if !g.Covers(c) {
		t.Error("approved by two: got no grant for the call")
	}

	edited := c
	edited.Params = []Param{{Name: "path", Value: []byte(`"other.txt"`), Labels: []Label{LabelUser}}}
	_, d = Authorise(p, p, edited)
	wantOutcome(t, d, Ask, "", "Two")
	if text := strings.Join(d.Reasons, " "); !strings.Contains(text, "given for another call") {
		t.Errorf("edited after approval: got %q", text)
	}
	if g.Covers(edited) {
		t.Error("the grant of the approved call covers the edited one")
	}

	c.At = expires + 1
	g, d = Authorise(p, p, c)
	wantOutcome(t, d, Ask, "", "Two")
	if g.Valid() {
		t.Error("after expiry: got a grant, want none")
	}
}

// TestR43_RmIsStoppedBelowItsImpact is the walk-through of the first source:
// `rm` has the highest impact, intent and cap are one below, and the call is
// stopped at impact, before anybody is asked.
func TestR43_RmIsStoppedBelowItsImpact(t *testing.T) {
	p := compiled(t, Default())
	shell := Tool{Name: "shell", Impact: Override, ImpactOf: func([]Param) (Rank, bool) { return Override, true }}
	c := callOf(shell)
	c.Intent = Operate
	d := Decide(p, c)
	wantOutcome(t, d, Deny, StageImpact, RuleImpact)
	if d.Impact != 200 || d.Limit != 100 {
		t.Errorf("got impact %d over limit %d, want 200 over 100", d.Impact, d.Limit)
	}
	c.Intent = Override
	if d := Decide(p, c); d.Outcome != Deny || d.Limit != 100 {
		t.Errorf("at override: got %s with limit %d, want deny by the cap of 100", d.Outcome, d.Limit)
	}
}

// TestP37_RefusedLinesRankHighest: of something that is no call nothing is
// known, so it has the highest impact and no room at all.
func TestP37_RefusedLinesRankHighest(t *testing.T) {
	d := Refuse("sha256:00", "This is no call.")
	wantOutcome(t, d, Deny, StageInput, RuleInput)
	if d.Impact != RankMax || d.ImpactName != "override" || d.Limit != Observe || d.Policy != "sha256:00" {
		t.Errorf("got %+v, want impact 200, limit 0 and the policy", d)
	}
	if len(d.Reasons) != 1 || d.Reasons[0] != "This is no call." {
		t.Errorf("got reasons %q, want the one given", d.Reasons)
	}
}

// TestR46_ImpactIsPresentWhateverTheOutcome: also scope and kill switch leave
// the rank of the call in the answer (P37).
func TestR46_ImpactIsPresentWhateverTheOutcome(t *testing.T) {
	stopped := edited(t, func(d *Document) { d.KillSwitches = []string{"file.*"} })
	for _, tool := range []Tool{writer(), deleter()} {
		for _, scopes := range [][]string{{"default"}, {"nope"}, nil} {
			c := callOf(tool)
			c.Scopes = scopes
			d := Decide(stopped, c)
			if d.Outcome != Deny || d.Impact != tool.Impact || d.ImpactName != tool.Impact.Name() {
				t.Errorf("%s in %v: got %s with impact %d (%s), want deny with %d", tool.Name, scopes, d.Outcome, d.Impact, d.ImpactName, tool.Impact)
			}
		}
	}
}

// TestR44_LimitNamesTheTighterOfTwoScopes: with equal caps the first by name is
// named, whatever the order of the scopes.
func TestR44_LimitNamesTheTighterOfTwoScopes(t *testing.T) {
	p := compiled(t, Document{Version: 1, Scopes: map[string]Scope{
		"b": {Tools: []string{"*"}, Caps: map[string]Rank{"file.*": 50}},
		"a": {Tools: []string{"*"}, Caps: map[string]Rank{"*": 50, "file.write": 90}},
		"c": {Tools: []string{"*"}},
	}})
	for _, scopes := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a"}} {
		c := callOf(writer())
		c.Scopes = scopes
		d := Decide(p, c)
		if want := "file.write has the impact operate (100), above the limit 50 that the scope a sets for *."; d.Limit != 50 || d.Reasons[0] != want {
			t.Errorf("scopes %v: got limit %d and %q, want 50 and %q", scopes, d.Limit, d.Reasons, want)
		}
	}
}

// TestR44_FirstUnknownScopeIsNamed: one reason, whatever the order of scopes.
func TestR44_FirstUnknownScopeIsNamed(t *testing.T) {
	p := compiled(t, Default())
	for _, scopes := range [][]string{{"ops", "lab", "default"}, {"default", "lab", "ops"}} {
		c := callOf(reader())
		c.Scopes = scopes
		d := Decide(p, c)
		wantOutcome(t, d, Deny, StageScope, RuleScope)
		if want := "This policy has no scope lab."; len(d.Reasons) != 1 || d.Reasons[0] != want {
			t.Errorf("scopes %v: got %q, want %q", scopes, d.Reasons, want)
		}
	}
}
