package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/trace"
	"sluice/web/templates"
)

const logPage = 200 // facts on one page of the log view

// runPage shows a run in one of four ways; the graph also lives without script
// as a list.
func (s *Server) runPage(c echo.Context) error {
	v, err := s.runView(c)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.RunPage(v))
}

// runFragment is what a live page fetches again.
func (s *Server) runFragment(c echo.Context) error {
	v, err := s.runView(c)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.RunFragment(v))
}

func (s *Server) nodePanel(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	p, about, err := s.foldNode(c.Request().Context(), sum.ID, c.Param("node"))
	if err != nil {
		return err
	}
	n := s.nodeView(c, p, c.Param("node"), about)
	if n == nil {
		return notFound("step")
	}
	return render(c, http.StatusOK, templates.NodePanel(*n))
}

func (s *Server) runView(c echo.Context) (templates.Run, error) {
	sum, err := s.visibleRun(c)
	if err != nil {
		return templates.Run{}, err
	}
	node := c.QueryParam("node")
	p, about, err := s.foldNode(c.Request().Context(), sum.ID, node)
	if err != nil {
		return templates.Run{}, err
	}
	state := p.State()
	fold := summaryOf(p, sum)
	v := templates.Run{Shell: s.shell(c, plain(fold.Goal), "runs"), View: viewOf(c.QueryParam("view"), &fold), NodeID: node}
	v.Shell.Run, v.Shell.Seq = fold.ID, fold.Seq
	v.Head = s.runHead(c, &fold, sum.Requester)
	v.Steps = s.steps(c, p)
	v.Overview = templates.Overview{Goal: plain(fold.Goal), Requester: s.person(c, sum.Requester), Intent: fold.Intent.Name(),
		Mode: fold.Mode, Planner: planBy(state), Fallbacks: fold.Fallbacks, Usage: modelUsage(&fold), Policy: fold.Policy, Version: fold.PlanVersion,
		CreatedAt: fold.CreatedAt, EndedAt: fold.EndedAt}
	if fold.Requester == state.PlanBy() {
		v.Overview.Planner = s.person(c, state.PlanBy()).Name
	}
	if v.Review, err = s.reviewView(c, state); err != nil {
		return templates.Run{}, err
	}
	v.Head.Review, v.Head.CanSave, v.Head.Template = v.Review != nil, canSave(viewer(c), &fold), fold.Template
	if node != "" {
		v.Node = s.nodeView(c, p, node, about)
	}
	if fold.Status == engine.Ended {
		v.Verdict = verdictView(&fold, state)
	}
	return v, s.fillView(c, &v, p)
}

// fillView adds what only one of the views needs.
func (s *Server) fillView(c echo.Context, v *templates.Run, p *trace.Projector) error {
	switch v.View {
	case "log":
		log, err := s.logView(c, v.Head.ID)
		v.Log = log
		return err
	case "graph":
		v.Shell.Assets = s.assets(true)
		boot, err := s.boot(p, v.Head.CreatedAt)
		v.Boot = boot
		return err
	}
	return nil
}

// boot is the graph's first state. A young run starts from nothing and plays
// its facts over the socket, so that a run of 20 ms is still seen to grow (P40).
func (s *Server) boot(p *trace.Projector, created int64) (json.RawMessage, error) {
	view, seq := p.View(), p.Seq()
	if s.now()-created < youngUS {
		view.Nodes, seq = []trace.Node{}, 0
	}
	return json.Marshal(map[string]any{"run": view.Run.ID, "seq": seq, "view": view})
}

func viewOf(asked string, sum *engine.Summary) string {
	switch asked {
	case "graph", "list", "log":
		return asked
	case "verdict":
		if sum.Status == engine.Ended {
			return asked
		}
	}
	return "graph"
}

func (s *Server) runHead(c echo.Context, sum *engine.Summary, owner string) templates.RunHead {
	who := viewer(c)
	h := templates.RunHead{ID: sum.ID, Goal: plain(goalWords(sum)), Status: statusShown(sum), Code: string(sum.Code),
		CreatedAt: sum.CreatedAt, EndedAt: sum.EndedAt, Counts: sum.Counts, Mode: sum.Mode, Version: sum.PlanVersion,
		CanAct: owner == who.User.ID || who.has("admin"), Budget: spends(sum), Fallbacks: sum.Fallbacks}
	open, _, err := s.cfg.Log.Approvals(c.Request().Context(), ApprovalFilter{Run: sum.ID, Open: true, Limit: PageMax})
	if err != nil {
		s.cfg.Logger.Error("list approvals", "run", sum.ID, "err", err)
	}
	for i := range open {
		h.Waiting = append(h.Waiting, templates.Waiting{ID: open[i].ID, Node: open[i].Node, Mine: mayDecide(who, &open[i]) == ""})
	}
	for _, q := range sum.Questions {
		h.Waiting = append(h.Waiting, templates.Waiting{ID: questionID(sum.ID, q.Node, q.Attempt), Node: q.Node,
			Mine: who.Token == "" && (owner == who.User.ID || who.has("approver"))})
	}
	return h
}

func questionID(run, node string, attempt int) string {
	return "q." + run + "." + node + "." + strconv.Itoa(attempt)
}

func spends(sum *engine.Summary) []templates.Spend {
	calls, effects, wall := sum.Budget["tool_calls"], sum.Budget["side_effects"], sum.Budget["wall_clock_ms"]
	list := []templates.Spend{
		{Name: "Calls", Used: calls.Spent + calls.Reserved, Limit: calls.Limit},
		{Name: "Effects", Used: effects.Spent + effects.Reserved, Limit: effects.Limit},
		{Name: "Time", Used: wall.Spent / 1000, Limit: wall.Limit / 1000, Unit: "s"},
	}
	return append(list, modelSpends(sum)...)
}

func (s *Server) steps(c echo.Context, p *trace.Projector) []templates.Step {
	who := viewer(c)
	view := p.View()
	list := make([]templates.Step, len(view.Nodes))
	for i := range view.Nodes {
		n := &view.Nodes[i]
		st := templates.Step{ID: n.ID, Kind: n.Kind, Tool: n.Tool, State: string(n.State), Attempt: n.Attempt, Note: n.Note, Sketch: n.Sketch,
			Started: n.Started, Ended: n.Ended, Approval: n.Approval}
		for _, d := range n.Deps {
			st.After = append(st.After, d.From)
		}
		if n.Unknown {
			st.Approval = questionID(view.Run.ID, n.ID, n.Attempt)
		}
		st.Mine = st.Approval != "" && who.Token == "" && who.has("approver")
		list[i] = st
	}
	return list
}

func (s *Server) logView(c echo.Context, run string) (*templates.Log, error) {
	ctx := c.Request().Context()
	after, err := sequence(c, "after")
	if err != nil {
		return nil, err
	}
	rows, err := s.cfg.Log.Rows(ctx, run, after, logPage)
	if err != nil {
		return nil, err
	}
	log := &templates.Log{Export: "/runs/" + run + "/export", Rows: make([]templates.FactRow, len(rows))}
	for i := range rows {
		log.Rows[i] = factRow(&rows[i])
	}
	if len(rows) == logPage {
		log.Next = logURL(run, rows[len(rows)-1].Seq)
	}
	if after > 0 {
		log.Prev = logURL(run, max(after-logPage, 0))
	}
	log.Proof, err = s.proof(ctx, run)
	return log, err
}

func logURL(run string, after int64) string {
	u := "/runs/" + run + "?view=log"
	if after > 0 {
		u += "&after=" + strconv.FormatInt(after, 10)
	}
	return u
}

func factRow(r *engine.Row) templates.FactRow {
	row := templates.FactRow{Seq: r.Seq, At: r.At, Kind: string(r.Kind), Node: r.Node, Attempt: r.Attempt, Version: r.Version,
		Cause: r.Cause, Actor: r.Actor, Summary: plain(trace.Sentence(r)), Hash: hexOf(r.Hash), Erased: r.Erased}
	if !r.Erased {
		row.Data = indented(r.Data)
	}
	return row
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 2*len(b))
	for _, c := range b {
		out = append(out, digits[c>>4], digits[c&15])
	}
	return string(out)
}

func (s *Server) proof(ctx context.Context, run string) (templates.Proof, error) {
	p, err := s.cfg.Audit.Proof(ctx, run)
	return templates.Proof{Status: p.Status, Facts: p.Facts, Head: p.Head, SealedAt: p.SealedAt, Reason: p.Reason, Seq: p.Seq}, err
}

// verdictView shows why a run ended and what it found; every claim leads to
// the observations behind it (R55).
func verdictView(sum *engine.Summary, state *engine.State) *templates.Verdict {
	v := &templates.Verdict{Code: string(sum.Code), Causes: causeWords(sum.Causes)}
	for _, u := range sum.Unplanned {
		v.Unplanned = append(v.Unplanned, templates.Unplanned{Clause: plain(u.Clause), Why: plain(u.Why)})
	}
	v.Foot = []string{plural(len(planNodes(state)), "step"), plural(sum.PlanVersion, "plan version"),
		plural(int(sum.Budget["side_effects"].Spent), "side effect")}
	if sum.Verdict == nil {
		return v
	}
	v.Text, v.By = plain(sum.Verdict.Text), sum.Verdict.By
	if steps := planNodes(state); len(steps) > 0 {
		var went string
		went, v.Left = howItWent(steps)
		if v.By == engine.BuiltinBy {
			v.Text = went
		} else {
			v.Foot = append(v.Foot, strings.TrimSuffix(went, "."))
		}
	}
	owner := map[string]string{}
	for _, n := range state.Nodes() {
		if n.Observation != "" {
			owner[n.Observation] = n.ID
		}
	}
	number := map[string]int{}
	for _, claim := range sum.Verdict.Claims {
		cl := templates.Claim{Text: plain(claim.Text)}
		if len(claim.Observations) == 1 {
			cl.Title = titleOf(owner[claim.Observations[0]])
		}
		for _, o := range claim.Observations {
			if number[o] == 0 {
				number[o] = len(number) + 1
			}
			cl.Cites = append(cl.Cites, templates.Cite{N: number[o], Observation: o, Node: owner[o]})
		}
		v.Claims = append(v.Claims, cl)
	}
	if n := len(v.Claims); n > 0 {
		v.Linked = strconv.Itoa(n) + " of " + plural(n, "claim") + " linked to verified outputs"
	}
	return v
}

// titleOf reads a step's id as the heading of what it found.
func titleOf(id string) string {
	return sentence(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return r
	}, id))
}

// howItWent says how much was verified, and of each other step why it was not
// done; the claims say what was found.
func howItWent(steps []engine.NodeView) (text string, rest []templates.Left) {
	done := 0
	for _, n := range steps {
		switch n.State {
		case engine.NodeExecuted:
			done++
		case engine.NodeSkipped:
			rest = append(rest, templates.Left{Node: n.ID, Why: "Not needed: " + skipWord(n.Cause) + "."})
		case engine.NodeFailed:
			rest = append(rest, templates.Left{Node: n.ID, Why: "Not done: " + strings.Replace(causeWord(n.Cause), "a step", "it", 1) + ".", Failed: true})
		default:
			rest = append(rest, templates.Left{Node: n.ID, Why: "Not done: " + causeWord(n.Cause) + "."})
		}
	}
	switch {
	case done == 1 && len(steps) == 1:
		return "The one step is verified.", nil
	case done == len(steps):
		return "All " + strconv.Itoa(done) + " steps are verified.", nil
	case done == 0:
		return "No step was done.", rest
	}
	return strconv.Itoa(done) + " of " + plural(len(steps), "step") + " verified.", rest
}

func skipWord(cause string) string {
	if cause == "sibling" {
		return "another candidate was enough"
	}
	return "its condition did not hold"
}

// planBy names who plans, also while they still do.
func planBy(state *engine.State) string {
	if by := state.PlanBy(); by != "" {
		return by
	}
	n, _ := state.Node(engine.PlannerNode)
	return n.By
}

func planNodes(state *engine.State) []engine.NodeView {
	return slices.DeleteFunc(state.Nodes(), func(n engine.NodeView) bool { return n.Step == nil })
}

// causeWords says causes in words.
func causeWords(causes []string) []string {
	words := make([]string, len(causes))
	for i, c := range causes {
		words[i] = causeWord(c)
	}
	return words
}

func causeWord(c string) string {
	switch c {
	case "gate":
		return "the gate denied a step"
	case "rejected":
		return "a person denied a step"
	case "expired":
		return "an approval expired"
	case "unplanned":
		return "a part of the goal was not planned"
	case "nothing_planned":
		return "nothing in the goal could be planned"
	case "plan_rejected":
		return "the proposed plan did not compile"
	case "plan_contract":
		return "the plan's own contract was not met"
	case "aborted":
		return "a person aborted a step"
	case "cancel":
		return "a step was stopped"
	case "review":
		return "nobody started the plan in time"
	case "planner":
		return "the planner was not available"
	}
	if word, is := budgetWords[c]; is {
		return "the budget of " + word + " is used up"
	}
	if len(c) > 7 && c[:7] == "failed:" {
		return "a step failed: " + failureWord(c[7:])
	}
	return c
}

func failureWord(class string) string {
	switch class {
	case "unavailable":
		return "the tool is not available"
	case "not_found":
		return "what it names does not exist"
	case "conflict":
		return "it conflicts with what is there"
	case "contract":
		return "its output misses its contract"
	case "timeout":
		return "it did not end in time"
	case "transient":
		return "it kept failing"
	}
	return "its parameters or result are not valid"
}
