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
		return n.joinAny()
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

// joinAny: one executed candidate is enough, but what a reference or guard
// reads must be executed besides, as with all_of (R22).
func (n *node) joinAny() joined {
	switch {
	case n.needBad > 0:
		return joinUpstream
	case n.needSkips > 0:
		return joinSkipped
	case n.good > 0 && n.need == 0:
		return joinReady
	case n.good > 0 || n.left > 0:
		return joinOpen
	case n.bad > 0:
		return joinFailed
	}
	return joinSkipped
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
		n := &s.nodes[j]
		if s.plan.Steps[j].Join == plan.AnyOf && s.isData(i, j) {
			n.settleNeed(state)
		} else {
			n.settleOne(state)
		}
		if s.plan.Steps[j].Join == plan.AnyOf && n.good == 1 && state == executed {
			s.review(j)
		}
		s.revisit(j)
	}
	s.advance(i)
	s.review(i)
}

// settleOne counts a predecessor that is over.
func (n *node) settleOne(state nodeState) {
	n.left--
	switch state {
	case executed:
		n.good++
	case skipped:
		n.skips++
	default:
		n.bad++
	}
}

// settleNeed counts one that an any_of join needs besides its candidates.
func (n *node) settleNeed(state nodeState) {
	switch state {
	case executed:
		n.need--
	case skipped:
		n.needSkips++
	default:
		n.needBad++
	}
}

// review asks of the candidates before j whether anybody still needs them.
func (s *State) review(j int) {
	for _, d := range s.plan.Steps[j].Deps {
		if n := &s.nodes[d.From]; n.candidate && !n.state.terminal() {
			s.spares = append(s.spares, d.From)
		}
	}
}

// revisit looks at a pending node again: one that can be ready is, one whose
// join is settled otherwise, or whose guard is to be asked, is due.
func (s *State) revisit(j int) {
	if s.nodes[j].state != pending || s.joinOf(j) == joinOpen {
		return
	}
	s.wake(j)
	if s.nodes[j].state == pending {
		s.due = append(s.due, j)
	}
}
