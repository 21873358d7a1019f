package policy

import (
	"slices"
	"strconv"
	"strings"
)

func (c *checker) approvals(a Approvals, ids map[string]bool) {
	if a.Self != "" && a.Self != selfAllowed && a.Self != selfDenied {
		c.addf("/approvals/self", "%s is not an answer. Write allowed or denied.", display(a.Self))
	}
	if !c.count("/approvals/rules", len(a.Rules)) {
		return
	}
	for i, rule := range a.Rules {
		pointer := "/approvals/rules/" + strconv.Itoa(i)
		c.ruleID(pointer+"/id", rule.ID, ids)
		c.when(pointer+"/when", rule.When)
		c.terms(pointer, rule)
	}
}

func (c *checker) ruleID(pointer, id string, ids map[string]bool) {
	if id == "" {
		c.addf(pointer, "The rule has no id. Add one, such as A1: decisions and the log cite it.")
		return
	}
	c.word(pointer, "rule", id)
	if slices.Contains(ownRules(), id) {
		c.addf(pointer, "%s is a rule of the gate itself. Choose another id.", id)
	}
	if ids[id] {
		c.addf(pointer, "%s is the id of an earlier rule. Give each rule its own.", display(id))
	}
	ids[id] = true
}

func (c *checker) when(pointer string, when When) {
	if when.ImpactAtLeast != nil {
		c.rank(pointer+"/impact_at_least", *when.ImpactAtLeast)
	}
	if when.Tools != nil && len(when.Tools) == 0 {
		c.addf(pointer+"/tools", "The list is empty, so the rule would never ask. Name tools, or remove the line.")
	}
	c.globs(pointer+"/tools", when.Tools)
}

// terms checks how a rule asks: once per call, whom, how many and for how long.
func (c *checker) terms(pointer string, rule ApprovalRule) {
	switch rule.Per {
	case perCall:
	case "plan":
		c.addf(pointer+"/per", "Approval per plan is not yet available. Write per: call.")
	default:
		c.addf(pointer+"/per", "%s is not known. Write per: call.", display(rule.Per))
	}
	if rule.Quorum < 1 || rule.Quorum > QuorumMax {
		c.addf(pointer+"/quorum", "A quorum of %d is not possible. Use 1 to %d people.", rule.Quorum, QuorumMax)
	}
	if rule.ExpiresS < 1 || rule.ExpiresS > ExpiresSMax {
		c.addf(pointer+"/expires_s", "%d seconds is not possible. Use 1 to %d (30 days).", rule.ExpiresS, ExpiresSMax)
	}
	c.roles(pointer+"/roles", rule.Roles)
}

func (c *checker) roles(pointer string, roles []string) {
	if len(roles) == 0 {
		c.addf(pointer, "No role is named, so nobody could answer. Name one, such as approver.")
	}
	if !c.count(pointer, len(roles)) {
		return
	}
	for i, role := range roles {
		where := pointer + "/" + strconv.Itoa(i)
		if !slices.Contains(Roles(), role) {
			c.addf(where, "%s is not a role. Use one of %s.", display(role), strings.Join(Roles(), ", "))
		}
		if slices.Contains(roles[:i], role) {
			c.addf(where, "%s is named twice. Remove one.", display(role))
		}
	}
}

// CheckAgainst finds what has no effect on the given tools: clearance rules that
// name none of them, and impact overrides: Decide ignores a lowering without a reason and any lowering
// of an external tool, so a document that tries is refused where the tools are
// known (P16, requirements §23.6).
func CheckAgainst(d Document, tools []Tool) []Issue {
	c := &checker{}
	for _, text := range sortedKeys(d.Tools) {
		rule := d.Tools[text]
		if rule.Impact == nil {
			continue
		}
		pattern := newGlob(text)
		for _, tool := range tools {
			if pattern.match(tool.Name) {
				c.lowering("/tools/"+Escape(text), rule, tool)
			}
		}
	}
	c.unreachable(d.Clearance, tools)
	return c.issues
}

func (c *checker) lowering(pointer string, rule ToolRule, tool Tool) {
	if tool.External && *rule.Impact < Override {
		c.addf(pointer+"/impact", "%s acts outside and always ranks at least override. Remove the rule.", display(tool.Name))
		return
	}
	if *rule.Impact < tool.Impact && strings.TrimSpace(rule.Reason) == "" {
		c.addf(pointer, "This lowers the impact of %s from %s to %s without a reason. Add reason: or raise the impact.",
			display(tool.Name), tool.Impact.Name(), rule.Impact.Name())
	}
}
