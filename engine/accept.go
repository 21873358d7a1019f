package engine

import (
	"slices"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

func actorOf(in Input) string {
	switch in := in.(type) {
	case *Create:
		return in.Actor
	case *Planned:
		return in.Actor
	case *Sketched:
		return in.Actor
	case *AttemptDone:
		return in.Actor
	case *Cleared:
		return in.Actor
	case *Concluded:
		return in.Actor
	case *Attest:
		return in.Actor
	case *Decide:
		return in.Actor
	case *Cancel:
		return in.Actor
	case *Pause:
		return in.Actor
	case *Resume:
		return in.Actor
	case *Start:
		return in.Actor
	case *Replace:
		return in.Actor
	case *PolicyChanged:
		return in.Actor
	}
	return "system"
}

// accept refuses what may not happen, before anything changes.
func (s *State) accept(in Input) error {
	if c, ok := in.(*Create); ok {
		return s.acceptCreate(c)
	}
	if !s.run.created {
		return refuse("not_found", "the run does not exist", "create it first")
	}
	switch in := in.(type) {
	case *AttemptDone:
		return s.acceptDone(in)
	case *Planned:
		return s.acceptControl(KindPlanner, in.Node, in.Attempt)
	case *Concluded:
		return s.acceptControl(KindReflection, in.Node, in.Attempt)
	case *Sketched:
		return s.acceptSketch(in)
	case *OutcomeUnknown:
		return s.acceptRunning(in.Node, in.Attempt, policy.Once)
	case *Withdrawn:
		return s.acceptRunning(in.Node, in.Attempt, policy.Read, policy.Idempotent)
	case *Cleared:
		return s.acceptCleared(in)
	case *Timer:
		return nil
	case *Decide:
		return s.acceptDecide(in)
	case *Attest:
		return s.acceptAttest(in)
	}
	if s.Ended() {
		return &Refusal{Code: "conflict", Message: "the run has ended with " + string(s.run.code),
			Fix: "nothing is left to change", Who: "system", At: s.run.endedAt}
	}
	return s.acceptOperator(in)
}

func (s *State) acceptOperator(in Input) error {
	switch in := in.(type) {
	case *Cancel:
		if s.run.halt == UserCancel {
			return refuse("conflict", "the run is being cancelled already", "wait for its attempts to end")
		}
		if len(in.Reason) > ReasonBytesMax {
			return refuse("invalid", "the reason is longer than 4 KiB", "shorten it")
		}
	case *Pause:
		if s.run.paused {
			return refuse("conflict", "the run is paused already", "resume it first")
		}
	case *Resume:
		if !s.run.paused {
			return refuse("conflict", "the run is not paused", "pause it first")
		}
	case *PolicyChanged:
		if in.Policy == nil {
			return refuse("invalid", "no policy", "name the policy published")
		}
		if hash := in.Policy.Hash(); hash == s.run.current && hash == s.env.Current.Hash() {
			return refuse("conflict", "the run knows this policy already", "nothing is left to do")
		}
	case *Start, *Replace:
		return s.acceptReview(in)
	default:
		return refuse("invalid", "unknown input", "send one of the inputs of this engine version")
	}
	return nil
}

func (s *State) acceptCreate(in *Create) error {
	_, known := ProfileByName(in.Profile)
	switch {
	case s.run.created:
		return refuse("conflict", "the run exists already", "create another one")
	case s.env.Catalog == nil || s.env.Pinned == nil || s.env.Current == nil:
		return refuse("internal", "the run has no catalogue or policy", "load them before the first input")
	case strings.TrimSpace(in.Goal) == "":
		return refuse("invalid", "the goal is empty", "say what should get done")
	case !isText(in.Goal, in.Run, in.Key, in.Requester, in.Actor) || !isText(in.Scopes...):
		return refuse("invalid", "the goal, a scope or a key is not UTF-8", "send text")
	case len(in.PlanDoc) > 0 && !validJSON(in.PlanDoc):
		return refuse("invalid", "the plan is not JSON", "send the plan as JSON")
	case len(in.Goal) > GoalBytesMax:
		return refuse("invalid", "the goal is longer than 8 KiB (8,192 bytes)", "shorten it: letters beyond a to z take two bytes or more")
	case in.Intent < policy.Observe || in.Intent > policy.RankMax:
		return refuse("invalid", "the intent is out of range", "use observe, operate or override")
	case in.Mode != "reflect" && in.Mode != "plan-once":
		return refuse("invalid", "mode "+in.Mode+" does not exist yet", "use reflect or plan-once")
	case in.ModeOptions.Checkpoints != "" && in.ModeOptions.Checkpoints != "final":
		return refuse("invalid", "checkpoints "+in.ModeOptions.Checkpoints+" do not exist yet", "use final")
	case in.Review != "" && in.Review != ReviewPlan:
		return refuse("invalid", "review "+in.Review+" does not exist", "use plan, or leave it out")
	case !known:
		return refuse("invalid", "profile "+in.Profile+" does not exist", "use default or bench")
	case in.Run == "" || in.Actor == "":
		return refuse("invalid", "a run needs an id and a requester", "give both")
	}
	return s.acceptBudget(in)
}

// acceptBudget: a cost cap says nothing of a model without prices (requirements
// §23.4).
func (s *State) acceptBudget(in *Create) error {
	profile, _ := ProfileByName(in.Profile)
	if err := profile.lower(in.Budget); err != nil {
		return err
	}
	if _, capped := in.Budget[dimensionName(dimCost)]; capped && s.env.Models.Unpriced() {
		return refuse("invalid", "the budget "+dimensionName(dimCost)+" cannot be kept: a model has no price",
			"give the model prices in the settings, or limit tokens instead")
	}
	return nil
}

// acceptRunning: only an effect that cannot be repeated has an unknown outcome,
// and only one that can be is withdrawn (P5, P45).
func (s *State) acceptRunning(id string, attempt int, effects ...policy.Effect) error {
	n, i := s.at(id)
	if n == nil || i < 0 || n.state != running || n.attempt != attempt {
		return refuse("conflict", "no such attempt is running: "+id, "read the run again")
	}
	if !slices.Contains(effects, s.plan.Steps[i].Effect) {
		return refuse("invalid", "this does not happen to a tool with the effect "+string(s.plan.Steps[i].Effect), "read the run again")
	}
	return nil
}

func (s *State) acceptControl(kind, id string, attempt int) error {
	c := s.answering(kind, id)
	if c == nil || ControlKind(c.id) != kind || c.state != running || c.attempt != attempt {
		return refuse("conflict", "no "+kind+" is running that attempt", "read the run again")
	}
	return nil
}

// acceptDone takes late results too: they become orphan observations (R15).
func (s *State) acceptDone(in *AttemptDone) error {
	n, _ := s.at(in.Node)
	if n == nil || in.Attempt < 1 || in.Attempt > n.attempt {
		return refuse("not_found", "no such attempt: "+in.Node, "read the run again")
	}
	return nil
}

func (s *State) acceptAttest(in *Attest) error {
	n, i := s.at(in.Node)
	switch {
	case n == nil || i < 0:
		return refuse("not_found", "no step "+in.Node+" in this run", "open the run")
	case n.state != waiting || !n.unknown || n.attempt != in.Attempt:
		return &Refusal{Code: "conflict", Message: "this outcome is not in question any more",
			Fix: "reload the page", Who: "", At: n.endedAt}
	case !strings.HasPrefix(in.Actor, "user:"):
		return refuse("denied", "only people may say what happened", "sign in and answer in the browser")
	case in.Outcome != "done" && in.Outcome != "not_done" && in.Outcome != "abort":
		return refuse("invalid", "outcome "+in.Outcome+" is not done, not_done or abort", "send one of the three")
	case len(in.Note) > ReasonBytesMax:
		return refuse("invalid", "the note is longer than 4 KiB", "shorten it")
	}
	return nil
}

// take turns the accepted input into its first facts.
func (s *State) take(in Input) {
	switch in := in.(type) {
	case *Create:
		s.takeCreate(in)
	case *Planned:
		s.takePlanned(in)
	case *Sketched:
		s.takeSketched(in)
	case *AttemptDone:
		s.takeDone(in)
	case *Concluded:
		s.takeConcluded(in)
	case *OutcomeUnknown:
		s.emit(InputUnknown, in.Node, in.Attempt, &unknownData{Cause: cut(in.Cause)})
	case *Withdrawn:
		s.takeWithdrawn(in)
	case *Cleared:
		s.takeCleared(in)
	case *Attest:
		s.takeAttest(in)
	case *Decide:
		s.decide(in)
	case *Timer:
		s.takeTimer()
	case *Cancel:
		s.emit(InputCancel, "", 0, &inputData{Reason: clean(in.Reason)})
		s.stopAll()
	case *Pause:
		s.emit(InputPause, "", 0, &inputData{})
	case *Resume:
		s.emit(InputResume, "", 0, &inputData{})
	case *Start:
		s.emit(InputStart, "", 0, &inputData{Base: in.Base})
	case *Replace:
		s.takeReplace(in)
	case *PolicyChanged:
		s.env.Current = in.Policy
		s.emit(InputPolicy, "", 0, &inputData{Policy: in.Policy.Hash()})
	}
}

func (s *State) takeCreate(in *Create) {
	profile, _ := ProfileByName(in.Profile)
	_ = profile.lower(in.Budget) // accepted
	requester := in.Requester
	if requester == in.Actor {
		requester = "" // said once
	}
	s.run.id = in.Run
	if s.run.now == 0 {
		s.run.now = in.At
	}
	s.emit(RunCreated, "", 0, &createdData{
		Input: createInput{Kind: "create", Goal: in.Goal, Intent: int(in.Intent), Scopes: in.Scopes,
			Mode: in.Mode, Checkpoints: in.ModeOptions.Checkpoints, Key: in.Key, Requester: requester,
			Author: string(in.PlanAuthor), Plan: compactJSON(in.PlanDoc), Review: in.Review, Template: clean(in.Template), Budget: limits(in.Budget)},
		Policy: s.env.Pinned.Hash(), Tools: s.env.Catalog.Hash(), Profile: profile,
		Planner: s.env.Planner, EngineVersion: Version, Models: s.env.Models.orNone(),
	})
	if in.Plan != nil {
		s.addVersion(in.Plan, in.Actor, nil)
		return
	}
	s.step.actor = "system" // who asked for the run did not start the planner
	s.startControl(PlannerNode, s.asks(KindPlanner, nil))
}

// limits are what compile may count on (C07, C16).
func (s *State) limits() plan.Limits {
	p := s.run.profile
	return plan.Limits{Steps: p.Steps, ToolCalls: p.ToolCalls, SideEffects: p.SideEffects}
}
