//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"
)

const (
	runWithin = 60 * time.Second
	pollEvery = 20 * time.Millisecond
)

// client speaks to /api/v1 with one token.
type client struct {
	t     *testing.T
	base  string
	token string
}

// run is what tests read of a run (P39).
type run struct {
	ID      string         `json:"id"`
	Status  string         `json:"status"`
	Code    string         `json:"code"`
	Causes  []string       `json:"causes"`
	Seq     int64          `json:"seq"`
	Counts  map[string]int `json:"counts"`
	Waiting []string       `json:"waiting"`
	Verdict *struct {
		Text   string `json:"text"`
		By     string `json:"by"`
		Claims []struct {
			Text         string   `json:"text"`
			Observations []string `json:"observations"`
		} `json:"claims"`
	} `json:"verdict"`
}

// fact is what tests read of a fact on the wire (P40).
type fact struct {
	Seq     int64  `json:"seq"`
	Kind    string `json:"kind"`
	Node    string `json:"node"`
	Attempt int    `json:"attempt"`
	Data    struct {
		Result string `json:"result"`
	} `json:"data"`
}

// facts reads a run's log whole.
func (c client) facts(id string) []fact {
	c.t.Helper()
	var all []fact
	for {
		var after int64
		if len(all) > 0 {
			after = all[len(all)-1].Seq
		}
		var page struct {
			Facts []fact `json:"facts"`
		}
		c.want(http.StatusOK, http.MethodGet, "/runs/"+id+"/facts?after="+strconv.FormatInt(after, 10), nil, &page)
		if len(page.Facts) == 0 {
			return all
		}
		all = append(all, page.Facts...)
	}
}

// api makes a token with the given ceiling, while the server runs (P42a).
func (s *server) api(ceiling string) client {
	s.t.Helper()
	r := command(s.t, s.binary, "", "token", "add", "--name", "e2e", "--ceiling", ceiling, "--data", s.data, "--json")
	made := decode[struct{ ID, Token string }](s.t, r.wantCode(s.t, 0))
	if made.Token == "" {
		s.t.Fatalf("got no token in %q", r.stdout)
	}
	return client{s.t, s.url("/api/v1"), made.Token}
}

// do sends one request and gives status and body; a nil body sends none.
func (c client) do(method, path string, body any) (int, []byte) {
	c.t.Helper()
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		payload = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, payload)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response.StatusCode, text
}

// want sends a request, fails unless it is answered with the status, and decodes
// the body into out when out is not nil.
func (c client) want(status int, method, path string, body, out any) {
	c.t.Helper()
	got, text := c.do(method, path, body)
	if got != status {
		c.t.Fatalf("%s %s: got %d, want %d: %s", method, path, got, status, text)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		c.t.Fatalf("%s %s: read %q: %v", method, path, text, err)
	}
}

// submit starts a run; fields are those of POST /runs.
func (c client) submit(fields map[string]any) string {
	c.t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	c.want(http.StatusAccepted, http.MethodPost, "/runs", fields, &made)
	if made.ID == "" {
		c.t.Fatal("got no run id")
	}
	return made.ID
}

// until asks for the run until it has one of the statuses.
func (c client) until(id string, statuses ...string) run {
	c.t.Helper()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	deadline := time.After(runWithin)
	for {
		var r run
		c.want(http.StatusOK, http.MethodGet, "/runs/"+id, nil, &r)
		if slices.Contains(statuses, r.Status) {
			return r
		}
		select {
		case <-ticker.C:
		case <-deadline:
			c.t.Fatalf("run %s: got status %q after %v, want one of %v: %+v", id, r.Status, runWithin, statuses, r)
		}
	}
}

// readAll reads and closes a response's body.
func readAll(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
