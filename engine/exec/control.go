package exec

import (
	"bytes"
	"context"
	"errors"

	"sluice/engine"
)

// propose asks for a plan. An error is a call that failed: the core decides
// whether it is made again.
func (r *runner) propose(ctx context.Context, c engine.Propose) engine.Input {
	ctx, cancel := context.WithTimeout(ctx, engine.ControlTimeout)
	defer cancel()
	in, err := r.shell.cfg.Planner.Propose(ctx, c, func(step []byte) { r.sketched(c, step) })
	if err != nil {
		in = engine.Planned{Usage: in.Usage, Class: r.controlFailed(ctx, c.Node, err), Detail: err.Error()}
	}
	if in.By == "" {
		in.By = c.By
	}
	for _, text := range []*string{&in.Answer, &in.Detail, &in.Raw, &in.Problem} {
		*text = r.shell.cfg.Redact(*text)
	}
	in.Head, in.Node, in.Attempt = r.head("model:planner", c.By), c.Node, c.Attempt
	return &in
}

// conclude asks for the final reflection.
func (r *runner) conclude(ctx context.Context, c engine.Conclude) engine.Input {
	ctx, cancel := context.WithTimeout(ctx, engine.ControlTimeout)
	defer cancel()
	in, err := r.shell.cfg.Planner.Conclude(ctx, c)
	if err != nil {
		in = engine.Concluded{Usage: in.Usage, Class: r.controlFailed(ctx, c.Node, err), Detail: err.Error()}
	}
	if in.Verdict.By == "" {
		in.Verdict.By = c.By
	}
	for _, text := range []*string{&in.Verdict.Text, &in.Note, &in.Detail, &in.Raw, &in.Problem} {
		*text = r.shell.cfg.Redact(*text)
	}
	in.Head, in.Node, in.Attempt = r.head("model:executor", c.By), c.Node, c.Attempt
	return &in
}

// sketched passes a streamed step on; one that finds the inbox full is lost, and
// the full answer has it anyway.
func (r *runner) sketched(c engine.Propose, step []byte) {
	in := &engine.Sketched{Head: r.head("model:planner", c.By), Node: c.Node, Attempt: c.Attempt, Step: bytes.Clone(step)}
	_ = r.deliver(message{in: in}, InboxMax)
}

// head names the actor of a control answer: plain code is the system (P25).
func (r *runner) head(role, by string) engine.Head {
	actor := role
	if by == engine.BuiltinBy {
		actor = "system"
	}
	return engine.Head{At: r.shell.now(), Actor: actor}
}

func (r *runner) controlFailed(ctx context.Context, node string, err error) engine.Class {
	r.shell.cfg.Logger.Error("control step", "run", r.run, "node", node, "err", err)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return engine.ClassTimeout
	}
	return engine.ClassUnavailable
}
