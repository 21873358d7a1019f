package policy

import (
	"slices"
	"strconv"
	"strings"
)

// personPrefix marks the principals that may approve: only sessions of people
// decide (P23), so a token or an agent never counts, whoever recorded it.
const personPrefix = "user:"

// checkApproval is the last stage. Every rule is evaluated and all that match
// ask; one approval that satisfies the strictest of them answers all.
func (p *Policy) checkApproval(c *Call, d *Decision) {
	asks := p.asksFor(c, d.Impact)
	if len(asks) == 0 {
		return
	}
	quorum := 0
	for _, ask := range asks {
		quorum = max(quorum, ask.Quorum)
		d.note(ask.Rule, p.whyAsked(ask, c, d.Impact))
	}
	for i := range c.Held {
		why := p.whyInvalid(&c.Held[i], c, quorum)
		if why == "" {
			d.Reasons = append(d.Reasons, "Approved by "+strings.Join(p.counted(&c.Held[i], c.Requester), ", ")+".")
			return
		}
		d.Reasons = append(d.Reasons, "The approval "+display(c.Held[i].ID)+" does not count: "+why+".")
	}
	d.Outcome, d.Asks = Ask, asks
}

// asksFor collects what the rules want, in the order of the document, then
// what the plan itself wants: its flag adds and never removes (R51).
func (p *Policy) asksFor(c *Call, impact Rank) []AskFor {
	var asks []AskFor
	for i := range p.rules {
		if p.rules[i].when.matches(c, impact) {
			asks = append(asks, copyAsk(p.rules[i].ask))
		}
	}
	if c.Approval {
		asks = append(asks, AskFor{Rule: RulePlan, Per: perCall, Quorum: defaultQuorum, Roles: []string{defaultRole}, ExpiresS: defaultExpiresS})
	}
	return asks
}

// copyAsk gives a decision its own list of roles: policies are immutable.
func copyAsk(ask AskFor) AskFor {
	ask.Roles = slices.Clone(ask.Roles)
	return ask
}

func (r *compiledWhen) matches(c *Call, impact Rank) bool {
	isExternalMet := r.external == nil || *r.external == c.Tool.External
	return impact >= r.impact && isExternalMet && (r.isAnyTool || r.tools.has(c.Tool.Name))
}

func (p *Policy) whyAsked(ask AskFor, c *Call, impact Rank) string {
	people := "a person"
	if ask.Quorum > 1 {
		people = strconv.Itoa(ask.Quorum) + " people"
	}
	tool := display(c.Tool.Name)
	switch ask.Rule {
	case RulePlan:
		return "The plan asks " + people + " to approve this call of " + tool + "."
	case RuleDefault:
		return "A call of " + tool + " with the impact " + p.rankText(impact) + " needs the approval of " + people + "."
	}
	return "Rule " + ask.Rule + " asks " + people + " to approve this call of " + tool + "."
}

// whyInvalid says why a held approval does not answer this call, "" when it
// does: in time, by enough people, and for exactly this call (P21).
func (p *Policy) whyInvalid(held *Approval, c *Call, quorum int) string {
	if c.At > held.ExpiresAt {
		return "it has expired"
	}
	if n := len(p.counted(held, c.Requester)); n < quorum {
		return strconv.Itoa(n) + " of " + strconv.Itoa(quorum) + " needed people have approved"
	}
	if held.Hash != Binding(*c, held.ExpiresAt) {
		return "it was given for another call"
	}
	return ""
}

// counted are the approvers that count towards a quorum: distinct people, and
// the requester only where the policy allows self-approval (P16).
func (p *Policy) counted(held *Approval, requester string) []string {
	var people []string
	for _, who := range held.Approvers {
		isRequester := who == requester && !p.isSelf
		if strings.HasPrefix(who, personPrefix) && !isRequester && !slices.Contains(people, who) {
			people = append(people, who)
		}
	}
	return people
}
