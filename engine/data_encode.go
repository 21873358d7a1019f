package engine

import (
	"sluice/policy"
)

func (d *createdData) append(e *enc) {
	e.open("", '{')
	e.open("input", '{')
	in := &d.Input
	e.str("kind", in.Kind)
	e.str("goal", in.Goal)
	e.int("intent", int64(in.Intent))
	e.strs("scopes", in.Scopes)
	e.str("mode", in.Mode)
	e.strOpt("checkpoints", in.Checkpoints)
	e.strOpt("idempotency_key", in.Key)
	e.strOpt("requester", in.Requester)
	e.strOpt("plan_author", in.Author)
	e.rawOpt("plan", in.Plan)
	e.strOpt("review", in.Review)
	e.strOpt("template", in.Template)
	in.appendBudget(e)
	e.close('}')
	e.str("policy", d.Policy)
	e.str("tools", d.Tools)
	d.Profile.append(e)
	e.str("planner", d.Planner)
	e.str("engine_version", d.EngineVersion)
	if d.Models != nil {
		e.open("models", '{')
		d.Models.Planner.append(e, "planner")
		d.Models.Executor.append(e, "executor")
		e.close('}')
	}
	e.close('}')
}

func (d *versionData) append(e *enc) {
	e.open("", '{')
	e.int("version", int64(d.Version))
	e.int("parent", int64(d.Parent))
	e.str("cause", d.Cause)
	e.str("by", d.By)
	e.str("hash", d.Hash)
	e.strs("added", d.Added)
	e.strsOpt("removed", d.Removed)
	e.strsOpt("changed", d.Changed)
	e.raw("findings", d.Findings)
	appendUnplanned(e, "unplanned", d.Unplanned)
	e.raw("plan", d.Plan)
	e.close('}')
}

func appendUnplanned(e *enc, k string, list []Unplanned) {
	e.open(k, '[')
	for _, u := range list {
		e.open("", '{')
		e.str("clause", u.Clause)
		e.str("why", u.Why)
		e.close('}')
	}
	e.close(']')
}

func (d *startedData) append(e *enc) {
	e.open("", '{')
	e.str("id", d.ID)
	e.str("kind", d.Kind)
	e.int("timeout_ms", d.TimeoutMS)
	e.strOpt("args_hash", d.Hash)
	d.Reserve.append(e, "reserve")
	d.Call.append(e, "call")
	appendDecision(e, "decision", d.Decision)
	e.strOpt("by", d.By)
	e.strOpt("fallback", d.Fallback)
	e.close('}')
}

// append leaves a nil call out.
func (c *callData) append(e *enc, k string) {
	if c == nil {
		return
	}
	e.open(k, '{')
	e.str("tool", c.Tool)
	e.str("effect", string(c.Effect))
	e.bool("external", c.External)
	e.int("declared_impact", int64(c.Declared))
	e.open("params", '[')
	for i := range c.Params {
		p := &c.Params[i]
		e.open("", '{')
		e.str("name", p.Name)
		e.raw("value", p.Value)
		e.open("labels", '[')
		for _, l := range p.Labels {
			e.str("", string(l))
		}
		e.close(']')
		e.str("source", p.Source)
		e.close('}')
	}
	e.close(']')
	e.int("intent", int64(c.Intent))
	e.strs("scopes", c.Scopes)
	e.str("requester", c.Requester)
	e.boolOpt("approval", c.Approval)
	e.strOpt("key", c.Key)
	appendHeld(e, c.Held)
	appendCleared(e, c.Cleared)
	e.close('}')
}

func appendHeld(e *enc, held []policy.Approval) {
	if len(held) == 0 {
		return
	}
	e.open("held", '[')
	for i := range held {
		e.open("", '{')
		e.str("id", held[i].ID)
		e.str("hash", held[i].Hash)
		e.int("expires_at", held[i].ExpiresAt)
		e.strs("approvers", held[i].Approvers)
		e.close('}')
	}
	e.close(']')
}

// appendDecision leaves a nil decision out.
func appendDecision(e *enc, k string, d *policy.Decision) {
	if d == nil {
		return
	}
	e.key(k)
	e.b = d.AppendJSON(e.b)
	e.more = true
}

func appendAsks(e *enc, asks []policy.AskFor) {
	e.open("asks", '[')
	for i := range asks {
		e.open("", '{')
		e.str("rule", asks[i].Rule)
		e.str("per", asks[i].Per)
		e.int("quorum", int64(asks[i].Quorum))
		e.strs("roles", asks[i].Roles)
		e.int("expires_s", asks[i].ExpiresS)
		e.close('}')
	}
	e.close(']')
}

func (d *changedData) append(e *enc) {
	e.open("", '{')
	e.str("to", string(d.To))
	e.str("reason", d.Reason)
	e.strOpt("cause", d.Cause)
	e.strOpt("detail", d.Detail)
	e.str("rule", d.Rule)
	e.intOpt("visible_at", d.VisibleAt)
	d.Call.append(e, "call")
	appendDecision(e, "decision", d.Decision)
	e.close('}')
}

func (d *requestedData) append(e *enc) {
	e.open("", '{')
	e.str("id", d.ID)
	e.str("hash", d.Hash)
	e.int("expires_at", d.ExpiresAt)
	appendAsks(e, d.Asks)
	e.bool("self", d.Self)
	e.str("requester", d.Requester)
	e.str("tool", d.Tool)
	e.int("impact", int64(d.Impact))
	d.Call.append(e, "call")
	appendDecision(e, "decision", d.Decision)
	e.close('}')
}

func (d *decidedData) append(e *enc) {
	e.open("", '{')
	e.str("id", d.ID)
	e.str("result", string(d.Result))
	e.strOpt("reason", d.Reason)
	e.open("input", '{')
	e.str("kind", d.Input.Kind)
	e.strOpt("verdict", d.Input.Verdict)
	e.strOpt("hash", d.Input.Hash)
	if len(d.Input.Roles) > 0 {
		e.strs("roles", d.Input.Roles)
	}
	e.close('}')
	e.close('}')
}
