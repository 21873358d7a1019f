package model_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/engine"
	"sluice/engine/model"
)

// answering serves one body, whatever is asked.
func answering(t *testing.T, kind, body string) model.Endpoint {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(h.Close)
	return model.Endpoint{BaseURL: h.URL + "/v1", Model: "demo", Key: key, Timeout: 20 * time.Second}
}

const piece = `data: {"choices":[{"index":0,"delta":{"content":"yes"}}]}` + "\n\n"

// TestAnswersOfManyServersAreRead: what differs between servers and loses
// nothing is taken; what may have lost something is not.
func TestAnswersOfManyServersAreRead(t *testing.T) {
	const events, whole = "text/event-stream", "application/json; charset=utf-8"
	stop := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	for name, x := range map[string]struct {
		kind, body string
		class      engine.Class
		usage      model.Usage // where the server says it
	}{
		"done without a reason":     {kind: events, body: piece + "data: [DONE]\n\n"},
		"a reason without done":     {kind: events, body: piece + stop},
		"neither":                   {kind: events, body: piece, class: engine.ClassTransient},
		"nothing, and done":         {kind: events, body: "data: [DONE]\n\n", class: engine.ClassTransient},
		"an error as its reason":    {kind: events, body: piece + strings.Replace(stop, "stop", "error", 1), class: engine.ClassTransient},
		"lines that end in CR LF":   {kind: events, body: strings.ReplaceAll(piece+stop, "\n", "\r\n")},
		"comments":                  {kind: events, body: ": PROCESSING\n\n: PROCESSING\n\n" + piece + stop},
		"a second choice":           {kind: events, body: strings.Replace(piece, `"index":0`, `"index":1`, 1) + piece + stop},
		"no content":                {kind: events, body: strings.Replace(piece, `"yes"`, "null", 1) + piece + stop},
		"no spaces":                 {kind: events, body: strings.ReplaceAll(piece+stop, "data: ", "data:")},
		"events under another name": {kind: whole, body: piece + stop},
		"in one piece":              {kind: whole, body: `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, usage: model.Usage{InputTokens: 3, OutputTokens: 1}},
		"in one piece, no reason":   {kind: whole, body: `{"choices":[{"message":{"content":"yes"}}]}`},
		"in one piece, no choice":   {kind: whole, body: `{"choices":[]}`, class: engine.ClassTransient},
		"in one piece, an error":    {kind: whole, body: "{\n  \"error\": {\"message\": \"" + key + "\"}\n}", class: engine.ClassTransient},
		"a page":                    {kind: "text/html", body: "<html>", class: engine.ClassUnavailable},
		"usage as a fraction":       {kind: events, body: piece + stop + `data: {"choices":[],"usage":{"prompt_tokens":12.0,"completion_tokens":2}}` + "\n\n", usage: model.Usage{InputTokens: 12, OutputTokens: 2}},
		"usage as words":            {kind: events, body: piece + stop + `data: {"choices":[],"usage":{"prompt_tokens":"many"}}` + "\n\n"},
		"usage beyond belief":       {kind: events, body: piece + stop + `data: {"choices":[],"usage":{"prompt_tokens":900000000000,"completion_tokens":1}}` + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			reply, f := ask(t, answering(t, x.kind, x.body), model.Request{})
			if x.class != engine.ClassNone {
				if f == nil || f.Class != x.class || strings.Contains(f.Detail, key) {
					t.Errorf("got %+v, %v, want a failure of class %s", reply, f, x.class)
				}
				return
			}
			if f != nil || reply.Text != "yes" {
				t.Fatalf("got %+v, %v, want yes", reply, f)
			}
			if x.usage != (model.Usage{}) && reply.Usage != x.usage || x.usage == (model.Usage{}) && !reply.Usage.Estimated {
				t.Errorf("got usage %+v, want %+v, or an estimate where it is not said", reply.Usage, x.usage)
			}
		})
	}
}

// TestAServersWishToBeLeftAloneIsRead, in seconds or as a date, and kept within
// what is a number.
func TestAServersWishToBeLeftAloneIsRead(t *testing.T) {
	for text, most := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "999999999999999999": 7 * 24 * time.Hour,
		"99999999999999999999999": 0, time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat): 90 * time.Second,
		"Mon, 01 Jan 2001 00:00:00 GMT": 0, "Fri, 31 Dec 9999 23:59:59 GMT": 7 * 24 * time.Hour} {
		h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", text)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		_, f := ask(t, model.Endpoint{BaseURL: h.URL, Model: "demo"}, model.Request{})
		h.Close()
		if f == nil || f.RetryAfter > most || f.RetryAfter < most-10*time.Second {
			t.Errorf("%q: got %+v, want to wait %s", text, f, most)
		}
	}
}

// TestCertificatesAndSchemesAreNamed: what keeps a server from being reached is
// said in words that lead on.
func TestCertificatesAndSchemesAreNamed(t *testing.T) {
	quiet := log.New(io.Discard, "", 0)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	defer secure.Close()
	open := httptest.NewServer(http.NotFoundHandler())
	defer open.Close()
	for url, want := range map[string]string{secure.URL: "not trusted", strings.Replace(open.URL, "http:", "https:", 1): "starts with http://"} {
		_, f := ask(t, model.Endpoint{BaseURL: url, Model: "demo", Timeout: 20 * time.Second}, model.Request{})
		if f == nil || f.Class != engine.ClassUnavailable || !strings.Contains(f.Detail, want) {
			t.Errorf("%s: got %v, want %q", url, f, want)
		}
	}
}
