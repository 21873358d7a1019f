package handlers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"sluice/engine"
)

// visible is a run of user 1 that any viewer of the tests may see.
func visible(id string) (engine.Summary, error) {
	return engine.Summary{ID: id, Requester: "user:1", Status: engine.Active}, nil
}

var errDisk = errors.New("disk I/O error at /var/lib/sluice/secret-place")

// TestP41_FaultsAreLoggedAndNotTold: an operating failure is a problem of code
// internal that says nothing of the inside; the log has it once.
func TestP41_FaultsAreLoggedAndNotTold(t *testing.T) {
	broken := &ports{run: visible,
		rows:      func(string, int64, int) ([]engine.Row, error) { return nil, errDisk },
		runs:      func(RunFilter) ([]engine.Summary, string, error) { return nil, "", errDisk },
		approvals: func(ApprovalFilter) ([]Approval, string, error) { return nil, "", errDisk },
		approval:  func(string) (Approval, error) { return Approval{}, errDisk },
		submit:    func(*engine.Create) (string, bool, error) { return "", false, errDisk },
		send:      func(string, engine.Input) error { return errDisk },
		propose:   func(string) (Proposal, error) { return Proposal{}, errDisk },
	}
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/api/v1/runs", ""}, {"GET", "/api/v1/runs/r_1", ""}, {"GET", "/api/v1/runs/r_1/facts", ""}, {"GET", "/api/v1/runs/r_1/graph", ""},
		{"GET", "/api/v1/runs/r_1/plan", ""}, {"GET", "/api/v1/approvals", ""}, {"GET", "/api/v1/approvals/a_1", ""},
		{"POST", "/api/v1/runs", `{"goal":"x"}`}, {"POST", "/api/v1/runs/r_1/cancel", ""}, {"POST", "/api/v1/plans/propose", `{"goal":"x"}`},
	} {
		b := newBed(t, broken)
		p := b.problem(http.StatusInternalServerError, b.send(r.method, r.path, r.body))
		if p.Code != "internal" || strings.Contains(p.Detail+p.Fix, "disk") {
			t.Errorf("%s %s: got %+v, want an internal problem that tells nothing", r.method, r.path, p)
		}
		if n := strings.Count(b.logs.String(), "disk I/O error"); n != 1 {
			t.Errorf("%s %s: got %d lines in the log, want one: %s", r.method, r.path, n, b.logs)
		}
	}
	for _, path := range []string{"/runs", "/runs/r_1", "/runs/r_1/nodes/a", "/approvals", "/approvals/a_1", "/frag/runs/r_1"} {
		got := newBed(t, broken).send("GET", path, "")
		if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "secret-place") || !strings.Contains(got.Body.String(), "<html") {
			t.Errorf("%s: got %d %.80s, want a page of status 500 that tells nothing", path, got.Code, got.Body)
		}
	}
}

// TestP41_RefusalsKeepTheirWords: code, fix, who and when reach the client.
func TestP41_RefusalsKeepTheirWords(t *testing.T) {
	for code, status := range map[string]int{"conflict": 409, "invalid": 422, "not_found": 404, "denied": 403, "unavailable": 503, "internal": 500} {
		b := newBed(t, &ports{run: visible, send: func(string, engine.Input) error {
			return fmt.Errorf("send: %w", &engine.Refusal{Code: code, Message: "no", Fix: "wait", Who: "user:7", At: 1_800_000_000_000_000})
		}})
		p := b.problem(status, b.send("POST", "/api/v1/runs/r_1/pause", ""))
		if p.Code != code || p.Detail != "no" || p.Fix != "wait" || p.Who != "user:7" || p.When != "2027-01-15T08:00:00.000000Z" || p.Title != http.StatusText(status) {
			t.Errorf("%s: got %+v", code, p)
		}
	}
	for _, code := range []int{404, 405, 403, 415, 500} {
		if p := toProblem(echo.NewHTTPError(code)); p.Status != code || p.Code == "" || p.Detail == "" {
			t.Errorf("%d: got %+v", code, p)
		}
	}
	if p := toProblem(nil); p.Code != "internal" {
		t.Errorf("nil: got %+v", p)
	}
}

// TestP41_AHalfWrittenAnswerEnds: what has begun to be sent is never followed by
// an error page in the same answer.
func TestP41_AHalfWrittenAnswerEnds(t *testing.T) {
	b := newBed(t, &ports{run: visible, export: func(w io.Writer) error {
		_, err := io.WriteString(w, "{\"seq\":1}\n")
		return errors.Join(err, errDisk)
	}})
	for _, path := range []string{"/api/v1/audit/export", "/runs/r_1/export"} {
		if got := b.send("GET", path, ""); got.Body.String() != "{\"seq\":1}\n" {
			t.Errorf("%s: got %q, want what was written and nothing more", path, got.Body)
		}
	}
}

// TestP41_HomeWorksWithoutItsLists: a page that only counts requests is not
// lost with them.
func TestP41_HomeWorksWithoutItsLists(t *testing.T) {
	b := newBed(t, &ports{approvals: func(ApprovalFilter) ([]Approval, string, error) { return nil, "", errDisk }})
	if got := b.send("GET", "/", ""); got.Code != http.StatusOK {
		t.Errorf("got %d, want the page", got.Code)
	}
	if !strings.Contains(b.logs.String(), "disk I/O error") {
		t.Error("the log does not say why the requests are missing")
	}
}

// TestP35_APersonWhoIsGoneIsSignedOut: a session outlives nobody.
func TestP35_APersonWhoIsGoneIsSignedOut(t *testing.T) {
	p := &ports{}
	b := newBed(t, p)
	p.user = func(string) (User, error) { return User{}, errNone }
	b.problem(http.StatusUnauthorized, b.send("GET", "/api/v1/runs", ""))
	if got := b.send("GET", "/", ""); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/signin" {
		t.Errorf("got %d to %s, want the sign-in page", got.Code, got.Header().Get("Location"))
	}
}

// TestP42_SecureCookiesWhereThereIsTLS: the flag reaches the session's cookie.
func TestP42_SecureCookiesWhereThereIsTLS(t *testing.T) {
	for _, secure := range []bool{false, true} {
		if got := newSessions(Config{Secure: secure}).Cookie; got.Secure != secure || !got.HttpOnly || got.SameSite != http.SameSiteLaxMode {
			t.Errorf("secure %v: got %+v", secure, got)
		}
	}
}

// TestP41_IdsOfOtherShapesDoNotReachTheStore.
func TestP41_IdsOfOtherShapesDoNotReachTheStore(t *testing.T) {
	b := newBed(t, &ports{
		run: func(id string) (engine.Summary, error) {
			t.Errorf("the store was asked for run %q", id)
			return engine.Summary{}, errNone
		},
		approval: func(id string) (Approval, error) {
			t.Errorf("the store was asked for approval %q", id)
			return Approval{}, errNone
		},
	})
	for _, path := range []string{"/api/v1/runs/x", "/api/v1/runs/r_" + strings.Repeat("1", 80), "/api/v1/approvals/x", "/api/v1/approvals/a_" + strings.Repeat("1", 80), "/api/v1/runs/..%2f..%2fetc"} {
		b.problem(http.StatusNotFound, b.send("GET", path, ""))
	}
}

// TestP41_AWrongMethodIsToldTheRightOnes: a route that is there under another
// method is no missing route.
func TestP41_AWrongMethodIsToldTheRightOnes(t *testing.T) {
	for _, r := range []struct{ method, path, allow string }{
		{"DELETE", "/api/v1/runs", "GET, POST"}, {"PATCH", "/api/v1/runs/r_1", "GET"}, {"GET", "/api/v1/runs/r_1/cancel", "POST"},
		{"PUT", "/api/v1/approvals/a_1", "GET, POST"}, {"POST", "/api/v1/tools", "GET"},
	} {
		b := newBed(t, &ports{run: visible})
		got := b.send(r.method, r.path, "")
		p := b.problem(http.StatusMethodNotAllowed, got)
		if got.Header().Get("Allow") != r.allow || p.Code != "invalid" || !strings.Contains(p.Detail, r.method) || p.Fix == "" {
			t.Errorf("%s %s: got Allow %q and %+v, want %s", r.method, r.path, got.Header().Get("Allow"), p, r.allow)
		}
	}
	b := newBed(t, &ports{run: visible})
	for _, path := range []string{"/api/v1/nothing", "/api/v1/runs/r_1/nothing", "/api/v1/runs//cancel"} {
		b.problem(http.StatusNotFound, b.send("GET", path, ""))
	}
}

// TestP41_AWrongShapeIsSaidInWords.
func TestP41_AWrongShapeIsSaidInWords(t *testing.T) {
	b := newBed(t, &ports{run: visible})
	for body, want := range map[string]string{
		`{"goal":[]}`: "an array cannot stand at /goal", `{"goal":{}}`: "an object cannot stand at /goal", `{"goal":true}`: "a bool cannot stand at /goal", `{"goal":1}`: "a number cannot stand at /goal",
	} {
		if p := b.problem(http.StatusBadRequest, b.send("POST", "/api/v1/runs", body)); p.Detail != want {
			t.Errorf("%s: got %q, want %q", body, p.Detail, want)
		}
	}
}

// TestP14_ALimitIsNamedInBytes: of the limit that was met.
func TestP14_ALimitIsNamedInBytes(t *testing.T) {
	for limit, want := range map[int64]string{BodyBytesMax: "4194304 bytes (4 MiB)", FormBytesMax: "262144 bytes (256 KiB)"} {
		if p := tooLarge(limit); !strings.Contains(p.Detail, want) || p.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("got %+v, want %s", p, want)
		}
	}
}

// TestP41_AFaultOfAHandlerIsAnswered: a panic is a problem like any other fault,
// and the next request is served.
func TestP41_AFaultOfAHandlerIsAnswered(t *testing.T) {
	b := newBed(t, &ports{propose: func(string) (Proposal, error) { panic("out of range") }})
	p := b.problem(http.StatusInternalServerError, b.send("POST", "/api/v1/plans/propose", `{"goal":"x"}`))
	if p.Code != "internal" || strings.Contains(p.Detail+p.Fix, "range") || !strings.Contains(b.logs.String(), "out of range") {
		t.Errorf("got %+v and the log %s", p, b.logs)
	}
	if got := b.send("GET", "/healthz", ""); got.Code != http.StatusOK {
		t.Errorf("the next request: got %d", got.Code)
	}
}
