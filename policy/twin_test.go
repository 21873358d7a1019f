package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// twinDecide is the gate written a second time from the words of the
// requirements, as plainly as possible and without compiling anything.
func twinDecide(d Document, c Call) (Outcome, string) {
	granted, limit := false, c.Intent
	for _, name := range c.Scopes {
		scope, ok := d.Scopes[name]
		if !ok {
			return Deny, StageScope
		}
		granted = granted || twinAny(scope.Tools, c.Tool.Name)
		for glob, rank := range scope.Caps {
			if naiveMatch(glob, c.Tool.Name) {
				limit = min(limit, rank)
			}
		}
	}
	if !granted || twinAny(d.KillSwitches, c.Tool.Name) {
		return Deny, StageScope
	}
	impact := twinImpact(d, c)
	if !c.Known || impact > limit {
		return Deny, StageImpact
	}
	denied, open := twinClearance(d, c, impact)
	if denied {
		return Deny, StageClearance
	}
	if open {
		return Ask, StageClearance
	}
	quorum := twinQuorum(d, c, impact)
	for _, held := range c.Held {
		people := map[string]bool{}
		for _, who := range held.Approvers {
			if strings.HasPrefix(who, "user:") && (who != c.Requester || d.Approvals.Self == "allowed") {
				people[who] = true
			}
		}
		if c.At <= held.ExpiresAt && held.Hash == Binding(c, held.ExpiresAt) && len(people) >= quorum {
			return Allow, ""
		}
	}
	if quorum > 0 {
		return Ask, ""
	}
	return Allow, ""
}

func twinAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool { return naiveMatch(glob, name) })
}

func twinImpact(d Document, c Call) Rank {
	impact, overridden := c.Tool.Impact, Rank(-1)
	if !c.Known {
		impact = RankMax
	}
	for glob, rule := range d.Tools {
		if !naiveMatch(glob, c.Tool.Name) {
			continue
		}
		to := *rule.Impact
		if to < impact && (rule.Reason == "" || !c.Known) {
			to = impact
		}
		overridden = max(overridden, to)
	}
	if overridden >= 0 {
		impact = overridden
	}
	if c.Tool.External {
		impact = max(impact, Override)
	}
	return impact
}

func twinMet(when When, c Call, impact Rank) bool {
	isMet := when.ImpactAtLeast == nil || impact >= *when.ImpactAtLeast
	isMet = isMet && (when.External == nil || *when.External == c.Tool.External)
	return isMet && (when.Tools == nil || twinAny(when.Tools, c.Tool.Name))
}

func twinClearance(d Document, c Call, impact Rank) (denied, open bool) {
	for _, rule := range d.Clearance {
		if !twinMet(rule.When, c, impact) {
			continue
		}
		isHeld := false
		for _, held := range c.Cleared {
			if held.Rule == rule.ID && held.URL == rule.URL && held.Hash == ClearanceBinding(c) {
				isHeld, denied = true, denied || !held.Allow
			}
		}
		open = open || !isHeld
	}
	return denied, open
}

// twinQuorum is how many people must approve, 0 when nothing asks.
func twinQuorum(d Document, c Call, impact Rank) int {
	quorum := 0
	if c.Approval || d.Approvals.Rules == nil && (impact >= Override || c.Tool.External) {
		quorum = 1
	}
	for _, rule := range d.Approvals.Rules {
		if twinMet(rule.When, c, impact) {
			quorum = max(quorum, rule.Quorum, 1)
		}
	}
	return quorum
}

// TestR43_GateEqualsItsTwin draws policies and calls from few names, so that
// every stage is reached often.
func TestR43_GateEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, c := drawDocument(t), drawCall(t)
		d := Decide(mustCompile(t, doc), c)
		outcome, stage := twinDecide(doc, c)
		if d.Outcome != outcome || d.Stage != stage || d.Impact != twinImpact(doc, c) {
			t.Fatalf("got %s at %q with impact %d (%q), want %s at %q with %d", d.Outcome, d.Stage, d.Impact, d.Reasons, outcome, stage, twinImpact(doc, c))
		}
	})
}

// TestR43_ManyCallersShareAPolicy: a policy is read by every run at once; the
// race detector watches, and every answer is the same.
func TestR43_ManyCallersShareAPolicy(t *testing.T) {
	p := compiled(t, Default())
	c := approved(callOf(deleter()), "user:2")
	want := Decide(p, c)
	answers := make(chan bool, 8)
	for range 8 {
		go func() {
			isSame := true
			for range 200 {
				g, d := Authorise(p, p, c)
				isSame = isSame && reflect.DeepEqual(d, want) && g.Covers(c)
			}
			answers <- isSame
		}()
	}
	for range 8 {
		if !<-answers {
			t.Error("got another answer beside other callers")
		}
	}
}
