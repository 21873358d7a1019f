package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sluice/engine"
)

// authority is an HTTP server on this machine whose behaviour a test changes.
type authority struct {
	*httptest.Server
	mu    sync.Mutex
	say   http.HandlerFunc
	asked []string // bodies
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		a.asked = append(a.asked, string(body))
		say := a.say
		a.mu.Unlock()
		r.Header.Set("X-Body", string(body))
		say(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *authority) will(say http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.say, a.asked = say, nil
}

func (a *authority) questions() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, a.asked...)
}

func nonceOf(r *http.Request) string {
	var q struct{ Nonce string }
	_ = json.Unmarshal([]byte(r.Header.Get("X-Body")), &q)
	return q.Nonce
}

// answers gives an answer in which NONCE stands for that of the question.
func answers(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, strings.ReplaceAll(text, "NONCE", nonceOf(r)))
	}
}

const goodAnswer = `{"allow":true,"reason":"within hours","nonce":"NONCE"}`

// cleared is a world in which file tools want the clearance of an authority.
func cleared(t *testing.T, a *authority, approvals string) *caller {
	t.Helper()
	t.Parallel()
	cfg := withPolicy(t, testConfig(t), "clearance: [{id: C1, when: {tools: [\"file.*\"]}, url: \""+a.URL+"/clear\", timeout_s: 1}]\napprovals: {self: allowed, rules: ["+approvals+"]}\n")
	return worldOf(t, cfg).operator()
}

const writeOut = `{"intent":"operate","plan":{"format":1,"goal":"write out.txt","steps":[{"id":"w","tool":"file.write","params":{"path":"out.txt","content":"hello"}}]}}`

func (c *caller) wroteOut() bool {
	_, err := os.Stat(filepath.Join(c.app.cfg.Workspace, "out.txt"))
	return err == nil
}

// answered is the fact about the authority's answer in a run.
func (c *caller) answered(run string) map[string]any {
	c.Helper()
	for _, f := range c.facts(run, 100) {
		if f.Kind == string(engine.ClearanceAnswered) {
			var data map[string]any
			if err := json.Unmarshal(f.Data, &data); err != nil {
				c.Fatal(err)
			}
			return data
		}
	}
	c.Fatal("no answer is on record")
	return nil
}

// TestR47_FailingAuthoritiesDeny: nothing that is not a well-formed, timely
// allow lets a file be written, and the log says what was wrong.
func TestR47_FailingAuthoritiesDeny(t *testing.T) {
	a := newAuthority(t)
	o := cleared(t, a, "")
	var isFollowed atomic.Bool
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { isFollowed.Store(true) }))
	t.Cleanup(target.Close)
	for _, tc := range []struct {
		name, failure string
		say           http.HandlerFunc
	}{
		{"slow", "deadline", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"redirect", "redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, http.StatusFound) }},
		{"allow as text", "malformed", answers(`{"allow":"true","nonce":"NONCE"}`)},
		{"duplicate keys", "malformed", answers(`{"allow":false,"allow":true,"nonce":"NONCE"}`)},
		{"wrong nonce", "nonce", answers(`{"allow":true,"nonce":"0123456789abcdef0123456789abcdef"}`)},
		{"no nonce", "malformed", answers(`{"allow":true}`)},
		{"unknown key", "malformed", answers(`{"allow":true,"nonce":"NONCE","note":1}`)},
		{"trailing bytes", "malformed", answers(goodAnswer + "{}")},
		{"too large", "too large", answers(`{"allow":true,"nonce":"NONCE","reason":"` + strings.Repeat("x", 70_000) + `"}`)},
		{"server error", "status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }},
		{"text", "content type", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = fmt.Fprintf(w, `{"allow":true,"nonce":%q}`, nonceOf(r))
		}},
		{"hangs up", "unreachable", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	} {
		a.will(tc.say)
		run := o.submit(writeOut)
		if r := o.end(run); r.code() != "PERMISSION_DENIED" || len(r.Causes) != 1 || r.Causes[0] != "gate" || o.wroteOut() {
			t.Fatalf("%s: got %s %v, file written: %v", tc.name, r.code(), r.Causes, o.wroteOut())
		}
		if got := o.answered(run); got["allow"] != false || got["failure"] != tc.failure || got["latency_ms"] == nil {
			t.Errorf("%s: on record is %v, want the failure %q", tc.name, got, tc.failure)
		}
	}
	if isFollowed.Load() {
		t.Error("the redirect was followed")
	}
	a.Close()
	run := o.submit(writeOut)
	if o.end(run); o.wroteOut() || o.answered(run)["failure"] != "unreachable" {
		t.Errorf("unreachable: on record is %v, file written: %v", o.answered(run), o.wroteOut())
	}
}

// TestR47_AGoodAnswerAllows, is asked once for each attempt, and is shown with
// its rule, host and latency.
func TestR47_AGoodAnswerAllows(t *testing.T) {
	a := newAuthority(t)
	o := cleared(t, a, "")
	a.will(answers(goodAnswer))
	run := o.submit(writeOut)
	if r := o.end(run); r.code() != "SUCCESS" || !o.wroteOut() {
		t.Fatalf("got %s %v, file written: %v", r.code(), r.Causes, o.wroteOut())
	}
	asked := a.questions()
	if len(asked) != 1 || !strings.Contains(asked[0], `"tool":"file.write"`) || !strings.Contains(asked[0], `"path":"out.txt"`) ||
		!strings.Contains(asked[0], `"user":"user:1"`) || !strings.Contains(asked[0], `"run":"`+run+`"`) {
		t.Errorf("the authority was asked %q", asked)
	}
	if got := o.answered(run); got["allow"] != true || got["reason"] != "within hours" || got["failure"] != nil {
		t.Errorf("on record is %v", got)
	}
	host := strings.TrimPrefix(a.URL, "http://")
	for _, path := range []string{"/runs/" + run + "?view=log", "/runs/" + run + "?view=list&node=w"} {
		page := o.get(path)
		if text := strings.ToLower(page.text()); !strings.Contains(text, "cleared by c1") || !strings.Contains(text, host) || !strings.Contains(text, "within hours") {
			t.Errorf("%s: status %d does not show who cleared the call", path, page.status)
		}
	}
}

// TestR43_TheAuthorityIsNotAskedAfterADenial: the spy hears of no call that
// scope or impact deny.
func TestR43_TheAuthorityIsNotAskedAfterADenial(t *testing.T) {
	a := newAuthority(t)
	o := cleared(t, a, "")
	a.will(answers(goodAnswer))
	r := o.end(o.submit(`{"goal":"delete notes.txt","intent":"operate"}`))
	if r.code() != "PERMISSION_DENIED" || len(a.questions()) != 0 {
		t.Errorf("got %s after %d questions, want a denial without one", r.code(), len(a.questions()))
	}
}

// TestR43_PeopleSeeWhoCleared: the packet of a call that asks for both.
func TestR43_PeopleSeeWhoCleared(t *testing.T) {
	a := newAuthority(t)
	o := cleared(t, a, "{id: A1, when: {impact_at_least: override}, per: call}")
	a.will(answers(goodAnswer))
	run := o.submit(`{"goal":"delete notes.txt","intent":"override"}`)
	var r shape
	for limit := time.Now().Add(restWithin); len(r.Waiting) == 0; time.Sleep(5 * time.Millisecond) {
		if o.want(http.StatusOK, o.get("/api/v1/runs/"+run), &r); time.Now().After(limit) {
			t.Fatalf("got %+v, want an approval to wait", r)
		}
	}
	page := o.get("/approvals/" + r.Waiting[0]).text()
	if !strings.Contains(page, "Cleared by C1 (") || !strings.Contains(page, "within hours") || !strings.Contains(page, "Rule A1 asks") {
		t.Error("the packet does not say who cleared the call")
	}
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+r.Waiting[0], verdictOf("approve", o.hashOf(r.Waiting[0]), "")), nil)
	if end := o.end(run); end.code() != "SUCCESS" || len(a.questions()) != 1 {
		t.Errorf("got %s after %d questions", end.code(), len(a.questions()))
	}
}

// TestP24_LatenciesAreThoseOnRecord: what a start reads back is what attempts took.
func TestP24_LatenciesAreThoseOnRecord(t *testing.T) {
	a := newAuthority(t)
	o := cleared(t, a, "")
	a.will(answers(goodAnswer))
	o.end(o.submit(writeOut))
	o.end(o.submit(`{"goal":"read notes.txt"}`))
	past, err := o.app.store.Latencies(t.Context())
	if err != nil || len(past["file.write"]) != 1 || len(past["file.read"]) != 1 || len(past) != 2 {
		t.Fatalf("got %v and %v, want one of each tool", past, err)
	}
	for tool, list := range past {
		if list[0] < 0 || list[0] > restWithin.Milliseconds() {
			t.Errorf("%s took %d ms", tool, list[0])
		}
	}
}

// TestP36_RunWaitsForAuthorities: a wait for a machine is no reason to leave.
func TestP36_RunWaitsForAuthorities(t *testing.T) {
	a := newAuthority(t)
	a.will(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Millisecond) // longer than it takes to look at the run
		answers(goodAnswer)(w, r)
	})
	o := cleared(t, a, "")
	raw, err := o.app.runHere(t.Context(), &runRequest{Goal: `write "hello" to out.txt`, Intent: "operate", Mode: "reflect"})
	var shape runShape
	if err != nil || json.Unmarshal(raw, &shape) != nil || shape.Status != engine.Ended || shape.Code != engine.Success {
		t.Errorf("got %s and %v, want a run that has ended", raw, err)
	}
	if len(a.questions()) != 1 {
		t.Errorf("%d questions, want one", len(a.questions()))
	}
}
