package engine

import "time"

// answer is what the two kinds of control answers have in common.
type answer struct {
	kind, by, detail, raw, problem string
	usage                          Usage
	class                          Class
	wait                           time.Duration
}

// answering gives the control node that an accepted answer is for.
func (s *State) answering(kind, id string) *control {
	if id == "" {
		return s.last(kind)
	}
	c, _ := s.controlByID(id)
	return c
}

// controlEnded begins the fact of a control node's answer: who gave it, what it
// used, and whether there is one at all.
func (s *State) controlEnded(c *control, attempt int, a answer) *endedData {
	by := clean(a.by)
	if by == "" {
		by = c.by
	}
	d := &endedData{Input: endedInput{Kind: a.kind, By: by, Class: a.class.known()}, To: NodeExecuted,
		Observation: s.deriveID("o_", c.id, attempt, 0), Method: "form"}
	if a.kind == "concluded" {
		d.Method = "grounding"
	}
	if isModel(c.by) {
		u := a.usage.bounded()
		u.Estimated = u.Estimated || a.class == ClassNone && u.none()
		d.Input.Usage = &u
	}
	d.Settle = s.settlement(c, a.usage, a.class == ClassNone)
	switch {
	case a.class != ClassNone:
		d.To, d.Method, d.Input.Detail = NodeFailed, "", cut(a.detail)
		d.Problem = "the " + c.id + " step failed: " + string(d.Input.Class)
		d.Input.RetryAfter = min(max(a.wait, 0), waitKeptMax).Milliseconds()
	case a.problem != "":
		d.To, d.Method = NodeFailed, ""
		d.Problem, d.Input.Raw = head(clean(a.problem), ProblemBytesMax), kept(a.raw, nil)
	}
	return d
}

// giveUp says what follows an attempt without a usable answer.
func (s *State) giveUp(c *control, d *endedData) {
	wait := time.Duration(d.Input.RetryAfter) * time.Millisecond
	to, fell := s.verdictOn(c, d.Input.Class, wait)
	d.To, d.Fallback = to, fell
	if to != NodeRetryable {
		return
	}
	d.RetryAt = s.run.now
	if d.Input.Class != ClassNone && fell == "" {
		d.RetryAt += max(callBackoff(c.failures), wait).Microseconds()
	}
}

// foldControlEnded folds the end of a control node's attempt.
func (s *State) foldControlEnded(f *Fact, d *endedData, c *control) {
	c.state = stateNamed(d.To)
	c.usage.add(&d.Settle)
	c.usage.Estimated = c.usage.Estimated || d.Input.Usage != nil && d.Input.Usage.Estimated
	s.noteControl(f.Node, running, c.state)
	in := &d.Input
	if d.Fallback != "" {
		c.fell = d.Fallback
		role := "executor"
		if c.isPlanner() {
			role = "planner"
		}
		s.run.fallbacks = addCause(s.run.fallbacks, role)
	}
	if c.isPlanner() && (c.state != executed || len(in.Plan) == 0) {
		s.sketch = nil
	}
	if c.state != executed {
		s.foldNoAnswer(d, c)
		return
	}
	c.again, c.failures = nil, 0
	if !c.isPlanner() {
		s.run.verdict = in.Verdict
		s.run.replan, s.run.note = d.Replan, in.Note
		if d.Replan {
			s.run.replans++
		}
		return
	}
	if s.run.version > 0 {
		return // more steps for a plan that has its author; the version says who added them
	}
	s.run.planBy = in.By
	if len(in.Plan) == 0 { // beside a plan an answer would come before the facts
		s.run.answer = in.Answer
	}
	if in.Template != "" {
		s.run.template = in.Template
	}
	s.run.unplanned = in.Unplanned
}

// foldNoAnswer keeps what the next attempt needs to know.
func (s *State) foldNoAnswer(d *endedData, c *control) {
	c.retryAt = d.RetryAt
	if c.state != retryable && c.isPlanner() && s.run.version == 0 {
		s.run.planBy = d.Input.By
		if d.Problem != "" {
			s.run.planFailed = d.Problem
		}
		return
	}
	if d.Input.Class != ClassNone {
		c.failures++
		return
	}
	c.again = append(c.again, Again{Output: d.Input.Raw, Error: d.Problem})
}
