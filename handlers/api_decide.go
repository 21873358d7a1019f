package handlers

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
)

func (s *Server) apiApprovals(c echo.Context) error {
	limit, err := pageLimit(c)
	if err != nil {
		return err
	}
	f := ApprovalFilter{Run: c.QueryParam("run"), Cursor: c.QueryParam("cursor"), Limit: limit}
	switch c.QueryParam("state") {
	case "", "open":
		f.Open = true
	case "decided":
		f.Closed = true
	case "all":
	default:
		return problem("invalid", "state is not open, decided or all", "send one of the three")
	}
	page, next, err := s.cfg.Log.Approvals(c.Request().Context(), f)
	if err != nil {
		return err
	}
	v := viewer(c)
	list := make([]approvalWire, 0, len(page))
	for i := range page {
		if v.sees(page[i].Requester) {
			list = append(list, toApprovalWire(&page[i]))
		}
	}
	return sendJSON(c, http.StatusOK, map[string]any{"approvals": list, "next": next})
}

// visibleApproval gives a request the viewer may see.
func (s *Server) visibleApproval(c echo.Context) (Approval, error) {
	id := c.Param("approval")
	if !strings.HasPrefix(id, "a_") || len(id) > 64 {
		return Approval{}, notFound("approval")
	}
	a, err := s.cfg.Log.Approval(c.Request().Context(), id)
	if err != nil {
		return a, err
	}
	if !viewer(c).sees(a.Requester) {
		return a, notFound("approval")
	}
	return a, nil
}

func (s *Server) apiApproval(c echo.Context) error {
	a, err := s.visibleApproval(c)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, toApprovalWire(&a))
}

// verdictBody is POST /approvals/{id}.
type verdictBody struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Hash    string `json:"hash"`
}

func (s *Server) apiDecide(c echo.Context) error {
	var body verdictBody
	if _, err := people(c); err != nil {
		return err
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	a, err := s.decide(c, body)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, toApprovalWire(&a))
}

// decide sends a person's verdict to the run and gives the request as it stands
// afterwards. The core checks actor, hash, expiry and quorum (P23).
func (s *Server) decide(c echo.Context, body verdictBody) (Approval, error) {
	v, err := people(c)
	if err != nil {
		return Approval{}, err
	}
	a, err := s.visibleApproval(c)
	if err != nil {
		return a, err
	}
	if !v.has("approver") {
		return a, problem("denied", "you are not an approver", "ask an approver to decide")
	}
	in := &engine.Decide{Head: s.head(c), Approval: a.ID, Verdict: body.Verdict,
		Reason: strings.TrimSpace(body.Reason), Hash: body.Hash, Roles: v.User.Roles}
	if err := s.cfg.Engine.Send(c.Request().Context(), a.Run, in); err != nil {
		return a, err
	}
	return s.cfg.Log.Approval(c.Request().Context(), a.ID)
}

// attestBody is POST /runs/{id}/nodes/{node}/outcome.
type attestBody struct {
	Attempt int    `json:"attempt"`
	Outcome string `json:"outcome"`
	Note    string `json:"note"`
}

func (s *Server) apiAttest(c echo.Context) error {
	var body attestBody
	if _, err := people(c); err != nil {
		return err
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	if err := s.attest(c, body); err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, map[string]any{"node": c.Param("node"), "outcome": body.Outcome})
}

// attest takes a person's word on an unknown outcome (T19): approvers and the
// run's owner may give it.
func (s *Server) attest(c echo.Context, body attestBody) error {
	v, err := people(c)
	if err != nil {
		return err
	}
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	if sum.Requester != v.User.ID && !v.has("approver") {
		return problem("denied", "only the run's owner or an approver may say what happened", "ask one of them")
	}
	return s.cfg.Engine.Send(c.Request().Context(), sum.ID, &engine.Attest{Head: s.head(c),
		Node: c.Param("node"), Attempt: body.Attempt, Outcome: body.Outcome, Note: strings.TrimSpace(body.Note)})
}

// proposal is the answer of plan propose (P38).
type proposal struct {
	Plan      *plan.Plan         `json:"plan"`
	Answer    *string            `json:"answer"`
	Unplanned []engine.Unplanned `json:"unplanned"`
	By        string             `json:"by"`
	Template  string             `json:"template,omitempty"`
}

func (s *Server) apiPropose(c echo.Context) error {
	var body struct {
		Goal string `json:"goal"`
		By   string `json:"by"` // "builtin", also when absent, or "model"
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	if body.By != "" && body.By != "builtin" && body.By != "model" {
		p := problem("invalid", "by is neither builtin nor model", "leave it out for the built-in planner")
		p.Pointer = "/by"
		return p
	}
	if strings.TrimSpace(body.Goal) == "" || len(body.Goal) > engine.GoalBytesMax {
		p := problem("invalid", "the goal is empty or longer than 8 KiB", "say what should get done")
		p.Pointer = "/goal"
		return p
	}
	if body.By == "model" && !viewer(c).has("operator") {
		return problem("denied", "you are not an operator, and a model costs", "ask an operator, or leave by out")
	}
	v := viewer(c)
	if body.By == "model" {
		if err := patient(c); err != nil {
			return err
		}
	}
	out, err := s.cfg.Planner.Propose(c.Request().Context(), ProposalRequest{Goal: body.Goal, By: body.By, Owner: v.User.ID, Actor: v.Principal()})
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, ProposalShape(out))
}

// ProposalShape is a proposal in the shape of P38, ready to be encoded.
func ProposalShape(out Proposal) any {
	w := proposal{Plan: out.Plan, Unplanned: out.Unplanned, By: out.By, Template: out.Template}
	if out.Answer != "" {
		w.Answer = &out.Answer
	}
	if w.Unplanned == nil {
		w.Unplanned = []engine.Unplanned{}
	}
	return w
}

// Check is the answer of plan check (P38).
type Check struct {
	OK       bool           `json:"ok"`
	Hash     *string        `json:"hash"`
	Findings []plan.Finding `json:"findings"`
}

// CheckReport shapes what Compile gave: the plan's hash, or the findings.
func CheckReport(compiled *plan.Compiled, findings []plan.Finding) Check {
	report := Check{OK: compiled != nil, Findings: findings}
	if compiled != nil {
		report.Hash = &compiled.Hash
	}
	if report.Findings == nil {
		report.Findings = []plan.Finding{}
	}
	return report
}
