package handlers

import (
	"strings"
	"testing"

	"sluice/engine"
	"sluice/policy"
)

// TestP23_WhoMayDecide says, case by case, whether a page offers a decision and
// why it does not.
func TestP23_WhoMayDecide(t *testing.T) {
	person := func(roles ...string) *Viewer { return &Viewer{User: User{ID: "user:2", Roles: roles}} }
	ask := func(a Approval) *Approval {
		if a.Requester == "" {
			a.Requester = "user:1"
		}
		return &a
	}
	roles := func(names ...string) engine.ApprovalAsk {
		return engine.ApprovalAsk{Requester: "user:1", Asks: []policy.AskFor{{Rule: "A7", Roles: names}}}
	}
	for name, tc := range map[string]struct {
		v    *Viewer
		a    *Approval
		want string
	}{
		"approver":                 {person("approver"), ask(Approval{}), ""},
		"token":                    {&Viewer{Token: "token:t_1", User: User{Roles: []string{"approver"}}}, ask(Approval{}), "Tokens"},
		"no approver":              {person("viewer", "admin"), ask(Approval{}), "not an approver"},
		"own request":              {person("approver"), ask(Approval{ApprovalAsk: engine.ApprovalAsk{Requester: "user:2"}}), "yourself"},
		"own request, allowed":     {person("approver"), ask(Approval{ApprovalAsk: engine.ApprovalAsk{Requester: "user:2", Self: true}}), ""},
		"approved before":          {person("approver"), ask(Approval{Approvers: []string{"user:2"}}), "already"},
		"approved by another":      {person("approver"), ask(Approval{Approvers: []string{"user:3"}}), ""},
		"rule wants another role":  {person("approver"), ask(Approval{ApprovalAsk: roles("policy_owner", "admin")}), "policy_owner or admin"},
		"rule wants a role of his": {person("approver", "admin"), ask(Approval{ApprovalAsk: roles("policy_owner", "admin")}), ""},
	} {
		if got := mayDecide(tc.v, tc.a); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// TestP35_WhoSeesARun: the owner and those whose role it is.
func TestP35_WhoSeesARun(t *testing.T) {
	for role, want := range map[string]bool{"viewer": false, "operator": false, "policy_owner": false, "approver": true, "auditor": true, "admin": true} {
		v := &Viewer{User: User{ID: "user:2", Roles: []string{role}}}
		if got := v.sees("user:1"); got != want {
			t.Errorf("%s: got %v, want %v", role, got, want)
		}
		if !v.sees("user:2") {
			t.Errorf("%s does not see their own run", role)
		}
	}
}

// TestR73_ThePacketWarns of values that were read and of characters that do not show.
func TestR73_ThePacketWarns(t *testing.T) {
	call := &callRecord{Params: []paramRecord{
		{Name: "path", Value: []byte("\"a\u202eb\"")},
		{Name: "content", Value: []byte(`"x"`), Labels: []string{string(policy.LabelUntrusted)}, Source: "step:read/content"},
		{Name: "mode", Value: []byte(`"plain"`), Labels: []string{string(policy.LabelUser)}},
	}}
	flags := riskFlags(call)
	if len(flags) != 2 || flags[0].title != "Hidden characters." || flags[1].text != "content was read from read.content." {
		t.Errorf("got %+v, want hidden characters and an untrusted value", flags)
	}
	if riskFlags(nil) != nil {
		t.Error("got flags of no call")
	}
	if escaped := riskFlags(&callRecord{Params: []paramRecord{{Name: "p", Value: []byte(`"\u202e"`)}}}); len(escaped) != 1 {
		t.Errorf("escaped in the fact: got %+v, want it flagged too", escaped)
	}
}

// TestR73_ThePreviewCountsWhatItLeavesOut.
func TestR73_ThePreviewCountsWhatItLeavesOut(t *testing.T) {
	short := contentPreview("a.txt", "one\ntwo")
	if len(short.Lines) != 2 || short.Note != "" || short.Caption != "a.txt, 7 bytes" {
		t.Errorf("got %+v, want both lines and no note", short)
	}
	long := contentPreview("a.txt", strings.Repeat("x\n", 99)+"x")
	if len(long.Lines) != previewLines || long.Note != "First 40 of 100 lines." {
		t.Errorf("got %d lines and %q, want 40 of 100", len(long.Lines), long.Note)
	}
}

// TestR54_TheGateIsToldStageByStage.
func TestR54_TheGateIsToldStageByStage(t *testing.T) {
	call := &callRecord{Tool: "file.delete", Scopes: []string{"default"}}
	held := &callRecord{Tool: "file.delete", Scopes: []string{"default"}}
	held.Held = append(held.Held, struct {
		Approvers []string `json:"approvers"`
	}{[]string{"user:2"}})
	cleared := &callRecord{Tool: "file.delete", Cleared: []policy.Clearance{{Rule: "C1", URL: "https://a.example", Allow: true, LatencyMS: 12, Reason: "fine"}}}
	for name, tc := range map[string]struct {
		call *callRecord
		d    *policy.Decision
		want string
	}{
		"none":   {call, nil, ""},
		"allow":  {call, &policy.Decision{Outcome: policy.Allow}, "allow allow none none"},
		"scope":  {call, &policy.Decision{Outcome: policy.Deny, Stage: policy.StageScope, Reasons: []string{"no"}}, "deny none none none"},
		"impact": {call, &policy.Decision{Outcome: policy.Deny, Stage: policy.StageImpact, Reasons: []string{"no"}}, "allow deny none none"},
		"ask":    {call, &policy.Decision{Outcome: policy.Ask, Asks: []policy.AskFor{{Rule: "A1", Quorum: 2}}}, "allow allow none ask"},
		"held":   {held, &policy.Decision{Outcome: policy.Allow}, "allow allow none allow"},
		"asked":  {call, &policy.Decision{Outcome: policy.Ask, Stage: policy.StageClearance, Clear: []policy.ClearFor{{Rule: "C1"}}}, "allow allow ask none"},
		"clear":  {cleared, &policy.Decision{Outcome: policy.Allow}, "allow allow allow none"},
		"no":     {call, &policy.Decision{Outcome: policy.Deny, Stage: policy.StageClearance, Reasons: []string{"no"}}, "allow allow deny none"},
	} {
		var got []string
		for _, g := range gateLines(tc.call, tc.d, engine.NodeRunning) {
			got = append(got, g.Answer)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
