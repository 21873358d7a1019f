package handlers

import (
	"context"

	"sluice/engine/plan"
	"sluice/policy"
)

// StepGate is the gate's answer to one step before it runs, with what is known
// then. The gate decides again, on the resolved call, at dispatch.
type StepGate struct {
	Step       string            `json:"step"`
	Tool       string            `json:"tool"`
	Decision   policy.Outcome    `json:"decision"`
	Impact     policy.Rank       `json:"impact"`
	ImpactName string            `json:"impact_name"`
	Reasons    []string          `json:"reasons"`
	Asks       []policy.AskFor   `json:"asks"`
	Clear      []policy.ClearFor `json:"clear,omitempty"`   // authorities that have to allow it
	Partial    bool              `json:"partial,omitempty"` // a parameter comes from another step

	decision policy.Decision
}

// Asker is for whom a plan would run.
type Asker struct {
	Intent    policy.Rank
	Scopes    []string
	Requester string
}

// GateAnswers asks the policy that a run was started under and the one in force
// about every step of a plan; both count (P19).
func GateAnswers(c *plan.Compiled, catalog *plan.Catalog, who Asker, both [2]*policy.Policy) []StepGate {
	list := make([]StepGate, len(c.Steps))
	for i := range c.Steps {
		call := stepCall(&c.Steps[i], catalog, who)
		d := policy.DecideBoth(both[0], both[1], call)
		list[i] = StepGate{Step: c.Steps[i].ID, Tool: c.Steps[i].Tool, Decision: d.Outcome, Impact: d.Impact,
			ImpactName: d.ImpactName, Reasons: d.Reasons, Asks: d.Asks, Clear: d.Clear, Partial: call.Partial, decision: d}
	}
	return list
}

func stepCall(s *plan.CompiledStep, catalog *plan.Catalog, who Asker) policy.Call {
	call := policy.Call{Node: s.ID, Tool: policy.Tool{Name: s.Tool, Effect: policy.Once, Impact: policy.RankMax},
		Partial: len(s.Refs) > 0, Intent: who.Intent, Scopes: who.Scopes, Requester: who.Requester, Approval: s.Approval}
	if tool, ok := catalog.Lookup(s.Tool); ok {
		call.Tool, call.Known = tool.Tool, true
	}
	for _, l := range s.Literals {
		call.Params = append(call.Params, policy.Param{Name: l.Param, Value: l.Value, Labels: l.Labels, Source: l.Source})
	}
	return call
}

// bothPolicies are the one a run was started under and the one in force.
func (s *Server) bothPolicies(ctx context.Context, pinned string) ([2]*policy.Policy, error) {
	current := s.cfg.Rules.Policy()
	if current.Hash() == pinned {
		return [2]*policy.Policy{current, current}, nil
	}
	p, err := s.cfg.Rules.PolicyByHash(ctx, pinned)
	return [2]*policy.Policy{p, current}, err
}
