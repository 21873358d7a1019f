package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strconv"
)

// stepper is the scratch of one Step.
type stepper struct {
	out   Effects
	trans []Transition
	index int
	cause int64
	actor string
}

// followMax bounds the rounds one Step may take before it is a fault: every
// round ends a node's wait, starts one, or ends the run.
const followMax = 200_000

// Step takes one input and decides everything that follows from it. On an
// error the input was refused and the State is unchanged.
func (s *State) Step(in Input) (Effects, error) {
	if err := s.accept(in); err != nil {
		return Effects{}, err
	}
	if _, ok := in.(*Timer); ok && !s.somethingDue(s.clamp(in.inputTime())) {
		return Effects{}, nil // no fact, so no change either
	}
	s.begin(in)
	s.take(in)
	s.follow()
	out := s.step.out
	out.Transitions = s.step.trans
	s.step.out, s.step.trans = Effects{}, nil
	return out, nil
}

func (s *State) begin(in Input) {
	s.step = stepper{cause: s.run.seq + 1, actor: actorOf(in),
		out: Effects{Facts: make([]Fact, 0, 2)}, trans: make([]Transition, 0, 4)}
	if at := s.clamp(in.inputTime()); at > s.run.now {
		s.tickClock(at)
	}
}

// clamp keeps a run's time from going backwards (security.md: clock change).
func (s *State) clamp(at int64) int64 { return max(at, s.run.now) }

// emit decides a fact and applies it at once.
func (s *State) emit(k Kind, node string, attempt int, d factData) {
	data := s.encode(d)
	f := Fact{Seq: s.run.seq + 1, At: s.run.now, Kind: k, Cause: s.step.cause,
		Version: s.run.version, Node: node, Attempt: attempt, Actor: s.step.actor, Data: data}
	if v, ok := d.(*versionData); ok {
		f.Version = v.Version
	}
	s.fold(&f, d)
	s.step.out.Facts = append(s.step.out.Facts, f)
}

// scratchBytesMax is the most that is kept between facts.
const scratchBytesMax = 64 << 10

// encode writes fact data into the scratch and copies it out at its size.
func (s *State) encode(d factData) []byte {
	s.scratch.b, s.scratch.more = s.scratch.b[:0], false
	d.append(&s.scratch)
	data := bytes.Clone(s.scratch.b)
	if cap(s.scratch.b) > scratchBytesMax {
		s.scratch.b = nil
	}
	return data
}

func (s *State) command(c Command) {
	s.step.out.Commands = append(s.step.out.Commands, c)
}

// follow lets everything happen that now can, in a fixed order: decide joins,
// end spare candidates, dispatch, finish. It stops when nothing follows.
func (s *State) follow() {
	s.step.actor = "system"
	for round := 0; ; round++ {
		if s.fault != "" || round > followMax {
			s.endFaulty()
			return
		}
		if s.Ended() || s.reviewing() {
			return
		}
		if s.halting() || s.decideJoins() || s.skipSpare() || s.dispatch() || s.retryControls() || s.finish() {
			continue
		}
		return
	}
}

// endFaulty ends the run, not the process (P6).
func (s *State) endFaulty() {
	if s.Ended() {
		return
	}
	what := s.fault
	if what == "" {
		what = "a step did not come to rest"
	}
	s.emit(RunEnded, "", 0, &runEndedData{Code: InternalFault, Causes: []string{what}})
}

// decideJoins turns settled joins into facts.
func (s *State) decideJoins() bool {
	did := false
	for k := 0; k < len(s.due); k++ { // it grows while it is worked off
		i := s.due[k]
		if s.nodes[i].state == pending && s.decideJoin(i) {
			did = true
		}
	}
	s.due = s.due[:0]
	return did
}

func (s *State) decideJoin(i int) bool {
	switch s.joinOf(i) {
	case joinUpstream:
		s.change(i, cancelled, &changedData{Reason: "upstream", Cause: s.upstreamCause(i), Rule: "T14"})
	case joinFailed:
		s.change(i, failed, &changedData{Reason: "no_candidate", Cause: s.upstreamCause(i), Rule: "T15"})
	case joinSkipped:
		s.change(i, skipped, &changedData{Reason: "upstream_skipped", Cause: "guard", Rule: "T17"})
	case joinReady:
		return s.decideGuard(i)
	default:
		return false
	}
	return true
}

// upstreamCause is the cause of the first predecessor that did not execute.
func (s *State) upstreamCause(i int) string {
	for _, d := range s.plan.Steps[i].Deps {
		if p := &s.nodes[d.From]; (p.state == failed || p.state == cancelled) && p.cause != "" {
			return p.cause
		}
	}
	return "upstream"
}

// dataCause is why a value cannot be read: what kept its step from executing,
// or the reference itself (R22).
func (s *State) dataCause(i int) string {
	for _, d := range s.plan.Steps[i].Deps {
		if p := &s.nodes[d.From]; d.Data && (p.state == failed || p.state == cancelled) && p.cause != "" {
			return p.cause
		}
	}
	return "failed:invalid"
}

func (s *State) decideGuard(i int) bool {
	n, g := &s.nodes[i], s.plan.Steps[i].Guard
	if g == nil || n.passed || n.hold > 0 {
		return false
	}
	from := &s.nodes[g.From]
	if from.state != executed || from.output == nil {
		s.change(i, ready, &changedData{Reason: "guard_unresolved", Rule: "T1"})
		s.change(i, failed, &changedData{Reason: "unresolved_reference", Cause: s.dataCause(i),
			Detail: cut("the guard reads " + g.Field + " of " + s.plan.Steps[g.From].ID + ", which has no verified output here"), Rule: "T16"})
		return true
	}
	holds, err := g.Holds(from.output)
	switch {
	case err != nil:
		s.change(i, ready, &changedData{Reason: "guard_unresolved", Rule: "T1"})
		s.change(i, failed, &changedData{Reason: "unresolved_reference", Cause: "failed:invalid", Detail: cut(err.Error()), Rule: "T16"})
	case holds:
		s.change(i, ready, &changedData{Reason: "guard_true", Rule: "T1"})
	default:
		s.change(i, skipped, &changedData{Reason: "guard_false", Cause: "guard", Rule: "T17"})
	}
	return true
}

func (s *State) change(i int, to nodeState, d *changedData) {
	d.To = to.name()
	if s.nodes[i].state == waiting && to.terminal() {
		s.voidApproval(i)
	}
	if s.nodes[i].state == blocked && to.terminal() {
		s.stopClearing(i)
	}
	s.emit(NodeChanged, s.plan.Steps[i].ID, s.nodes[i].attempt, d)
}

// skipSpare ends the candidates that lost to an executed sibling (T13, R20). A
// running effect is never cut off: only effect-free attempts are stopped.
func (s *State) skipSpare() bool {
	did := false
	for k := 0; k < len(s.spares); k++ {
		if s.skipCandidate(s.spares[k]) {
			did = true
		}
	}
	s.spares = s.spares[:0]
	return did
}

func (s *State) skipCandidate(i int) bool {
	n := &s.nodes[i]
	if n.state.terminal() || n.unknown || !s.spare(i) {
		return false
	}
	if n.state == running {
		if s.effectful(i) {
			return false
		}
		s.recall(i)
	}
	s.change(i, skipped, &changedData{Reason: "sibling_executed", Cause: "sibling", Rule: "T13"})
	return true
}

// recall ends an attempt that nobody needs: one started in this very Step is not
// performed at all, an earlier one is stopped.
func (s *State) recall(i int) {
	id := commandID(s.plan.Steps[i].ID, s.nodes[i].attempt)
	list := s.step.out.Commands
	if k := slices.IndexFunc(list, func(c Command) bool { return c.CommandID() == id }); k >= 0 {
		s.step.out.Commands = slices.Delete(list, k, k+1)
		return
	}
	s.command(s.stopCommand(i))
}

// idText writes ids in lower case, in an order that sorts as the bytes do.
var idText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// deriveID makes a short id from what names the thing (P45): equal in every fold.
func (s *State) deriveID(prefix, node string, attempt, n int) string {
	b := make([]byte, 0, 128)
	b = append(append(b, s.run.id...), 0)
	b = append(append(b, node...), 0)
	b = append(strconv.AppendInt(b, int64(attempt), 10), 0)
	b = append(strconv.AppendInt(b, int64(n), 10), 0)
	sum := sha256.Sum256(b)
	return string(idText.AppendEncode(append(b[:0], prefix...), sum[:15]))
}
