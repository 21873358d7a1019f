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
	p, about, story, err := s.foldStory(c.Request().Context(), sum.ID, c.Param("node"))
	if err != nil {
		return err
	}
	n := s.nodeView(c, p, c.Param("node"), about)
	if n == nil {
		return notFound("step")
	}
	n.Held = s.heldView(c, p.State(), n.ID, story)
	return render(c, http.StatusOK, templates.NodePanel(*n))
}

func (s *Server) runView(c echo.Context) (templates.Run, error) {
	sum, err := s.visibleRun(c)
	if err != nil {
		return templates.Run{}, err
	}
	node := c.QueryParam("node")
	p, about, story, err := s.foldStory(c.Request().Context(), sum.ID, node)
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
		CreatedAt: fold.CreatedAt, EndedAt: fold.EndedAt,
		Pinned: s.ruleBook(c.Request().Context(), state).version(fold.Policy, fold.CreatedAt).link()}
	if by := state.PlanBy(); by != "" && by != engine.BuiltinBy && !strings.HasPrefix(by, "model:") {
		v.Overview.Planner = "written by " + s.actor(c, by)
	}
	v.Overview.Now = s.nowWords(c, state, story)
	if v.Review, err = s.reviewView(c, state); err != nil {
		return templates.Run{}, err
	}
	v.Head.Review, v.Head.CanSave, v.Head.Template = v.Review != nil, canSave(viewer(c), &fold), fold.Template
	if node != "" {
		if v.Node = s.nodeView(c, p, node, about); v.Node != nil {
			v.Node.Held = s.heldView(c, state, node, story)
		}
	}
	if fold.Status == engine.Ended {
		v.Verdict = s.verdictView(c, &fold, state, story)
	}
	return v, s.fillView(c, &v, p)
}

// fillView adds what only one of the views needs.
func (s *Server) fillView(c echo.Context, v *templates.Run, p *trace.Projector) error {
	switch v.View {
	case "log":
		log, err := s.logView(c, p.State())
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
