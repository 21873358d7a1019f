package engine

import "sluice/engine/plan"

// joined is how a node's join stands.
type joined int

const (
	joinOpen joined = iota
	joinReady
	joinUpstream // all_of with a failed or cancelled predecessor: cancelled (T14, R24)
	joinFailed   // any_of with no candidate left, at least one not skipped (T15)
	joinSkipped  // a skipped all_of predecessor, or every candidate skipped (T17)
)

// joinOf decides from counters alone (R19, R20, R22, R25).
func (s *State) joinOf(i int) joined {
	n := &s.nodes[i]
	switch s.plan.Steps[i].Join {
	case plan.AnyOf:
		switch {
		case n.good > 0:
			return joinReady
		case n.left > 0:
			return joinOpen
		case n.bad > 0:
			return joinFailed
		}
		return joinSkipped
	case plan.AllDone:
		if n.left > 0 {
			return joinOpen
		}
		return joinReady
	}
	switch {
	case n.bad > 0:
		return joinUpstream
	case n.skips > 0:
		return joinSkipped
	case n.left > 0:
		return joinOpen
	}
	return joinReady
}

// wake moves a pending node whose join is satisfied and whose guard, if any,
// has passed to ready (T1). It is derived, not a fact of its own.
func (s *State) wake(i int) {
	n := &s.nodes[i]
	if n.state != pending || n.hold > 0 || s.joinOf(i) != joinReady {
		return
	}
	if s.plan.Steps[i].Guard != nil && !n.passed {
		return
	}
	s.move(i, ready, "")
}

// settle tells the successors of a terminal node; only they are touched (R26).
func (s *State) settle(i int) {
	state := s.nodes[i].state
	for _, j := range s.plan.Steps[i].Next {
		s.settleInto(j, state)
	}
	for _, j := range s.release[i] {
		s.nodes[j].hold--
		s.revisit(j)
	}
}

func (s *State) settleInto(j int, state nodeState) {
	n := &s.nodes[j]
	n.left--
	switch state {
	case executed:
		n.good++
		if s.plan.Steps[j].Join == plan.AnyOf && n.good == 1 {
			s.won = append(s.won, j)
		}
	case skipped:
		n.skips++
	default:
		n.bad++
	}
	s.revisit(j)
}

func (s *State) revisit(j int) {
	if s.nodes[j].state == pending {
		s.wake(j)
		if s.nodes[j].state == pending {
			s.due = append(s.due, j)
		}
	}
}

// spare says whether nobody needs node i any more: every successor is terminal
// or an any_of join that another candidate already satisfied.
func (s *State) spare(i int) bool {
	next := s.plan.Steps[i].Next
	for _, j := range next {
		if s.nodes[j].state.terminal() {
			continue
		}
		if s.plan.Steps[j].Join != plan.AnyOf || s.nodes[j].good == 0 {
			return false
		}
	}
	return len(next) > 0
}
