package handlers

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/web/templates"
)

// builderBoot is what the island starts from.
type builderBoot struct {
	Draft    *draftWire      `json:"draft"`
	Gone     string          `json:"gone"` // the draft that was asked for and is not there
	Run      *builderRun     `json:"run"`
	Template string          `json:"template"` // the island reads its plan over the API
	Plan     json.RawMessage `json:"plan"`     // of the run
	Intent   string          `json:"intent"`
	Scopes   []string        `json:"scopes"` // that it is checked and run in
	Tools    []toolWire      `json:"tools"`
	// AllScopes are those of the policy that holds now.
	AllScopes []builderScope `json:"all_scopes"`
}

// builderScope is a scope and the tools of the catalogue that it grants.
type builderScope struct {
	Name  string   `json:"name"`
	Tools []string `json:"tools"`
}

// newBoot is what every page of the builder starts from.
func (s *Server) newBoot(intent string) builderBoot {
	p, catalog := s.cfg.Rules.Policy(), s.cfg.Rules.Catalog()
	boot := builderBoot{Intent: intent, Scopes: []string{"default"}, Tools: s.toolList(), AllScopes: []builderScope{}}
	for _, name := range sortedKeys(p.Document().Scopes) {
		scope := builderScope{Name: name, Tools: []string{}}
		for _, tool := range catalog.Names() {
			if p.InScope([]string{name}, tool) {
				scope.Tools = append(scope.Tools, tool)
			}
		}
		boot.AllScopes = append(boot.AllScopes, scope)
	}
	return boot
}

// builderRun is the run whose plan is opened. Base is the plan's hash; only a
// run that stands at its plan takes one back.
type builderRun struct {
	ID     string `json:"id"`
	Goal   string `json:"goal"`
	Base   string `json:"base"`
	Review bool   `json:"review"`
}

// scopeChoices offers the scopes of the policy that holds now; one is no choice.
func (s *Server) scopeChoices(on []string) []templates.ScopeChoice {
	names := sortedKeys(s.cfg.Rules.Policy().Document().Scopes)
	if len(names) < 2 && slices.Equal(names, on) {
		return nil
	}
	list := make([]templates.ScopeChoice, len(names))
	for i, name := range names {
		list[i] = templates.ScopeChoice{Name: name, On: slices.Contains(on, name)}
	}
	return list
}

func (s *Server) builderRoutes(g *echo.Group) {
	g.GET("/builder", s.builder)
	g.POST("/builder", s.builderForm)
}

// emptyPlan is what a person without script starts from.
const emptyPlan = "{\n  \"format\": 1,\n  \"goal\": \"\",\n  \"steps\": []\n}\n"

// builder opens nothing, a draft, the plan of a run or a template (ui.md 4.3).
func (s *Server) builder(c echo.Context) error {
	boot := s.newBoot("observe")
	boot.Template = c.QueryParam("template")
	v, status := templates.Builder{Shell: s.builderShell(c), Intent: "observe", Text: emptyPlan}, http.StatusOK
	if id := c.QueryParam("draft"); id != "" {
		d, err := s.ownDraft(c, id)
		var missing *Problem
		switch isMissing := errors.As(err, &missing) && missing.Status == http.StatusNotFound; {
		case isMissing || err == nil && d.Kind != "plan":
			// The browser may still hold what was not saved to it.
			boot.Gone, status = id, http.StatusNotFound
		case err != nil:
			return err
		default:
			wire := toDraftWire(&d, true)
			boot.Draft, v.Text = &wire, d.Doc
			if err := s.openBase(c, &boot, d.Base); err != nil {
				return err
			}
		}
	}
	if id := c.QueryParam("run"); id != "" {
		c.SetParamNames("id")
		c.SetParamValues(id)
		if err := s.openRun(c, &boot); err != nil {
			return err
		}
		v.Text = indented(boot.Plan)
	}
	text, err := json.Marshal(boot)
	if err != nil {
		return err
	}
	v.Boot, v.Gone = text, boot.Gone != ""
	return render(c, status, templates.BuilderPage(v))
}

func (s *Server) builderShell(c echo.Context) templates.Shell {
	sh := s.shell(c, "Builder", "builder")
	sh.Assets.Builder, sh.Assets.BuilderCSS = s.files.URL("builder.js"), s.files.URL("builder.css")
	return sh
}

// openBase adds the run that a draft is a changed plan of, as long as the viewer
// sees it. The draft's base, "run:ID@HASH", says over which version it was made.
func (s *Server) openBase(c echo.Context, boot *builderBoot, base string) error {
	id, is := strings.CutPrefix(base, "run:")
	if !is {
		return nil
	}
	id, hash, _ := strings.Cut(id, "@")
	c.SetParamNames("id")
	c.SetParamValues(id)
	if err := s.openRun(c, boot); err != nil {
		if toProblem(err).Status >= http.StatusInternalServerError {
			return err
		}
		return nil // gone, or not theirs any more: the draft stands for itself
	}
	boot.Plan = nil
	if hash != "" {
		boot.Run.Base = hash
	}
	return nil
}

// openRun puts the current plan of a run into the page.
func (s *Server) openRun(c echo.Context, boot *builderBoot) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	p, err := s.fold(c.Request().Context(), sum.ID, 0)
	if err != nil {
		return err
	}
	state := p.State()
	if state.Plan() == nil {
		return problem("not_found", "the run has no plan yet", "open it when the planner has answered")
	}
	boot.Intent, boot.Scopes = sum.Intent.Name(), state.Scopes()
	boot.Run = &builderRun{ID: sum.ID, Goal: sum.Goal, Base: state.Plan().Hash,
		Review: state.Reviewing() && mayReview(viewer(c), sum.Requester)}
	boot.Plan, err = json.Marshal(state.Plan().Declared(s.cfg.Rules.Catalog()))
	return err
}

// builderForm checks or runs a plan that was written without script.
func (s *Server) builderForm(c echo.Context) error {
	body := submitBody{Intent: c.FormValue("intent")}
	v := templates.Builder{Shell: s.builderShell(c), Intent: body.Intent, Text: c.FormValue("plan"), Checked: true}
	start := s.newBoot(body.Intent)
	start.Plan = asJSON(v.Text)
	boot, err := json.Marshal(start)
	if err != nil {
		return err
	}
	v.Boot = boot
	intent, bad := s.intent(body.Intent)
	if bad != nil {
		return bad
	}
	p, findings := readPlanText([]byte(v.Text))
	if p != nil {
		if body.Plan, err = json.Marshal(p); err != nil {
			return err
		}
		_, findings = s.compile(body.Plan, &engine.Create{Requester: viewer(c).User.ID, Intent: intent, Scopes: []string{"default"}})
	}
	v.Findings = findingRows(findings)
	if p == nil || plan.Refused(findings) || c.FormValue("action") != "run" {
		return render(c, http.StatusOK, templates.BuilderPage(v))
	}
	id, _, err := s.submit(c, &body, "")
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/runs/"+id)
}

func asJSON(text string) json.RawMessage {
	if trimmed := strings.TrimSpace(text); json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	return nil
}

func findingRows(findings []plan.Finding) []templates.BuilderFinding {
	rows := make([]templates.BuilderFinding, len(findings))
	for i := range findings {
		f := &findings[i]
		rows[i] = templates.BuilderFinding{Rule: f.Rule, Error: f.Severity == plan.Error, Step: f.Step, Pointer: f.Pointer, Message: f.Message, Fix: f.Fix}
	}
	return rows
}
