package handlers

import (
	"testing"

	"sluice/engine"
	"sluice/policy"
)

// TestR47_AnswersAreToldWithRuleHostAndLatency: what an authority says is
// quoted, so that nobody takes it for words of the gate.
func TestR47_AnswersAreToldWithRuleHostAndLatency(t *testing.T) {
	base := policy.Clearance{Rule: "C1", URL: "https://a.example:8443/clear?x=1", LatencyMS: 12}
	with := func(change func(*policy.Clearance)) *policy.Clearance {
		c := base
		change(&c)
		return &c
	}
	for _, tc := range []struct {
		c    *policy.Clearance
		want string
	}{
		{with(func(c *policy.Clearance) { c.Allow = true }), "cleared by C1 (a.example:8443) in 12 ms"},
		{with(func(c *policy.Clearance) { c.Reason = "too\u202elate" }), "denied by C1 (a.example:8443) in 12 ms. It says: “" + plain("too\u202elate") + "”"},
		{with(func(c *policy.Clearance) { c.Failure = "deadline" }), "no usable answer for C1 (a.example:8443) in 12 ms: deadline"},
	} {
		if got := clearedWords(tc.c); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
	call := &callRecord{Cleared: []policy.Clearance{base}}
	if isClearedReason(call, "Rule A1 asks a person to approve.") || !isClearedReason(call, "Rule C1: a.example cleared the call in 12 ms.") {
		t.Error("reasons about clearance are not told from the others")
	}
}

// TestP3_WaitingForAnAuthorityIsNoWaitForPeople.
func TestP3_WaitingForAnAuthorityIsNoWaitForPeople(t *testing.T) {
	blocked := map[string]int{"blocked": 1}
	for name, tc := range map[string]struct {
		sum  engine.Summary
		want string
	}{
		"clearance": {engine.Summary{Status: engine.Waiting, Counts: blocked}, "clearing"},
		"both":      {engine.Summary{Status: engine.Waiting, Counts: blocked, Waiting: []string{"a_1"}}, "waiting"},
		"running":   {engine.Summary{Status: engine.Active, Counts: blocked}, "running"},
		"a person":  {engine.Summary{Status: engine.Waiting, Waiting: []string{"a_1"}}, "waiting"},
	} {
		if got := statusShown(&tc.sum); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}
