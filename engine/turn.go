package engine

import (
	"slices"

	"sluice/engine/plan"
)

// turn is the order in which the candidates of one any_of join get their
// chance (R20). An act candidate waits until all before it are over: effects
// are never speculated on (C05, requirements §20 C8).
type turn struct {
	order []int // positions of the candidates
	at    int   // the first that is not terminal
}

// isData says whether the edge from i to j carries a value: then j needs i
// executed whatever its join says (R22).
func (s *State) isData(i, j int) bool {
	deps := s.plan.Steps[j].Deps
	k, ok := slices.BinarySearchFunc(deps, i, func(d plan.Dep, from int) int { return d.From - from })
	return ok && deps[k].Data
}

// seat notes who is a candidate of what, and makes act candidates wait their
// turn. Steps before from are over, and keep what was counted for them.
func (s *State) seat(from int) {
	for j := range s.plan.Steps {
		if s.plan.Steps[j].Join != plan.AnyOf {
			continue
		}
		var order []int
		acts := false
		for _, d := range s.plan.Steps[j].Deps {
			if d.Data {
				s.seatNeed(j, from)
				continue
			}
			order = append(order, d.From)
			s.nodes[d.From].candidate = true
			acts = acts || s.effectful(d.From)
		}
		if acts {
			s.turns = append(s.turns, turn{order: order})
		}
	}
	if len(s.turns) > 0 {
		s.takeTurns(from)
	}
}

// seatNeed counts a predecessor that an any_of join reads besides its candidates.
func (s *State) seatNeed(j, from int) {
	if j >= from {
		s.nodes[j].left--
		s.nodes[j].need++
	}
}

// takeTurns orders every turn by one order of all steps, so that waiting for a
// turn and waiting for a dependency can never form a circle.
func (s *State) takeTurns(from int) {
	rank := s.rank()
	s.member = make([][]int, len(s.nodes))
	for g := range s.turns {
		order := s.turns[g].order
		slices.SortFunc(order, func(a, b int) int { return rank[a] - rank[b] })
		for k, i := range order {
			s.member[i] = append(s.member[i], g)
			if k > 0 && i >= from && s.effectful(i) {
				s.nodes[i].hold++
			}
		}
	}
}

// rank puts steps into a topological order that also has candidates in plan
// order wherever dependencies do not force another.
func (s *State) rank() []int {
	count := len(s.plan.Steps)
	deps, wish := make([]int, count), make([]int, count)
	later := make([][]int, count)
	for i := range s.plan.Steps {
		deps[i] = len(s.plan.Steps[i].Deps)
	}
	for g := range s.turns {
		s.wishes(s.turns[g].order, func(before, after int) {
			later[before] = append(later[before], after)
			wish[after]++
		})
	}
	rank := make([]int, count)
	var free, stuck readyQueue
	offer := func(i int) {
		switch {
		case deps[i] == 0 && wish[i] == 0:
			free.push(i)
		case deps[i] == 0:
			stuck.push(i)
		}
	}
	for i := range rank {
		rank[i] = -1
		offer(i)
	}
	for next := 0; next < count; {
		i, ok := free.pop()
		if !ok {
			i, ok = stuck.pop() // a wish that contradicts a dependency is dropped
		}
		if !ok {
			break
		}
		if rank[i] >= 0 {
			continue
		}
		rank[i] = next
		next++
		for _, j := range s.plan.Steps[i].Next {
			deps[j]--
			offer(j)
		}
		for _, j := range later[i] {
			wish[j]--
			offer(j)
		}
	}
	return rank
}

// wishes names the pairs that should keep their order: each act after every
// candidate since the act before it.
func (s *State) wishes(order []int, pair func(before, after int)) {
	since := 0
	for k, i := range order {
		if !s.effectful(i) {
			continue
		}
		for _, before := range order[since:k] {
			pair(before, i)
		}
		since = k
	}
}

// advance gives the next candidates their turn once those before are over.
func (s *State) advance(i int) {
	if s.member == nil {
		return
	}
	for _, g := range s.member[i] {
		s.catchUp(&s.turns[g])
	}
}

// catchUp moves a turn past the candidates that are over.
func (s *State) catchUp(t *turn) {
	for t.at < len(t.order) && s.nodes[t.order[t.at]].state.terminal() {
		t.at++
		if t.at == len(t.order) {
			return
		}
		next := t.order[t.at]
		if n := &s.nodes[next]; s.effectful(next) && n.hold > 0 && !n.state.terminal() {
			n.hold--
			s.revisit(next)
		}
	}
}

// spare says whether nobody needs candidate i any more: a sibling satisfied its
// join, and every other successor is over or satisfied as well.
func (s *State) spare(i int) bool {
	won := false
	for _, j := range s.plan.Steps[i].Next {
		isJoin := s.plan.Steps[j].Join == plan.AnyOf && !s.isData(i, j)
		switch {
		case isJoin && s.nodes[j].good > 0:
			won = true
		case !s.nodes[j].state.terminal():
			return false
		}
	}
	return won
}
