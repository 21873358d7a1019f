package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
	"sluice/web/templates"
)

// reviewView is what a person needs to judge a plan before it runs; nil when
// the run does not stand at its plan.
func (s *Server) reviewView(c echo.Context, state *engine.State) (*templates.Review, error) {
	if !state.Reviewing() {
		return nil, nil
	}
	ctx := c.Request().Context()
	version, err := s.versionOf(ctx, state.ID(), 0)
	if err != nil {
		return nil, err
	}
	gate, err := s.gateOf(ctx, state, state.Plan())
	if err != nil {
		return nil, err
	}
	who := viewer(c)
	v := &templates.Review{Run: state.ID(), Base: version.Hash, Version: version.Version, By: s.planner(c, version.By), Steps: len(gate), Template: engine.Summarise(state).Template,
		ExpiresAt: state.ReviewEnds(), Findings: reviewFindings(version.Findings),
		CanAct: mayReview(who, state.Requester())}
	book := s.ruleBook(ctx, state)
	for i := range gate {
		v.Gate = append(v.Gate, gateRow(&gate[i], book, s.now()))
		switch {
		case len(gate[i].Asks) > 0:
			v.Asks++
		case gate[i].Decision == policy.Deny:
			v.Denies++
		}
	}
	if version.Cause == "edit" {
		v.Diff = diffWords(version)
	}
	return v, nil
}

func (s *Server) planner(c echo.Context, by string) string {
	if len(by) > 5 && by[:5] == "user:" {
		return s.person(c, by).Name
	}
	return by
}

func gateRow(g *StepGate, book *ruleBook, now int64) templates.StepGate {
	row := templates.StepGate{Step: g.Step, Tool: g.Tool, Answer: string(g.Decision), Impact: g.ImpactName}
	switch {
	case len(g.Clear) > 0 && len(g.Asks) == 0:
		row.Answer = "clear"
	case len(g.Clear) > 0:
		row.Answer = "both"
	}
	row.Why = book.words(plain(strings.Join(g.Reasons, " ")), &g.decision, now)
	return row
}

func reviewFindings(list []plan.Finding) []templates.Finding {
	rows := make([]templates.Finding, len(list))
	for i := range list {
		f := &list[i]
		rows[i] = templates.Finding{Rule: f.Rule, Severity: string(f.Severity), Step: f.Step, Pointer: f.Pointer, Message: plain(f.Message), Fix: plain(f.Fix)}
	}
	return rows
}

func diffWords(v *planVersion) []string {
	var words []string
	for _, part := range []struct {
		ids  []string
		word string
	}{{v.Added, "added"}, {v.Changed, "changed"}, {v.Removed, "removed"}} {
		for _, id := range part.ids {
			words = append(words, id+" "+part.word)
		}
	}
	return words
}

func (s *Server) startForm(c echo.Context) error {
	if _, err := s.reviewableRun(c); err != nil {
		return err // before anything else: who may not see a run learns nothing of it
	}
	base := c.FormValue("base")
	if base == "" {
		return malformed("the form does not say which plan was seen", "open the run again and start it there")
	}
	sum, err := s.start(c, base)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/runs/"+sum.ID)
}

// mayReview says whether the viewer may start or change a plan of a requester.
func mayReview(v *Viewer, requester string) bool {
	return v.Token == "" && v.has("operator") && (requester == v.User.ID || v.has("admin"))
}

// planPage shows a plan as text, and lets a person change one under review.
func (s *Server) planPage(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	v, err := s.planEdit(c, &sum)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.PlanEditPage(v))
}

func (s *Server) planEdit(c echo.Context, sum *engine.Summary) (templates.PlanEdit, error) {
	p, err := s.fold(c.Request().Context(), sum.ID, 0)
	if err != nil {
		return templates.PlanEdit{}, err
	}
	state := p.State()
	if state.Plan() == nil {
		return templates.PlanEdit{}, notFound("plan version")
	}
	v := templates.PlanEdit{Shell: s.shell(c, "Plan of "+plain(sum.Goal), "runs"), Run: sum.ID, Goal: plain(sum.Goal),
		Version: state.Version(), Base: state.Plan().Hash,
		CanEdit: state.Reviewing() && mayReview(viewer(c), state.Requester())}
	v.Text, err = sourceText(state.Plan(), s.cfg.Rules.Catalog())
	return v, err
}

// sourceText is a plan as form 1, indented for people.
func sourceText(c *plan.Compiled, catalog *plan.Catalog) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(c.Source(catalog))
	return b.String(), err
}

// fullStop makes a sentence of what a problem says.
func fullStop(text string) string {
	if text == "" {
		return ""
	}
	return strings.TrimRight(sentence(text), ".") + "."
}

// planForm takes the edited text. What is refused comes back with the reason
// and with everything that was typed.
func (s *Server) planForm(c echo.Context) error {
	sum, err := s.reviewableRun(c)
	if err != nil {
		return err
	}
	text, base := c.FormValue("plan"), c.FormValue("base")
	err = s.replace(c, sum.ID, []byte(text), base)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/runs/"+sum.ID)
	}
	p := toProblem(err)
	if p.Status >= http.StatusInternalServerError {
		return err
	}
	v, failed := s.planEdit(c, &sum)
	if failed != nil {
		return failed
	}
	v.Text, v.Base = text, base
	v.Problem, v.Findings = fullStop(p.Detail)+" "+fullStop(p.Fix), reviewFindings(p.Findings)
	if len(p.Findings) > 0 {
		v.Problem = "It does not compile."
	}
	if p.Who != "" {
		v.Problem += " It was " + s.person(c, p.Who).Name + "."
	}
	return render(c, p.Status, templates.PlanEditPage(v))
}

// reviewNeeds lists plans that wait for this viewer to start them.
func (s *Server) reviewNeeds(c echo.Context) []templates.Need {
	v := viewer(c)
	if v.Token != "" || !v.has("operator") {
		return nil
	}
	page, err := s.waitingRuns(c.Request().Context())
	if err != nil {
		s.cfg.Logger.Error("list runs", "err", err)
		return nil
	}
	var list []templates.Need
	for i := range page {
		if r := &page[i]; r.Review && r.Requester == v.User.ID {
			list = append(list, templates.Need{ID: r.ID, Title: "Start a plan or change it", Tool: "plan v" + strconv.Itoa(r.PlanVersion), Goal: plain(r.Goal),
				By: "you", Plan: true})
		}
	}
	return list
}

func (s *Server) waitingRuns(ctx context.Context) ([]engine.Summary, error) {
	page, _, err := s.cfg.Log.Runs(ctx, RunFilter{Status: engine.Waiting, Limit: PageMax})
	return page, err
}
