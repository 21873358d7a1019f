package main

import (
	"context"
	"fmt"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/planner"
	"sluice/handlers"
	"sluice/store"
)

// builtin is the built-in planner (no model) with its index.
type builtin struct {
	index   *store.ToolIndex
	planner *planner.Planner
}

const builtinName = "builtin"

func newBuiltin(catalog *plan.Catalog) (*builtin, error) {
	index, err := store.NewToolIndex(planner.Documents(catalog))
	if err != nil {
		return nil, err
	}
	return &builtin{index: index, planner: &planner.Planner{Index: index, Catalog: catalog}}, nil
}

// Name is what run.created pins (P29).
func (b *builtin) Name() string { return builtinName + "/1" }

// Close frees the index.
func (b *builtin) Close() error { return b.index.Close() }

// Propose implements exec.Planner.
func (b *builtin) Propose(_ context.Context, c engine.Propose, _ func([]byte)) (engine.Planned, error) {
	p := b.planner.Propose(c.Goal)
	return engine.Planned{By: builtinName, Author: plan.Builtin, Plan: p.Plan, Answer: p.Answer, Unplanned: unplanned(p.Unplanned), Template: p.Template}, nil
}

// Conclude implements exec.Planner: the plain-code twin of the final reflection.
func (b *builtin) Conclude(_ context.Context, c engine.Conclude) (engine.Concluded, error) {
	in := planner.ReportInput{Goal: c.Goal}
	for _, s := range c.Steps {
		step := planner.StepResult{ID: s.Node, Tool: s.Tool, State: string(s.State), Output: s.Output,
			Observation: s.Observation, Failure: string(s.Class)}
		if s.Blob != nil {
			step.Output = blobOutput(s.Blob)
		}
		in.Steps = append(in.Steps, step)
	}
	for _, u := range c.Unplanned {
		in.Unplanned = append(in.Unplanned, planner.Unplanned{Clause: u.Clause, Why: u.Why})
	}
	report := planner.Report(in)
	v := engine.Verdict{Text: report.Text, By: builtinName, Claims: make([]engine.Claim, len(report.Claims))}
	for i, claim := range report.Claims {
		v.Claims[i] = engine.Claim{Text: claim.Text, Observations: claim.Observations}
	}
	return engine.Concluded{Ruling: "conclude", Verdict: v}, nil
}

// blobOutput stands for an output that is too large to be inline: the report
// says how large it is and where it is kept.
func blobOutput(b *engine.Blob) []byte {
	return fmt.Appendf(nil, `{"large_output_bytes":%d,"sha256":%q}`, b.Size, b.SHA256)
}

func unplanned(list []planner.Unplanned) []engine.Unplanned {
	out := make([]engine.Unplanned, len(list))
	for i, u := range list {
		out[i] = engine.Unplanned{Clause: u.Clause, Why: u.Why}
	}
	return out
}

// proposer gives the handlers proposals that run nothing (P38).
type proposer struct {
	planners
	policies *policies
	store    *store.Store
	turns    *turns
}

// Propose implements handlers.Planner: By is "model", or anything else for the
// built-in planner.
func (p proposer) Propose(ctx context.Context, r handlers.ProposalRequest) (handlers.Proposal, error) {
	if r.By == "model" {
		return p.proposeByModel(ctx, r)
	}
	return p.proposal(r.Goal), nil
}

func (b *builtin) proposal(goal string) handlers.Proposal {
	out := b.planner.Propose(goal)
	return handlers.Proposal{Plan: out.Plan, Answer: out.Answer, Unplanned: unplanned(out.Unplanned), By: builtinName, Author: plan.Builtin, Template: out.Template}
}
