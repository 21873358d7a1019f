package handlers

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/trace"
	"sluice/policy"
	"sluice/web/templates"
)

// nodeView builds the inspector of one node, nil when there is no such node.
func (s *Server) nodeView(c echo.Context, p *trace.Projector, id string, about []nodeRecord) *templates.Node {
	n, ok := p.State().Node(id)
	if !ok {
		return nil
	}
	v := &templates.Node{Run: p.State().ID(), ID: id, Kind: n.Kind, State: string(n.State)}
	if n.Step != nil {
		s.describeStep(v, p, &n)
	} else {
		v.By, v.Fallback = n.By, n.Fallback
		v.Usage = controlUsage(n.Usage, engine.Summarise(p.State()).Unpriced)
	}
	if call, d, at := lastCall(about); call != nil {
		v.Params, v.Pending = paramViews(call.Params), false
		v.Gate = gateLines(call, d, n.State)
		s.ruleBook(c.Request().Context(), p.State()).name(v, d, at)
	} else if n.Step != nil {
		v.Params = plannedParams(p.State(), &n)
		v.Pending = len(n.Step.Refs) > 0
	}
	v.Answers = s.answerViews(c, about)
	v.Result = resultView(&n, about)
	v.Attempts = attemptViews(about)
	v.Call = s.callOut(c, p.State(), &n, about)
	v.Raw = rawNode(&n, about)
	return v
}

func (s *Server) describeStep(v *templates.Node, p *trace.Projector, n *engine.NodeView) {
	step := n.Step
	v.Tool, v.Why = step.Tool, plain(step.Why)
	v.Position = "step " + strconv.Itoa(step.Index+1) + " of " + strconv.Itoa(len(p.State().Plan().Steps))
	v.Facts = []templates.Pair{
		{Name: "Effect", Value: effectWords(step.Effect)},
		{Name: "Class", Value: string(step.Class)},
		{Name: "Join", Value: string(step.Join)},
		{Name: "Retries", Value: strconv.Itoa(step.Retries)},
		{Name: "Timeout", Value: step.Timeout.String()},
	}
	if step.Schema != nil {
		v.Facts = append(v.Facts, templates.Pair{Name: "Contract", Value: "schema of this step"})
	} else {
		v.Facts = append(v.Facts, templates.Pair{Name: "Contract", Value: "schema of " + step.Tool})
	}
	if g := step.Guard; g != nil {
		v.Predicate = p.State().Plan().Steps[g.From].ID + "." + g.Field + " " + g.Op + " " + plain(string(g.Value))
	}
}

func effectWords(e policy.Effect) string {
	switch e {
	case policy.Read:
		return "read, may run again"
	case policy.Idempotent:
		return "idempotent, may run again under its key"
	}
	return "once, no automatic retry"
}

// lastCall is the newest gate input with its decision.
func lastCall(about []nodeRecord) (call *callRecord, d *policy.Decision, at int64) {
	for i := len(about) - 1; i >= 0; i-- {
		if about[i].data.Call != nil {
			return about[i].data.Call, about[i].data.Decision, about[i].row.At
		}
	}
	return nil, nil, 0
}

func paramViews(params []paramRecord) []templates.Param {
	var list []templates.Param
	for i := range params {
		source, step, isRef := sourceOf(params[i].Source)
		for _, l := range leaves(params[i].Name, params[i].Value) {
			list = append(list, templates.Param{Name: l.path, Value: l.value, Source: source, Ref: isRef, Step: step, Labels: params[i].Labels})
		}
	}
	return list
}

// sourceOf reads a source pointer for people (P20).
func sourceOf(source string) (words, step string, isRef bool) {
	if rest, ok := strings.CutPrefix(source, "step:"); ok {
		step, field, _ := strings.Cut(rest, "/")
		if field == "" {
			return step, step, true
		}
		return step + "." + field, step, true
	}
	return "plan literal", "", false
}

// plannedParams shows a step that has not been dispatched: literals as they
// are, references by name.
func plannedParams(state *engine.State, n *engine.NodeView) []templates.Param {
	var list []templates.Param
	for i := range n.Step.Literals {
		l := &n.Step.Literals[i]
		labels := make([]string, len(l.Labels))
		for k := range l.Labels {
			labels[k] = string(l.Labels[k])
		}
		list = append(list, paramViews([]paramRecord{{Name: l.Param, Value: l.Value, Labels: labels, Source: l.Source}})...)
	}
	for i := range n.Step.Refs {
		r := &n.Step.Refs[i]
		id := state.Plan().Steps[r.From].ID
		list = append(list, templates.Param{Name: r.Param, Value: "not yet known", Source: strings.TrimSuffix(id+"."+r.Field, "."), Ref: true, Step: id})
	}
	return list
}

// gateLines say a decision stage by stage, as far as it got (design §6).
func gateLines(call *callRecord, d *policy.Decision, state engine.NodeState) []templates.Gate {
	if d == nil {
		return nil
	}
	scope := templates.Gate{Stage: "Scope", Answer: "allow", Text: call.Tool + " is in scope " + strings.Join(call.Scopes, ", ")}
	impact := templates.Gate{Stage: "Impact", Answer: "allow",
		Text: strconv.Itoa(int(d.Impact)) + ", within " + d.Limit.Name() + " (" + strconv.Itoa(int(d.Limit)) + ")"}
	ask := templates.Gate{Stage: "Approval", Answer: "none", Text: "no rule asks"}
	reasons := plain(strings.Join(d.Reasons, "; "))
	switch {
	case d.Outcome == policy.Deny && d.Stage == policy.StageScope:
		scope.Answer, scope.Text = "deny", reasons
		impact.Answer, impact.Text = "none", "not asked"
		ask.Text = "not asked"
	case d.Outcome == policy.Deny && d.Stage == policy.StageClearance:
		ask.Text = "not asked"
	case d.Outcome == policy.Deny:
		impact.Answer, impact.Text = "deny", reasons
		ask.Text = "not asked"
	case len(d.Clear) > 0:
		ask.Text = "after clearance"
	case d.Outcome == policy.Ask:
		ask.Answer, ask.Text = "ask", askWords(d.Asks)
	case len(call.Held) > 0:
		ask.Answer, ask.Text = "allow", "given by "+strings.Join(call.Held[0].Approvers, ", ")
	}
	return []templates.Gate{scope, impact, clearanceLine(call, d), ask}
}

func askWords(asks []policy.AskFor) string {
	words := make([]string, len(asks))
	for i, a := range asks {
		words[i] = "rule " + a.Rule + " asks " + plural(max(a.Quorum, 1), "approver")
	}
	return strings.Join(words, ", ")
}

func resultView(n *engine.NodeView, about []nodeRecord) *templates.Result {
	for i := len(about) - 1; i >= 0; i-- {
		r := &about[i]
		switch r.row.Kind {
		case engine.AttemptEnded:
			return endedResult(n, r)
		case engine.OutcomeAttested:
			if n.State == engine.NodeExecuted {
				return &templates.Result{Observation: n.Observation, Source: "human", JSON: indented(n.Output), Verified: true,
					Checks: []string{"attested by " + r.row.Actor}, Seq: r.row.Seq}
			}
		case engine.NodeChanged:
			if n.State == engine.NodeFailed {
				return &templates.Result{ErrorClass: r.data.Reason, Error: plain(denialText(&r.data)), Seq: r.row.Seq, Erased: r.row.Erased}
			}
		}
	}
	return nil
}

func denialText(d *record) string {
	if d.Decision != nil && len(d.Decision.Reasons) > 0 {
		return strings.Join(d.Decision.Reasons, "; ")
	}
	return d.Detail
}

func endedResult(n *engine.NodeView, r *nodeRecord) *templates.Result {
	in := &r.data.Input
	v := &templates.Result{Observation: r.data.Observation, Source: r.row.Actor, Seq: r.row.Seq, Erased: r.row.Erased}
	switch {
	case in.Blob != nil:
		v.JSON = plain(in.Blob.Head) + "\n…\n" + plain(in.Blob.Tail)
		v.Checks = []string{plural(int(in.Blob.Size), "byte") + ", kept outside the log as " + in.Blob.SHA256[:12] + "…"}
	case len(in.Output) > 0:
		v.JSON = indented(in.Output)
	case len(in.Plan) > 0:
		v.JSON = indented(in.Plan)
	}
	if in.Class != "" {
		v.ErrorClass, v.Error = in.Class, plain(firstOf(in.Detail, r.data.Problem))
		return v
	}
	v.Verified = n.State == engine.NodeExecuted
	if r.data.VerifiedBy != "" {
		v.Checks = append(v.Checks, "Contract: "+r.data.VerifiedBy)
	}
	return v
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func attemptViews(about []nodeRecord) []templates.Attempt {
	var list []templates.Attempt
	for i := range about {
		r := &about[i]
		switch r.row.Kind {
		case engine.AttemptStarted:
			list = append(list, templates.Attempt{N: r.row.Attempt, State: "running", Text: "Started", Started: r.row.At, Seq: r.row.Seq})
		case engine.AttemptEnded, engine.InputUnknown, engine.OutcomeAttested:
			endAttempt(list, r)
		}
	}
	return list
}

// endAttempt fills what became of the newest attempt.
func endAttempt(list []templates.Attempt, r *nodeRecord) {
	if len(list) == 0 {
		return
	}
	last := &list[len(list)-1]
	last.Ended, last.Seq, last.Text = r.row.At, r.row.Seq, plain(trace.Sentence(&r.row))
	last.State = r.data.To
	if r.row.Kind == engine.InputUnknown {
		last.State = string(engine.NodeWaiting)
	}
}

// callOut is the request that a waiting node shows first.
func (s *Server) callOut(c echo.Context, state *engine.State, n *engine.NodeView, about []nodeRecord) *templates.CallOut {
	if n.State != engine.NodeWaiting {
		return nil
	}
	call, _, _ := lastCall(about)
	if n.Unknown {
		return &templates.CallOut{ID: questionID(state.ID(), n.ID, n.Attempt), Question: true, Mine: viewer(c).Token == "",
			Title: "Was this done? " + callTitle(n.Step.Tool, call),
			Text:  "The attempt started at " + clock(n.StartedAt) + " and no outcome was recorded."}
	}
	for _, a := range state.Approvals() {
		if a.ID != n.Approval {
			continue
		}
		ask := Approval{ApprovalAsk: a.ApprovalAsk, Approvers: a.Approvers}
		return &templates.CallOut{ID: a.ID, Title: callTitle(a.Tool, call) + "?", Text: undoWords(a.Tool) + " Denied automatically if nobody answers.",
			ExpiresAt: a.ExpiresAt, Mine: mayDecide(viewer(c), &ask) == ""}
	}
	return nil
}

func clock(us int64) string { return time.UnixMicro(us).UTC().Format("15:04:05") + " UTC" }

// rawNode is the node's newest fact, whole.
func rawNode(n *engine.NodeView, about []nodeRecord) string {
	if len(about) == 0 {
		raw, err := json.Marshal(n.Step)
		if err != nil {
			return ""
		}
		return indented(raw)
	}
	last := &about[len(about)-1]
	if last.row.Erased {
		return ""
	}
	return indented(last.row.AppendJSON(nil))
}
