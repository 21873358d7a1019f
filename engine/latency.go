package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// LatenciesMax is how many recorded latencies of a tool a draw is made from.
const LatenciesMax = 64

// blankShare of a tool's declared timeout stands in for a history it has not.
const blankShare = 10

// watched says that a model reads what this run's steps came to: then a denial
// must not be told from a failure by its speed (P24). The built-in report waits
// for nothing.
func (s *State) watched() bool { return s.run.models.Executor.Name != "" }

// veilUS is how long a denial of an attempt stays hidden from models: a latency
// of that tool, drawn by the names of run, node and attempt alone.
func (s *State) veilUS(i, attempt int) int64 {
	step := &s.plan.Steps[i]
	past := s.env.Latency[step.Tool]
	if len(past) == 0 {
		timeout := step.Timeout
		if tool, ok := s.env.Catalog.Lookup(step.Tool); ok {
			timeout = tool.Timeout
		}
		return (timeout / blankShare).Microseconds()
	}
	sum := sha256.Sum256([]byte("latency\x00" + s.run.id + "\x00" + step.ID + "\x00" + strconv.Itoa(attempt)))
	return past[binary.BigEndian.Uint64(sum[:8])%uint64(len(past))] * 1000
}

// deny ends a step by the gate (T16, T10). People see it at once, models not
// before its VisibleAt.
func (s *State) deny(i, attempt int, d *changedData) {
	if s.watched() {
		d.VisibleAt = s.run.now + s.veilUS(i, attempt)
	}
	s.change(i, failed, d)
}

// veiled says that only the clock keeps a model from being told: everything
// else of the run is over.
func (s *State) veiled() bool {
	if s.run.visibleAt <= s.run.now || !s.watched() || s.Ended() || s.run.paused || s.run.halt == UserCancel {
		return false
	}
	if s.run.version == 0 || s.running > 0 || s.open() > 0 || s.controlWaits() {
		return false
	}
	id, by := s.reflection()
	return id != "" && isModel(by)
}

func (s *State) veilOver(at int64) bool { return s.veiled() && at >= s.run.visibleAt }
