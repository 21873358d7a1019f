package sim

import (
	"errors"
	"fmt"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

const (
	run       = "r_sim"
	requester = "user:1"
	startUS   = int64(1_700_000_000_000_000)
	ms        = int64(1_000)
	eventsMax = 20_000 // of one world: more is a run that does not end
)

// World is one run and everything around it.
type World struct {
	Seed  uint64
	Env   engine.Env
	Facts []engine.Fact // durable
	State *engine.State

	// Effects counts how often each effect really happened, by node.
	Effects map[string]int
	// MayDiffer is set when a kill fell where a log may differ afterwards: a
	// once effect was in flight, or a new policy withdrew an attempt (P45, P19).
	MayDiffer bool

	policies Policies
	intent   policy.Rank
	plan     *plan.Plan
	doc      []byte
	create   *engine.Create
	agenda   agenda
	now      int64
	flights  map[string]*flight
	asked    map[string]bool // approvals and questions that people know of
	crashAt  int             // fact index; 0 never
	loses    bool            // the step that reaches it is not durable
	crashed  bool
	failure  error
}

// New prepares the world of a seed. Nothing has happened yet.
func New(seed uint64, env engine.Env, policies Policies) (*World, error) {
	w := &World{Seed: seed, Env: env, policies: policies, now: startUS, Effects: map[string]int{},
		flights: map[string]*flight{}, asked: map[string]bool{}, State: engine.New(env)}
	w.intent = w.drawIntent()
	w.Env.Models = w.drawModels()
	w.State.SetEnv(w.Env)
	p, compiled, doc, err := w.makePlan()
	if err != nil {
		return nil, err
	}
	w.plan, w.doc = p, doc
	w.create = &engine.Create{Head: engine.Head{At: startUS, Actor: requester}, Run: run, Goal: "seed", Intent: w.intent,
		Scopes: []string{"default"}, Mode: "reflect"}
	w.create.Budget = w.drawBudget()
	if w.draw(6, "review") == 0 {
		w.create.Review = engine.ReviewPlan
	}
	if w.draw(3, "planner") > 0 {
		w.create.Plan, w.create.PlanDoc, w.create.PlanAuthor = compiled, doc, plan.Builtin
	}
	return w, nil
}

// CrashAt kills the process when fact index has been decided: after it is
// durable, or, when loses is set, before.
func (w *World) CrashAt(index int, loses bool) { w.crashAt, w.loses = index, loses }

// Run lets the world go until nothing is left to happen. The error is the first
// thing that must not be; it names the seed.
func (w *World) Run() error {
	w.agenda.plan(w.now, func() { w.input(w.create) })
	w.planOperators()
	for n := 0; w.failure == nil; n++ {
		e, ok := w.agenda.next()
		if !ok {
			break
		}
		if n > eventsMax {
			w.fail(errors.New("the run does not end (R16)"))
		}
		w.now = max(w.now, e.at)
		e.do()
	}
	if w.failure == nil && !w.State.Ended() {
		w.fail(fmt.Errorf("nothing is left to happen, and the run is %s (R17)", w.State.Status()))
	}
	if w.failure == nil {
		w.fail(w.checkEnd())
	}
	return w.failure
}

func (w *World) fail(err error) {
	if err != nil && w.failure == nil {
		w.failure = fmt.Errorf("seed %d, crash at %d (before commit: %v): %w", w.Seed, w.crashAt, w.loses, err)
	}
}

// input is what a shell does with one input: step, append, start commands.
func (w *World) input(in engine.Input) {
	stamp(in, w.now)
	out, err := w.State.Step(in)
	if err != nil {
		return // refused: nothing changed
	}
	reached := len(w.Facts) + len(out.Facts)
	if w.crashAt > 0 && !w.crashed && reached >= w.crashAt {
		w.crashed = true
		if w.loses {
			w.crash(in)
			return
		}
		w.Facts = append(w.Facts, out.Facts...)
		w.crash(nil)
		return
	}
	w.Facts = append(w.Facts, out.Facts...)
	w.fail(w.checkFold(out))
	w.start(out.Commands)
	w.lookAround()
}

// lookAround plans what the new state calls for: its timer, and what people do.
func (w *World) lookAround() {
	if at, ok := w.State.Deadline(); ok {
		w.agenda.plan(at, func() { w.input(&engine.Timer{Head: engine.Head{Actor: "system"}}) })
	}
	w.tellPeople()
}

// stamp gives an input the time at which it happens.
func stamp(in engine.Input, now int64) {
	switch in := in.(type) {
	case *engine.Create:
		in.At = now
	case *engine.Planned:
		in.At = now
	case *engine.AttemptDone:
		in.At = now
	case *engine.Sketched:
		in.At = now
	case *engine.Cleared:
		in.At = now
	case *engine.Concluded:
		in.At = now
	case *engine.OutcomeUnknown:
		in.At = now
	case *engine.Withdrawn:
		in.At = now
	case *engine.Attest:
		in.At = now
	case *engine.Decide:
		in.At = now
	case *engine.Timer:
		in.At = now
	case *engine.Cancel:
		in.At = now
	case *engine.Pause:
		in.At = now
	case *engine.Resume:
		in.At = now
	case *engine.Start:
		in.At = now
	case *engine.Replace:
		in.At = now
	case *engine.PolicyChanged:
		in.At = now
	}
}
