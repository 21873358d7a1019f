package policy

import (
	"strconv"
	"strings"
)

// onScale says whether a rank lies between Observe and RankMax.
func (r Rank) onScale() bool { return r >= Observe && r <= RankMax }

// checkImpact is the second stage: the impact must not exceed the lower of
// intent and cap (R43). A tool nobody knows is denied whatever the limit: there
// is nothing that an approval could be about (R48).
func (p *Policy) checkImpact(c *Call, d *Decision) {
	if !c.Known {
		d.deny(StageImpact, RuleUnknownTool, "There is no tool "+display(c.Tool.Name)+"; what is not known counts as "+p.rankText(RankMax)+".")
	}
	if d.Impact > d.Limit {
		d.deny(StageImpact, RuleImpact, p.aboveLimit(c, d))
	}
}

// assess ranks a call into d (R46): what the tool declares for these
// parameters, then the overrides of the policy, then the floor for tools that
// act outside (requirements §23.6).
func (p *Policy) assess(c *Call, d *Decision) {
	declared, isKnown := declaredImpact(c)
	if c.Known && !isKnown {
		d.note(RuleUnknownImpact, "The impact of "+display(c.Tool.Name)+" on these parameters is not known and counts as "+p.rankText(RankMax)+".")
	}
	rank, isOverridden := declared, false
	p.overrides.each(c.Tool.Name, func(text string, rule ToolRule) {
		to := p.override(overrideOf{text, rule, declared, isKnown}, c, d)
		if !isOverridden || to > rank {
			rank = to
		}
		isOverridden = true
	})
	if c.Tool.External && rank < Override {
		rank = Override
		d.note(RuleExternal, display(c.Tool.Name)+" acts outside and ranks at least "+p.rankText(Override)+".")
	}
	d.Impact, d.ImpactName = rank, p.NameOf(rank)
}

// declaredImpact is the rank before any policy. Unresolved parameters count as
// the most the tool can do (P11), anything unknown as RankMax (R46).
func declaredImpact(c *Call) (Rank, bool) {
	rank, isKnown := c.Tool.Impact, c.Known
	if isKnown && !c.Partial && c.Tool.ImpactOf != nil {
		rank, isKnown = c.Tool.ImpactOf(c.Params)
	}
	if !isKnown || !rank.onScale() {
		return RankMax, false
	}
	return rank, true
}

type overrideOf struct {
	text     string
	rule     ToolRule
	declared Rank
	isKnown  bool
}

// override is the rank under one rule of the policy: raised freely, lowered
// only with a reason, and never when the impact is not known. Where several
// rules match, the highest of their ranks holds.
func (p *Policy) override(o overrideOf, c *Call, d *Decision) Rank {
	to := *o.rule.Impact
	if to == o.declared {
		return to
	}
	tool, id := display(c.Tool.Name), "tools/"+o.text
	change := tool + " from " + p.rankText(o.declared) + " to " + p.rankText(to)
	if to > o.declared {
		d.note(id, "The policy raises "+change+".")
		return to
	}
	reason := strings.TrimSpace(o.rule.Reason)
	switch {
	case !o.isKnown:
		return o.declared
	case reason == "":
		d.note(id, "The policy lowers "+change+" without a reason, so the declared impact holds.")
		return o.declared
	}
	d.note(id, "The policy lowers "+change+": "+reason)
	return to
}

func (p *Policy) aboveLimit(c *Call, d *Decision) string {
	text := display(c.Tool.Name) + " has the impact " + p.rankText(d.Impact) + ", above the limit " + p.rankText(d.Limit)
	if d.Limit == c.Intent {
		return text + " of the intent."
	}
	scope, glob := p.tightestCap(c.Scopes, c.Tool.Name)
	if scope == "" {
		return text + "."
	}
	return text + " that the scope " + scope + " sets for " + glob + "."
}

// tightestCap names the cap that made the limit, the first by name where
// several are as low, so that the order of scopes does not show.
func (p *Policy) tightestCap(scopes []string, tool string) (scope, text string) {
	lowest := RankMax
	for _, name := range scopes {
		s, ok := p.scopes[name]
		if !ok {
			continue
		}
		s.caps.each(tool, func(candidate string, limit Rank) {
			isEarlier := name < scope || name == scope && candidate < text
			if scope == "" || limit < lowest || limit == lowest && isEarlier {
				scope, text, lowest = name, candidate, limit
			}
		})
	}
	return scope, text
}

// rankText shows a rank by name and number, or by number where it has no name.
func (p *Policy) rankText(rank Rank) string {
	number := strconv.Itoa(int(rank))
	if name := p.NameOf(rank); name != number {
		return name + " (" + number + ")"
	}
	return number
}
