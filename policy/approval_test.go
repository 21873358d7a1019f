package policy

import (
	"reflect"
	"strings"
	"testing"
)

// TestP17_Defaults: without rules, a call asks when it ranks at override or
// acts outside, and nothing else does.
func TestP17_Defaults(t *testing.T) {
	p := edited(t, func(d *Document) { d.Approvals = Approvals{} })
	for impact := Observe; impact <= RankMax; impact += 50 {
		for _, external := range []bool{false, true} {
			d := Decide(p, callOf(Tool{Name: "file.x", Impact: impact, External: external}))
			want := Allow
			if impact >= Override || external {
				want = Ask
			}
			if d.Outcome != want {
				t.Errorf("impact %d, external %v: got %s, want %s", impact, external, d.Outcome, want)
			}
		}
	}
	d := Decide(p, callOf(deleter()))
	wantOutcome(t, d, Ask, "", RuleDefault)
	want := []AskFor{{Rule: "default", Per: "call", Quorum: 1, Roles: []string{"approver"}, ExpiresS: 86_400}}
	if !reflect.DeepEqual(d.Asks, want) {
		t.Errorf("got asks %+v, want %+v", d.Asks, want)
	}
}

func TestP17_RulesReplaceTheDefaults(t *testing.T) {
	wantOutcome(t, Decide(withRules(t, ""), callOf(deleter())), Allow, "")
	onlyWrites := withRules(t, "", ApprovalRule{ID: "W", When: When{Tools: []string{"file.write"}}})
	wantOutcome(t, Decide(onlyWrites, callOf(deleter())), Allow, "")
	wantOutcome(t, Decide(onlyWrites, callOf(writer())), Ask, "", "W")
}

// TestP16_WhenNeedsEveryStatedPart goes through all combinations.
func TestP16_WhenNeedsEveryStatedPart(t *testing.T) {
	for _, atLeast := range []*Rank{nil, rankOf(100), rankOf(101)} {
		for _, external := range []*bool{nil, truth(true), truth(false)} {
			for _, tools := range [][]string{nil, {"file.*"}, {"git.*", "sysinfo"}} {
				p := withRules(t, "", ApprovalRule{ID: "R", When: When{ImpactAtLeast: atLeast, External: external, Tools: tools}})
				want := Allow
				if (atLeast == nil || *atLeast <= 100) && (external == nil || !*external) && (tools == nil || tools[0] == "file.*") {
					want = Ask
				}
				if d := Decide(p, callOf(writer())); d.Outcome != want {
					t.Errorf("impact %v, external %v, tools %v: got %s, want %s", atLeast, external, tools, d.Outcome, want)
				}
			}
		}
	}
}

func TestP16_EveryMatchingRuleAsks(t *testing.T) {
	p := withRules(t, selfDenied,
		ApprovalRule{ID: "B", When: When{ImpactAtLeast: rankOf(200)}, Quorum: 2, Roles: []string{"admin"}, ExpiresS: 60},
		ApprovalRule{ID: "N", When: When{Tools: []string{"git.*"}}},
		ApprovalRule{ID: "A"})
	d := Decide(p, callOf(deleter()))
	wantOutcome(t, d, Ask, "", "B", "A")
	want := []AskFor{
		{Rule: "B", Per: "call", Quorum: 2, Roles: []string{"admin"}, ExpiresS: 60},
		{Rule: "A", Per: "call", Quorum: 1, Roles: []string{"approver"}, ExpiresS: 86_400},
	}
	if !reflect.DeepEqual(d.Asks, want) {
		t.Errorf("got asks %+v, want %+v", d.Asks, want)
	}
	one, two := approved(callOf(deleter()), "user:2"), approved(callOf(deleter()), "user:2", "user:3")
	wantOutcome(t, Decide(p, one), Ask, "", "B", "A")
	wantOutcome(t, Decide(p, two), Allow, "", "B", "A")
}

// TestR51_PlanFlagAddsAndNeverRemoves: whatever the policy says, the flag makes
// a call ask, and its absence takes no ask away.
func TestR51_PlanFlagAddsAndNeverRemoves(t *testing.T) {
	for name, tc := range map[string]struct {
		p     *Policy
		rules []string
	}{
		"rules that ask":  {compiled(t, Default()), []string{"A1"}},
		"defaults":        {edited(t, func(d *Document) { d.Approvals = Approvals{} }), []string{RuleDefault}},
		"rules that stay": {withRules(t, ""), nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := callOf(deleter())
			without := Decide(tc.p, c)
			c.Approval = true
			with := Decide(tc.p, c)
			wantOutcome(t, with, Ask, "", append(tc.rules, RulePlan)...)
			if len(with.Asks) != len(without.Asks)+1 || with.Asks[len(without.Asks)].Rule != RulePlan {
				t.Errorf("got asks %+v, want those of the policy and one of the plan", with.Asks)
			}
			wantOutcome(t, Decide(tc.p, approved(c, "user:2")), Allow, "", append(tc.rules, RulePlan)...)
			c.Intent = Observe
			wantOutcome(t, Decide(tc.p, approved(c, "user:2")), Deny, StageImpact, RuleImpact)
		})
	}
}

// TestP23_WhoCounts: distinct people, the requester only where the policy says
// so, never a token, an agent or the system.
func TestP23_WhoCounts(t *testing.T) {
	cases := []struct {
		self   string
		quorum int
		people []string
		want   Outcome
	}{
		{selfDenied, 1, []string{"user:2"}, Allow},
		{selfDenied, 1, []string{"user:1"}, Ask},
		{"", 1, []string{"user:1"}, Ask},
		{selfAllowed, 1, []string{"user:1"}, Allow},
		{selfDenied, 1, nil, Ask},
		{selfDenied, 2, []string{"user:2"}, Ask},
		{selfDenied, 2, []string{"user:2", "user:2"}, Ask},
		{selfDenied, 2, []string{"user:2", "user:1"}, Ask},
		{selfAllowed, 2, []string{"user:2", "user:1"}, Allow},
		{selfAllowed, 2, []string{"user:1", "user:1"}, Ask},
		{selfDenied, 2, []string{"user:2", "user:3"}, Allow},
		{selfDenied, 2, []string{"user:1", "user:2", "user:3"}, Allow},
		{selfAllowed, 1, []string{"token:2"}, Ask},
		{selfAllowed, 1, []string{"agent:2"}, Ask},
		{selfAllowed, 1, []string{"system"}, Ask},
		{selfAllowed, 1, []string{"model:planner"}, Ask},
		{selfAllowed, 2, []string{"user:2", "token:3"}, Ask},
	}
	for _, tc := range cases {
		p := withRules(t, tc.self, ApprovalRule{ID: "Q", Quorum: tc.quorum})
		d := Decide(p, approved(callOf(deleter()), tc.people...))
		if d.Outcome != tc.want {
			t.Errorf("self %q, quorum %d, %v: got %s (%q), want %s", tc.self, tc.quorum, tc.people, d.Outcome, d.Reasons, tc.want)
		}
	}
}

// TestR51_ApprovalsExpire: valid up to and including its expiry, not after.
func TestR51_ApprovalsExpire(t *testing.T) {
	p := compiled(t, Default())
	c := approved(callOf(deleter()), "user:2")
	expires := c.Held[0].ExpiresAt
	for at, want := range map[int64]Outcome{noon: Allow, expires: Allow, expires + 1: Ask} {
		c.At = at
		d := Decide(p, c)
		if d.Outcome != want {
			t.Errorf("at %d of %d: got %s, want %s", at, expires, d.Outcome, want)
		}
		if want == Ask && !strings.Contains(strings.Join(d.Reasons, " "), "expired") {
			t.Errorf("got reasons %q, want the expiry named", d.Reasons)
		}
	}
	c.At = noon
	c.Held[0].ExpiresAt++
	if d := Decide(p, c); d.Outcome != Ask {
		t.Errorf("expiry moved by 1 µs: got %s, want ask, since the expiry is bound (P21)", d.Outcome)
	}
}

func TestP18_AnyOneApprovalIsEnoughAndNoneIsAddedUp(t *testing.T) {
	p := withRules(t, selfDenied, ApprovalRule{ID: "Q", Quorum: 2})
	stale := Approval{ID: "a_0", Hash: "sha256:00", ExpiresAt: noon + second, Approvers: []string{"user:2", "user:3"}}
	c := callOf(deleter())
	c.Held = []Approval{stale}
	wantOutcome(t, Decide(p, c), Ask, "", "Q")
	wantOutcome(t, Decide(p, approved(c, "user:2", "user:3")), Allow, "", "Q")
	halves := approved(approved(callOf(deleter()), "user:2"), "user:3")
	wantOutcome(t, Decide(p, halves), Ask, "", "Q")
}

func TestP18_HeldApprovalsShowInTheDecision(t *testing.T) {
	p := compiled(t, Default())
	d := Decide(p, approved(callOf(deleter()), "user:7", "user:1"))
	wantOutcome(t, d, Allow, "", "A1")
	if want := "Approved by user:7, user:1."; d.Reasons[len(d.Reasons)-1] != want {
		t.Errorf("got reasons %q, want the last to be %q", d.Reasons, want)
	}
}

func TestP16_ApprovalNeverLiftsALimit(t *testing.T) {
	p := compiled(t, Default())
	for intent, want := range map[Rank]Outcome{Observe: Deny, Operate: Deny, Override: Allow} {
		c := callOf(deleter())
		c.Intent = intent
		if d := Decide(p, approved(c, "user:2")); d.Outcome != want {
			t.Errorf("intent %d: got %s, want %s", intent, d.Outcome, want)
		}
	}
}

func TestP23_SelfApprovalIsVisible(t *testing.T) {
	for self, want := range map[string]bool{selfAllowed: true, selfDenied: false, "": false} {
		if got := withRules(t, self).SelfApproval(); got != want {
			t.Errorf("self %q: got %v, want %v", self, got, want)
		}
	}
}
