package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/trace"
	"sluice/policy"
)

func (s *Server) apiRoutes(g *echo.Group) {
	g.POST("/runs", s.apiSubmit)
	g.GET("/runs", s.apiRuns)
	g.GET("/runs/:id", s.apiRun)
	g.GET("/runs/:id/facts", s.apiFacts)
	g.GET("/runs/:id/graph", s.apiGraph)
	g.GET("/runs/:id/why", s.apiWhy)
	g.GET("/runs/:id/plan", s.apiPlan)
	g.PUT("/runs/:id/plan", s.apiReplace)
	g.POST("/runs/:id/start", s.apiStart)
	g.GET("/runs/:id/blobs/:sha", s.apiBlob)
	g.POST("/runs/:id/cancel", s.apiCancel)
	g.POST("/runs/:id/pause", s.apiPause)
	g.POST("/runs/:id/resume", s.apiResume)
	g.POST("/runs/:id/erase", s.apiErase)
	g.POST("/runs/:id/nodes/:node/outcome", s.apiAttest)
	g.GET("/approvals", s.apiApprovals)
	g.GET("/approvals/:approval", s.apiApproval)
	g.POST("/approvals/:approval", s.apiDecide)
	g.POST("/plans/propose", s.apiPropose)
	g.POST("/plans/check", s.apiCheck)
	g.POST("/plans/read", s.apiReadPlan)
	s.templateRoutes(g)
	g.GET("/tools", s.apiTools)
	g.GET("/audit/verify", s.apiVerify)
	g.GET("/audit/export", s.apiExport)
	g.POST("/tokens", s.apiAddToken)
	s.draftRoutes(g)
	s.policyAPIRoutes(g)
	s.modelRoutes(g)
	g.Any("/*", s.noRoute)
}

// submitBody is POST /runs (design §9).
type submitBody struct {
	Goal           string             `json:"goal"`
	Plan           json.RawMessage    `json:"plan"`
	Intent         string             `json:"intent"`
	Mode           string             `json:"mode"`
	ModeOptions    engine.ModeOptions `json:"mode_options"`
	Profile        string             `json:"profile"`
	Scopes         []string           `json:"scopes"`
	PolicyScope    string             `json:"policy_scope"`
	IdempotencyKey string             `json:"idempotency_key"`
	Review         string             `json:"review"` // "" or "plan"
	Budget         map[string]int64   `json:"budget"` // lowers limits of the profile
	Template       *templateCall      `json:"template"`
}

func (s *Server) apiSubmit(c echo.Context) error {
	var body submitBody
	raw, err := s.readJSON(c, &body)
	if err != nil {
		return err
	}
	if body.IdempotencyKey == "" {
		body.IdempotencyKey = c.Request().Header.Get("Idempotency-Key")
	}
	sum := sha256.Sum256(raw)
	id, existing, err := s.submit(c, &body, hex.EncodeToString(sum[:]))
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/runs/"+id)
	return sendJSON(c, http.StatusAccepted, map[string]any{"id": id, "existing": existing})
}

// submit checks a request, compiles a plan that came with it, and creates the
// run. It serves the API and the home page alike.
func (s *Server) submit(c echo.Context, body *submitBody, bodyHash string) (string, bool, error) {
	v := viewer(c)
	if !v.has("operator") {
		return "", false, problem("denied", "you are not an operator", "ask an operator to run it")
	}
	intent, bad := s.intent(body.Intent)
	if bad != nil {
		return "", false, bad
	}
	if intent > v.Ceiling {
		return "", false, problem("denied", "the intent "+intent.Name()+" is above this token's ceiling "+v.Ceiling.Name(),
			"submit with a lower intent, or use a token with a higher ceiling")
	}
	if len(body.IdempotencyKey) > 200 {
		p := problem("invalid", "the idempotency key is longer than 200 bytes", "shorten it")
		p.Pointer = "/idempotency_key"
		return "", false, p
	}
	in := &engine.Create{Head: engine.Head{At: s.now(), Actor: v.Principal()}, Run: s.cfg.Engine.NewRun(),
		Goal: strings.TrimSpace(body.Goal), Intent: intent, Scopes: scopesOf(body), Mode: body.Mode,
		ModeOptions: body.ModeOptions, Profile: body.Profile, Key: body.IdempotencyKey, Requester: v.User.ID, Review: body.Review, Budget: body.Budget}
	if in.Mode == "" {
		in.Mode = "reflect"
	}
	if in.Mode == "reflect" && in.ModeOptions.Checkpoints == "" {
		in.ModeOptions.Checkpoints = "final"
	}
	if err := s.takeWork(c, in, body); err != nil {
		return "", false, err
	}
	return s.cfg.Engine.Submit(c.Request().Context(), in,
		Submission{Owner: v.User.ID, Key: body.IdempotencyKey, BodyHash: bodyHash})
}

// takeWork compiles the plan that came with a submission, or makes it from a template.
func (s *Server) takeWork(c echo.Context, in *engine.Create, body *submitBody) error {
	if body.Template == nil {
		return s.takePlan(in, body.Plan)
	}
	if len(body.Plan) > 0 {
		return problem("invalid", "a plan and a template were sent", "send one of the two")
	}
	return s.takeTemplate(c.Request().Context(), in, body.Template)
}

func scopesOf(body *submitBody) []string {
	switch {
	case len(body.Scopes) > 0:
		return body.Scopes
	case body.PolicyScope != "":
		return []string{body.PolicyScope}
	}
	return []string{"default"}
}

// takePlan compiles the plan of a submission: what does not compile never
// becomes a run.
func (s *Server) takePlan(in *engine.Create, doc json.RawMessage) error {
	if len(doc) == 0 || string(doc) == "null" {
		return nil
	}
	compiled, findings := s.compile(doc, in)
	if compiled == nil {
		return refusedPlan(findings)
	}
	in.Plan, in.PlanDoc, in.PlanAuthor = compiled, doc, plan.Person
	if in.Goal == "" {
		in.Goal = compiled.Goal
	}
	return nil
}

func (s *Server) compile(doc []byte, in *engine.Create) (*plan.Compiled, []plan.Finding) {
	return plan.Check(doc, s.planEnv(in))
}

// planEnv is what a person's plan is compiled against.
func (s *Server) planEnv(in *engine.Create) plan.Env {
	env := profiled(plan.Env{Catalog: s.cfg.Rules.Catalog(), Policy: s.cfg.Rules.Policy(),
		Scopes: in.Scopes, Intent: in.Intent, Requester: in.Requester, Author: plan.Person}, in.Profile)
	if n := in.Budget["tool_calls"]; n > 0 {
		env.Limits.ToolCalls = min(env.Limits.ToolCalls, n)
	}
	if n := in.Budget["side_effects"]; n > 0 {
		env.Limits.SideEffects = min(env.Limits.SideEffects, n)
	}
	return env
}

// CompilePlan reads and compiles a document under a profile's limits. A nil
// plan comes with the findings that refuse it.
func CompilePlan(doc []byte, env plan.Env, profile string) (*plan.Compiled, []plan.Finding) {
	return plan.Check(doc, profiled(env, profile))
}

func profiled(env plan.Env, profile string) plan.Env {
	p, _ := engine.ProfileByName(profile)
	env.Limits = plan.Limits{Steps: p.Steps, ToolCalls: p.ToolCalls, SideEffects: p.SideEffects}
	return env
}

func (s *Server) apiRuns(c echo.Context) error {
	v := viewer(c)
	limit, err := pageLimit(c)
	if err != nil {
		return err
	}
	f := RunFilter{Status: engine.Status(c.QueryParam("status")), Code: engine.Code(c.QueryParam("code")),
		Query: c.QueryParam("q"), Cursor: c.QueryParam("cursor"), Limit: limit}
	if !v.sees("") {
		f.Owner = v.User.ID
	}
	page, next, err := s.cfg.Log.Runs(c.Request().Context(), f)
	if err != nil {
		return err
	}
	runs := make([]runWire, len(page))
	for i := range page {
		page[i].Goal = goalWords(&page[i])
		runs[i] = toRunWire(page[i])
	}
	return sendJSON(c, http.StatusOK, map[string]any{"runs": runs, "next": next})
}

func pageLimit(c echo.Context) (int, error) {
	text := c.QueryParam("limit")
	if text == "" {
		return 50, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, malformed("limit is not a number from 1 on", "send a whole number; at most 200 rows come at once")
	}
	return min(n, PageMax), nil
}

func (s *Server) apiRun(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	state, err := s.fold(c.Request().Context(), sum.ID, 0)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, toRunWire(summaryOf(state, sum)))
}

// goalWords is a run's goal, or what stands in its place wherever the run is shown.
func goalWords(sum *engine.Summary) string {
	if isErased(sum) {
		return erasedWord
	}
	return sum.Goal
}

const erasedWord = "(erased)"

// isErased tells by what erasing leaves: no run ends without a goal.
func isErased(sum *engine.Summary) bool { return sum.Goal == "" && sum.Status == engine.Ended }

// summaryOf is the run as folded; of an erased run only the blanked projection
// is left.
func summaryOf(p *trace.Projector, sum engine.Summary) engine.Summary {
	fold := engine.Summarise(p.State())
	if fold.CreatedAt == 0 {
		fold = sum
		fold.Goal, fold.Seq = goalWords(&sum), p.Seq()
	}
	return fold
}

func (s *Server) apiCancel(c echo.Context) error {
	var body struct {
		Reason string `json:"reason"`
	}
	if err := s.readOptional(c, &body); err != nil {
		return err
	}
	return s.operate(c, &engine.Cancel{Head: s.head(c), Reason: body.Reason})
}

func (s *Server) apiPause(c echo.Context) error { return s.operate(c, &engine.Pause{Head: s.head(c)}) }

func (s *Server) apiResume(c echo.Context) error {
	return s.operate(c, &engine.Resume{Head: s.head(c)})
}

// readOptional takes a body or none.
func (s *Server) readOptional(c echo.Context, into any) error {
	raw, err := readBody(c)
	if err != nil || len(raw) == 0 {
		return err
	}
	_, err = s.decode(raw, into)
	return err
}

func (s *Server) operate(c echo.Context, in engine.Input) error {
	sum, err := s.steerableRun(c)
	if err != nil {
		return err
	}
	if err := s.cfg.Engine.Send(c.Request().Context(), sum.ID, in); err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, map[string]any{"id": sum.ID})
}

// steerableRun is a run the viewer may cancel, pause and resume: the owner, or an admin.
func (s *Server) steerableRun(c echo.Context) (engine.Summary, error) {
	sum, err := s.visibleRun(c)
	if err != nil {
		return sum, err
	}
	v := viewer(c)
	if sum.Requester != v.User.ID && !v.has("admin") {
		return sum, problem("denied", "only who submitted the run may do that", "ask them, or an admin")
	}
	return sum, nil
}

func (s *Server) apiAddToken(c echo.Context) error {
	v := viewer(c)
	if v.Token != "" && v.Token != LocalToken {
		return problem("denied", "a token can not make tokens", "sign in, or use sluice token add")
	}
	var body struct {
		Name    string `json:"name"`
		Ceiling string `json:"ceiling"`
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	ceiling, bad := s.intent(body.Ceiling)
	if bad != nil {
		bad.Pointer = "/ceiling"
		return bad
	}
	if strings.TrimSpace(body.Name) == "" || len(body.Name) > 100 {
		return problem("invalid", "a token needs a name of at most 100 bytes", "name it after who will use it")
	}
	id, secret, err := s.cfg.Accounts.AddToken(c.Request().Context(), body.Name, min(ceiling, policy.RankMax), v.User.ID)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusCreated, map[string]string{"id": id, "token": secret})
}
