package engine

import "sluice/engine/plan"

// causeReplan marks a version that has more steps because a reflection asked
// for them (R57).
const causeReplan = "replan"

// grow takes a compiled plan that extends the current one (R58). A plan grows
// only when all its steps are over, so what was counted for them stays; the new
// steps count what has ended before them.
func (s *State) grow(c *plan.Compiled) {
	from := len(s.nodes)
	if !c.Extends(s.plan) {
		s.broken("a version changes steps of the one before")
		return
	}
	s.plan, s.turns, s.member = c, nil, nil
	s.grown = append(s.grown, from)
	for i := from; i < len(c.Steps); i++ {
		s.nodes = append(s.nodes, node{left: len(c.Steps[i].Deps)})
		s.index[c.Steps[i].ID] = i
	}
	s.count[pending] += len(c.Steps) - from
	s.seat(from)
	for i := from; i < len(c.Steps); i++ {
		s.settleEarlier(i)
	}
	for g := range s.turns {
		s.catchUp(&s.turns[g])
	}
	for i := from; i < len(c.Steps); i++ {
		if c.Steps[i].Join == plan.AnyOf && s.nodes[i].good > 0 {
			s.review(i)
		}
		s.revisit(i)
	}
}

// settleEarlier counts the predecessors of a new step that are over.
func (s *State) settleEarlier(i int) {
	n, step := &s.nodes[i], &s.plan.Steps[i]
	for _, d := range step.Deps {
		state := s.nodes[d.From].state
		switch {
		case !state.terminal():
		case step.Join == plan.AnyOf && d.Data:
			n.settleNeed(state)
		default:
			n.settleOne(state)
		}
	}
}
