package policy

import "strings"

// reach is what scopes together say of one tool. Scopes merge by union of tools
// and minimum of caps (R44); a scope that the policy does not know spoils the
// whole, because nobody can say what it would have capped.
type reach struct {
	isGranted bool
	isUnknown bool
	limit     Rank // the lowest cap that matches, RankMax without one
}

// nothing is the neutral element of merge: default deny, no cap.
func nothing() reach { return reach{limit: RankMax} }

func (a reach) merge(b reach) reach {
	return reach{
		isGranted: a.isGranted || b.isGranted,
		isUnknown: a.isUnknown || b.isUnknown,
		limit:     min(a.limit, b.limit),
	}
}

// reach merges the named scopes for one tool; the order of names and repeated
// names change nothing.
func (p *Policy) reach(scopes []string, tool string) reach {
	merged := nothing()
	for _, name := range scopes {
		merged = merged.merge(p.reachOf(name, tool))
	}
	return merged
}

// reachOf is what one scope says of a tool. A cap holds wherever its glob
// matches, also for a tool that another scope grants.
func (p *Policy) reachOf(scope, tool string) reach {
	found := nothing()
	s, ok := p.scopes[scope]
	if !ok {
		found.isUnknown = true
		return found
	}
	found.isGranted = s.tools.has(tool)
	s.caps.each(tool, func(_ string, limit Rank) { found.limit = min(found.limit, limit) })
	return found
}

// checkScope is the first stage: kill switches, then the allowlist. Both are
// evaluated, so that lifting one does not surprise with the other.
func (p *Policy) checkScope(c *Call, reached reach, d *Decision) {
	p.kills.each(c.Tool.Name, func(text string, _ struct{}) {
		d.deny(StageScope, RuleKillSwitch, "The kill switch "+text+" stops "+display(c.Tool.Name)+".")
	})
	if reached.isUnknown {
		d.deny(StageScope, RuleScope, "This policy has no scope "+display(p.firstUnknown(c.Scopes))+".")
	}
	if !reached.isGranted {
		d.deny(StageScope, RuleScope, outOfScope(c))
	}
}

func (p *Policy) firstUnknown(scopes []string) string {
	first, isFound := "", false
	for _, name := range scopes {
		if _, ok := p.scopes[name]; ok {
			continue
		}
		if !isFound || name < first {
			first, isFound = name, true
		}
	}
	return first
}

func outOfScope(c *Call) string {
	tool := display(c.Tool.Name)
	switch len(c.Scopes) {
	case 0:
		return "No scope is given, so " + tool + " is not allowed."
	case 1:
		return tool + " is not in the scope " + display(c.Scopes[0]) + "."
	}
	names := make([]string, len(c.Scopes))
	for i, name := range c.Scopes {
		names[i] = display(name)
	}
	return tool + " is in none of the scopes " + strings.Join(names, ", ") + "."
}
