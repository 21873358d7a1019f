package main

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/handlers"
)

// planners answers the control commands: the built-in planner or the model that
// a command names.
type planners struct {
	*builtin
	models *modelSet
}

// Name is what run.created pins: the built-in planner and the prompts (P29).
func (p planners) Name() string { return p.builtin.Name() + " " + p.models.ask.Prompts() }

// Propose implements exec.Planner.
func (p planners) Propose(ctx context.Context, c engine.Propose, sketch func([]byte)) (engine.Planned, error) {
	if c.By == "" || c.By == engine.BuiltinBy {
		return p.builtin.Propose(ctx, c, sketch)
	}
	caller := p.models.caller(plannerRole, c.By)
	if caller == nil {
		return engine.Planned{By: c.By, Author: plan.Model, Class: engine.ClassUnavailable, Detail: notSetUp}, nil
	}
	return p.models.ask.Propose(ctx, caller, c, sketch), nil
}

const notSetUp = "the model is not set up any more"

// Conclude implements exec.Planner.
func (p planners) Conclude(ctx context.Context, c engine.Conclude) (engine.Concluded, error) {
	if c.By == "" || c.By == engine.BuiltinBy {
		return p.builtin.Conclude(ctx, c)
	}
	caller := p.models.caller(executorRole, c.By)
	if caller == nil {
		return engine.Concluded{Verdict: engine.Verdict{By: c.By}, Class: engine.ClassUnavailable, Detail: notSetUp}, nil
	}
	return p.models.ask.Conclude(ctx, caller, c), nil
}

// asksMax is how often a model is asked for one proposal: once, and twice with
// the error last (V20).
const asksMax = 3

// proposeByModel asks for a plan that runs nothing (P38). What does not compile
// goes back to the model; what a policy would say never does (P12).
func (p proposer) proposeByModel(ctx context.Context, goal string) (handlers.Proposal, error) {
	info := p.models.Current().Planner
	caller := p.models.caller(plannerRole, info.By)
	if info.Name == "" || caller == nil {
		return handlers.Proposal{}, &engine.Refusal{Code: "unavailable", Message: "there is no planner model",
			Fix: "set one up under Settings, or ask the built-in planner"}
	}
	c := engine.Propose{By: info.By, Goal: goal, MaxOutput: info.MaxOutput,
		Tools: engine.VisibleTools(p.planner.Catalog, p.policies.Current(), []string{"default"})}
	for range asksMax {
		got := p.models.ask.Propose(ctx, caller, c, nil)
		if got.Class != engine.ClassNone {
			return handlers.Proposal{}, &engine.Refusal{Code: "unavailable", Message: got.Detail, Fix: "try again, or ask the built-in planner"}
		}
		problem := got.Problem
		if problem == "" {
			problem = p.compileProblem(got.Plan)
		}
		if problem == "" {
			return handlers.Proposal{Plan: got.Plan, Answer: got.Answer, Unplanned: []engine.Unplanned{}, By: info.By, Author: plan.Model}, nil
		}
		c.Again = append(c.Again, engine.Again{Output: got.Raw, Error: problem})
	}
	return handlers.Proposal{Unplanned: []engine.Unplanned{{Clause: goal,
		Why: fmt.Sprintf("the model's plan could not be used after %d attempts", asksMax)}}, By: info.By, Author: plan.Model}, nil
}

// compileProblem says what keeps a plan from compiling, without a word of policy.
func (p proposer) compileProblem(proposed *plan.Plan) string {
	if proposed == nil {
		return ""
	}
	compiled, findings := plan.Compile(proposed, plan.Env{Catalog: p.planner.Catalog, Author: plan.Model})
	if compiled != nil {
		return ""
	}
	errors := make([]plan.Finding, 0, len(findings))
	for i := range findings {
		if findings[i].Severity == plan.Error && !findings[i].Policy {
			errors = append(errors, findings[i])
		}
	}
	raw, err := json.Marshal(errors)
	if err != nil {
		return "the plan does not compile"
	}
	return "the plan does not compile: " + string(raw)
}
