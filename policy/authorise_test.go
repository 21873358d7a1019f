package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestP18_OnlyAllowMints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, c := mustCompile(t, drawDocument(t)), drawCall(t)
		g, d := Authorise(p, p, c)
		if want := Decide(p, c); !reflect.DeepEqual(d, want) {
			t.Fatalf("one policy: got %+v, want what Decide says, %+v", d, want)
		}
		if g.Valid() != (d.Outcome == Allow) {
			t.Fatalf("got a valid grant = %v with %s", g.Valid(), d.Outcome)
		}
		if !g.Valid() && g != (Grant{}) {
			t.Fatalf("got %+v with %s, want the zero grant", g, d.Outcome)
		}
	})
}

// TestP19_TheStricterPolicyHolds: whatever the two documents, a grant needs
// both to allow, and the outcome is the stricter of the two.
func TestP19_TheStricterPolicyHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pinned, current := mustCompile(t, drawDocument(t)), mustCompile(t, drawDocument(t))
		c := drawCall(t)
		then, now := Decide(pinned, c), Decide(current, c)
		g, d := Authorise(pinned, current, c)
		if want := max(severity(then.Outcome), severity(now.Outcome)); severity(d.Outcome) != want {
			t.Fatalf("got %s from %s then and %s now", d.Outcome, then.Outcome, now.Outcome)
		}
		if g.Valid() != (then.Outcome == Allow && now.Outcome == Allow) {
			t.Fatalf("got a valid grant = %v from %s then and %s now", g.Valid(), then.Outcome, now.Outcome)
		}
		if d.Policy != pinned.Hash() || d.Impact != max(then.Impact, now.Impact) || d.Limit != min(then.Limit, now.Limit) {
			t.Fatalf("got policy %s, impact %d, limit %d; want the pinned, the higher, the lower", d.Policy, d.Impact, d.Limit)
		}
		for _, rule := range slices.Concat(then.Rules, now.Rules) {
			if !slices.Contains(d.Rules, rule) {
				t.Fatalf("rule %s is missing in %v", rule, d.Rules)
			}
		}
		if isOpen := len(d.Clear) > 0; (d.Stage != "") != (d.Outcome == Deny || isOpen) || (len(d.Asks) > 0 || isOpen) != (d.Outcome == Ask) {
			t.Fatalf("got stage %q, asks %v and clear %v with %s", d.Stage, d.Asks, d.Clear, d.Outcome)
		}
	})
}

func TestP19_TighteningActsAtTheNextDispatch(t *testing.T) {
	pinned := compiled(t, Default())
	stopped := edited(t, func(d *Document) { d.KillSwitches = []string{"*"} })
	lowered := edited(t, func(d *Document) { d.Scopes["default"].Caps["file.*"] = Operate })
	stricter := withRules(t, selfDenied, ApprovalRule{ID: "Two", Quorum: 2, ExpiresS: 60})
	c := approved(callOf(deleter()), "user:2")
	if g, d := Authorise(pinned, pinned, c); !g.Valid() {
		t.Fatalf("before: got %s, want allow", d.Outcome)
	}
	cases := map[string]struct {
		current *Policy
		outcome Outcome
		stage   string
		rules   []string
	}{
		"kill switch": {stopped, Deny, StageScope, []string{"A1", RuleKillSwitch, RuleCurrent}},
		"lower cap":   {lowered, Deny, StageImpact, []string{"A1", RuleImpact, RuleCurrent}},
		"more people": {stricter, Ask, "", []string{"A1", "Two", RuleCurrent}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g, d := Authorise(pinned, tc.current, c)
			wantOutcome(t, d, tc.outcome, tc.stage, tc.rules...)
			if g.Valid() {
				t.Error("got a grant after tightening, want none")
			}
			if last := d.Reasons[len(d.Reasons)-1]; !strings.Contains(last, tc.current.Hash()) {
				t.Errorf("got the last reason %q, want the current policy named", last)
			}
		})
	}
}

func TestP19_LooseningHasNoEffectOnARun(t *testing.T) {
	pinned, loose := compiled(t, Default()), withRules(t, selfAllowed)
	g, d := Authorise(pinned, loose, callOf(deleter()))
	wantOutcome(t, d, Ask, "", "A1")
	if g.Valid() {
		t.Error("got a grant under the looser policy alone, want none")
	}
	if g, d := Authorise(pinned, nil, callOf(reader())); g.Valid() || d.Outcome != Deny {
		t.Errorf("no current policy: got %s, want deny", d.Outcome)
	}
}

func TestP19_BothPoliciesAsk(t *testing.T) {
	same := ApprovalRule{ID: "Same"}
	then := withRules(t, selfDenied, same, ApprovalRule{ID: "B", Quorum: 2})
	now := withRules(t, selfDenied, ApprovalRule{ID: "B", Quorum: 3}, same)
	_, d := Authorise(then, now, callOf(deleter()))
	wantOutcome(t, d, Ask, "", "Same", "B", RuleCurrent)
	quorums := []int{}
	for _, ask := range d.Asks {
		quorums = append(quorums, ask.Quorum)
	}
	if !slices.Equal(quorums, []int{1, 2, 3}) {
		t.Errorf("got quorums %v, want 1, 2 and 3: every ask once", quorums)
	}
	if g, _ := Authorise(then, now, approved(callOf(deleter()), "user:2", "user:3")); g.Valid() {
		t.Error("two people approved: got a grant, want none before the third")
	}
	if g, _ := Authorise(then, now, approved(callOf(deleter()), "user:2", "user:3", "user:4")); !g.Valid() {
		t.Error("three people approved: got no grant, want one")
	}
}

// TestP18_CheckedCallsHoldNothing: what compile, gate check and dry run decide
// on is no call of an attempt, and opens nothing.
func TestP18_CheckedCallsHoldNothing(t *testing.T) {
	p := compiled(t, Default())
	for name, mutate := range map[string]func(*Call){
		"unresolved parameters": func(c *Call) { c.Partial = true },
		"no run":                func(c *Call) { c.Run = "" },
		"no node":               func(c *Call) { c.Node = "" },
		"no attempt":            func(c *Call) { c.Attempt = 0 },
		"unsorted parameters":   func(c *Call) { slices.Reverse(c.Params) },
		"a parameter twice":     func(c *Call) { c.Params[1].Name = c.Params[0].Name },
	} {
		t.Run(name, func(t *testing.T) {
			c := callOf(writer())
			mutate(&c)
			if d := Decide(p, c); d.Outcome != Allow {
				t.Errorf("Decide: got %s, want allow", d.Outcome)
			}
			g, d := Authorise(p, p, c)
			wantOutcome(t, d, Deny, StageInput, RuleInput)
			if g.Valid() {
				t.Error("got a grant, want none")
			}
		})
	}
}
