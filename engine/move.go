package engine

// move changes a plan node's state through the transition table, records the
// transition, and tells whoever depends on it. A move the table does not know
// is a broken invariant (R14).
func (s *State) move(i int, to nodeState, named string) {
	n := &s.nodes[i]
	from := n.state
	t := rule(from, to)
	if t == "" {
		s.broken("no transition from " + string(from.name()) + " to " + string(to.name()))
		return
	}
	if named != "" {
		t = named
	}
	s.count[from]--
	s.count[to]++
	n.state = to
	s.note(s.plan.Steps[i].ID, from, to, t)
	switch {
	case to == ready:
		s.ready.push(i)
	case to.terminal():
		s.settle(i)
	}
}

func (s *State) note(id string, from, to nodeState, t string) {
	s.step.trans = append(s.step.trans, Transition{
		Seq: s.run.seq, Index: s.step.index, Node: id, From: from.name(), To: to.name(), Rule: t})
	s.step.index++
}

// noteControl records a control node's transition; ready is passed through.
func (s *State) noteControl(id string, from, to nodeState) {
	if from == pending && to == running {
		s.note(id, pending, ready, "T1")
		from = ready
	}
	s.note(id, from, to, rule(from, to))
}

func stateNamed(name NodeState) nodeState {
	for i := nodeState(0); i < stateCount; i++ {
		if i.name() == name {
			return i
		}
	}
	return cancelled
}

// broken notes the first broken invariant. It ends the run, never the process.
func (s *State) broken(what string) {
	if s.fault == "" {
		s.fault = what
	}
}
