package engine

import (
	"time"

	"sluice/policy"
)

// Backoff between attempts: doubles from the first, bounded by the second.
const (
	backoffFirst = 250 * time.Millisecond
	backoffMax   = 10 * time.Second
)

// takeDone records an observation, verifies it, and says what becomes of the
// node (R29, R53). A result for an attempt that is over stays an orphan (R15).
func (s *State) takeDone(in *AttemptDone) {
	n, i := s.at(in.Node)
	d := &endedData{Input: endedInput{Kind: "done", Class: in.Class.known(), Detail: cut(in.Detail), Blob: cleanBlob(in.Blob),
		Unsent: in.Unsent, StartedAt: in.StartedAt, EndedAt: in.EndedAt},
		Observation: s.deriveID("o_", in.Node, in.Attempt, 0)}
	switch problem := outputProblem(in); {
	case in.Class == ClassUnavailable:
		d.Input.Detail = UnavailableText // P24: one constant text
	case problem != "":
		d.Input.Class, d.Problem = ClassInvalid, problem
	default:
		d.Input.Output = compactJSON(in.Output)
	}
	if n.state != running || in.Attempt != n.attempt {
		d.To = n.state.name()
		s.dropOversized(d)
		s.emit(InputOrphan, in.Node, in.Attempt, d)
		return
	}
	d.Settle = n.reserve
	if i < 0 {
		d.To, d.Problem = NodeFailed, "the "+in.Node+" step failed: "+string(in.Class)
		s.giveUp(s.control[-1-i], d)
		s.emit(AttemptEnded, in.Node, in.Attempt, d)
		return
	}
	s.verify(i, d)
	s.dropOversized(d)
	if in.Unsent {
		d.Settle.SideEffects = 0
	}
	s.emit(AttemptEnded, in.Node, in.Attempt, d)
}

// outputProblem says why an output cannot become part of the log; such a result
// is a failure, because refusing it would leave its step running for ever.
func outputProblem(in *AttemptDone) string {
	switch {
	case len(in.Output) == 0:
		return ""
	case len(in.Output) > OutputBytesMax && in.Blob == nil:
		return "the output is larger than 64 KiB and stored nowhere"
	case !validJSON(in.Output):
		return "the output is not JSON"
	}
	return ""
}

// dropOversized keeps what is stored as a blob out of the fact (P30).
func (s *State) dropOversized(d *endedData) {
	if d.Input.Blob != nil {
		d.Input.Output = nil
	}
}

// verify checks the output against the contract and picks the next state.
func (s *State) verify(i int, d *endedData) {
	step := &s.plan.Steps[i]
	if d.Input.Class == ClassNone {
		d.Method = "schema"
		if len(d.Input.Output) == 0 {
			d.Input.Output = []byte("null")
		}
		err := s.env.Catalog.CheckOutput(step.Tool, step.Schema, d.Input.Output)
		if err == nil {
			d.To = NodeExecuted
			return
		}
		d.Problem, d.Input.Class = cut(err.Error()), ClassContract
	}
	d.To = s.afterFailure(i, d.Input.Class, d.Input.Unsent)
	if d.To == NodeRetryable {
		d.RetryAt = s.run.now + backoff(s.nodes[i].attempt).Microseconds()
	}
}

func backoff(attempt int) time.Duration {
	return min(backoffFirst<<min(attempt-1, 16), backoffMax)
}

// afterFailure is where a failed attempt leads (T9, T10, T14, T18).
func (s *State) afterFailure(i int, class Class, unsent bool) NodeState {
	n, step := &s.nodes[i], &s.plan.Steps[i]
	uncertain := class == ClassTransient || class == ClassTimeout || class == ClassStopped
	if step.Effect == policy.Once && uncertain && !unsent {
		return NodeWaiting // P5: nobody knows whether it happened
	}
	if class == ClassStopped {
		return NodeCancelled
	}
	// R21: trying again is idle once a sibling has executed.
	again := class == ClassTransient || class == ClassTimeout || (class == ClassContract && step.Effect != policy.Once)
	if again && n.attempt <= step.Retries && s.run.halt == "" && !s.spare(i) {
		return NodeRetryable
	}
	return NodeFailed
}

func (s *State) takeWithdrawn(in *Withdrawn) {
	n, i := s.at(in.Node)
	d := &changedData{To: NodeFailed, Reason: "denied", Cause: "gate", Rule: "T10"}
	if i >= 0 {
		if params, problem := s.resolve(i); problem == "" {
			call := s.callAgain(i, params)
			_, decision := s.authorise(call)
			d.Call, d.Decision = s.callData(&call), &decision
		}
	}
	if i >= 0 && s.watched() {
		d.VisibleAt = s.run.now + s.veilUS(i, n.attempt)
	}
	s.emit(NodeChanged, in.Node, in.Attempt, d)
}

// foldUnknown: nobody knows whether the effect happened; a person is asked (T18).
func (s *State) foldUnknown(f *Fact) {
	n, i := s.at(f.Node)
	if n == nil || i < 0 || n.state != running {
		s.broken("unknown outcome of an attempt that is not running")
		return
	}
	s.running--
	spent := n.reserve
	s.release1(n, &spent)
	n.unknown, n.askedAt = true, f.At
	s.unknown++
	s.move(i, waiting, "T18")
}

func (s *State) takeAttest(in *Attest) {
	n, _ := s.at(in.Node)
	d := &attestedData{Outcome: in.Outcome, Note: clean(in.Note), To: NodeCancelled, Cause: "aborted"}
	switch in.Outcome {
	case "done":
		d.To, d.Cause = NodeExecuted, ""
		d.Observation = s.deriveID("o_", in.Node, in.Attempt, 1)
	case "not_done":
		d.To, d.Cause = NodePending, ""
		if s.run.halt != "" {
			d.To, d.Cause = NodeCancelled, haltCause(s.run.halt)
		}
	}
	s.emit(OutcomeAttested, in.Node, n.attempt, d)
}

// foldAttested: done is an observation with source human (T19), not done asks
// the gate again (T4), abort cancels (T5).
func (s *State) foldAttested(f *Fact, d *attestedData) {
	n, i := s.at(f.Node)
	if n == nil || i < 0 || !n.unknown {
		s.broken("word on an outcome that is not in question")
		return
	}
	n.unknown = false
	s.unknown--
	to := stateNamed(d.To)
	switch to {
	case executed:
		e := enc{}
		e.open("", '{')
		e.str("attested_by", f.Actor)
		e.str("note", d.Note)
		e.close('}')
		n.output, n.observation, n.endedAt = e.b, d.Observation, f.At
		s.move(i, executed, "T19")
	case pending:
		s.move(i, pending, "T4")
		s.wake(i)
	default:
		n.cause, n.endedAt = d.Cause, f.At
		n.denied = d.Outcome == "expired"
		s.move(i, cancelled, "T5")
	}
}
