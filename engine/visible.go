package engine

import (
	"sluice/engine/plan"
	"sluice/policy"
)

// VisibleTools are the tools that scopes of a policy hold, by name: what a
// planner is shown (R11, R48).
func VisibleTools(catalog *plan.Catalog, p *policy.Policy, scopes []string) []string {
	seen := []string{}
	for _, name := range catalog.Names() {
		t, _ := catalog.Lookup(name)
		d := policy.Decide(p, policy.Call{Tool: t.Tool, Scopes: scopes, Intent: policy.RankMax})
		if d.Stage != policy.StageScope {
			seen = append(seen, name)
		}
	}
	return seen
}

// visibleTools is what this run's planner is shown from its first question to its
// last: by the policy that the run was started with. The current one would tell
// a model what was decided meanwhile (P24).
func (s *State) visibleTools() []string {
	return VisibleTools(s.env.Catalog, s.env.Pinned, s.run.scopes)
}
