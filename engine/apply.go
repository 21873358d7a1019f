package engine

import (
	"sluice/engine/plan"
	"sluice/policy"
)

// factData is the typed data of a fact; every kind has one type.
type factData interface{ append(*enc) }

// Apply folds one fact in place. It is total: a fact it cannot read marks the
// state as faulty, and the next Step ends the run with INTERNAL_FAULT (P6).
func (s *State) Apply(f Fact) {
	d, err := readData(f.Kind, f.Data)
	switch {
	case err != nil:
		s.broken("read data of fact: " + string(f.Kind))
		s.run.seq = f.Seq
		return
	case d == nil:
		s.run.seq = f.Seq // a kind this fold does not read, such as run.erased
		return
	}
	s.step.trans = s.step.trans[:0]
	s.fold(&f, d)
}

// Transitions of the last Apply, derived (P28). Valid until the next call.
func (s *State) Transitions() []Transition { return s.step.trans }

// fold is the one place where facts change a State.
func (s *State) fold(f *Fact, d factData) {
	s.tickClock(f.At)
	s.run.seq = f.Seq
	s.step.index = 0
	switch d := d.(type) {
	case *createdData:
		s.foldCreated(f, d)
	case *versionData:
		s.foldVersion(f, d)
	case *startedData:
		s.foldStarted(f, d)
	case *endedData:
		if f.Kind == AttemptEnded {
			s.foldEnded(f, d)
		}
	case *changedData:
		s.foldChanged(f, d)
	case *clearAskData:
		s.foldClearAsked(f, d)
	case *clearedData:
		s.foldCleared(f, d)
	case *sketchData:
		s.foldSketch(d)
	case *requestedData:
		s.foldRequested(f, d)
	case *decidedData:
		s.foldDecided(f, d)
	case *attestedData:
		s.foldAttested(f, d)
	case *unknownData:
		s.foldUnknown(f)
	case *inputData:
		s.foldInput(f, d)
	case *warnedData:
		if dim, ok := dimension(d.Dimension); ok {
			s.run.warned[dim] = true
		}
	case *runEndedData:
		s.foldEnd(f, d)
	}
}

// tickClock counts executing wall clock: time that passes while the run waits
// for people or is paused is free (P15).
func (s *State) tickClock(at int64) {
	if at <= s.run.now {
		return
	}
	s.run.activeUS = s.activeAt(at)
	s.run.now = at
}

func (s *State) foldCreated(f *Fact, d *createdData) {
	r := &s.run
	r.created, r.createdAt = true, f.At
	r.goal, r.requester = d.Input.Goal, f.Actor
	if d.Input.Requester != "" {
		r.requester = d.Input.Requester
	}
	r.intent, r.scopes = policy.Rank(d.Input.Intent), d.Input.Scopes
	r.mode, r.checkpoints = d.Input.Mode, d.Input.Checkpoints
	r.profile, r.pinned, r.current = d.Profile, d.Policy, d.Policy
	r.review, r.template = d.Input.Review, d.Input.Template
	if d.Models != nil {
		r.models = *d.Models
	}
}

// SetRun names the run a fold belongs to: ids derive from it, and the stream,
// not each fact, carries it (P27).
func (s *State) SetRun(id string) { s.run.id = id }

func (s *State) foldVersion(f *Fact, d *versionData) {
	c := d.compiled
	if c == nil {
		var err error
		if c, err = plan.Load(d.Plan); err != nil {
			s.broken("load plan of version")
			return
		}
	}
	s.run.version, s.run.versionAt = d.Version, f.At
	s.run.unplanned = d.Unplanned
	s.sketch = nil
	if d.Cause == causeReplan && s.plan != nil {
		s.grow(c)
		return
	}
	s.run.planBy = d.By
	if d.Cause == causeEdit {
		s.forget()
	}
	s.load(c)
}

func (s *State) foldStarted(f *Fact, d *startedData) {
	n, i := s.at(f.Node)
	if n == nil {
		if ControlKind(f.Node) == "" {
			s.broken("attempt of unknown node")
			return
		}
		s.control = append(s.control, &control{id: f.Node})
		n, i = s.at(f.Node)
	}
	n.attempt = f.Attempt
	n.startedAt, n.endedAt = f.At, 0
	n.reserve = d.Reserve
	s.run.reserved.add(&d.Reserve)
	s.running++
	if i < 0 {
		s.foldControlStarted(f, d, s.control[-1-i])
		return
	}
	s.move(i, running, "")
}

func (s *State) foldEnded(f *Fact, d *endedData) {
	n, i := s.at(f.Node)
	if n == nil || n.state != running {
		s.broken("end of an attempt that is not running")
		return
	}
	s.running--
	s.release1(n, &d.Settle)
	n.endedAt = f.At
	n.class = d.Input.Class
	n.observation = d.Observation
	if i < 0 {
		s.foldControlEnded(f, d, s.control[-1-i])
		return
	}
	to := stateNamed(d.To)
	switch to {
	case executed:
		n.output, n.blob = d.Input.Output, d.Input.Blob
	case retryable:
		n.retryAt = d.RetryAt
		s.retry = append(s.retry, i)
	case waiting:
		n.unknown, n.askedAt = true, f.At
		s.unknown++
	default:
		n.cause = "failed:" + string(d.Input.Class)
		if d.Input.Class == ClassStopped && s.run.halt != "" {
			n.cause = haltCause(s.run.halt)
		}
	}
	s.move(i, to, "")
}

// release1 settles a reservation: the measured part is spent, the rest freed (R62).
func (s *State) release1(n *node, spent *reserve) {
	s.run.reserved.sub(&n.reserve)
	s.run.spent.add(spent)
	n.reserve = reserve{}
}

func (s *State) foldControlStarted(f *Fact, d *startedData, c *control) {
	c.by, c.version = BuiltinBy, f.Version
	if d.By != "" {
		c.by = d.By
	}
	c.state = running
	s.noteControl(f.Node, pending, running)
	if c.isPlanner() {
		s.run.replan = false
		s.sketch = nil
	}
}

func (s *State) foldChanged(f *Fact, d *changedData) {
	n, i := s.at(f.Node)
	if n == nil {
		s.broken("change of unknown node")
		return
	}
	to := stateNamed(d.To)
	if n.state == running {
		s.running--
		spent := n.reserve
		s.release1(n, &spent)
		if i < 0 {
			s.control[-1-i].unheard(&spent)
		}
	}
	if to.terminal() {
		n.endedAt = f.At
		n.cause = d.Cause
		n.denied = d.Reason == "denied"
		s.run.visibleAt = max(s.run.visibleAt, d.VisibleAt)
		n.inherited = d.Reason == "upstream" || d.Reason == "no_candidate"
	}
	if i < 0 {
		s.noteControl(f.Node, n.state, to)
		n.state = to
		if s.control[-1-i].isPlanner() {
			s.sketch = nil
		}
		return
	}
	if to == ready {
		n.passed = true
	}
	s.move(i, to, d.Rule)
	if to == pending {
		n.retryAt = 0
		s.wake(i)
	}
}

func (s *State) foldInput(f *Fact, d *inputData) {
	switch f.Kind {
	case InputPolicy:
		s.run.current = d.Policy
	case InputCancel:
		s.run.halt = UserCancel
		s.run.causes = []string{"cancelled by " + f.Actor}
	case InputPause:
		s.run.paused = true
	case InputResume:
		s.run.paused = false
	case InputStart:
		s.foldStart(f)
	}
}

func (s *State) foldEnd(f *Fact, d *runEndedData) {
	s.run.causes = d.Causes
	if f.Kind == RunHalting {
		s.run.halt = d.Code
		return
	}
	s.run.code, s.run.endedAt = d.Code, f.At
}
