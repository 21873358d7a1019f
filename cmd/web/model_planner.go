package main

import (
	"context"

	"sluice/engine"
	"sluice/engine/plan"
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
