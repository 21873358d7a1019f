package handlers

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/policy"
)

func (s *Server) policyAPIRoutes(g *echo.Group) {
	g.GET("/policies", s.apiPolicies)
	g.GET("/policies/:version", s.apiPolicy)
	g.POST("/policies", s.apiPublish)
	g.POST("/policies/check", s.apiPolicyCheck)
	g.POST("/policies/dry-run", s.apiDryRun)
	g.POST("/policies/try-call", s.apiTryCall)
	g.POST("/policies/:version/revert", s.apiRevert)
	g.POST("/tools/:tool/kill", func(c echo.Context) error { return s.apiSwitch(c, true) })
	g.POST("/tools/:tool/revive", func(c echo.Context) error { return s.apiSwitch(c, false) })
}

// versionWire is a version on the wire; lists leave yaml and document out.
type versionWire struct {
	Version  int             `json:"version"`
	Hash     string          `json:"hash"`
	At       string          `json:"at"`
	By       string          `json:"by"`
	Reason   string          `json:"reason"`
	Base     int             `json:"base"`
	YAML     string          `json:"yaml,omitempty"`
	Document json.RawMessage `json:"document,omitempty"`
}

func toVersionWire(v *PolicyVersion) versionWire {
	return versionWire{Version: v.Version, Hash: v.Hash, At: engine.WireTime(v.At), By: v.Actor, Reason: v.Reason, Base: v.Base,
		YAML: v.Text, Document: v.Canonical}
}

func (s *Server) apiPolicies(c echo.Context) error {
	limit, err := pageLimit(c)
	if err != nil {
		return err
	}
	before := 0
	if text := c.QueryParam("cursor"); text != "" {
		if before, err = strconv.Atoi(text); err != nil || before < 1 {
			return malformed("the cursor is not one of this list", "start from the first page")
		}
	}
	list, err := s.cfg.Policies.Versions(c.Request().Context(), before, limit)
	if err != nil {
		return err
	}
	wire, next := make([]versionWire, len(list)), ""
	for i := range list {
		wire[i] = toVersionWire(&list[i])
	}
	if len(list) == limit && list[len(list)-1].Version > 1 {
		next = strconv.Itoa(list[len(list)-1].Version)
	}
	return sendJSON(c, http.StatusOK, map[string]any{"policies": wire, "next": next})
}

func (s *Server) apiPolicy(c echo.Context) error {
	n, err := versionParam(c)
	if err != nil {
		return err
	}
	v, err := s.cfg.Policies.Version(c.Request().Context(), n)
	if err != nil {
		return err
	}
	if wantsYAML(c) {
		return sendYAML(c, v.Text)
	}
	return sendJSON(c, http.StatusOK, toVersionWire(&v))
}

func (s *Server) apiPublish(c echo.Context) error {
	var body policyBody
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	made, err := s.publishPolicy(c, &body)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/policies/"+strconv.Itoa(made.Version))
	return sendJSON(c, http.StatusCreated, toVersionWire(&made))
}

// reasonBody is a change that needs nothing but why.
type reasonBody struct {
	Reason string `json:"reason"`
}

func (s *Server) apiRevert(c echo.Context) error {
	n, err := versionParam(c)
	if err != nil {
		return err
	}
	var body reasonBody
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	made, err := s.revertPolicy(c, n, body.Reason)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusCreated, toVersionWire(&made))
}

func (s *Server) apiSwitch(c echo.Context, stop bool) error {
	var body reasonBody
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	made, err := s.switchTool(c, stop, body.Reason)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusCreated, toVersionWire(&made))
}

func (s *Server) apiPolicyCheck(c echo.Context) error {
	var body policyBody
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, s.checkText(c.Request().Context(), body.YAML))
}

// TrialReport is a dry run on the wire and on the command line.
type TrialReport struct {
	Policy    string           `json:"policy"`
	Calls     int              `json:"calls"`
	Unchanged int              `json:"unchanged"`
	Reasked   int              `json:"reasked"` // of the unchanged: other approvals or authorities are asked
	Changes   []trialCountWire `json:"changes"`
	Erased    int              `json:"erased"`
	Left      int              `json:"left"`
	Since     string           `json:"since,omitempty"`
	Rules     map[string]int   `json:"rules"`
	List      []trialCallWire  `json:"list"`
	Next      string           `json:"next"`
}

// answerWire is how one answer changes. Who is asked is named where somebody is:
// "authority" for a clearance, "person" for an approval.
type answerWire struct {
	From      policy.Outcome   `json:"from"`
	To        policy.Outcome   `json:"to"`
	FromAsks  []string         `json:"from_asks,omitempty"`
	ToAsks    []string         `json:"to_asks,omitempty"`
	Direction policy.Direction `json:"direction"`
}

func toAnswerWire(from, to policy.Answer) answerWire {
	return answerWire{From: from.Outcome, To: to.Outcome, FromAsks: from.Asks(), ToAsks: to.Asks(), Direction: from.Toward(to)}
}

// Words are the two answers for people.
func (w *answerWire) Words() (from, to string) {
	answer := func(o policy.Outcome, asks []string) string {
		return policy.Answer{Outcome: o, Person: slices.Contains(asks, "person"), Authority: slices.Contains(asks, "authority")}.String()
	}
	return answer(w.From, w.FromAsks), answer(w.To, w.ToAsks)
}

type trialCountWire struct {
	answerWire
	Count int `json:"count"`
}

type trialCallWire struct {
	Run     string `json:"run"`
	Node    string `json:"node"`
	Attempt int    `json:"attempt"`
	Seq     int64  `json:"seq"`
	At      string `json:"at"`
	Tool    string `json:"tool"`
	answerWire
	Rules   []string `json:"rules"`
	Reasons []string `json:"reasons"`
	What    string   `json:"what,omitempty"` // its main parameters in short, as url
	URL     string   `json:"url,omitempty"`  // only where the caller may see the run
}

func (s *Server) apiDryRun(c echo.Context) error {
	var body struct {
		YAML   string `json:"yaml"`
		Cursor string `json:"cursor"`
		Limit  int    `json:"limit"`
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	if err := policyReader(c); err != nil {
		return err
	}
	compiled, problems := s.readPolicy(body.YAML)
	if len(problems) > 0 {
		return refusedPolicy(problems)
	}
	trial, err := s.cfg.Policies.Try(c.Request().Context(), compiled, CallPage{Cursor: body.Cursor, Limit: min(max(body.Limit, 0), PageMax)})
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, ReportTrial(compiled.Hash(), &trial, func(run string) bool {
		sum, err := s.cfg.Log.Run(c.Request().Context(), run)
		return err == nil && viewer(c).sees(sum.Requester)
	}))
}

// ReportTrial gives a trial as it is sent; sees says whose runs may be linked.
func ReportTrial(hash string, t *Trial, sees func(run string) bool) TrialReport {
	w := TrialReport{Policy: hash, Calls: t.Calls, Unchanged: t.Unchanged, Reasked: t.Reasked, Erased: t.Erased, Left: t.Left,
		Rules: t.Rules, Next: t.Next, Changes: make([]trialCountWire, len(t.Changes)), List: make([]trialCallWire, len(t.List))}
	for i, change := range t.Changes {
		w.Changes[i] = trialCountWire{toAnswerWire(change.From, change.To), change.Count}
	}
	if t.Since > 0 {
		w.Since = engine.WireTime(t.Since)
	}
	for i := range t.List {
		one := &t.List[i]
		w.List[i] = trialCallWire{Run: one.Run, Node: one.Node, Attempt: one.Attempt, Seq: one.Seq, At: engine.WireTime(one.At), Tool: one.Tool,
			answerWire: toAnswerWire(one.From, one.To), Rules: one.Rules, Reasons: one.Reasons}
		if sees(one.Run) {
			w.List[i].What, w.List[i].URL = callGist(one.Params), nodeURL(one.Run, one.Node)
		}
	}
	return w
}

func nodeURL(run, node string) string { return "/runs/" + run + "?node=" + node }
