//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// person is a signed-in browser session without the browser: it may decide,
// which no token may.
type person struct {
	t      *testing.T
	base   string
	client *http.Client
}

func (s *server) person() person {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	p := person{s.t, s.url(""), &http.Client{Jar: jar}}
	if got := status(s.t, p.client, s.link); got != http.StatusOK {
		s.t.Fatalf("sign in: got %d, want 200", got)
	}
	return p
}

// post sends JSON as a page of the same origin would.
func (p person) post(path string, body any) (int, []byte) {
	p.t.Helper()
	code, answer, err := p.try(path, body)
	if err != nil {
		p.t.Fatalf("POST %s: %v", path, err)
	}
	return code, answer
}

// try is post to a server that may die while it answers.
func (p person) try(path string, body any) (int, []byte, error) {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.base+path, bytes.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", p.base)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := p.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// verdict is a body for POST /approvals/{id}, bound to what the API says of it (P21).
func (c client) verdict(approval, word string) map[string]any {
	c.t.Helper()
	var packet struct {
		Hash string `json:"hash"`
	}
	c.want(http.StatusOK, http.MethodGet, "/approvals/"+approval, nil, &packet)
	return map[string]any{"verdict": word, "reason": "because", "hash": packet.Hash}
}

func TestP41_ADecisionStandsAndAStaleHashIsRefused(t *testing.T) {
	s := serve(t)
	notes := filepath.Join(s.data, "workspace", "notes.txt")
	writeFile(t, notes, "keep")
	api, someone := s.api("override"), s.person()
	id := api.submit(map[string]any{"goal": "delete notes.txt", "intent": "override"})
	approval := api.until(id, "waiting").Waiting[0]
	path := "/api/v1/approvals/" + approval
	stale := map[string]any{"verdict": "approve", "hash": "sha256:" + strings.Repeat("0", 64)}
	if code, text := someone.post(path, stale); code != http.StatusConflict {
		t.Errorf("stale hash: got %d %s, want 409", code, text)
	}
	if code, text := someone.post(path, api.verdict(approval, "deny")); code != http.StatusOK {
		t.Fatalf("deny: got %d %s, want 200", code, text)
	}
	if code, text := someone.post(path, api.verdict(approval, "approve")); code != http.StatusConflict {
		t.Errorf("approve after deny: got %d %s, want 409", code, text)
	}
	if r := api.until(id, "ended"); r.Code != "PERMISSION_DENIED" {
		t.Errorf("got code %s, want PERMISSION_DENIED", r.Code)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Errorf("the file: got %v, want it kept", err)
	}
}

// TestP43_ACrossOriginPostIsRefused: a page elsewhere must not decide with the
// session of who looks at it.
func TestP43_ACrossOriginPostIsRefused(t *testing.T) {
	s := serve(t)
	someone := s.person()
	request, err := http.NewRequest(http.MethodPost, s.url("/api/v1/runs"), strings.NewReader(`{"goal":"show the kernel version","intent":"observe"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", "http://elsewhere.example")
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	response, err := someone.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("got %d, want 403", response.StatusCode)
	}
}
