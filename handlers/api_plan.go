package handlers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/plan/yamlform"
	"sluice/policy"
)

// toolWire is a declared tool as lists and the builder's palette show it.
type toolWire struct {
	Name     string          `json:"name"`
	Family   string          `json:"family"` // what stands before the first dot
	Summary  string          `json:"summary"`
	Class    plan.Class      `json:"class"`
	Effect   policy.Effect   `json:"effect"`
	Impact   string          `json:"impact"`
	ImpactOf bool            `json:"impact_of"` // the impact hangs on the parameters; impact is the highest
	External bool            `json:"external"`
	TimeoutS float64         `json:"timeout_s"`
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"`
}

func toToolWire(t *plan.Tool) toolWire {
	family, _, _ := strings.Cut(t.Name, ".")
	return toolWire{Name: t.Name, Family: family, Summary: t.Summary, Class: plan.ClassOf(t), Effect: t.Effect, Impact: t.Impact.Name(),
		ImpactOf: t.ImpactOf != nil, External: t.External, TimeoutS: t.Timeout.Seconds(), Input: t.Input, Output: t.Output}
}

func (s *Server) toolList() []toolWire {
	catalog := s.cfg.Rules.Catalog()
	tools := make([]toolWire, 0, len(catalog.Names()))
	for _, name := range catalog.Names() {
		t, _ := catalog.Lookup(name)
		tools = append(tools, toToolWire(t))
	}
	return tools
}

func (s *Server) apiTools(c echo.Context) error {
	return sendJSON(c, http.StatusOK, map[string]any{"tools": s.toolList()})
}

// checkBody is POST /plans/check. With gate, the answer says of every step what
// the gate would say to the viewer.
type checkBody struct {
	Plan    json.RawMessage `json:"plan"`
	Intent  string          `json:"intent"`
	Scopes  []string        `json:"scopes"`
	Profile string          `json:"profile"`
	Gate    bool            `json:"gate"`
}

// stepAnswer is the gate's answer about one step before a run.
type stepAnswer struct {
	Step       string            `json:"step"`
	Index      int               `json:"index"`
	Class      plan.Class        `json:"class"`
	Effect     policy.Effect     `json:"effect"`
	Decision   string            `json:"decision"`
	Open       bool              `json:"open,omitempty"` // it hangs on a value that is not known yet
	Impact     policy.Rank       `json:"impact"`
	ImpactName string            `json:"impact_name"`
	Rules      []string          `json:"rules"`
	Reasons    []string          `json:"reasons"`
	Asks       []policy.AskFor   `json:"asks"`            // people that have to approve it
	Clear      []policy.ClearFor `json:"clear,omitempty"` // authorities that have to allow it
}

// apiCheck compiles a plan and runs nothing (P38).
func (s *Server) apiCheck(c echo.Context) error {
	var body checkBody
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	report, err := s.check(c, &body)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, report)
}

// gatedCheck is a Check with the gate's answers.
type gatedCheck struct {
	Check
	Steps []stepAnswer `json:"steps"`
}

func (s *Server) check(c echo.Context, body *checkBody) (any, error) {
	intent, bad := s.intent(body.Intent)
	if bad != nil {
		return nil, bad
	}
	if len(body.Scopes) == 0 {
		body.Scopes = []string{"default"}
	}
	in := &engine.Create{Requester: viewer(c).User.ID, Intent: intent, Scopes: body.Scopes, Profile: body.Profile}
	if !body.Gate {
		return CheckReport(s.compile(body.Plan, in)), nil
	}
	compiled, findings, answers := plan.Inspect(body.Plan, s.planEnv(in))
	report := gatedCheck{CheckReport(compiled, findings), make([]stepAnswer, len(answers))}
	for i := range answers {
		a, d := &answers[i], &answers[i].Decision
		report.Steps[i] = stepAnswer{Step: a.Step, Index: a.Index, Class: a.Class, Effect: a.Effect, Decision: string(d.Outcome), Open: a.Open,
			Impact: d.Impact, ImpactName: d.ImpactName, Rules: d.Rules, Reasons: d.Reasons, Asks: d.Asks, Clear: d.Clear}
	}
	return report, nil
}

// apiReadPlan turns a plan in any form that is read, JSON or YAML, into form 1.
// It checks the form alone; what cannot be read comes back as findings.
func (s *Server) apiReadPlan(c echo.Context) error {
	var body struct {
		Text string `json:"text"`
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	p, findings := readPlanText([]byte(body.Text))
	if p == nil {
		return refusedPlan(findings)
	}
	return sendJSON(c, http.StatusOK, map[string]any{"plan": p})
}

func readPlanText(text []byte) (*plan.Plan, []plan.Finding) {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' {
		return plan.Parse(text)
	}
	return yamlform.Parse(text)
}
