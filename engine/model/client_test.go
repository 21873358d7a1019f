package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/engine"
	"sluice/engine/model"
	"sluice/engine/model/fake"
)

const key = "sk-canary-of-this-test-0123456789"

// server starts a scripted model and gives an endpoint for it.
func server(t *testing.T, opt fake.Options) (*fake.Server, model.Endpoint) {
	t.Helper()
	s := fake.New(opt)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		h.CloseClientConnections()
		h.Close()
	})
	return s, model.Endpoint{BaseURL: h.URL + "/v1", Model: "demo", Key: key, Timeout: 20 * time.Second}
}

func ask(t *testing.T, e model.Endpoint, r model.Request) (model.Reply, *model.Failure) {
	t.Helper()
	c := model.NewClient(e)
	defer c.Close()
	if r.Messages == nil {
		r.Messages = []model.Message{{model.System, "plan"}, {model.User, "<goal>\n\"hello\"\n</goal>\n"}}
	}
	r.SchemaName, r.Schema = "plan", json.RawMessage(`{"type":"object"}`)
	reply, err := c.Call(t.Context(), r)
	var f *model.Failure
	if err != nil && !errors.As(err, &f) {
		t.Fatalf("got error %v, want a *Failure", err)
	}
	return reply, f
}

func TestCallStreamsAnAnswerWithItsUsage(t *testing.T) {
	_, e := server(t, fake.Options{Script: fake.Script{Rules: []fake.Rule{{Answer: "forty-two, as everybody knows"}}}})
	var pieces []string
	reply, f := ask(t, e, model.Request{OnText: func(s string) { pieces = append(pieces, s) }})
	if f != nil {
		t.Fatal(f)
	}
	if len(pieces) < 2 || strings.Join(pieces, "") != reply.Text || !strings.Contains(reply.Text, "forty-two") {
		t.Errorf("got pieces %q and text %q, want the text in several pieces", pieces, reply.Text)
	}
	if reply.Usage.Estimated || reply.Usage.InputTokens == 0 || reply.Usage.OutputTokens == 0 {
		t.Errorf("got usage %+v, want what the server said", reply.Usage)
	}
}

// TestFaultsAreClassified: whatever a server does, a call ends with its class and
// without a word of the server's.
func TestFaultsAreClassified(t *testing.T) {
	want := map[string]engine.Class{
		fake.FaultDown: engine.ClassTransient, fake.Fault429: engine.ClassTransient, fake.Fault500: engine.ClassTransient,
		fake.FaultStall: engine.ClassTimeout, fake.FaultStallMid: engine.ClassTimeout, fake.FaultTruncated: engine.ClassTransient,
		fake.FaultSSE: engine.ClassTransient, fake.FaultHuge: engine.ClassInvalid,
	}
	for fault, class := range want {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s, e := server(t, fake.Options{Fault: fault})
			e.Silence, e.Bytes = 200*time.Millisecond, 1<<20
			_, f := ask(t, e, model.Request{})
			if f == nil || f.Class != class {
				t.Fatalf("got %v, want class %s", f, class)
			}
			if strings.Contains(f.Error(), key) || strings.Contains(f.Error(), "Rate limit") || strings.Contains(f.Error(), "hello") {
				t.Errorf("got %q, want our own words alone", f.Error())
			}
			if got := s.Calls(); got != 1 {
				t.Errorf("got %d requests, want one: the core owns retries", got)
			}
		})
	}
}

func TestCallOfAClosedPortIsUnavailable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, f := ask(t, model.Endpoint{BaseURL: "http://" + l.Addr().String() + "/v1", Model: "demo"}, model.Request{})
	if f == nil || f.Class != engine.ClassUnavailable {
		t.Errorf("got %v, want unavailable", f)
	}
}

func TestCallEndsWithItsTimeoutAndItsContext(t *testing.T) {
	_, e := server(t, fake.Options{Fault: fake.FaultStall})
	e.Timeout = 100 * time.Millisecond
	if _, f := ask(t, e, model.Request{}); f == nil || f.Class != engine.ClassTimeout {
		t.Errorf("got %v, want timeout", f)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var f *model.Failure
	e.Timeout = time.Minute
	_, err := model.NewClient(e).Call(ctx, model.Request{Messages: []model.Message{{model.User, "x"}}})
	if !errors.As(err, &f) || f.Class != engine.ClassStopped {
		t.Errorf("got %v, want stopped", err)
	}
}

// TestCallFallsBackToWhatTheServerTakes: the form is found once and remembered.
func TestCallFallsBackToWhatTheServerTakes(t *testing.T) {
	s, e := server(t, fake.Options{NoSchema: true, NoUsage: true, Script: fake.Script{Rules: []fake.Rule{{Answer: "yes"}}}})
	c := model.NewClient(e)
	r := model.Request{Messages: []model.Message{{model.System, "plan"}, {model.User, "x"}}, SchemaName: "plan", Schema: json.RawMessage(`{"type":"object","title":"S"}`)}
	for range 2 {
		reply, err := c.Call(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if !reply.Usage.Estimated || reply.Usage.InputTokens == 0 {
			t.Errorf("got usage %+v, want an estimate that says so", reply.Usage)
		}
	}
	seen := s.Seen()
	last := seen[len(seen)-1].Body
	if len(seen) != 5 || strings.Contains(last, "response_format") || strings.Contains(last, "stream_options") || !strings.Contains(last, `title`) {
		t.Errorf("got %d requests, the last %s, want four to find the form, one with it, and the schema in the prompt", len(seen), last)
	}
	if r.Messages[0].Text != "plan" {
		t.Errorf("got prompt %q, want the caller's left alone", r.Messages[0].Text)
	}
}

func TestCallSaysWhenAnAnswerWasCut(t *testing.T) {
	_, e := server(t, fake.Options{Script: fake.Script{Rules: []fake.Rule{{Answer: strings.Repeat("word ", 100)}}}})
	reply, f := ask(t, e, model.Request{MaxOutput: 10})
	if f != nil || !reply.Cut || len(reply.Text) > 40 {
		t.Errorf("got %+v, %v, want a cut answer", reply, f)
	}
}

func TestCallGoesWhereItIsSentAndNowhereElse(t *testing.T) {
	var leaked string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked = r.Header.Get("Authorization") }))
	defer other.Close()
	h := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer h.Close()
	_, f := ask(t, model.Endpoint{BaseURL: h.URL, Model: "demo", Key: key}, model.Request{})
	if f == nil || f.Class != engine.ClassUnavailable || leaked != "" {
		t.Errorf("got %v and the key %q elsewhere, want unavailable", f, leaked)
	}
	_, e := server(t, fake.Options{Key: "another key"})
	if _, f := ask(t, e, model.Request{}); f == nil || f.Class != engine.ClassUnavailable || strings.Contains(f.Error(), key) {
		t.Errorf("wrong key: got %v, want unavailable without the key", f)
	}
}

func TestEndpointSaysWhatIsWrong(t *testing.T) {
	good := model.Endpoint{BaseURL: "http://127.0.0.1:11434/v1", Model: "qwen3:8b"}
	if err := good.Check(); err != nil {
		t.Errorf("got %v, want a local http address accepted", err)
	}
	for name, change := range map[string]func(*model.Endpoint){
		"scheme":   func(e *model.Endpoint) { e.BaseURL = "ftp://x" },
		"password": func(e *model.Endpoint) { e.BaseURL = "https://u:p@x/v1" },
		"whole":    func(e *model.Endpoint) { e.BaseURL = "https://x/v1/chat/completions/" },
		"query":    func(e *model.Endpoint) { e.BaseURL = "https://x/v1?key=1" },
		"model":    func(e *model.Endpoint) { e.Model = "" },
		"line":     func(e *model.Endpoint) { e.Model = "a\nb" },
		"key":      func(e *model.Endpoint) { e.Key = "short" },
		"timeout":  func(e *model.Endpoint) { e.Timeout = 2 * time.Hour },
	} {
		e := good
		change(&e)
		if e.Check() == nil {
			t.Errorf("%s: got %+v accepted", name, e)
		}
	}
}

func TestCheckSaysWhatWorks(t *testing.T) {
	_, good := server(t, fake.Options{Key: key})
	r := model.Check(t.Context(), good)
	if slash := model.Check(t.Context(), model.Endpoint{BaseURL: good.BaseURL + "/", Model: good.Model, Key: key}); !slash.OK() {
		t.Errorf("a slash at the end: got %+v, want it to work", slash)
	}
	if !r.OK() || !r.Reached || r.Listed != "yes" || !r.Streams || r.Structure != "json_schema" || !r.Usage || r.Problem != "" {
		t.Errorf("got %+v, want everything to work", r)
	}
	_, old := server(t, fake.Options{NoSchema: true, NoUsage: true})
	if r := model.Check(t.Context(), old); !r.OK() || r.Structure != "prompt" || r.Usage {
		t.Errorf("older server: got %+v, want it to work by prompt, without usage", r)
	}
	other := good
	other.Model = "another"
	if r := model.Check(t.Context(), other); r.OK() || r.Listed != "no" || !r.Reached || r.Problem == "" {
		t.Errorf("unknown model: got %+v, want it reached and not known", r)
	}
	other = good
	other.Key = "wrong-key-canary"
	if r := model.Check(t.Context(), other); r.OK() || !r.Reached || !strings.Contains(r.Problem, "key") || strings.Contains(r.Problem, "canary") {
		t.Errorf("wrong key: got %+v, want the key named as the problem and not shown", r)
	}
	other = good
	other.BaseURL = strings.TrimSuffix(good.BaseURL, "/v1") + "/"
	if r := model.Check(t.Context(), other); r.OK() || !r.Reached || !strings.Contains(r.Problem, good.BaseURL+": set that") {
		t.Errorf("without /v1: got %+v, want the address that works named", r)
	}
	down := model.Endpoint{BaseURL: "http://127.0.0.1:1/v1", Model: "demo"}
	if r := model.Check(t.Context(), down); r.OK() || r.Reached || r.Problem == "" {
		t.Errorf("closed port: got %+v, want it not reached", r)
	}
}
