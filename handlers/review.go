package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/trace"
)

// planVersion is one version of a run's plan as its fact holds it.
type planVersion struct {
	Version  int
	Parent   int
	Cause    string
	By       string
	Hash     string
	Added    []string
	Removed  []string
	Changed  []string
	Findings []plan.Finding
	Plan     json.RawMessage

	at int64
}

// planWire is GET /runs/{id}/plan.
type planWire struct {
	Version  int             `json:"version"`
	Hash     string          `json:"hash"`
	Plan     json.RawMessage `json:"plan"`   // normalised (P10)
	Source   *plan.Plan      `json:"source"` // form 1, to read and change
	Parent   int             `json:"parent"`
	Cause    string          `json:"cause"`
	By       string          `json:"by"`
	At       string          `json:"at"`
	Added    []string        `json:"added"`
	Removed  []string        `json:"removed"`
	Changed  []string        `json:"changed"`
	Findings []plan.Finding  `json:"findings"`
	Gate     []StepGate      `json:"gate"`
	Review   bool            `json:"review"` // it waits to be started
}

// versionOf reads one version of a run's plan from the log; 0 is the newest.
func (s *Server) versionOf(ctx context.Context, run string, n int) (*planVersion, error) {
	var found *planVersion
	for after := int64(0); ; {
		rows, err := s.cfg.Log.Rows(ctx, run, after, factsChunk)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			after = rows[i].Seq
			if rows[i].Kind != engine.VersionAdded || n > 0 && rows[i].Version != n || rows[i].Erased {
				continue
			}
			v := planVersion{at: rows[i].At}
			if err := json.Unmarshal(rows[i].Data, &v); err != nil {
				return nil, err
			}
			found = &v
		}
		if len(rows) == 0 {
			break
		}
	}
	if found == nil {
		return nil, notFound("plan version")
	}
	return found, nil
}

func (s *Server) apiPlan(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	version, err := sequence(c, "version")
	if err != nil {
		return err
	}
	w, err := s.planWire(c, sum.ID, int(version))
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, w)
}

func (s *Server) planWire(c echo.Context, run string, n int) (*planWire, error) {
	ctx := c.Request().Context()
	v, err := s.versionOf(ctx, run, n)
	if err != nil {
		return nil, err
	}
	p, err := s.fold(ctx, run, 0)
	if err != nil {
		return nil, err
	}
	compiled, err := plan.Load(v.Plan)
	if err != nil {
		return nil, err
	}
	state := p.State()
	gate, err := s.gateOf(ctx, state, compiled)
	if err != nil {
		return nil, err
	}
	return &planWire{Version: v.Version, Hash: v.Hash, Plan: v.Plan, Source: compiled.Source(s.cfg.Rules.Catalog()),
		Parent: v.Parent, Cause: v.Cause, By: v.By, At: engine.WireTime(v.at), Added: orNone(v.Added), Removed: orNone(v.Removed),
		Changed: orNone(v.Changed), Findings: append([]plan.Finding{}, v.Findings...), Gate: gate,
		Review: state.Reviewing() && v.Version == state.Version()}, nil
}

func orNone(list []string) []string { return append([]string{}, list...) }

func (s *Server) gateOf(ctx context.Context, state *engine.State, c *plan.Compiled) ([]StepGate, error) {
	policies, err := s.bothPolicies(ctx, state.PinnedPolicy())
	if err != nil {
		return nil, err
	}
	who := Asker{Intent: state.Intent(), Scopes: state.Scopes(), Requester: state.Requester()}
	return GateAnswers(c, s.cfg.Rules.Catalog(), who, policies), nil
}

// reviewableRun is a run whose plan the viewer may start or change: people
// only, the owner or an admin, with the role of an operator.
func (s *Server) reviewableRun(c echo.Context) (engine.Summary, error) {
	v := viewer(c)
	if sum, err := s.visibleRun(c); err != nil {
		return sum, err
	}
	if v.Token != "" {
		return engine.Summary{}, problem("denied", "tokens can not start or change a plan under review", "sign in and do it in the browser")
	}
	sum, err := s.steerableRun(c)
	if err != nil {
		return sum, err
	}
	if !v.has("operator") {
		return sum, problem("denied", "you are not an operator", "ask an operator to start it")
	}
	return sum, nil
}

// start starts the plan whose hash is base: what the person saw.
func (s *Server) start(c echo.Context, base string) (engine.Summary, error) {
	sum, err := s.reviewableRun(c)
	if err != nil {
		return sum, err
	}
	return sum, s.cfg.Engine.Send(c.Request().Context(), sum.ID, &engine.Start{Head: s.head(c), Base: base})
}

func (s *Server) apiStart(c echo.Context) error {
	var body struct {
		Base string `json:"base"` // "": whatever stands there
	}
	if err := s.readOptional(c, &body); err != nil {
		return err
	}
	sum, err := s.start(c, body.Base)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, map[string]any{"id": sum.ID})
}

// apiReplace is PUT /runs/{id}/plan: another plan in place of one under review.
func (s *Server) apiReplace(c echo.Context) error {
	var body struct {
		Plan json.RawMessage `json:"plan"`
		Base string          `json:"base"`
	}
	sum, err := s.reviewableRun(c)
	if err != nil {
		return err
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	if body.Base == "" {
		p := problem("invalid", "base is missing", "send the hash of the version that you edited")
		p.Pointer = "/base"
		return p
	}
	if err := s.replace(c, sum.ID, body.Plan, body.Base); err != nil {
		return err
	}
	w, err := s.planWire(c, sum.ID, 0)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, w)
}

// replace compiles a person's plan for a run as it was submitted, and sends it.
func (s *Server) replace(c echo.Context, run string, doc []byte, base string) error {
	ctx := c.Request().Context()
	p, err := s.fold(ctx, run, 0)
	if err != nil {
		return err
	}
	compiled, findings, err := s.compileFor(ctx, p, doc)
	if err != nil {
		return err
	}
	if compiled == nil {
		return refusedPlan(findings)
	}
	return s.cfg.Engine.Send(ctx, run, &engine.Replace{Head: s.head(c), Plan: compiled, PlanDoc: bytes.Clone(doc), Base: base})
}

// compileFor compiles a person's plan under what a run was created with.
func (s *Server) compileFor(ctx context.Context, p *trace.Projector, doc []byte) (*plan.Compiled, []plan.Finding, error) {
	state := p.State()
	policies, err := s.bothPolicies(ctx, state.PinnedPolicy())
	if err != nil {
		return nil, nil, err
	}
	compiled, findings := plan.Check(doc, plan.Env{Catalog: s.cfg.Rules.Catalog(), Policy: policies[0], Scopes: state.Scopes(),
		Intent: state.Intent(), Requester: state.Requester(), Limits: state.Limits(), Author: plan.Person})
	return compiled, findings, nil
}
