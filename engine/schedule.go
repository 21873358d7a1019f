package engine

import (
	"strconv"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

func itoa(n int) string { return strconv.Itoa(n) }

// dispatch starts ready nodes in plan order while a slot is free (R25, P31a).
func (s *State) dispatch() bool {
	did := false
	for !s.run.paused && s.run.halt == "" && !s.held() && s.running+s.count[blocked] < s.run.profile.Slots && s.fault == "" {
		i, ok := s.ready.pop()
		if !ok {
			break
		}
		if s.nodes[i].state != ready {
			continue // stale
		}
		did = true
		s.start(i)
	}
	return did
}

// start takes one ready node through resolve, gate and budget to a durable
// attempt. It is the only way a tool call comes about.
func (s *State) start(i int) {
	params, problem := s.resolve(i)
	if problem != "" {
		s.change(i, failed, &changedData{Reason: "unresolved_reference", Cause: s.dataCause(i), Detail: cut(problem), Rule: "T16"})
		return
	}
	step := &s.plan.Steps[i]
	whole := plan.Splice(params)
	if len(step.Refs) > 0 {
		if problem := s.checkResolved(step, whole); problem != "" {
			s.change(i, failed, &changedData{Reason: "params_invalid", Cause: "failed:invalid", Detail: cut(problem), Rule: "T16"})
			return
		}
	}
	call := s.call(i, params)
	grant, decision := s.authorise(call)
	perform := Perform{Node: step.ID, Attempt: call.Attempt, Call: call, Grant: grant, Params: whole, Timeout: step.Timeout}
	switch {
	case decision.Outcome == policy.Allow:
		s.attempt(i, perform, &decision)
	case decision.Outcome == policy.Ask && len(decision.Clear) > 0:
		s.askAuthorities(i, perform, &decision)
	case decision.Outcome == policy.Ask:
		s.ask(i, call, decision)
	default:
		s.deny(i, call.Attempt, &changedData{Reason: "denied", Cause: "gate", Rule: "T16",
			Call: s.callData(&call), Decision: &decision})
	}
}

// authorise is the one caller of policy.Authorise (P18): both the pinned and
// the current policy must allow (P19).
func (s *State) authorise(c policy.Call) (policy.Grant, policy.Decision) {
	return policy.Authorise(s.env.Pinned, s.env.Current, c)
}

// attempt makes an allowed call durable and asks the shell to perform it.
func (s *State) attempt(i int, c Perform, d *policy.Decision) {
	want := reserve{ToolCalls: 1}
	if s.effectful(i) {
		want.SideEffects = 1
	}
	if c.Attempt > 1 {
		want.Retries = 1
	}
	if over := s.over(&want); over != "" {
		s.halt(BudgetExhausted, over)
		return
	}
	c.ID = commandID(c.Node, c.Attempt)
	s.emit(AttemptStarted, c.Node, c.Attempt, &startedData{ID: c.ID, Kind: "tool",
		TimeoutMS: c.Timeout.Milliseconds(), Hash: argsHash(c.Params), Reserve: want,
		Call: s.callData(&c.Call), Decision: d})
	s.warn()
	s.command(c)
}

func (s *State) effectful(i int) bool { return s.plan.Steps[i].Class == plan.Act }

// resolve merges literals and referenced values into parameters sorted by name.
func (s *State) resolve(i int) ([]policy.Param, string) {
	step := &s.plan.Steps[i]
	params := make([]policy.Param, 0, len(step.Literals)+len(step.Refs))
	l, r := step.Literals, step.Refs
	for len(l) > 0 || len(r) > 0 {
		if len(r) == 0 || (len(l) > 0 && l[0].Param < r[0].Param) {
			params = append(params, policy.Param{Name: l[0].Param, Value: l[0].Value, Labels: l[0].Labels, Source: l[0].Source})
			l = l[1:]
			continue
		}
		p, problem := s.resolveRef(&r[0])
		if problem != "" {
			return nil, problem
		}
		params = append(params, p)
		r = r[1:]
	}
	return params, ""
}

// resolveRef reads verified outputs of executed steps only (R10); a missing
// field fails the step before any call is made (R9).
func (s *State) resolveRef(ref *plan.CompiledRef) (policy.Param, string) {
	from := &s.nodes[ref.From]
	id := s.plan.Steps[ref.From].ID
	if from.state != executed {
		return policy.Param{}, "parameter " + ref.Param + " reads " + id + ", which has not executed"
	}
	output := from.output
	if from.blob != nil {
		if len(ref.Path) > 0 || ref.Template != "" {
			return policy.Param{}, "parameter " + ref.Param + " reads a field of " + id + ", whose output is too large to be inline"
		}
		output = []byte(`{"blob":"sha256:` + from.blob.SHA256 + `"}`)
	}
	value, err := ref.Resolve(output)
	if err != nil {
		return policy.Param{}, "parameter " + ref.Param + ": " + err.Error()
	}
	return policy.Param{Name: ref.Param, Value: value, Labels: s.labels(ref), Source: ref.Source}, ""
}

// labels: the field's label; a template adds the plan's own text and keeps it (P20).
func (s *State) labels(ref *plan.CompiledRef) []policy.Label {
	label := policy.LabelUntrusted
	tool, ok := s.env.Catalog.Lookup(s.plan.Steps[ref.From].Tool)
	if ok {
		for _, f := range tool.Trusted {
			if f == ref.Field {
				label = policy.LabelTrusted
			}
		}
	}
	return []policy.Label{label}
}

func (s *State) checkResolved(step *plan.CompiledStep, whole []byte) string {
	if len(whole) > plan.ParamsBytesMax {
		return "the resolved parameters are larger than 256 KiB"
	}
	if err := s.env.Catalog.CheckParams(step.Tool, whole); err != nil {
		return err.Error()
	}
	return ""
}

// call is everything the gate looks at for the next attempt of node i.
func (s *State) call(i int, params []policy.Param) policy.Call {
	n, step := &s.nodes[i], &s.plan.Steps[i]
	c := policy.Call{Run: s.run.id, Node: step.ID, Attempt: n.attempt + 1, Params: params,
		Intent: s.run.intent, Scopes: s.run.scopes, Requester: s.run.requester,
		Approval: step.Approval, Held: n.held, Cleared: n.cleared(n.attempt+1, s.run.now), At: s.run.now}
	if tool, ok := s.env.Catalog.Lookup(step.Tool); ok {
		c.Tool, c.Known = tool.Tool, true
	} else {
		c.Tool = policy.Tool{Name: step.Tool, Effect: policy.Once, Impact: policy.RankMax}
	}
	if step.Effect != policy.Read {
		c.Key = s.deriveID("k_", step.ID, 0, 0)
	}
	return c
}

// callAgain is the call of the attempt that runs, with what it was allowed on.
func (s *State) callAgain(i int, params []policy.Param) policy.Call {
	n, c := &s.nodes[i], s.call(i, params)
	c.Attempt, c.Cleared = n.attempt, n.cleared(n.attempt, s.run.now)
	return c
}

func (s *State) callData(c *policy.Call) *callData {
	d := &callData{Tool: c.Tool.Name, Effect: c.Tool.Effect, External: c.Tool.External,
		Declared: int(c.Tool.Impact), Intent: int(c.Intent), Scopes: c.Scopes,
		Requester: c.Requester, Approval: c.Approval, Key: c.Key, Held: c.Held, Cleared: c.Cleared}
	if len(c.Params) > 0 {
		d.Params = make([]paramData, len(c.Params))
		for i := range c.Params {
			p := &c.Params[i]
			d.Params[i] = paramData{Name: p.Name, Value: p.Value, Labels: p.Labels, Source: p.Source}
		}
	}
	return d
}

// stopCommand ends a running attempt: reads at once, effects after a grace (P7).
func (s *State) stopCommand(i int) Command {
	step, n := &s.plan.Steps[i], &s.nodes[i]
	grace := time.Duration(0)
	if step.Effect != policy.Read {
		grace = stopGrace
	}
	return Stop{ID: "stop " + commandID(step.ID, n.attempt), Node: step.ID, Attempt: n.attempt, Grace: grace}
}
