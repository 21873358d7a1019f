package engine

import (
	"fmt"

	"sluice/engine/plan"
	"sluice/policy"
)

// The naive twin computes from the plan and the states of nodes alone what the
// core keeps in counters and queues (R19, R25).

// naiveJoin is how a node's join stands by the words of R19, R20 and R22.
func naiveJoin(s *State, i int) joined {
	step := &s.plan.Steps[i]
	all := map[nodeState]int{}   // predecessors the join is about
	needs := map[nodeState]int{} // any_of: read besides its candidates
	total, needed := 0, 0
	for _, d := range step.Deps {
		if step.Join == plan.AnyOf && d.Data {
			needs[s.nodes[d.From].state]++
			needed++
			continue
		}
		all[s.nodes[d.From].state]++
		total++
	}
	over := all[executed] + all[failed] + all[cancelled] + all[skipped]
	switch {
	case step.Join == plan.AllDone && over == total:
		return joinReady
	case step.Join == plan.AllDone:
		return joinOpen
	case step.Join == plan.AnyOf && needs[failed]+needs[cancelled] > 0:
		return joinUpstream
	case step.Join == plan.AnyOf && needs[skipped] > 0:
		return joinSkipped
	case step.Join == plan.AnyOf && all[executed] > 0 && needs[executed] == needed:
		return joinReady
	case step.Join == plan.AnyOf && (all[executed] > 0 || over < total):
		return joinOpen
	case step.Join == plan.AnyOf && all[failed]+all[cancelled] > 0:
		return joinFailed
	case step.Join == plan.AnyOf:
		return joinSkipped
	case all[failed]+all[cancelled] > 0:
		return joinUpstream
	case all[skipped] > 0:
		return joinSkipped
	case all[executed] == total:
		return joinReady
	}
	return joinOpen
}

// naiveHeld says whether an act candidate has to wait for an earlier candidate.
func naiveHeld(s *State, i int) bool {
	if s.plan.Steps[i].Class != plan.Act {
		return false
	}
	for _, t := range s.turns {
		before := true // something before i in this turn is not over
		found, open := false, false
		for _, c := range t.order {
			if c == i {
				found = true
				before = open
				break
			}
			open = open || !s.nodes[c].state.terminal()
		}
		if found && before {
			return true
		}
	}
	return false
}

// naiveSpare says whether an any_of sibling made candidate i needless.
func naiveSpare(s *State, i int) bool {
	won, needed := false, false
	for j := range s.plan.Steps {
		for _, d := range s.plan.Steps[j].Deps {
			if d.From != i {
				continue
			}
			siblings := 0
			for _, e := range s.plan.Steps[j].Deps {
				if !e.Data && s.nodes[e.From].state == executed {
					siblings++
				}
			}
			switch {
			case s.plan.Steps[j].Join == plan.AnyOf && !d.Data && siblings > 0:
				won = true
			case !s.nodes[j].state.terminal():
				needed = true
			}
		}
	}
	return won && !needed
}

// restProblem says what a State at rest between two Steps must not be.
func restProblem(s *State) string {
	count := [stateCount]int{}
	inFlight, unknown := 0, 0
	for i := range s.nodes {
		n := &s.nodes[i]
		count[n.state]++
		if n.state == running {
			inFlight++
		}
		if n.unknown {
			unknown++
		}
		if p := nodeProblem(s, i); p != "" && !s.Ended() {
			return s.plan.Steps[i].ID + " " + string(n.state.name()) + ": " + p
		}
	}
	for _, n := range s.control {
		if n.state == running {
			inFlight++
		}
	}
	switch {
	case count != s.count:
		return fmt.Sprintf("counts %v, want %v", s.count, count)
	case inFlight != s.running || inFlight > s.run.profile.Slots && s.run.created:
		return fmt.Sprintf("%d running of %d slots, want %d", s.running, s.run.profile.Slots, inFlight)
	case unknown != s.unknown:
		return fmt.Sprintf("%d questions, want %d", s.unknown, unknown)
	}
	return budgetProblem(s)
}

// nodeProblem compares one node with what the twin says of it.
func nodeProblem(s *State, i int) string {
	n, join := &s.nodes[i], naiveJoin(s, i)
	held := naiveHeld(s, i)
	halted := s.run.halt != ""
	switch n.state {
	case pending:
		switch {
		case halted:
			return "still pending although the run halts"
		case join != joinOpen && !(join == joinReady && held):
			return "its join is settled and nothing follows"
		case naiveSpare(s, i):
			return "a sibling executed and nothing skips it (T13)"
		}
	case ready:
		free := s.running+s.count[blocked] < s.run.profile.Slots
		switch {
		case join != joinReady || held:
			return "not ready by topology and states (R25)"
		case halted || !s.run.paused && !s.reviewing() && free:
			return "ready, a slot is free, and nobody starts it"
		}
	case running, executed:
		if join != joinReady || held {
			return "started before its time (R19)"
		}
		if n.attempt == 0 {
			return "executed without an attempt"
		}
		return dataProblem(s, i)
	case waiting, retryable, blocked:
		if n.state == blocked && len(n.clear.open) == 0 {
			return "blocked, and nobody is asked"
		}
		if join != joinReady || halted && !n.unknown {
			return "waits in a run that halts or before its join"
		}
		if naiveSpare(s, i) && !n.unknown {
			return "waits although a sibling executed (R21)"
		}
	}
	return ""
}

// dataProblem: no node runs whose data has not been verified (R10).
func dataProblem(s *State, i int) string {
	for _, d := range s.plan.Steps[i].Deps {
		if d.Data && s.nodes[d.From].state != executed {
			return "runs although " + s.plan.Steps[d.From].ID + ", which it reads, has not executed (R10)"
		}
	}
	return ""
}

func budgetProblem(s *State) string {
	calls, effects := int64(0), int64(0)
	for i := range s.nodes {
		if s.nodes[i].state == running {
			calls++
			if s.plan.Steps[i].Effect != policy.Read {
				effects++
			}
		}
	}
	models, retries, reflections := int64(0), int64(0), int64(0)
	for _, c := range s.control {
		if c.state == running && isModel(c.by) {
			models++
			retries += c.reserve.Retries
			reflections += c.reserve.Reflections
		}
	}
	for i := range s.nodes {
		retries += s.nodes[i].reserve.Retries
	}
	if r := s.run.reserved; models != r.ModelCalls || retries != r.Retries || reflections != r.Reflections || models == 0 && r.InputTokens+r.OutputTokens+r.CostMicroUSD != 0 {
		return fmt.Sprintf("reserved %+v, want %d model calls, %d retries, %d reflections", r, models, retries, reflections)
	}
	if calls != s.run.reserved.ToolCalls || effects != s.run.reserved.SideEffects {
		return fmt.Sprintf("reserved %+v, want %d calls and %d effects", s.run.reserved, calls, effects)
	}
	for d := 0; d < dimWallClock; d++ {
		if b := s.spend(d); s.run.created && b.Spent+b.Reserved > b.Limit {
			return fmt.Sprintf("%s over its limit: %+v (R62)", dimensionName(d), b)
		}
	}
	return ""
}

// progressProblem is R17: a run that has not ended can go on.
func progressProblem(s *State) string {
	_, timer := s.Deadline()
	switch {
	case s.Ended() || s.Status() == Paused || s.reviewing() || s.running > 0 || s.run.openApprovals > 0 || s.unknown > 0 || s.count[blocked] > 0:
		return ""
	case timer && (s.count[retryable] > 0 || s.controlWaits() || s.veiled()):
		return ""
	}
	return "nothing can ever happen in this run (R17)"
}
