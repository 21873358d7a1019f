package plan

import (
	"fmt"
	"slices"
	"strings"

	"sluice/policy"
)

// policyChecker asks the gate about every step with what is then known (C06,
// C08, C09, C11). The gate decides again at dispatch.
type policyChecker struct {
	*compiler
	scopes    []string        // of the policy, sorted; read when first needed
	isGranted map[string]bool // by tool: some scope of the policy grants it
}

func (c *compiler) checkPolicy() {
	if c.env.Policy == nil {
		return
	}
	p := &policyChecker{compiler: c, isGranted: map[string]bool{}}
	for i := range c.steps {
		if c.entries[i] != nil {
			p.checkStep(i)
		}
	}
}

func (p *policyChecker) call(i int) policy.Call {
	s := &p.steps[i]
	return policy.Call{
		Node: s.ID, Tool: p.entries[i].Tool.Tool, Known: true,
		Params: s.params(), Partial: len(s.Refs) > 0 || len(s.Literals) < len(p.plan.Steps[i].Params),
		Intent: p.env.Intent, Scopes: p.env.Scopes, Requester: p.env.Requester, Approval: s.Approval,
	}
}

func (p *policyChecker) checkStep(i int) {
	call := p.call(i)
	decision := policy.Decide(p.env.Policy, call)
	why := strings.Join(decision.Reasons, " ")
	switch {
	case decision.Outcome == policy.Deny && decision.Stage == policy.StageScope:
		p.checkScope(i, call, decision)
	case decision.Outcome == policy.Deny && decision.Stage == policy.StageImpact:
		if call.Partial && call.Tool.ImpactOf != nil {
			// C11 holds where the impact can be computed from literals; here it
			// depends on a value that is not yet known.
			return
		}
		p.find(i, Finding{Rule: "C11", Message: why, Fix: "Choose a higher intent, or remove the step."}, "tool")
	case decision.Outcome == policy.Deny:
		p.find(i, Finding{Rule: "C09", Message: why, Fix: "Remove the step, or change the policy."}, "tool")
	case len(decision.Asks) == 0 && p.isConsequential(i, decision):
		p.find(i, Finding{Rule: "C08", Message: fmt.Sprintf("The step has the impact %s and nobody would be asked.", decision.ImpactName),
			Fix: "State \"approval\": true, or a rule of the policy that asks."})
	}
}

// checkScope tells two denials apart: C06, the run does not hold the scope that
// the step needs; C09, no path leads there at all, because no scope of the
// policy grants the tool or a kill switch stops it.
func (p *policyChecker) checkScope(i int, call policy.Call, decision policy.Decision) {
	why := strings.Join(decision.Reasons, " ")
	if slices.Contains(decision.Rules, policy.RuleScope) {
		p.find(i, Finding{Rule: "C06", Message: why, Fix: "Run it with a scope that has the tool, or remove the step."}, "tool")
		if p.grants(call) {
			return
		}
		why = fmt.Sprintf("No scope of the policy grants %s.", call.Tool.Name)
	}
	p.find(i, Finding{Rule: "C09", Message: why, Fix: "Remove the step, or change the policy."}, "tool")
}

// grants says whether some scope of the policy has the tool.
func (p *policyChecker) grants(call policy.Call) bool {
	if known, ok := p.isGranted[call.Tool.Name]; ok {
		return known
	}
	if p.scopes == nil {
		p.scopes = sortedKeys(p.env.Policy.Document().Scopes)
	}
	isGranted := slices.ContainsFunc(p.scopes, func(scope string) bool {
		call.Scopes = []string{scope}
		return !slices.Contains(policy.Decide(p.env.Policy, call).Rules, policy.RuleScope)
	})
	p.isGranted[call.Tool.Name] = isGranted
	return isGranted
}

// isConsequential says whether a step must be behind an approval (C08). The
// gate ranks what acts outside at least with override (requirements §23.6).
func (p *policyChecker) isConsequential(i int, d policy.Decision) bool {
	return p.steps[i].Class == Act && d.Impact >= policy.Override
}

// find adds a policy finding: an error in a person's plan, a record in a plan
// that no person wrote (P12).
func (p *policyChecker) find(i int, f Finding, parts ...string) {
	f.Severity, f.Policy = Error, true
	if p.env.Author == Model || p.env.Author == Builtin {
		f.Severity = Warning
	}
	p.at(i).say(f, parts...)
}
