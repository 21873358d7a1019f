package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/template"
	"sluice/policy/document"
)

// Problem is an RFC 9457 problem with Sluice's members (P41).
type Problem struct {
	Type     string             `json:"type"`
	Title    string             `json:"title"`
	Status   int                `json:"status"`
	Detail   string             `json:"detail"`
	Code     string             `json:"code"` // conflict, invalid, not_found, denied, unavailable, internal
	Rule     string             `json:"rule,omitempty"`
	Step     string             `json:"step,omitempty"`
	Pointer  string             `json:"pointer,omitempty"`
	Fix      string             `json:"fix,omitempty"`
	Who      string             `json:"who,omitempty"`
	When     string             `json:"when,omitempty"`
	Revision int64              `json:"revision,omitempty"` // that is current, of a conflict about a draft
	Findings []plan.Finding     `json:"findings,omitempty"`
	Issues   []document.Problem `json:"issues,omitempty"`   // of a policy document
	Problems []template.Problem `json:"problems,omitempty"` // of a template or its values

	RetryAfter int64 `json:"-"` // seconds, a header (P41)
}

// Error implements error.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

func statusOf(code string) int {
	switch code {
	case "conflict":
		return http.StatusConflict
	case "invalid":
		return http.StatusUnprocessableEntity
	case "not_found":
		return http.StatusNotFound
	case "denied":
		return http.StatusForbidden
	case "unavailable":
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

func problem(code, detail, fix string) *Problem {
	status := statusOf(code)
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail, Fix: fix}
}

// malformed is a body that could not be read as what it should be.
func malformed(detail, fix string) *Problem {
	p := problem("invalid", detail, fix)
	p.Status, p.Title = http.StatusBadRequest, http.StatusText(http.StatusBadRequest)
	return p
}

func tooLarge(limit int64) *Problem {
	p := problem("invalid", "the body is larger than "+strconv.FormatInt(limit, 10)+" bytes ("+sizeWords(limit)+")", "send a smaller one")
	p.Status, p.Title, p.Rule = http.StatusRequestEntityTooLarge, http.StatusText(http.StatusRequestEntityTooLarge), "P14"
	return p
}

// sizeWords is a limit in the unit it was chosen in.
func sizeWords(limit int64) string {
	if limit%(1<<20) == 0 {
		return strconv.FormatInt(limit>>20, 10) + " MiB"
	}
	return strconv.FormatInt(limit>>10, 10) + " KiB"
}

func refusedPlan(findings []plan.Finding) *Problem {
	p := problem("invalid", "the plan does not compile", "mend the findings and send it again; nothing has run")
	p.Findings = findings
	for i := range findings {
		if f := &findings[i]; f.Severity == plan.Error {
			p.Rule, p.Step, p.Pointer, p.Detail, p.Fix = f.Rule, f.Step, f.Pointer, f.Message, f.Fix
			break
		}
	}
	return p
}

// toProblem maps every error to what a client may know of it. Internals are
// logged by the server, never sent.
func toProblem(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var refused *engine.Refusal
	if errors.As(err, &refused) {
		p = problem(refused.Code, refused.Message, refused.Fix)
		p.Who = refused.Who
		if refused.At > 0 {
			p.When = engine.WireTime(refused.At)
		}
		return p
	}
	var he *echo.HTTPError
	if errors.As(err, &he) {
		return fromHTTP(he)
	}
	return problem("internal", "something went wrong on the server", "try again; the server's log has the details")
}

func fromHTTP(he *echo.HTTPError) *Problem {
	code := "invalid"
	switch {
	case he.Code == http.StatusNotFound:
		code = "not_found"
	case he.Code == http.StatusForbidden || he.Code == http.StatusUnauthorized:
		code = "denied"
	case he.Code >= http.StatusInternalServerError:
		code = "internal"
	}
	p := problem(code, strings.ToLower(http.StatusText(he.Code)), "")
	switch he.Code {
	case http.StatusNotFound:
		p.Detail, p.Fix = "there is nothing at this address", "check it for a typing error, or start from a page in the menu"
	case http.StatusMethodNotAllowed:
		p.Detail, p.Fix = "this address takes no such request", "open the page it belongs to and use its buttons"
	}
	p.Status, p.Title = he.Code, http.StatusText(he.Code)
	return p
}

func notFound(what string) *Problem {
	return problem("not_found", "no such "+what, "check the id, or whether you may see it")
}
