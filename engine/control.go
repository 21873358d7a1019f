package engine

import (
	"strings"
	"time"
)

// Bounds on asking a model (V20, R12).
const (
	ControlTimeout  = time.Hour   // of one attempt of a control node; a model's own timeout is within it
	reasksMax       = 2           // after answers that could not be used
	callRetriesMax  = 2           // after calls that failed
	RawBytesMax     = 64 << 10    // kept of an answer that could not be used
	ProblemBytesMax = 8 << 10     // of the words that go back with it
	bytesPerToken   = 3           // of the estimate before a call
	callWaitMax     = time.Minute // that a run waits because a server asks it to
	waitKeptMax     = 7 * 24 * time.Hour
)

// Kinds of control nodes.
const (
	KindPlanner    = "planner"
	KindReflection = "reflection"
)

// Why the built-in planner acts where a model was asked.
const (
	fellUnavailable = "unavailable" // the model's calls failed
	fellAnswers     = "answers"     // its answers could not be used
)

// control is a control node: a decide step in the same log (R6). A further plan
// or reflection is a further node, because what is over never changes (R14).
type control struct {
	node
	id       string
	by       string // of the last attempt: BuiltinBy or "model:NAME"
	fell     string // why the built-in planner acts instead of the model
	version  int    // plan version at its last start
	failures int    // calls that failed
	again    []Again
	usage    Usage // of all its attempts
}

// ControlKind tells a control node's kind by its id, "" for a step.
func ControlKind(id string) string {
	switch {
	case id == PlannerNode || strings.HasPrefix(id, PlannerNode+"."):
		return KindPlanner
	case id == ReflectNode || strings.HasPrefix(id, ReflectNode+"."):
		return KindReflection
	}
	return ""
}

func (c *control) isPlanner() bool { return ControlKind(c.id) == KindPlanner }

// isModel says whether a principal is a model.
func isModel(by string) bool { return strings.HasPrefix(by, "model:") }

// last gives the youngest control node of a kind, nil before the first.
func (s *State) last(kind string) *control {
	for k := len(s.control) - 1; k >= 0; k-- {
		if ControlKind(s.control[k].id) == kind {
			return s.control[k]
		}
	}
	return nil
}

// nextID names a further control node of a kind.
func (s *State) nextID(kind string) string {
	id := PlannerNode
	if kind == KindReflection {
		id = ReflectNode
	}
	n := 1
	for _, c := range s.control {
		if ControlKind(c.id) == kind {
			n++
		}
	}
	if n == 1 {
		return id
	}
	return id + "." + itoa(n)
}

func (s *State) controlByID(id string) (*control, int) {
	for k, c := range s.control {
		if c.id == id {
			return c, -1 - k
		}
	}
	return nil, 0
}

// controlWaits says whether a control node is to be tried again.
func (s *State) controlWaits() bool {
	for _, c := range s.control {
		if c.state == retryable {
			return true
		}
	}
	return false
}

// model gives what is known of the model that a kind of control node asks.
func (s *State) model(kind string) *ModelInfo {
	if kind == KindPlanner {
		return &s.run.models.Planner
	}
	return &s.run.models.Executor
}

// asks says who is asked next: the model of the role, where there is one and
// nothing speaks against it.
func (s *State) asks(kind string, c *control) string {
	m := s.model(kind)
	if m.Name == "" || s.run.halt != "" || (c != nil && c.fell != "") {
		return BuiltinBy
	}
	return m.By
}

// startControl dispatches a control node. It holds no Grant, because it calls
// no tool (P18). Where the budget does not last for the call, the call is not
// made (R62).
func (s *State) startControl(id, by string) {
	kind := ControlKind(id)
	c, _ := s.controlByID(id)
	attempt := 1
	d := &startedData{Kind: "control", TimeoutMS: ControlTimeout.Milliseconds()}
	if c != nil {
		attempt, d.Fallback = c.attempt+1, c.fell
	}
	d.ID = commandID(id, attempt)
	if isModel(by) {
		d.By = by
		d.Reserve = s.estimate(kind, s.controlCommand(id, attempt, by))
		if attempt > 1 {
			d.Reserve.Retries = 1
		} else if kind == KindReflection {
			d.Reserve.Reflections = 1
		}
		if over := s.over(&d.Reserve); over != "" {
			s.halt(BudgetExhausted, over)
			return
		}
	}
	s.emit(AttemptStarted, id, attempt, d)
	s.warn()
	s.command(s.controlCommand(id, attempt, by))
}

// controlCommand is what a control node's attempt asks for. It is derived from
// the state alone, so that a restart asks the same again.
func (s *State) controlCommand(id string, attempt int, by string) Command {
	c, _ := s.controlByID(id)
	var again []Again
	if c != nil && isModel(by) {
		again = c.again
	}
	if ControlKind(id) == KindPlanner {
		p := Propose{ID: commandID(id, attempt), Node: id, Attempt: attempt, By: by, Goal: s.run.goal}
		if isModel(by) {
			p.Tools, p.MaxOutput, p.Again = s.visibleTools(), s.run.models.Planner.MaxOutput, again
		}
		if s.run.version > 0 {
			p.Records, p.Steps, p.Note = s.records(), s.stepIDs(), s.run.note
		}
		return p
	}
	p := Conclude{ID: commandID(id, attempt), Node: id, Attempt: attempt, By: by, Goal: s.run.goal,
		Steps: s.digests(), Unplanned: s.run.unplanned}
	if isModel(by) {
		p.MaxOutput, p.Again, p.Records = s.run.models.Executor.MaxOutput, again, s.records()
	}
	return p
}

func (s *State) stepIDs() []string {
	ids := make([]string, len(s.plan.Steps))
	for i := range s.plan.Steps {
		ids[i] = s.plan.Steps[i].ID
	}
	return ids
}

// estimate is what a model call may use at most, as far as anybody knows (R62).
func (s *State) estimate(kind string, c Command) reserve {
	m := s.model(kind)
	bytes := 0
	var again []Again
	switch c := c.(type) {
	case Propose:
		again = c.Again
		bytes = len(c.Goal) + len(c.Note) + total(c.Records)
		for _, id := range c.Steps {
			bytes += len(id)
		}
	case Conclude:
		again = c.Again
		bytes = len(c.Goal) + total(c.Records)
	}
	for i := range again {
		bytes += len(again[i].Output) + len(again[i].Error)
	}
	u := m.Priced(Usage{InputTokens: max(m.Overhead, 0) + int64(bytes/bytesPerToken), OutputTokens: max(m.MaxOutput, 0)})
	return reserve{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CostMicroUSD: u.CostMicroUSD, ModelCalls: 1}
}

func total(list [][]byte) int {
	n := 0
	for _, b := range list {
		n += len(b)
	}
	return n
}

// settlement is what a model call is charged: what was measured, or, where an
// answer came without a measure, what was reserved.
func (s *State) settlement(c *control, u Usage, answered bool) reserve {
	r := c.reserve
	if !isModel(c.by) {
		return r
	}
	if u.none() && answered {
		return r
	}
	u = s.model(ControlKind(c.id)).Priced(u)
	r.InputTokens, r.OutputTokens, r.CostMicroUSD = u.InputTokens, u.OutputTokens, u.CostMicroUSD
	return r
}

// unheard charges a call that was stopped what was reserved for it.
func (c *control) unheard(spent *reserve) {
	c.usage.add(spent)
	c.usage.Estimated = c.usage.Estimated || isModel(c.by)
}

// verdictOn says what becomes of a control node whose attempt gave nothing to go
// on with: the same question again, the built-in planner, or the end. The second
// result says why the model is not asked any more, "" while it is.
func (s *State) verdictOn(c *control, class Class, wait time.Duration) (NodeState, string) {
	if !isModel(c.by) {
		return NodeFailed, ""
	}
	fell := fellUnavailable
	switch class {
	case ClassNone:
		if len(c.again) < reasksMax {
			return NodeRetryable, ""
		}
		fell = fellAnswers
	case ClassTransient, ClassTimeout, ClassUnavailable:
		if c.failures < callRetriesMax && wait <= callWaitMax {
			return NodeRetryable, ""
		}
	}
	if c.isPlanner() && s.run.version > 0 {
		return NodeFailed, "" // the built-in planner cannot extend a plan
	}
	return NodeRetryable, fell
}

// callBackoff is the time before a failed call is made again: 1 s, then 4 s.
func callBackoff(failures int) time.Duration { return time.Second << (2 * min(failures, 4)) }

// retryControls starts control nodes whose time has come. Where the run halts a
// planner is cancelled, and a reflection left to the built-in report.
func (s *State) retryControls() bool {
	did := false
	for _, c := range s.control {
		halted := s.run.halt != ""
		switch {
		case c.state != retryable && (c.state != pending || !halted):
			continue
		case halted && (c.isPlanner() || s.run.halt == UserCancel):
			s.emit(NodeChanged, c.id, c.attempt, &changedData{To: NodeCancelled, Reason: "halt", Cause: haltCause(s.run.halt), Rule: "T14"})
		case c.state == retryable && (halted || !s.run.paused && c.retryAt <= s.run.now):
			s.emit(NodeChanged, c.id, c.attempt, &changedData{To: NodePending, Reason: "retry", Rule: "T11"})
			s.startControl(c.id, s.asks(ControlKind(c.id), c))
		default:
			continue
		}
		did = true
	}
	return did
}
