package handlers

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/web/templates"
)

const inboxPage = 50

// approvals shows the inbox and, when the path names one, the open packet.
func (s *Server) approvals(c echo.Context) error {
	return s.showApprovals(c, http.StatusOK, nil)
}

// showApprovals renders the inbox; touch changes the open packet, for instance
// to say why an answer was not used.
func (s *Server) showApprovals(c echo.Context, status int, touch func(*templates.Packet)) error {
	v, err := s.inbox(c)
	if err != nil {
		return err
	}
	id := c.Param("approval")
	if id == "" {
		return render(c, status, templates.ApprovalsPage(v))
	}
	packet, err := s.packet(c, id)
	if err != nil {
		return err
	}
	if touch != nil {
		touch(packet)
	}
	v.Packet = packet
	for i := range v.Rows {
		if v.Rows[i].On {
			packet.Position = strconv.Itoa(i+1) + " of " + strconv.Itoa(len(v.Rows))
		}
	}
	v.Shell.Title = packet.Title
	return render(c, status, templates.ApprovalsPage(v))
}

func (s *Server) inbox(c echo.Context) (templates.Approvals, error) {
	v := templates.Approvals{Shell: s.shell(c, "Approvals", "approvals"), Tab: c.QueryParam("tab")}
	if v.Tab != "all" && v.Tab != "decided" {
		v.Tab = "mine"
	}
	f := ApprovalFilter{Limit: inboxPage, Cursor: c.QueryParam("cursor"), Open: v.Tab == "mine", Closed: v.Tab == "decided"}
	page, next, err := s.cfg.Log.Approvals(c.Request().Context(), f)
	if err != nil {
		return v, invalidFilter(err)
	}
	who := viewer(c)
	for i := range page {
		if !who.sees(page[i].Requester) {
			continue
		}
		row := s.inboxRow(c, &page[i])
		if v.Tab == "mine" && mayDecide(who, &page[i]) != "" {
			v.Others = append(v.Others, row)
			continue
		}
		v.Rows = append(v.Rows, row)
	}
	if v.Tab != "decided" {
		for _, q := range s.questions(c.Request().Context(), who) {
			v.Rows = append(v.Rows, templates.InboxRow{ID: q.id(), Title: "Was this done? " + q.Tool, Tool: q.Tool,
				Detail: plain(q.goal) + ", unknown since " + clock(q.At), State: templates.StateOpen, ExpiresAt: q.Expires, Question: true, On: q.id() == c.Param("approval")})
		}
	}
	if next != "" {
		v.Next = "/approvals?tab=" + v.Tab + "&cursor=" + next
	}
	return v, nil
}

func (s *Server) inboxRow(c echo.Context, a *Approval) templates.InboxRow {
	row := templates.InboxRow{ID: a.ID, Title: s.approvalTitle(c.Request().Context(), a), Tool: a.Tool,
		State: packetState(viewer(c), a), ExpiresAt: a.ExpiresAt, On: a.ID == c.Param("approval")}
	if !isOpen(a.State) {
		row.DecidedAt = a.DecidedAt
	}
	goal := erasedWord
	if sum, err := s.cfg.Log.Run(c.Request().Context(), a.Run); err == nil && sum.Goal != "" {
		goal = plain(sum.Goal)
	}
	row.Detail = goal + ", " + s.byWhom(c, a.Requester)
	return row
}

func isOpen(state string) bool { return state == "pending" || state == "counted" }

func packetState(v *Viewer, a *Approval) string {
	switch {
	case !isOpen(a.State):
		return a.State
	case slices.Contains(a.Approvers, v.User.ID):
		return templates.StateCounted
	case mayDecide(v, a) != "":
		return templates.StateOthers
	}
	return templates.StateOpen
}

// packet builds everything a person needs to decide (R73).
func (s *Server) packet(c echo.Context, id string) (*templates.Packet, error) {
	if strings.HasPrefix(id, "q.") {
		return s.questionPacket(c, id)
	}
	a, err := s.visibleApproval(c)
	if err != nil {
		return nil, err
	}
	ctx := c.Request().Context()
	p, _, err := s.foldNode(ctx, a.Run, "")
	if err != nil {
		return nil, err
	}
	ask := s.asked(ctx, &a)
	v := &templates.Packet{ID: a.ID, Hash: a.Hash, Key: rand.Text(), State: packetState(viewer(c), &a),
		Title: callTitle(a.Tool, ask.Call), Tool: a.Tool, Impact: int(a.Impact), ImpactName: a.Impact.Name(),
		ExpiresAt: a.ExpiresAt, OnExpiry: expiryWords(a.Tool), Requester: s.person(c, a.Requester),
		Run: a.Run, Node: a.Node, MayNot: mayDecide(viewer(c), &a),
		IfApprove: approveWords(a.Tool), IfDeny: "ends this step. Who asked sees the reason, no model does."}
	s.fillCall(v, &ask)
	s.fillPlace(v, p.State())
	v.Why = whyStopped(&a, &ask)
	if ask.Decision != nil {
		book := s.ruleBook(ctx, p.State())
		v.Rules = book.decidedBy(ask.Decision, a.Tool, a.RequestedAt)
		for i := range v.Why {
			v.Why[i] = book.words(v.Why[i], ask.Decision, a.RequestedAt)
		}
	}
	v.Needed = stillNeeded(&a)
	v.History = s.history(ctx, &a)
	if !isOpen(a.State) {
		v.Decision = &templates.Decision{Result: a.State, At: a.DecidedAt, Reason: plain(a.Reason)}
		if a.State == templates.StateApproved || a.State == templates.StateDenied {
			v.Decision.Who = s.person(c, a.Actor)
		}
	}
	return v, nil
}

func (s *Server) fillCall(v *templates.Packet, ask *record) {
	if ask.Call == nil {
		return
	}
	v.Args, v.Cleared = paramViews(ask.Call.Params), clearedLines(ask.Call)
	v.Undo = undoWords(v.Tool)
	v.Reversible, v.External = reversible(v.Tool, ask.Call.Effect), ask.Call.External
	for _, f := range riskFlags(ask.Call) {
		v.Flags = append(v.Flags, templates.Flag{Title: f.title, Text: f.text})
	}
	v.Preview = preview(v.Tool, ask.Call)
}

// fillPlace shows where the step stands in its plan, one hop each way.
func (s *Server) fillPlace(v *templates.Packet, state *engine.State) {
	v.Goal = plain(state.Goal())
	c := state.Plan()
	n, ok := state.Node(v.Node)
	if c == nil || !ok || n.Step == nil {
		return
	}
	sum := engine.Summarise(state)
	v.Place = "plan v" + strconv.Itoa(sum.PlanVersion) + ", " + strconv.Itoa(sum.Counts["executed"]) + " of " +
		plural(len(c.Steps), "step") + " done"
	card := func(i int, data bool) templates.DagNode {
		other, _ := state.Node(c.Steps[i].ID)
		return templates.DagNode{ID: other.ID, Tool: c.Steps[i].Tool, State: string(other.State), Data: data}
	}
	const shown = 3
	for _, d := range n.Step.Deps {
		if len(v.Dag.Before) == shown {
			v.Dag.MoreBefore++
			continue
		}
		v.Dag.Before = append(v.Dag.Before, card(d.From, d.Data))
	}
	v.Dag.Self = card(n.Step.Index, false)
	for _, j := range n.Step.Next {
		if len(v.Dag.After) == shown {
			v.Dag.MoreAfter++
			continue
		}
		v.Dag.After = append(v.Dag.After, card(j, reads(c.Steps[j].Deps, n.Step.Index)))
	}
}

func whyStopped(a *Approval, ask *record) []string {
	var why []string
	if ask.Decision != nil {
		for _, r := range ask.Decision.Reasons {
			if ask.Call != nil && isClearedReason(ask.Call, r) {
				continue
			}
			why = append(why, strings.TrimSuffix(sentence(plain(r)), ".")+".")
		}
	}
	if len(why) == 0 {
		why = append(why, sentence(askWords(a.Asks))+".")
	}
	return why
}

func stillNeeded(a *Approval) string {
	most := 1
	for _, ask := range a.Asks {
		most = max(most, ask.Quorum)
	}
	if most == 1 || !isOpen(a.State) {
		return ""
	}
	return strconv.Itoa(most-len(a.Approvers)) + " more of " + strconv.Itoa(most)
}

// history counts earlier answers about the same tool.
func (s *Server) history(ctx context.Context, a *Approval) string {
	page, _, err := s.cfg.Log.Approvals(ctx, ApprovalFilter{Closed: true, Limit: PageMax})
	if err != nil {
		return ""
	}
	approved, denied := 0, 0
	for i := range page {
		if page[i].Tool != a.Tool || page[i].ID == a.ID {
			continue
		}
		switch page[i].State {
		case "approved":
			approved++
		case "denied":
			denied++
		}
	}
	if approved+denied == 0 {
		return "Nobody has decided about " + a.Tool + " before."
	}
	return "Calls of " + a.Tool + " before: " + times(approved, "approved") + ", " + times(denied, "denied") + "."
}

func times(n int, verb string) string {
	switch n {
	case 0:
		return "never " + verb
	case 1:
		return verb + " once"
	}
	return verb + " " + strconv.Itoa(n) + " times"
}
