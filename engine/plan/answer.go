package plan

import "sluice/policy"

// Answer is what the gate says about one step with what is known before a run.
type Answer struct {
	Index    int // position in the plan
	Step     string
	Class    Class
	Effect   policy.Effect
	Decision policy.Decision
	// Open means that the answer hangs on a value that is not known yet: the
	// decision is that for the worst value.
	Open bool
}

// Inspect is Check with the gate's answer about every step whose tool is known,
// whether or not the plan compiles. There are none without a policy, nor for a
// document that cannot be read. The gate decides again at dispatch.
func Inspect(doc []byte, env Env) (*Compiled, []Finding, []Answer) {
	compiled, c, findings := check(doc, env)
	if c == nil || env.Policy == nil {
		return compiled, findings, nil
	}
	p := &policyChecker{compiler: c}
	answers := make([]Answer, 0, len(c.steps))
	for i := range c.steps {
		if c.entries[i] == nil {
			continue
		}
		call := p.call(i)
		answers = append(answers, Answer{Index: i, Step: c.steps[i].ID, Class: c.steps[i].Class, Effect: c.steps[i].Effect,
			Decision: policy.Decide(env.Policy, call), Open: call.Partial && call.Tool.ImpactOf != nil})
	}
	return compiled, findings, answers
}
