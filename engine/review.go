package engine

import (
	"strings"
	"time"

	"sluice/engine/plan"
)

// ReviewPlan asks that a run stops at its compiled plan until a person starts it.
const ReviewPlan = "plan"

// causeEdit marks a version that a person made of one under review (R57).
const causeEdit = "edit"

// reviewTTL is T_human for a plan that waits to be started: after it the run
// ends, so that every run does (R16, R74).
const reviewTTL = 24 * time.Hour

// Start lets a run go that stands at its plan. Base is the hash of the version
// that the person saw; "" is whatever stands there.
type Start struct {
	Head
	Base string
}

// Replace puts another plan in the place of one that has not been started. It
// is compiled whole by who sends it, as a plan that comes with Create is.
type Replace struct {
	Head
	Plan    *plan.Compiled
	PlanDoc []byte // the plan as submitted, JSON
	Base    string // hash of the version that was edited
}

// held says that nothing may be dispatched: a person has to start the plan.
func (s *State) held() bool { return s.run.review == ReviewPlan && !s.run.started }

// reviewing says that the run stands at its plan and waits for a person.
func (s *State) reviewing() bool {
	return s.held() && s.run.version > 0 && s.run.halt == "" && s.run.code == "" && !s.planning()
}

// planning says that a planner is at work.
func (s *State) planning() bool {
	c := s.last(KindPlanner)
	return c != nil && (c.state == running || c.state == retryable)
}

// Reviewing says that the run stands at its plan: a person starts it, replaces
// the plan, or cancels.
func (s *State) Reviewing() bool { return s.reviewing() }

// PlanAt is when the current plan version came, µs UTC.
func (s *State) PlanAt() int64 { return s.run.versionAt }

// ReviewEnds is when a plan that nobody starts is given up, µs UTC.
func (s *State) ReviewEnds() int64 { return s.reviewEnds() }

// Scopes the run was submitted with.
func (s *State) Scopes() []string { return s.run.scopes }

// Limits are what a plan for this run has to fit.
func (s *State) Limits() plan.Limits { return s.limits() }

// reviewEnds is when a plan that nobody started is given up.
func (s *State) reviewEnds() int64 { return s.run.versionAt + reviewTTL.Microseconds() }

func (s *State) acceptReview(in Input) error {
	if !s.reviewing() {
		return s.notReviewing()
	}
	r, ok := in.(*Replace)
	if !ok {
		return s.acceptStart(in.(*Start))
	}
	if err := acceptPerson(r.Actor); err != nil {
		return err
	}
	switch {
	case r.Plan == nil || len(r.PlanDoc) > 0 && !validJSON(r.PlanDoc):
		return refuse("invalid", "there is no plan that compiles", "mend the findings and send it again")
	case r.Base != s.plan.Hash:
		return s.anotherPlan("you edited", "read the plan again and repeat your change")
	case r.Plan.Hash == s.plan.Hash:
		return refuse("invalid", "the plan is the same as version "+itoa(s.run.version), "change it, or start it as it is")
	}
	return nil
}

// acceptStart lets nobody start a plan that they have not seen.
func (s *State) acceptStart(in *Start) error {
	if err := acceptPerson(in.Actor); err != nil {
		return err
	}
	if in.Base != "" && in.Base != s.plan.Hash {
		return s.anotherPlan("you saw", "look at it, then start it")
	}
	return nil
}

func (s *State) anotherPlan(than, fix string) error {
	return &Refusal{Code: "conflict", Message: "the plan was changed since: version " + itoa(s.run.version) + " is another one than " + than,
		Fix: fix, Who: s.run.planBy, At: s.run.versionAt}
}

func (s *State) notReviewing() error {
	switch {
	case s.run.review != ReviewPlan:
		return refuse("conflict", "the run was not submitted for a review of its plan", "submit it again with review: plan")
	case s.run.started:
		return &Refusal{Code: "conflict", Message: "the plan was started", Fix: "what runs is not edited; cancel the run and submit another one",
			Who: s.run.startedBy, At: s.run.startedAt}
	case s.run.halt != "":
		return refuse("conflict", "the run is ending", "submit it again")
	}
	return refuse("conflict", "there is no plan yet", "wait for the planner")
}

func acceptPerson(actor string) error {
	if !strings.HasPrefix(actor, "user:") {
		return refuse("denied", "only people may start or change a plan under review", "sign in and do it in the browser")
	}
	return nil
}

// takeReplace stores what was sent, then the version that came of it (R57).
func (s *State) takeReplace(in *Replace) {
	s.emit(InputReplace, "", 0, &inputData{Base: in.Base, Plan: compactJSON(in.PlanDoc)})
	d := plan.Compare(s.plan, in.Plan)
	findings := []byte("[]")
	if len(in.Plan.Findings) > 0 {
		findings = marshal(in.Plan.Findings)
	}
	s.emit(VersionAdded, "", 0, &versionData{
		Version: s.run.version + 1, Parent: s.run.version, Cause: causeEdit, By: in.Actor, Hash: in.Plan.Hash,
		Added: d.Added, Removed: d.Removed, Changed: d.Changed, Findings: findings,
		Unplanned: s.run.unplanned, Plan: in.Plan.Canonical, compiled: in.Plan,
	})
}

// foldStart releases the plan.
func (s *State) foldStart(f *Fact) {
	s.run.started, s.run.startedAt, s.run.startedBy = true, f.At, f.Actor
}

// forget drops what was derived from a plan of which nothing was dispatched.
func (s *State) forget() {
	s.ready, s.due, s.spares, s.retry = nil, nil, nil, nil
	s.turns, s.member = nil, nil
	s.run.template = "" // a person made another plan of it
}

// expireReview ends a run whose plan nobody started in time (R74).
func (s *State) expireReview() {
	if s.reviewing() && s.run.now >= s.reviewEnds() {
		s.halt(ConfirmRequired, "review")
	}
}
