package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Roles that a rule can be for.
const (
	Planner    = "planner"
	Reflection = "reflection"
	check      = "check" // Sluice tries whether the server works
)

// Script says what is answered: the first rule that fits.
type Script struct {
	Model string `json:"model"` // name in /v1/models
	Rules []Rule `json:"rules"`
}

// Rule answers a request whose role and last user message fit. Without an answer
// of its own it plans or concludes as the demo does.
type Rule struct {
	Role     string   `json:"role"`     // "planner", "reflection" or "" for both
	Contains []string `json:"contains"` // each occurs in the last user message, whatever the case
	Times    int      `json:"times"`    // how often the rule acts; 0: always

	Plan    json.RawMessage `json:"plan"`   // a plan of form 1
	Answer  string          `json:"answer"` // a direct answer, or the text of a conclusion
	Claims  json.RawMessage `json:"claims"` // of a conclusion; made from the data when absent
	Replan  string          `json:"replan"` // the note of a reflection that wants more steps
	Raw     string          `json:"raw"`    // the whole answer as it is
	Fault   string          `json:"fault"`
	DelayMS int             `json:"delay_ms"` // before each piece
	Piece   int             `json:"piece"`    // bytes of a piece; 0: 24
}

// rulesMax and pieceDefault bound a script.
const (
	rulesMax     = 1_000
	pieceDefault = 24
)

// ReadScript reads a script; what it does not know it refuses.
func ReadScript(doc []byte) (Script, error) {
	var s Script
	d := json.NewDecoder(strings.NewReader(string(doc)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("read script: %w", err)
	}
	if len(s.Rules) > rulesMax {
		return s, fmt.Errorf("read script: %d rules, at most %d", len(s.Rules), rulesMax)
	}
	for i := range s.Rules {
		if err := s.Rules[i].check(); err != nil {
			return s, fmt.Errorf("read script: rule %d: %w", i, err)
		}
	}
	return s, nil
}

func (r *Rule) check() error {
	switch {
	case r.Role != "" && r.Role != Planner && r.Role != Reflection:
		return fmt.Errorf("there is no role %q", r.Role)
	case r.Fault != "" && !slices.Contains(Faults(), r.Fault):
		return fmt.Errorf("there is no fault %q; known are %s", r.Fault, strings.Join(Faults(), ", "))
	case r.DelayMS < 0 || r.Piece < 0 || r.Times < 0:
		return errors.New("delay_ms, piece and times are not negative")
	}
	return nil
}

// fits says whether a rule is for a request.
func (r *Rule) fits(role, text string) bool {
	if r.Role != "" && r.Role != role {
		return false
	}
	lower := strings.ToLower(text)
	for _, word := range r.Contains {
		if !strings.Contains(lower, strings.ToLower(word)) {
			return false
		}
	}
	return true
}

// answer is the text of a rule for a request.
func (r *Rule) answer(role, text string) string {
	switch {
	case role == check:
		return `{"ok": true}`
	case r.Raw != "":
		return r.Raw
	case role == Reflection:
		return r.concluded(text)
	case len(r.Plan) > 0:
		return marshal(map[string]any{"answer": nil, "plan": r.Plan})
	case r.Answer != "":
		return marshal(map[string]any{"answer": r.Answer, "plan": nil})
	}
	return demoPlan(text)
}

func (r *Rule) concluded(text string) string {
	if r.Replan != "" {
		return marshal(map[string]any{"ruling": "replan", "answer": "", "claims": []any{}, "note": r.Replan})
	}
	answer, claims := conclusion(text)
	if r.Answer != "" {
		answer = r.Answer
	}
	out := map[string]any{"ruling": "conclude", "answer": answer, "claims": claims, "note": ""}
	if len(r.Claims) > 0 {
		out["claims"] = r.Claims
	}
	return marshal(out)
}

// marshal keeps the order that people read an answer in.
func marshal(v map[string]any) string {
	var parts []string
	for _, key := range []string{"ruling", "answer", "plan", "claims", "note"} {
		value, has := v[key]
		if !has {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			raw = []byte("null")
		}
		parts = append(parts, fmt.Sprintf("%q: %s", key, raw))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
