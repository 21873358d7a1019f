package engine

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
	if !s.run.paused {
		for _, i := range s.retry {
			if s.nodes[i].state == retryable {
				soonest(s.nodes[i].retryAt)
			}
		}
	}
	if st := s.Status(); (st == Active || st == Planning) && s.run.halt == "" {
		soonest(s.run.now + s.run.profile.WallMS*1000 - s.run.activeUS)
	}
	return at, some
}

// takeTimer does what has come due. When nothing has, it decides no fact.
func (s *State) takeTimer() {
	if !s.somethingDue() {
		return
	}
	s.emit(InputTimer, "", 0, &inputData{})
	s.step.actor = "system"
	s.expireApprovals()
	s.grantRetries()
	if s.wallExceeded() {
		s.halt(Timeout, "wall_clock_ms")
		s.stopAll()
	}
}

func (s *State) wallExceeded() bool {
	return s.run.halt == "" && !s.Ended() && s.run.activeUS >= s.run.profile.WallMS*1000
}

func (s *State) somethingDue() bool {
	if s.Ended() {
		return false
	}
	for k := range s.approval {
		if s.approval[k].result == "" && s.run.now > s.approval[k].ask.ExpiresAt {
			return true
		}
	}
	return s.retryDue() || s.wallExceeded()
}

func (s *State) retryDue() bool {
	for _, i := range s.retry {
		if n := &s.nodes[i]; n.state == retryable && n.retryAt <= s.run.now {
			return true
		}
	}
	return false
}

// grantRetries returns nodes whose backoff is over to pending (T11).
func (s *State) grantRetries() {
	open := s.retry[:0:0]
	for _, i := range s.retry {
		n := &s.nodes[i]
		switch {
		case n.state != retryable:
		case n.retryAt <= s.run.now && s.run.halt == "":
			s.change(i, pending, &changedData{Reason: "retry", Rule: "T11"})
		default:
			open = append(open, i)
		}
	}
	s.retry = open
}
