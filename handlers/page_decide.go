package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
	"sluice/web/templates"
)

func reads(deps []plan.Dep, from int) bool {
	for _, d := range deps {
		if d.From == from {
			return d.Data
		}
	}
	return false
}

// decideForm takes Approve once or Deny. A refused answer comes back with the
// packet as it stands now; nobody's answer is lost without a word.
func (s *Server) decideForm(c echo.Context) error {
	_, err := s.decide(c, verdictBody{Verdict: c.FormValue("decision"), Reason: c.FormValue("reason"), Hash: c.FormValue("hash")})
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/approvals/"+c.Param("approval"))
	}
	return s.refusedAnswer(c, err)
}

// refusedAnswer shows the packet with why the answer was not used.
func (s *Server) refusedAnswer(c echo.Context, err error) error {
	var refused *engine.Refusal
	if !errors.As(err, &refused) || refused.Code == "not_found" || refused.Code == "internal" {
		return err
	}
	p := toProblem(err)
	return s.showApprovals(c, p.Status, func(v *templates.Packet) {
		if refused.Code != "conflict" {
			v.Problem = sentence(refused.Message) + ": " + refused.Fix + "."
			return
		}
		v.Late = "Your answer was not used: " + refused.Message + "."
		if v.Decision == nil {
			v.Problem = v.Late
		}
	})
}

// attestForm takes a person's word on an unknown outcome.
func (s *Server) attestForm(c echo.Context) error {
	q, ok := parseQuestion(c.Param("approval"))
	if !ok {
		return notFound("question")
	}
	setParams(c, map[string]string{"id": q.run, "node": q.Node, "approval": c.Param("approval")})
	err := s.attest(c, attestBody{Attempt: q.Attempt, Outcome: c.FormValue("outcome"), Note: c.FormValue("note")})
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/runs/"+q.run+"?node="+q.Node)
	}
	return s.refusedAnswer(c, err)
}

func setParams(c echo.Context, params map[string]string) {
	names := make([]string, 0, len(params))
	values := make([]string, 0, len(params))
	for _, n := range []string{"id", "node", "approval"} {
		if v, ok := params[n]; ok {
			names, values = append(names, n), append(values, v)
		}
	}
	c.SetParamNames(names...)
	c.SetParamValues(values...)
}

// parseQuestion reads an id of questionID.
func parseQuestion(id string) (question, bool) {
	parts := strings.Split(id, ".")
	if len(parts) != 4 || parts[0] != "q" {
		return question{}, false
	}
	attempt, err := strconv.Atoi(parts[3])
	if err != nil || attempt < 1 {
		return question{}, false
	}
	return question{Question: engine.Question{Node: parts[2], Attempt: attempt}, run: parts[1]}, true
}

// questionPacket shows everything known about an attempt whose outcome nobody
// recorded (design §5).
func (s *Server) questionPacket(c echo.Context, id string) (*templates.Packet, error) {
	q, ok := parseQuestion(id)
	if !ok {
		return nil, notFound("question")
	}
	setParams(c, map[string]string{"id": q.run, "approval": id})
	sum, err := s.visibleRun(c)
	if err != nil {
		return nil, err
	}
	p, about, err := s.foldNode(c.Request().Context(), q.run, q.Node)
	if err != nil {
		return nil, err
	}
	n, ok := p.State().Node(q.Node)
	if !ok || n.Step == nil || n.Attempt < q.Attempt {
		return nil, notFound("question")
	}
	call, d, _ := lastCall(about)
	v := &templates.Packet{ID: id, Question: true, Key: id, State: templates.StateOpen, Title: "Was this done? " + callTitle(n.Step.Tool, call),
		Tool: n.Step.Tool, Requester: s.person(c, sum.Requester), Run: q.run, Node: q.Node,
		IfApprove: "goes on with the plan, on your word.", IfDeny: "asks the gate again and makes another attempt.",
		OnExpiry: "then given up, as if aborted", ExpiresAt: questionExpiry(p.State(), q.Node)}
	if d != nil {
		v.Impact, v.ImpactName = int(d.Impact), policy.Rank(d.Impact).Name()
	}
	s.fillCall(v, &record{Call: call})
	s.fillPlace(v, p.State())
	v.Why = questionWhy(&n, about)
	if n.State != engine.NodeWaiting || !n.Unknown || n.Attempt != q.Attempt {
		v.State, v.Decision = templates.StateAttested, s.attested(c, about)
	} else if who := viewer(c); who.Token != "" || sum.Requester != who.User.ID && !who.has("approver") {
		v.State, v.MayNot = templates.StateOthers, "Only the run's owner or an approver may say what happened."
	}
	return v, nil
}

// questionExpiry is when an open question is given up, 0 when it is closed.
func questionExpiry(state *engine.State, node string) int64 {
	for _, q := range state.Questions() {
		if q.Node == node {
			return q.Expires
		}
	}
	return 0
}

func questionWhy(n *engine.NodeView, about []nodeRecord) []string {
	why := []string{"The attempt started at " + time.UnixMicro(n.StartedAt).UTC().Format("2006-01-02 15:04:05") + " UTC and its outcome is not on record."}
	for i := range about {
		switch r := &about[i]; r.row.Kind {
		case engine.InputUnknown:
			why = append(why, "Cause: "+plain(r.data.Cause)+".")
		case engine.InputOrphan:
			why = append(why, "A result came later and was kept as fact "+strconv.FormatInt(r.row.Seq, 10)+": "+plain(firstOf(r.data.Input.Class, "it reports success"))+".")
		}
	}
	return append(why, "The tool cannot be called again safely, so it is never retried by itself.")
}

func (s *Server) attested(c echo.Context, about []nodeRecord) *templates.Decision {
	for i := len(about) - 1; i >= 0; i-- {
		if r := &about[i]; r.row.Kind == engine.OutcomeAttested {
			return &templates.Decision{Result: templates.StateAttested, Who: s.person(c, r.row.Actor), At: r.row.At,
				Reason: strings.TrimSpace(strings.ReplaceAll(r.data.Outcome, "_", " ") + ". " + plain(r.data.Note))}
		}
	}
	return &templates.Decision{Result: templates.StateAttested, Reason: "This outcome is not in question any more."}
}
