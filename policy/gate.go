package policy

import "slices"

// Rule ids of the gate itself; documents may not use them for their own rules.
// An impact override is cited as "tools/" and its pattern.
const (
	RuleScope         = "scope"
	RuleKillSwitch    = "kill_switch"
	RuleImpact        = "impact"
	RuleUnknownTool   = "unknown_tool"
	RuleUnknownImpact = "unknown_impact"
	RuleExternal      = "external"
	RuleDefault       = "default"        // P17, when the document has no rules
	RulePlan          = "plan"           // the plan's own approval flag (R51)
	RuleCurrent       = "current_policy" // the current policy is stricter than the pinned one (P19)
	RuleInput         = "input"
)

func ownRules() []string {
	return []string{RuleScope, RuleKillSwitch, RuleImpact, RuleUnknownTool, RuleUnknownImpact, RuleExternal, RuleDefault, RulePlan, RuleCurrent, RuleInput}
}

// Decide answers whether a call may run under a policy. It mints nothing.
//
// R43: the stages run in the order of their cost, scope, impact, clearance,
// approval, and
// a stage that denies ends the evaluation; within a stage every rule is
// evaluated and the strictest answer holds. Impact and limit are given whatever
// the outcome (P37).
func Decide(p *Policy, c Call) Decision {
	if p == nil || p.hash == "" {
		d := newDecision("")
		d.Impact, d.ImpactName = RankMax, RankMax.Name()
		d.deny(StageScope, RuleScope, "There is no policy, so nothing is allowed.")
		return d
	}
	reached := p.reach(c.Scopes, c.Tool.Name)
	d := newDecision(p.hash)
	d.Limit = min(c.Intent, reached.limit)
	p.assess(&c, &d)
	if p.checkScope(&c, reached, &d); d.Outcome == Deny {
		return d
	}
	if p.checkImpact(&c, &d); d.Outcome == Deny {
		return d
	}
	if p.checkClearance(&c, &d); d.Outcome == Deny {
		return d
	}
	p.checkApproval(&c, &d)
	return d
}

// newDecision allows: every stage can only make it stricter. Its lists are
// never nil, so that they are [] on the wire (P37).
func newDecision(policy string) Decision {
	return Decision{Outcome: Allow, Rules: []string{}, Reasons: []string{}, Asks: []AskFor{}, Policy: policy}
}

// Refuse is the decision about something that is no call at all: a malformed
// line, a call with unresolved parameters. It ranks highest and limits to
// nothing, because nothing is known of it.
func Refuse(policy, reason string) Decision {
	d := newDecision(policy)
	d.Impact, d.ImpactName = RankMax, RankMax.Name()
	d.deny(StageInput, RuleInput, reason)
	return d
}

func (d *Decision) deny(stage, rule, reason string) {
	d.Outcome, d.Stage = Deny, stage
	d.note(rule, reason)
}

// note records a rule that took part, once, and its reason.
func (d *Decision) note(rule, reason string) {
	if !slices.Contains(d.Rules, rule) {
		d.Rules = append(d.Rules, rule)
	}
	d.Reasons = append(d.Reasons, reason)
}
