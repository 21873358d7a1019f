package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/engine/plan"
)

// Planner turns the core's control commands into calls and replies into inputs.
// It keeps nothing between calls, so a restart loses nothing.
type Planner struct {
	tools   *Tools
	prompts *prompts
	redact  Redactor
}

// Redactor replaces secrets by value (P26).
type Redactor interface {
	Text(string) string
	JSON(valid []byte) []byte
}

// NewPlanner makes one over the tools it may show. What goes to a model and what
// comes back passes redact.
func NewPlanner(tools *Tools, redact Redactor) (*Planner, error) {
	p, err := loadPrompts()
	if err != nil {
		return nil, fmt.Errorf("load prompts: %w", err)
	}
	return &Planner{tools: tools, prompts: p, redact: redact}, nil
}

// Prompts names the version of the prompts and the start of their hash (P29).
func (p *Planner) Prompts() string { return p.prompts.name }

// PlannerOverhead is about how many tokens a planner's prompt has besides goal,
// records and repeats: what is reserved before a call (R62).
func (p *Planner) PlannerOverhead() int64 {
	return p.overhead(p.prompts.planning(&engine.Propose{}, p.widest()), p.prompts.plannerSchema)
}

// ReflectionOverhead is the same of a reflection's.
func (p *Planner) ReflectionOverhead() int64 {
	return p.overhead(p.prompts.reflecting(&engine.Conclude{}), p.prompts.reflectionSchema)
}

func (p *Planner) overhead(messages []Message, schema []byte) int64 {
	n := EstimateTokens(string(schema))
	for _, m := range messages {
		n += EstimateTokens(m.Text)
	}
	return n + n/4 // tokens differ between models; too high a reservation is given back
}

// widest is the longest index a prompt can have.
func (p *Planner) widest() []string {
	all := Tools{Catalog: p.tools.Catalog}
	return all.lines(all.Catalog.Names())
}

// Propose asks for a plan. Steps go to sketch as they are complete.
func (p *Planner) Propose(ctx context.Context, caller Caller, c engine.Propose, sketched func(step []byte)) engine.Planned {
	out := engine.Planned{By: c.By, Author: plan.Model, Unplanned: []engine.Unplanned{}}
	r := Request{Messages: p.prompts.planning(&c, p.tools.lines(c.Tools, c.Goal, c.Note)),
		SchemaName: "plan", Schema: p.prompts.plannerSchema, MaxOutput: c.MaxOutput}
	if sketched != nil {
		s := &sketch{emit: func(step []byte) { sketched([]byte(p.clean(string(step)))) }}
		r.OnText = s.write
	}
	reply, err := p.call(ctx, caller, r)
	out.Usage = usageOf(reply.Usage)
	if err != nil {
		f := failed(err)
		out.Class, out.Detail, out.Usage, out.Wait = f.Class, f.Detail, usageOf(f.Usage), f.RetryAfter
		return out
	}
	got, err := readProposal(reply.Text)
	if err != nil {
		out.Raw, out.Problem = reply.Text, problemOf(&reply, err, c.MaxOutput)
		return out
	}
	out.Plan, out.Answer, out.Raw = got.plan, got.answer, reply.Text
	return out
}

// Conclude asks for the final reflection.
func (p *Planner) Conclude(ctx context.Context, caller Caller, c engine.Conclude) engine.Concluded {
	out := engine.Concluded{Verdict: engine.Verdict{By: c.By, Claims: []engine.Claim{}}}
	reply, err := p.call(ctx, caller, Request{Messages: p.prompts.reflecting(&c),
		SchemaName: "reflection", Schema: p.prompts.reflectionSchema, MaxOutput: c.MaxOutput})
	out.Usage = usageOf(reply.Usage)
	if err != nil {
		f := failed(err)
		out.Class, out.Detail, out.Usage, out.Wait = f.Class, f.Detail, usageOf(f.Usage), f.RetryAfter
		return out
	}
	observed := make(map[string]bool, len(c.Steps))
	for i := range c.Steps {
		observed[c.Steps[i].Observation] = c.Steps[i].Observation != ""
	}
	got, err := readRuling(reply.Text, observed)
	if err != nil {
		out.Raw, out.Problem = reply.Text, problemOf(&reply, err, c.MaxOutput)
		return out
	}
	out.Ruling, out.Note, out.Raw = got.Ruling, strings.TrimSpace(got.Note), reply.Text
	out.Verdict.Text = strings.TrimSpace(got.Answer)
	for _, claim := range got.Claims {
		out.Verdict.Claims = append(out.Verdict.Claims, engine.Claim{Text: claim.Text, Observations: claim.Observations})
	}
	return out
}

// call asks with secrets taken out of the question, and out of the answer: a model
// may have been told one elsewhere, or guess it.
func (p *Planner) call(ctx context.Context, caller Caller, r Request) (Reply, error) {
	asked := make([]Message, len(r.Messages))
	for i, m := range r.Messages {
		asked[i] = Message{m.Role, p.redact.Text(m.Text)}
	}
	r.Messages = asked
	reply, err := caller.Call(ctx, r)
	reply.Text = p.clean(bare(reply.Text))
	return reply, err
}

// clean redacts an answer in whatever way its strings are escaped.
func (p *Planner) clean(text string) string {
	if json.Valid([]byte(text)) {
		return string(p.redact.JSON([]byte(text)))
	}
	return p.redact.Text(text)
}

// problemOf is the error as the model reads it, with the reason first where the
// answer was cut.
func problemOf(reply *Reply, err error, limit int64) string {
	if reply.Cut {
		return fmt.Sprintf("the answer was cut off at its limit of %d tokens; give a shorter one (%s)", limit, err)
	}
	return err.Error()
}

func failed(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return failure(engine.ClassTransient, "the call of the model failed")
}

// usageOf leaves the cost to the core, which knows the pinned prices.
func usageOf(u Usage) engine.Usage {
	return engine.Usage{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, Estimated: u.Estimated}
}
