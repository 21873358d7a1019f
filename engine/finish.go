package engine

import (
	"slices"
	"time"
)

// stopGrace is how long a running effect may still finish on cancel (P7).
const stopGrace = 10 * time.Second

// halt decides the code while attempts are still in flight.
func (s *State) halt(code Code, cause string) {
	if s.run.halt == "" {
		s.emit(RunHalting, "", 0, &runEndedData{Code: code, Causes: []string{cause}})
	}
}

// stopAll asks the shell to end what runs: reads at once, effects after a grace.
func (s *State) stopAll() {
	for i := range s.nodes {
		if s.nodes[i].state == running {
			s.command(s.stopCommand(i))
		}
	}
	for _, c := range s.control {
		if c.state == running {
			s.emit(NodeChanged, c.id, c.attempt, &changedData{To: NodeCancelled, Reason: "halt", Cause: "cancel", Rule: "T14"})
			s.command(Stop{ID: "stop " + commandID(c.id, c.attempt), Node: c.id, Attempt: c.attempt})
		}
	}
}

// halting cancels everything that has not been dispatched (T14).
func (s *State) halting() bool {
	if s.run.halt == "" {
		return false
	}
	did := false
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.state.terminal() || n.state == running || n.unknown {
			continue
		}
		did = true
		rule := "T14"
		s.change(i, cancelled, &changedData{Reason: "halt", Cause: haltCause(s.run.halt), Rule: rule})
	}
	return did
}

func haltCause(c Code) string {
	if c == UserCancel {
		return "cancel"
	}
	return "halt:" + string(c)
}

// finish moves a run whose work is over to its code, through the final
// reflection where there was work (R90).
func (s *State) finish() bool {
	if s.running > 0 || s.open() > 0 || s.controlWaits() || s.run.paused && s.run.halt == "" {
		return false
	}
	if s.run.halt == UserCancel || s.run.halt != "" && s.held() {
		return s.end(s.run.halt, s.run.causes)
	}
	if s.run.version == 0 {
		return s.endWithoutPlan()
	}
	if s.veiled() {
		return false
	}
	if s.run.replan && s.run.halt == "" {
		s.startControl(s.nextID(KindPlanner), s.asks(KindPlanner, nil))
		return true
	}
	if id, by := s.reflection(); id != "" {
		s.startControl(id, by)
		return true
	}
	code, causes := s.judge()
	if s.run.halt != "" && precedence(s.run.halt) >= precedence(code) {
		code, causes = s.run.halt, s.run.causes
	}
	return s.end(code, causes)
}

// reflection names the control node that is to look at the work, "" when all of
// it has been looked at. One that a halt cut short is left to the built-in
// report, and so is work whose last reflection asked for more and got none.
func (s *State) reflection() (id, by string) {
	c := s.last(KindReflection)
	switch {
	case c == nil || c.state == executed && c.version < s.run.version:
		return s.nextID(KindReflection), s.asks(KindReflection, nil)
	case c.state == pending:
		return c.id, s.asks(KindReflection, c)
	case c.state == cancelled && isModel(c.by), c.state == executed && (s.run.verdict == nil || s.run.verdict.Text == "") && isModel(c.by):
		return s.nextID(KindReflection), BuiltinBy
	}
	return "", ""
}

// precedence orders codes that apply together (R71).
func precedence(c Code) int {
	switch c {
	case UnsafeDetection:
		return 5
	case UserCancel:
		return 4
	case PermissionDenied:
		return 3
	case BudgetExhausted:
		return 2
	case Timeout:
		return 1
	}
	return 0
}

// open counts plan nodes that are not terminal.
func (s *State) open() int {
	return len(s.nodes) - s.count[executed] - s.count[failed] - s.count[skipped] - s.count[cancelled]
}

func (s *State) end(code Code, causes []string) bool {
	s.emit(RunEnded, "", 0, &runEndedData{Code: code, Causes: causes})
	return true
}

// endWithoutPlan: a direct answer is SUCCESS with zero steps (P39); nothing
// plannable is IMPOSSIBLE (P6), and UNAVAILABLE_DEP where a model that might have
// known better could not be reached.
func (s *State) endWithoutPlan() bool {
	c := s.last(KindPlanner)
	switch {
	case s.run.halt != "":
		return s.end(s.run.halt, s.run.causes)
	case c == nil || c.state == pending:
		return false
	case c.state == failed && c.class != ClassNone:
		return s.end(UnavailableDep, []string{"planner"})
	case s.run.planFailed != "":
		return s.end(Impossible, []string{"plan_rejected"})
	case s.run.answer != "":
		return s.end(Success, nil)
	case c.fell == fellUnavailable:
		return s.end(UnavailableDep, []string{"planner"})
	}
	return s.end(Impossible, []string{"nothing_planned"})
}

// judge reads the code off verified facts alone, never off a claim (R70, P6).
func (s *State) judge() (Code, []string) {
	var good, bad int
	var causes []string
	for _, i := range s.exits() {
		switch n := &s.nodes[i]; n.state {
		case executed:
			good++
		case skipped:
			if n.cause != "guard" && n.cause != "sibling" {
				bad++ // only what nobody needs may be left out
			}
		default:
			bad++
			causes = s.rootCauses(i, causes)
		}
	}
	if bad == 0 && s.plan.CheckContract(s.exitOutputs()) != nil {
		return ValidationFail, []string{"plan_contract"}
	}
	switch {
	case bad == 0 && s.count[executed] > 0 && len(s.run.unplanned) == 0:
		return Success, nil
	case bad == 0 && s.count[executed] > 0:
		return PartialSuccess, []string{"unplanned"}
	case good > 0:
		if len(s.run.unplanned) > 0 {
			causes = addCause(causes, "unplanned")
		}
		return PartialSuccess, causes
	}
	return failureCode(causes), causes
}

// exits are the steps that a run is judged by: what was an exit stays one when
// the plan grows, or a further step could cover up what failed before it (R70).
func (s *State) exits() []int {
	if len(s.grown) == 0 {
		return s.plan.Exits
	}
	var list []int
	for i, end := 0, 0; i < len(s.nodes); i++ {
		for end < len(s.grown) && s.grown[end] <= i {
			end++
		}
		next := s.plan.Steps[i].Next
		if len(next) == 0 || end < len(s.grown) && next[0] >= s.grown[end] {
			list = append(list, i)
		}
	}
	return list
}

// exitOutputs is what the plan's own contract is checked against: the verified
// outputs of the executed exits by step id.
func (s *State) exitOutputs() []byte {
	if s.plan.Contract == nil {
		return nil
	}
	e := enc{}
	e.open("", '{')
	for _, i := range s.exits() {
		if n := &s.nodes[i]; n.state == executed && n.output != nil {
			e.raw(s.plan.Steps[i].ID, n.output)
		}
	}
	e.close('}')
	return e.b
}

// rootCauses collects why an exit did not execute: its own cause, or those of
// everything before it that kept it from executing, whichever came first.
func (s *State) rootCauses(exit int, causes []string) []string {
	seen := map[int]bool{exit: true}
	for open := []int{exit}; len(open) > 0; {
		i := open[0]
		open = open[1:]
		n := &s.nodes[i]
		if !n.inherited {
			causes = addCause(causes, n.cause)
			continue
		}
		for _, d := range s.plan.Steps[i].Deps {
			p := &s.nodes[d.From]
			if (p.state == failed || p.state == cancelled) && !seen[d.From] {
				seen[d.From] = true
				open = append(open, d.From)
			}
		}
	}
	return causes
}

func addCause(causes []string, c string) []string {
	if c == "" || slices.Contains(causes, c) {
		return causes
	}
	causes = append(causes, c)
	slices.Sort(causes)
	return causes
}

// failureCode picks the code of a run without one verified exit, in the order
// of R71: a person's word, then permission.
func failureCode(causes []string) Code {
	has := func(c string) bool { return slices.Contains(causes, c) }
	switch {
	case has("aborted"):
		return UserCancel
	case has("gate") || has("rejected"):
		return PermissionDenied
	case has("expired"):
		return ConfirmRequired
	case has("failed:" + string(ClassUnavailable)):
		return UnavailableDep
	case has("failed:" + string(ClassContract)):
		return ValidationFail
	case has("failed:"+string(ClassTransient)) || has("failed:"+string(ClassTimeout)):
		return RepeatedFailure
	}
	return Impossible
}

// takeConcluded records the final reflection. Its claims count where they are
// grounded (R55); more steps are granted within the profile and the budget.
func (s *State) takeConcluded(in *Concluded) {
	c := s.answering(KindReflection, in.Node)
	d := s.controlEnded(c, in.Attempt, answer{kind: "concluded", by: in.Verdict.By, usage: in.Usage, class: in.Class, detail: in.Detail, wait: in.Wait, raw: in.Raw, problem: in.Problem})
	by := d.Input.By
	d.Input.By = "" // the verdict says it
	if d.To != NodeExecuted {
		s.giveUp(c, d)
		s.emit(AttemptEnded, c.id, in.Attempt, d)
		return
	}
	d.Input.Ruling = clean(in.Ruling)
	d.Input.Verdict = &Verdict{Text: head(clean(in.Verdict.Text), RawBytesMax), By: by, Claims: s.grounded(in.Verdict.Claims)}
	if in.Ruling == "replan" {
		d.Input.Note = cut(in.Note)
		d.Replan, d.Problem = s.mayReplan(c, d)
	}
	s.emit(AttemptEnded, c.id, in.Attempt, d)
}

// mayReplan says whether the reflection gets the steps it asks for, and why not.
// What is left of the budget is taken as it will stand when d is settled.
func (s *State) mayReplan(c *control, d *endedData) (bool, string) {
	switch {
	case s.run.halt != "" || s.run.mode != "reflect" || !isModel(d.Input.Verdict.By):
		return false, "no further plan: this run plans once"
	case s.run.models.Planner.Name == "":
		return false, "no further plan: no model plans"
	case int64(s.run.replans) >= s.run.profile.Replans:
		return false, "no further plan: " + itoa(s.run.replans) + " are the most"
	}
	want := s.estimate(KindPlanner, Propose{Goal: s.run.goal, Note: d.Input.Note, Records: s.records(), Steps: s.stepIDs()})
	want.add(&d.Settle)
	want.sub(&c.reserve)
	if over := s.over(&want); over != "" {
		return false, "no further plan: the budget " + over + " does not last"
	}
	return true, ""
}

// grounded keeps the claims that stand on verified observations (R55): a claim
// without one is not an answer.
func (s *State) grounded(claims []Claim) []Claim {
	known := make(map[string]bool, len(s.nodes))
	for i := range s.nodes {
		if s.nodes[i].state == executed {
			known[s.nodes[i].observation] = true
		}
	}
	kept := make([]Claim, 0, len(claims))
	for _, c := range claims {
		ok := len(c.Observations) > 0 && len(kept) < ClaimsMax
		for _, o := range c.Observations {
			ok = ok && known[o]
		}
		if ok {
			kept = append(kept, Claim{Text: clean(c.Text), Observations: slices.Clone(c.Observations)})
		}
	}
	return kept
}
