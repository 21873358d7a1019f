package main

import (
	"context"
	"log/slog"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/tool"
)

// tools performs attempts through the executor: the Grant goes along unopened.
type tools struct {
	registry *tool.Registry
	executor *tool.Executor
	log      *slog.Logger
}

func (t tools) Catalog() *plan.Catalog { return t.registry.Catalog() }

func (t tools) Perform(ctx context.Context, c engine.Perform) engine.AttemptDone {
	out := t.executor.Perform(ctx, tool.Job{Grant: c.Grant, Call: c.Call, Params: c.Params, Timeout: c.Timeout, Key: c.Call.Key})
	if out.Fault != nil {
		t.log.Error("perform attempt", "run", c.Call.Run, "node", c.Node, "attempt", c.Attempt, "err", out.Fault)
	}
	return engine.AttemptDone{Output: out.Output, Class: engine.Class(out.Class), Detail: out.Detail, Unsent: out.BeforeSend,
		StartedAt: out.Started.UnixMicro(), EndedAt: out.Ended.UnixMicro()}
}
