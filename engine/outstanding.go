package engine

import (
	"sluice/engine/plan"
	"sluice/policy"
)

// Unresolved names the attempts of a folded State whose effect may or may not
// have happened: once effects that were running when the process died. The
// shell feeds OutcomeUnknown for each (P5, P45).
func Unresolved(s *State) []OutcomeUnknown {
	var list []OutcomeUnknown
	for i := range s.nodes {
		if s.nodes[i].state == running && s.plan.Steps[i].Effect == policy.Once {
			list = append(list, OutcomeUnknown{Node: s.plan.Steps[i].ID, Attempt: s.nodes[i].attempt, Cause: "process death"})
		}
	}
	return list
}

// Outstanding recomputes the commands still owed after a restart: reads and
// idempotent effects run again under their number and key, without a new fact.
// Attempts the gate no longer allows come back as inputs to feed instead.
func Outstanding(s *State) ([]Command, []Withdrawn) {
	var cmds []Command
	var withdrawn []Withdrawn
	for _, c := range s.control {
		if c.state == running {
			cmds = append(cmds, s.controlCommand(c.id, c.attempt, c.by))
		}
	}
	for i := range s.nodes {
		if s.nodes[i].state == blocked {
			cmds = append(cmds, s.clearOwed(i)...)
		}
		if s.nodes[i].state != running || s.plan.Steps[i].Effect == policy.Once {
			continue
		}
		c, ok := s.again(i)
		if !ok {
			withdrawn = append(withdrawn, Withdrawn{Node: s.plan.Steps[i].ID, Attempt: s.nodes[i].attempt})
			continue
		}
		cmds = append(cmds, c)
		if s.run.halt == UserCancel || s.run.halt == Timeout {
			cmds = append(cmds, s.stopCommand(i)) // a halted run ends what runs again (P7)
		}
	}
	return cmds, withdrawn
}

func (s *State) again(i int) (Command, bool) {
	params, problem := s.resolve(i)
	if problem != "" {
		return nil, false
	}
	call := s.callAgain(i, params)
	grant, d := s.authorise(call)
	if d.Outcome != policy.Allow {
		return nil, false
	}
	step := &s.plan.Steps[i]
	return Perform{ID: commandID(step.ID, call.Attempt), Node: step.ID, Attempt: call.Attempt,
		Call: call, Grant: grant, Params: plan.Splice(params), Timeout: step.Timeout}, true
}
