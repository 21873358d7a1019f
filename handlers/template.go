package handlers

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/template"
)

// templateCall is the template member of POST /runs.
type templateCall struct {
	Name    string                     `json:"name"`
	Version int                        `json:"version"`
	Values  map[string]json.RawMessage `json:"values"`
}

// takeTemplate makes the plan of a submission from a template.
func (s *Server) takeTemplate(ctx context.Context, in *engine.Create, call *templateCall) error {
	t, p, err := s.instance(ctx, call)
	if err != nil {
		return under(err, "/template")
	}
	limits, _ := engine.ProfileByName(in.Profile)
	compiled, findings := plan.Compile(p, plan.Env{Catalog: s.cfg.Rules.Catalog(), Policy: s.cfg.Rules.Policy(), Scopes: in.Scopes,
		Intent: in.Intent, Requester: in.Requester, Author: plan.Person,
		Limits: plan.Limits{Steps: limits.Steps, ToolCalls: limits.ToolCalls, SideEffects: limits.SideEffects}})
	if compiled == nil {
		return refusedInstance(&t, findings)
	}
	doc, err := json.Marshal(p)
	if err != nil {
		return err
	}
	in.Plan, in.PlanDoc, in.PlanAuthor, in.Template = compiled, doc, plan.Person, t.Ref()
	if in.Goal == "" {
		in.Goal = compiled.Goal
	}
	return nil
}

// refusedInstance is a plan that does not compile with these values. What is about
// a slot's value points at that value.
func refusedInstance(t *TemplateInfo, findings []plan.Finding) *Problem {
	p := refusedPlan(findings)
	for i := range findings {
		f := &findings[i]
		slot := t.SlotAt(f.Pointer)
		if slot == "" || f.Severity != plan.Error {
			continue
		}
		p.Problems = append(p.Problems, template.Problem{Pointer: "/template/values/" + slot, Message: f.Message, Fix: f.Fix})
	}
	if len(p.Problems) > 0 {
		p.Pointer = p.Problems[0].Pointer
	}
	return p
}

// instance fills the slots of a version that is offered.
func (s *Server) instance(ctx context.Context, call *templateCall) (TemplateInfo, *plan.Plan, error) {
	t, err := s.cfg.Templates.Template(ctx, call.Name, call.Version)
	if err != nil {
		return t, nil, err
	}
	switch t.State() {
	case "quarantined":
		p := problem("conflict", "the template "+t.Ref()+" is quarantined: "+t.Quarantine, "run another version, or save a mended one")
		p.Who, p.When = t.QuarantinedBy, engine.WireTime(t.QuarantinedAt)
		return t, nil, p
	case "broken":
		p := refusedPlan(t.Broken)
		p.Detail = "the template " + t.Ref() + " does not compile here: " + p.Detail
		return t, nil, p
	}
	p, found := t.Instantiate(call.Values)
	if p == nil {
		return t, nil, slotProblem(found)
	}
	return t, p, nil
}

func slotProblem(found []template.Problem) *Problem {
	p := problem("invalid", found[0].Message, found[0].Fix)
	p.Rule, p.Pointer, p.Problems = "R103", found[0].Pointer, found
	return p
}

// under puts a place before the pointers of a problem.
func under(err error, at string) error {
	p, is := err.(*Problem)
	if !is || len(p.Problems) == 0 {
		return err
	}
	out := *p
	out.Problems = slices.Clone(p.Problems)
	for i := range out.Problems {
		out.Problems[i].Pointer = at + out.Problems[i].Pointer
	}
	out.Pointer = out.Problems[0].Pointer
	return &out
}

// templateSource is what a template is made of: a finished run, a draft, a plan,
// or a whole document.
type templateSource struct {
	Template    json.RawMessage   `json:"template"`
	Run         string            `json:"run"`
	Draft       string            `json:"draft"`
	Plan        json.RawMessage   `json:"plan"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Match       []string          `json:"match"`
	Slots       []template.Chosen `json:"slots"`
}

// distilled is a plan with what could vary in it.
type distilled struct {
	plan       *plan.Plan
	candidates []template.Candidate
	from       string
	goal       string
	dropped    int                           // steps that did not execute
	model      func(step, param string) bool // wrote this value; nil: none
}

// distil gives what a template can be made of. Only runs that ended with
// SUCCESS qualify, and of them only what executed (R102).
func (s *Server) distil(c echo.Context, src *templateSource) (*distilled, error) {
	var d *distilled
	var err error
	switch {
	case src.Run != "":
		d, err = s.distilRun(c, src.Run)
	case src.Draft != "":
		d, err = s.distilDraft(c, src.Draft)
	case len(src.Plan) > 0:
		d, err = s.distilPlan(src.Plan, "file")
	default:
		return nil, problem("invalid", "there is nothing to make a template of", "send template, run, draft or plan")
	}
	if err != nil {
		return nil, err
	}
	catalog := s.cfg.Rules.Catalog()
	d.candidates = template.Candidates(d.plan, catalog.Lookup)
	return d, nil
}

func (s *Server) distilRun(c echo.Context, id string) (*distilled, error) {
	c.SetParamNames("id")
	c.SetParamValues(id)
	sum, err := s.visibleRun(c)
	if err != nil {
		return nil, err
	}
	if sum.Code != engine.Success {
		p := problem("conflict", "only a run that ended with SUCCESS can become a template", "wait until it has ended, or take another run")
		p.Rule = "R102"
		return nil, p
	}
	fold, err := s.fold(c.Request().Context(), sum.ID, 0)
	if err != nil {
		return nil, err
	}
	state := fold.State()
	if state.Plan() == nil || len(state.Plan().Steps) == 0 {
		return nil, problem("conflict", "this run has no steps", "take a run with a plan")
	}
	source := template.Keep(state.Plan().Source(s.cfg.Rules.Catalog()), func(step string) bool {
		n, is := state.Node(step)
		return is && n.State == engine.NodeExecuted
	})
	return &distilled{plan: source, from: "run:" + sum.ID, goal: sum.Goal, dropped: len(state.Plan().Steps) - len(source.Steps),
		model: state.Plan().Untrusted}, nil
}

func (s *Server) distilDraft(c echo.Context, id string) (*distilled, error) {
	d, err := s.ownDraft(c, id)
	if err != nil {
		return nil, err
	}
	if d.Kind != "plan" {
		return nil, notFound("draft of a plan")
	}
	return s.distilPlan([]byte(d.Doc), "draft:"+d.ID)
}

func (s *Server) distilPlan(doc []byte, from string) (*distilled, error) {
	p, findings := plan.Parse(doc)
	if p == nil || plan.Refused(findings) {
		return nil, refusedPlan(findings)
	}
	raw, err := json.Marshal(p) // form 1, whichever form it was written in
	if err != nil {
		return nil, err
	}
	if p, findings = plan.Parse(raw); p == nil {
		return nil, refusedPlan(findings)
	}
	return &distilled{plan: p, from: from, goal: p.Goal}, nil
}

// saveTemplate makes a template and saves it as the next version of its name.
func (s *Server) saveTemplate(c echo.Context, src *templateSource) (TemplateInfo, error) {
	v := viewer(c)
	if v.Token != "" && v.Token != LocalToken {
		return TemplateInfo{}, problem("denied", "a token can not save templates", "sign in, or use sluice template save")
	}
	if !v.has("operator") {
		return TemplateInfo{}, problem("denied", "you are not an operator", "ask an operator to save it")
	}
	t, from, err := s.made(c, src)
	if err != nil {
		return TemplateInfo{}, err
	}
	if newest, err := s.cfg.Templates.Template(c.Request().Context(), t.Name, 0); err == nil && newest.Owner != v.User.ID && !v.has("admin") {
		p := problem("denied", "the template "+t.Name+" belongs to somebody else", "save it under another name")
		p.Who, p.Pointer = newest.Owner, "/name"
		return TemplateInfo{}, p
	}
	if broken := t.Check(s.cfg.Rules.Catalog()); len(broken) > 0 {
		p := refusedPlan(broken)
		if p.Pointer != "" {
			p.Pointer = "/plan" + p.Pointer
		}
		return TemplateInfo{}, p
	}
	return s.cfg.Templates.SaveTemplate(c.Request().Context(), t, TemplateOrigin{Owner: v.User.ID, Actor: v.Principal(), From: from})
}

func (s *Server) made(c echo.Context, src *templateSource) (*template.Template, string, error) {
	if len(src.Template) > 0 {
		t, found := template.Parse(src.Template)
		if t == nil {
			return nil, "", under(slotProblem(found), "/template")
		}
		return t, "file", nil
	}
	d, err := s.distil(c, src)
	if err != nil {
		return nil, "", err
	}
	p, slots, found := template.Cut(d.plan, d.candidates, src.Slots)
	if len(found) > 0 {
		return nil, "", slotProblem(found)
	}
	whole := template.Template{Format: template.Format, Name: strings.TrimSpace(src.Name), Title: strings.TrimSpace(src.Title),
		Description: strings.TrimSpace(src.Description), Phrases: src.Match, Slots: slots, Plan: p}
	if d.model != nil {
		whole.Untrusted = template.Wrote(p, d.model)
	}
	if whole.Phrases == nil {
		whole.Phrases = []string{}
	}
	doc, err := json.Marshal(whole)
	if err != nil {
		return nil, "", err
	}
	t, found := template.Parse(doc)
	if t == nil {
		return nil, "", slotProblem(found)
	}
	return t, d.from, nil
}
