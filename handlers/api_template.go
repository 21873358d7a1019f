package handlers

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/template"
)

// templateRoutes of the API.
func (s *Server) templateRoutes(g *echo.Group) {
	g.GET("/templates", s.apiTemplates)
	g.POST("/templates", s.apiSaveTemplate)
	g.POST("/templates/candidates", s.apiCandidates)
	g.GET("/templates/:name", s.apiTemplate)
	g.POST("/templates/:name/instantiate", s.apiInstantiate)
}

// templateWire is a template on the wire.
type templateWire struct {
	Name        string             `json:"name"`
	Version     int                `json:"version"`
	Hash        string             `json:"hash"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Match       []string           `json:"match"`
	Slots       []template.Slot    `json:"slots"`
	State       string             `json:"state"` // offered, quarantined or broken
	Reason      string             `json:"reason,omitempty"`
	Owner       string             `json:"owner"`
	From        string             `json:"from"`
	By          string             `json:"by"`
	At          string             `json:"at"`
	Runs        []templateRun      `json:"runs"`
	Findings    []plan.Finding     `json:"findings,omitempty"`
	Plan        *plan.Plan         `json:"plan,omitempty"`
	Versions    []templateVersion  `json:"versions,omitempty"`
	Document    *template.Template `json:"document,omitempty"`
}

type templateRun struct {
	ID        string        `json:"id"`
	Status    engine.Status `json:"status"`
	Code      engine.Code   `json:"code"`
	CreatedAt string        `json:"created_at"`
}

type templateVersion struct {
	Version int    `json:"version"`
	Hash    string `json:"hash"`
	State   string `json:"state"`
	By      string `json:"by"`
	From    string `json:"from"`
	At      string `json:"at"`
}

func (s *Server) templateWire(c echo.Context, t *TemplateInfo) (templateWire, error) {
	w := templateWire{Name: t.Name, Version: t.Version, Hash: t.Hash, Title: t.Title, Description: t.Description, Match: t.Phrases,
		Slots: t.Slots, State: t.State(), Reason: t.Quarantine, Owner: t.Owner, From: t.From, By: t.Actor, At: engine.WireTime(t.At),
		Runs: []templateRun{}, Findings: t.Broken}
	runs, err := s.runsOf(c, t.Ref(), 5)
	for i := range runs {
		w.Runs = append(w.Runs, templateRun{runs[i].ID, runs[i].Status, runs[i].Code, engine.WireTime(runs[i].CreatedAt)})
	}
	return w, err
}

// runsOf lists runs of a version that the viewer may see.
func (s *Server) runsOf(c echo.Context, ref string, limit int) ([]engine.Summary, error) {
	list, err := s.cfg.Templates.TemplateRuns(c.Request().Context(), ref, PageMax)
	v := viewer(c)
	list = slices.DeleteFunc(list, func(r engine.Summary) bool { return !v.sees(r.Requester) })
	return list[:min(limit, len(list))], err
}

func (s *Server) apiTemplates(c echo.Context) error {
	list, err := s.cfg.Templates.Templates(c.Request().Context())
	if err != nil {
		return err
	}
	out := make([]templateWire, len(list))
	for i := range list {
		if out[i], err = s.templateWire(c, &list[i]); err != nil {
			return err
		}
	}
	return sendJSON(c, http.StatusOK, map[string]any{"templates": out})
}

func (s *Server) apiTemplate(c echo.Context) error {
	version, err := sequence(c, "version")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	t, err := s.cfg.Templates.Template(ctx, c.Param("name"), int(version))
	if err != nil {
		return err
	}
	w, err := s.templateWire(c, &t)
	if err != nil {
		return err
	}
	versions, err := s.cfg.Templates.TemplateVersions(ctx, t.Name)
	if err != nil {
		return err
	}
	for i := range versions {
		v := &versions[i]
		w.Versions = append(w.Versions, templateVersion{v.Version, v.Hash, v.State(), v.Actor, v.From, engine.WireTime(v.At)})
	}
	w.Plan, w.Document = t.Plan, t.Template
	return sendJSON(c, http.StatusOK, w)
}

func (s *Server) apiSaveTemplate(c echo.Context) error {
	var src templateSource
	if _, err := s.readJSON(c, &src); err != nil {
		return err
	}
	t, err := s.saveTemplate(c, &src)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusCreated, map[string]any{"name": t.Name, "version": t.Version, "hash": t.Hash})
}

// apiCandidates says what could become a slot of a run, a draft or a plan.
func (s *Server) apiCandidates(c echo.Context) error {
	var src templateSource
	if _, err := s.readJSON(c, &src); err != nil {
		return err
	}
	d, err := s.distil(c, &src)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, map[string]any{"plan": d.plan, "candidates": append([]template.Candidate{}, d.candidates...), "from": d.from})
}

func (s *Server) apiInstantiate(c echo.Context) error {
	var body struct {
		Version int                        `json:"version"`
		Values  map[string]json.RawMessage `json:"values"`
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	t, p, err := s.instance(c.Request().Context(), &templateCall{c.Param("name"), body.Version, body.Values})
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, map[string]any{"template": t.Ref(), "plan": p})
}
