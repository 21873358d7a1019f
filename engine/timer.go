package engine

import (
	"slices"
	"time"
)

// questionTTL is T_human for an outcome in question: after it the step is given
// up, so that every run ends (R16, R74).
const questionTTL = 24 * time.Hour

// Deadline is the next time, µs UTC, at which a Timer input has something to
// do; false when there is none.
func (s *State) Deadline() (int64, bool) {
	if !s.run.created || s.Ended() {
		return 0, false
	}
	at, some := int64(0), false
	soonest := func(t int64) {
		if !some || t < at {
			at, some = t, true
		}
	}
	for k := range s.approval {
		if s.approval[k].result == "" {
			soonest(s.approval[k].ask.ExpiresAt + 1)
		}
	}
	if s.reviewing() {
		soonest(s.reviewEnds())
	}
	if s.unknown > 0 {
		for i := range s.nodes {
			if s.nodes[i].unknown {
				soonest(s.nodes[i].askedAt + questionTTL.Microseconds())
			}
		}
	}
	if s.veiled() {
		soonest(s.run.visibleAt)
	}
	if !s.run.paused {
		for _, i := range s.retry {
			if s.nodes[i].state == retryable {
				soonest(s.nodes[i].retryAt)
			}
		}
	}
	for _, c := range s.control {
		if c.state == retryable && !s.run.paused {
			soonest(c.retryAt)
		}
	}
	if s.ticking() && s.run.halt == "" {
		if !s.run.warned[dimWallClock] {
			soonest(s.run.now + s.wallWarnUS() - s.run.activeUS)
		}
		soonest(s.run.now + s.wallUS() - s.run.activeUS)
	}
	return at, some
}

// ticking says whether time counts as executing (P15). An authority is no
// person: waiting for one is not free.
func (s *State) ticking() bool {
	if !s.run.created {
		return false
	}
	st := s.Status()
	return st == Active || st == Planning || st == Waiting && s.count[blocked] > 0
}

func (s *State) wallUS() int64 { return s.run.profile.WallMS * 1000 }

// wallWarnUS is 80 % of the wall clock (R63).
func (s *State) wallWarnUS() int64 { return s.run.profile.WallMS * 800 }

// activeAt is the wall clock used if nothing happens before the given time.
func (s *State) activeAt(at int64) int64 {
	if s.ticking() {
		return s.run.activeUS + at - s.run.now
	}
	return s.run.activeUS
}

// takeTimer does what has come due.
func (s *State) takeTimer() {
	s.emit(InputTimer, "", 0, &inputData{})
	s.step.actor = "system"
	s.expireApprovals()
	s.expireQuestions()
	s.expireReview()
	s.grantRetries()
	s.warn()
	if s.run.halt == "" && s.run.activeUS >= s.wallUS() {
		s.halt(Timeout, "wall_clock_ms")
		s.stopAll()
	}
}

func (s *State) somethingDue(at int64) bool {
	if s.Ended() {
		return false
	}
	for k := range s.approval {
		if s.approval[k].result == "" && at > s.approval[k].ask.ExpiresAt {
			return true
		}
	}
	return s.veilOver(at) || s.reviewing() && at >= s.reviewEnds() || s.retryDue(at) || s.questionDue(at) || s.wallDue(at)
}

func (s *State) wallDue(at int64) bool {
	used := s.activeAt(at)
	return s.run.halt == "" && (used >= s.wallUS() || used >= s.wallWarnUS() && !s.run.warned[dimWallClock])
}

// retryDue: a paused run tries nothing again, however often a timer asks (P7).
func (s *State) retryDue(at int64) bool {
	if s.run.paused {
		return false
	}
	for _, i := range s.retry {
		if n := &s.nodes[i]; n.state == retryable && n.retryAt <= at {
			return true
		}
	}
	for _, c := range s.control {
		if c.state == retryable && c.retryAt <= at {
			return true
		}
	}
	return false
}

func (s *State) questionDue(at int64) bool {
	if s.unknown == 0 {
		return false
	}
	for i := range s.nodes {
		if s.nodes[i].questionOver(at) {
			return true
		}
	}
	return false
}

func (n *node) questionOver(at int64) bool {
	return n.unknown && at >= n.askedAt+questionTTL.Microseconds()
}

// expireQuestions gives up steps whose outcome nobody told in time (T5): what
// is not known to have happened does not count as done.
func (s *State) expireQuestions() {
	if s.unknown == 0 {
		return
	}
	for i := range s.nodes {
		if n := &s.nodes[i]; n.questionOver(s.run.now) {
			s.emit(OutcomeAttested, s.plan.Steps[i].ID, n.attempt, &attestedData{Outcome: "expired", To: NodeCancelled, Cause: "expired"})
		}
	}
}

// grantRetries returns nodes whose backoff is over to pending (T11), in plan
// order: a folded State knows the order of failures no better.
func (s *State) grantRetries() {
	if s.run.paused {
		return
	}
	slices.Sort(s.retry)
	due := slices.Compact(s.retry)
	s.retry = nil
	for _, i := range due {
		n := &s.nodes[i]
		switch {
		case n.state != retryable:
		case n.retryAt <= s.run.now && s.run.halt == "":
			s.change(i, pending, &changedData{Reason: "retry", Rule: "T11"})
		default:
			s.retry = append(s.retry, i)
		}
	}
}
