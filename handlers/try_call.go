package handlers

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine/plan"
	"sluice/policy"
	"sluice/policy/gatecheck"
	"sluice/web/templates"
)

// A call that nobody made can be tried on a draft and on the policy in force, as
// `sluice gate check` tries it on a file (P37): nothing runs and nobody is asked.

// callForm is the row "Try a call" of the policy page.
type callForm struct{ tool, params, intent, scopes string }

func readCallForm(c echo.Context) callForm {
	return callForm{tool: strings.TrimSpace(c.FormValue("call_tool")), params: strings.TrimSpace(c.FormValue("call_params")),
		intent: c.FormValue("call_intent"), scopes: c.FormValue("call_scopes")}
}

// line is the form as a line of P37. The parameters go in as they were typed, so
// that what is wrong with them is said by who reads calls.
func (f *callForm) line() []byte {
	params := f.params
	if params == "" {
		params = "{}"
	}
	head, err := json.Marshal(map[string]any{"tool": f.tool, "intent": f.intent, "scopes": listValue(f.scopes)})
	if err != nil { // a map of texts
		return nil
	}
	return []byte(strings.TrimSuffix(string(head), "}") + `,"params":` + params + "}")
}

func (s *Server) gateOptions(p *policy.Policy) gatecheck.Options {
	catalog := s.cfg.Rules.Catalog()
	return gatecheck.Options{Policy: p, Scopes: []string{"default"}, Canonical: plan.Canonical,
		Tool: func(name string) (policy.Tool, bool) {
			t, known := catalog.Lookup(name)
			if !known {
				return policy.Tool{}, false
			}
			return t.Tool, true
		}}
}

// tryCallView tries the call on the page's own text and on the policy in force.
func (s *Server) tryCallView(f *callForm, text string, tables []templates.PolicyTable) templates.TryCall {
	v := templates.TryCall{Tool: f.tool, Params: f.params, Intent: f.intent, Scopes: f.scopes, Tools: s.cfg.Rules.Catalog().Names()}
	for i := range tables {
		if tables[i].ID == "intents" {
			for _, r := range tables[i].Rows {
				v.Intents = append(v.Intents, r.Name)
			}
		}
	}
	if len(v.Intents) == 0 {
		v.Intents = []string{policy.Observe.Name(), policy.Operate.Name(), policy.Override.Name()}
	}
	if !slices.Contains(v.Intents, v.Intent) {
		v.Intent = policy.Operate.Name()
	}
	if v.Scopes == "" {
		v.Scopes = "default"
	}
	if f.tool == "" {
		return v
	}
	if params := []byte(f.params); f.params != "" {
		if _, err := plan.Canonical(params); err != nil {
			if inner := errors.Unwrap(err); inner != nil {
				err = inner
			}
			v.Refused = "The parameters can not be read: " + plain(err.Error()) + "."
			return v
		}
	}
	shown := callForm{tool: f.tool, params: f.params, intent: v.Intent, scopes: v.Scopes}
	line := shown.line()
	if draft, _ := s.readPolicy(text); draft != nil {
		v.Draft = s.callAnswer(draft, line)
	}
	v.Active = s.callAnswer(s.cfg.Rules.Policy(), line)
	return v
}

func (s *Server) callAnswer(p *policy.Policy, line []byte) *templates.CallAnswer {
	d, _ := gatecheck.Answer(line, s.gateOptions(p))
	a := &templates.CallAnswer{Answer: d.Answer().String(), Stage: d.Stage,
		Impact: plain(d.ImpactName) + " (" + strconv.Itoa(int(d.Impact)) + ")", Limit: plain(d.Limit.Name()) + " (" + strconv.Itoa(int(d.Limit)) + ")"}
	for _, rule := range d.Rules {
		a.Rules = append(a.Rules, plain(rule))
	}
	for _, reason := range d.Reasons {
		a.Reasons = append(a.Reasons, plain(reason))
	}
	if len(a.Reasons) == 0 {
		a.Reasons = []string{"Within the limit, and no rule asks."}
	}
	if d.Stage == policy.StageInput {
		a.Impact, a.Limit = "", ""
	}
	return a
}

// tryCallReport is one call under a draft and under the policy in force.
type tryCallReport struct {
	Draft  json.RawMessage `json:"draft"` // null without a text
	Active json.RawMessage `json:"active"`
}

func (s *Server) apiTryCall(c echo.Context) error {
	var body struct {
		YAML string          `json:"yaml"`
		Call json.RawMessage `json:"call"`
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	if len(body.Call) == 0 {
		p := problem("invalid", "the call is missing", `send {"call": {"tool": …, "params": …, "intent": …, "scopes": […]}}`)
		p.Pointer = "/call"
		return p
	}
	report := tryCallReport{Draft: json.RawMessage("null"), Active: s.decisionWire(s.cfg.Rules.Policy(), body.Call)}
	if body.YAML != "" {
		draft, problems := s.readPolicy(body.YAML)
		if len(problems) > 0 {
			return refusedPolicy(problems)
		}
		report.Draft = s.decisionWire(draft, body.Call)
	}
	return sendJSON(c, http.StatusOK, report)
}

func (s *Server) decisionWire(p *policy.Policy, call []byte) json.RawMessage {
	_, wire := gatecheck.Answer(call, s.gateOptions(p))
	return wire
}
