package exec

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// oracle is a planner whose model a test scripts; built in it plans nothing.
type oracle struct {
	mu       sync.Mutex
	asked    []engine.Propose
	propose  func(ctx context.Context, c engine.Propose, sketch func([]byte)) (engine.Planned, error)
	conclude func(ctx context.Context, c engine.Conclude) (engine.Concluded, error)
}

func (o *oracle) Name() string { return "oracle" }

func (o *oracle) Propose(ctx context.Context, c engine.Propose, sketch func([]byte)) (engine.Planned, error) {
	o.mu.Lock()
	o.asked = append(o.asked, c)
	o.mu.Unlock()
	if c.By == engine.BuiltinBy {
		return engine.Planned{By: c.By, Author: plan.Builtin}, nil
	}
	return o.propose(ctx, c, sketch)
}

func (o *oracle) Conclude(ctx context.Context, c engine.Conclude) (engine.Concluded, error) {
	if c.By == engine.BuiltinBy || o.conclude == nil {
		return engine.Concluded{Ruling: "conclude", Verdict: engine.Verdict{By: c.By, Text: "report"}}, nil
	}
	return o.conclude(ctx, c)
}

// questions are the ids of the proposals asked for, in order.
func (o *oracle) questions() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := make([]string, len(o.asked))
	for i := range o.asked {
		list[i] = o.asked[i].ID + " by " + o.asked[i].By
	}
	return strings.Join(list, ", ")
}

func planOf(t *testing.T, steps string) engine.Planned {
	t.Helper()
	p, findings := plan.Parse([]byte(`{"format":1,"goal":"test","steps":` + steps + `}`))
	if p == nil {
		t.Fatal(findings)
	}
	return engine.Planned{Plan: p, Author: plan.Model, Usage: engine.Usage{InputTokens: 100, OutputTokens: 20}}
}

// openWith starts a shell whose runs are planned by the oracle's model.
func (w *world) openWith(o *oracle) {
	model := engine.ModelInfo{Name: "m", By: "model:m", MaxOutput: 100, Overhead: 10}
	w.shell = New(Config{Log: w.log, Tools: w.tools, Planner: o, Policies: w.rules, Clock: w.clock,
		Models: func() engine.Models { return engine.Models{Planner: model, Executor: model} }})
	w.t.Cleanup(w.shell.Close)
}

func (w *world) ask(run string) error {
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	return w.shell.Submit(ctx, &engine.Create{Head: w.head(), Run: run, Goal: "test", Intent: policy.Override,
		Scopes: []string{"default"}, Mode: "reflect"}, Creation{Run: run, Owner: "user:1"})
}

const twoReads = `[{"id":"a","tool":"read"},{"id":"b","tool":"read","params":{"n":1},"depends_on":["a"]}]`

func TestP13_StreamedStepsReachTheLogBeforeThePlan(t *testing.T) {
	w, o := newWorld(t), &oracle{}
	more := make(chan struct{})
	o.propose = func(_ context.Context, _ engine.Propose, sketch func([]byte)) (engine.Planned, error) {
		sketch([]byte(`{"id":"a","tool":"read"}`))
		sketch([]byte(`{"id":"z","tool":"read","depends_on":["a"]}`))
		<-more
		return planOf(t, twoReads), nil
	}
	w.openWith(o)
	if err := w.ask("r_1"); err != nil {
		t.Fatal(err)
	}
	w.until("two sketches", func() bool { return w.log.count("r_1", engine.PlannerNode, engine.PlanSketched) == 2 })
	if n, s := w.tools.called("a#1"), w.state("r_1"); n != 0 || len(s.Sketches()) != 2 || s.Status() != engine.Planning {
		t.Fatalf("%d calls, %d sketches, status %s: want a plan that still comes in", n, len(s.Sketches()), s.Status())
	}
	close(more)
	w.until("end of run", w.ended("r_1"))
	s := w.state("r_1")
	if len(s.Sketches()) != 0 || len(s.Plan().Steps) != 2 || engine.Summarise(s).Code != engine.Success {
		t.Errorf("%d sketches, %d steps, %s", len(s.Sketches()), len(s.Plan().Steps), engine.Summarise(s).Code)
	}
}

// A process that dies in a model's call asks again under the same number: one
// reservation, one attempt.
func TestP45_RestartAsksTheModelAgain(t *testing.T) {
	w, o := newWorld(t), &oracle{}
	o.propose = func(ctx context.Context, _ engine.Propose, sketch func([]byte)) (engine.Planned, error) {
		sketch([]byte(`{"id":"a","tool":"read"}`))
		<-ctx.Done()
		return engine.Planned{}, ctx.Err()
	}
	w.openWith(o)
	if err := w.ask("r_1"); err != nil {
		t.Fatal(err)
	}
	w.until("a sketch", func() bool { return w.log.count("r_1", engine.PlannerNode, engine.PlanSketched) == 1 })
	w.shell.Close()
	before := w.state("r_1")
	if got := engine.Summarise(before).Budget["model_calls"]; got.Reserved != 1 || got.Spent != 0 {
		t.Fatalf("reserved %+v while the call is out", got)
	}
	o.propose = func(_ context.Context, _ engine.Propose, sketch func([]byte)) (engine.Planned, error) {
		sketch([]byte(`{"id":"a","tool":"read"}`))
		return planOf(t, twoReads), nil
	}
	w.openWith(o)
	if err := w.shell.Recover([]string{"r_1"}); err != nil {
		t.Fatal(err)
	}
	w.until("end of run", w.ended("r_1"))
	if got, want := o.questions(), "kernel.plan#1 by model:m, kernel.plan#1 by model:m"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if n := w.log.count("r_1", engine.PlannerNode, engine.AttemptStarted); n != 1 {
		t.Errorf("%d attempts, want 1", n)
	}
	if got := engine.Summarise(w.state("r_1")).Budget["model_calls"]; got.Reserved != 0 || got.Spent != 2 {
		t.Errorf("model calls %+v, want one of the planner and one of the reflection", got)
	}
}

func TestP6_ErrorsOfAModelAreTriedAgainAndThenReplaced(t *testing.T) {
	w, o := newWorld(t), &oracle{}
	o.propose = func(context.Context, engine.Propose, func([]byte)) (engine.Planned, error) {
		return engine.Planned{}, errors.New("dial tcp: connection refused")
	}
	w.openWith(o)
	if err := w.ask("r_1"); err != nil {
		t.Fatal(err)
	}
	for n, wait := range []time.Duration{time.Second, 4 * time.Second} {
		w.until("a failed call", func() bool {
			return w.log.count("r_1", engine.PlannerNode, engine.AttemptEnded) == n+1
		})
		w.until("the alarm", func() bool {
			w.clock.advance(wait)
			return w.log.count("r_1", engine.PlannerNode, engine.AttemptStarted) >= n+2
		})
	}
	w.until("end of run", w.ended("r_1"))
	if got, want := o.questions(), "kernel.plan#1 by model:m, kernel.plan#2 by model:m, kernel.plan#3 by model:m, kernel.plan#4 by builtin"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	sum := engine.Summarise(w.state("r_1"))
	if sum.Code != engine.UnavailableDep || strings.Join(sum.Fallbacks, " ") != "planner" || sum.Budget["retries"].Spent != 2 {
		t.Errorf("%s, fall-backs %v, retries %+v", sum.Code, sum.Fallbacks, sum.Budget["retries"])
	}
}

func TestP7_CancelEndsACallOfAModel(t *testing.T) {
	w, o := newWorld(t), &oracle{}
	stopped := make(chan struct{})
	o.propose = func(ctx context.Context, _ engine.Propose, _ func([]byte)) (engine.Planned, error) {
		<-ctx.Done()
		close(stopped)
		return engine.Planned{}, ctx.Err()
	}
	w.openWith(o)
	if err := w.ask("r_1"); err != nil {
		t.Fatal(err)
	}
	w.until("the call", func() bool { return o.questions() != "" })
	if err := w.send("r_1", &engine.Cancel{Head: w.head(), Reason: "enough"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-stopped:
	case <-time.After(waitMax):
		t.Fatal("the call goes on after the cancel")
	}
	w.until("end of run", w.ended("r_1"))
}

func TestR57_ReplanThroughTheShell(t *testing.T) {
	w, o := newWorld(t), &oracle{}
	o.propose = func(_ context.Context, c engine.Propose, _ func([]byte)) (engine.Planned, error) {
		if len(c.Steps) > 0 {
			return planOf(t, `[{"id":"c","tool":"read","params":{"n":2},"depends_on":["b"]}]`), nil
		}
		return planOf(t, twoReads), nil
	}
	o.conclude = func(_ context.Context, c engine.Conclude) (engine.Concluded, error) {
		if len(c.Records) == 2 {
			return engine.Concluded{Ruling: "replan", Note: "c is missing"}, nil
		}
		return engine.Concluded{Ruling: "conclude", Verdict: engine.Verdict{Text: "all three"}}, nil
	}
	w.openWith(o)
	if err := w.ask("r_1"); err != nil {
		t.Fatal(err)
	}
	w.until("end of run", w.ended("r_1"))
	sum := engine.Summarise(w.state("r_1"))
	if sum.Code != engine.Success || sum.PlanVersion != 2 || sum.Verdict.Text != "all three" || sum.Verdict.By != "model:m" || w.tools.called("c#1") != 1 {
		t.Errorf("%s, version %d, verdict %+v", sum.Code, sum.PlanVersion, sum.Verdict)
	}
}
