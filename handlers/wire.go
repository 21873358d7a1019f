package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// writeJSON writes v without HTML escaping: what people wrote stays readable.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func sendJSON(c echo.Context, status int, v any) error {
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	c.Response().WriteHeader(status)
	return writeJSON(c.Response(), v)
}

// readJSON reads a strict body: no duplicate or unknown keys, nothing after
// the value, depth and size bounded (P14, P27). What it gives back is without
// secrets (P26).
func (s *Server) readJSON(c echo.Context, into any) ([]byte, error) {
	raw, err := readBody(c)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 {
		return nil, malformed("the body is empty", "send a JSON object")
	}
	return s.decode(raw, into)
}

// readBody reads a body whole, within the limit; space around it goes.
func readBody(c echo.Context) ([]byte, error) {
	raw, err := io.ReadAll(c.Request().Body)
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return nil, tooLarge(big.Limit)
	case err != nil:
		return nil, malformed("the body could not be read", "send it again")
	}
	return bytes.TrimSpace(raw), nil
}

func (s *Server) decode(raw []byte, into any) ([]byte, error) {
	if _, err := plan.Canonical(raw); err != nil {
		return nil, syntaxProblem(raw, err)
	}
	if s.cfg.Redact != nil {
		raw = s.cfg.Redact.JSON(raw)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return nil, shapeProblem(err)
	}
	return raw, nil
}

// syntaxProblem says where a body is not usable JSON. What is wrong inside a
// plan that can be told apart is said as for any plan: by rule, step and pointer.
func syntaxProblem(raw []byte, err error) *Problem {
	var body struct {
		Plan json.RawMessage `json:"plan"`
	}
	if json.Unmarshal(raw, &body) == nil && len(body.Plan) > 0 {
		if _, findings := plan.Parse(body.Plan); plan.Refused(findings) {
			return refusedPlan(findings)
		}
	}
	text := strings.TrimPrefix(err.Error(), "canonicalise value: ")
	p := malformed("the body is not usable JSON: "+text, "send one JSON object without duplicate keys, at most 64 deep")
	p.Rule = "json"
	if strings.Contains(text, "deep") {
		p.Rule = "P14"
	}
	if pointer, _, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(pointer, "/") {
		p.Pointer = pointer
	}
	return p
}

// shapeProblem says which member of a body is wrong.
func shapeProblem(err error) *Problem {
	p := malformed("the body has the wrong shape", "compare it with the documented request")
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		p.Pointer = "/" + strings.ReplaceAll(wrong.Field, ".", "/")
		p.Detail = withArticle(wrong.Value) + " cannot stand at " + p.Pointer
		return p
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		p.Pointer = "/" + name
		p.Detail = "there is no member " + name
		p.Fix = "remove it"
	}
	return p
}

// withArticle puts "a" or "an" before a noun as it is spoken.
func withArticle(noun string) string {
	if strings.ContainsRune("aeio", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// runWire is a run in the shape of P39.
type runWire struct {
	engine.Summary
	Code      *engine.Code `json:"code"`
	Intent    string       `json:"intent"`
	CreatedAt string       `json:"created_at"`
	EndedAt   *string      `json:"ended_at"`
}

// RunShape is a run in the shape of P39, ready to be encoded.
func RunShape(sum engine.Summary) any { return toRunWire(sum) }

func toRunWire(sum engine.Summary) runWire {
	w := runWire{Summary: sum, Intent: sum.Intent.Name(), CreatedAt: engine.WireTime(sum.CreatedAt)}
	if sum.Code != "" {
		w.Code = &sum.Code
	}
	if sum.EndedAt > 0 {
		at := engine.WireTime(sum.EndedAt)
		w.EndedAt = &at
	}
	return w
}

// approvalWire is an approval request on the wire.
type approvalWire struct {
	ID          string          `json:"id"`
	Run         string          `json:"run"`
	Node        string          `json:"node"`
	Tool        string          `json:"tool"`
	State       string          `json:"state"`
	Hash        string          `json:"hash"`
	Impact      policy.Rank     `json:"impact"`
	Requester   string          `json:"requester"`
	Asks        []policy.AskFor `json:"asks"`
	Approvers   []string        `json:"approvers"`
	Reason      string          `json:"reason,omitempty"`
	By          string          `json:"by,omitempty"`
	RequestedAt string          `json:"requested_at"`
	ExpiresAt   string          `json:"expires_at"`
	DecidedAt   *string         `json:"decided_at"`
}

func toApprovalWire(a *Approval) approvalWire {
	w := approvalWire{ID: a.ID, Run: a.Run, Node: a.Node, Tool: a.Tool, State: a.State, Hash: a.Hash,
		Impact: a.Impact, Requester: a.Requester, Asks: a.Asks, Approvers: a.Approvers, Reason: a.Reason,
		By: a.Actor, RequestedAt: engine.WireTime(a.RequestedAt), ExpiresAt: engine.WireTime(a.ExpiresAt)}
	if w.Approvers == nil {
		w.Approvers = []string{}
	}
	if a.DecidedAt > 0 {
		at := engine.WireTime(a.DecidedAt)
		w.DecidedAt = &at
	}
	return w
}

// intent reads an intent by its name in the registry of the policy in force (P16).
func (s *Server) intent(name string) (policy.Rank, *Problem) {
	if name == "" {
		return policy.Observe, nil // P17: intent defaults to observe
	}
	if rank, ok := s.cfg.Rules.Policy().RankOf(name); ok {
		return rank, nil
	}
	p := problem("invalid", "there is no intent "+name, "use observe, operate or override")
	p.Pointer = "/intent"
	return 0, p
}
