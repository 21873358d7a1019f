package main

import (
	"context"

	"sluice/engine"
	"sluice/engine/tool"
	"sluice/policy/clearance"
)

// authorities asks over HTTP. Secrets leave neither in the question nor in what
// is kept of the answer.
type authorities struct {
	client *clearance.Client
	redact *tool.Redactor
}

func (a authorities) Clear(ctx context.Context, c engine.Clear) engine.Cleared {
	got := a.client.Ask(ctx, clearance.Request{URL: c.URL, Tool: c.Tool, Params: a.redact.JSON(c.Params),
		User: c.User, Run: c.Run, Timeout: c.Timeout})
	return engine.Cleared{Allow: got.Allow, Reason: got.Reason, Failure: got.Failure, Nonce: got.Nonce}
}
