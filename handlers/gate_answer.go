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
}

// Asker is for whom a plan would run.
type Asker struct {
	Intent    policy.Rank
	Scopes    []string
	Requester string
}

// GateAnswers asks the policies about every step of a plan; the strictest
// answer counts (P19).
func GateAnswers(c *plan.Compiled, catalog *plan.Catalog, who Asker, policies ...*policy.Policy) []StepGate {
	list := make([]StepGate, len(c.Steps))
	for i := range c.Steps {
		call := stepCall(&c.Steps[i], catalog, who)
		var strictest policy.Decision
		for k, p := range policies {
			if d := policy.Decide(p, call); k == 0 || strictness(d.Outcome) > strictness(strictest.Outcome) {
				strictest = d
			}
		}
		list[i] = StepGate{Step: c.Steps[i].ID, Tool: c.Steps[i].Tool, Decision: strictest.Outcome, Impact: strictest.Impact,
			ImpactName: strictest.ImpactName, Reasons: strictest.Reasons, Asks: strictest.Asks, Clear: strictest.Clear, Partial: call.Partial}
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

func strictness(o policy.Outcome) int {
	switch o {
	case policy.Deny:
		return 2
	case policy.Ask:
		return 1
	}
	return 0
}

// bothPolicies are the one a run was started under and the one in force.
func (s *Server) bothPolicies(ctx context.Context, pinned string) ([]*policy.Policy, error) {
	current := s.cfg.Rules.Policy()
	if current.Hash() == pinned {
		return []*policy.Policy{current}, nil
	}
	p, err := s.cfg.Rules.PolicyByHash(ctx, pinned)
	if err != nil {
		return nil, err
	}
	return []*policy.Policy{p, current}, nil
}
