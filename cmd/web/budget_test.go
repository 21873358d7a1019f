package main

import (
	"net/http"
	"strings"
	"testing"

	"sluice/engine"
)

// TestR69_ASubmissionLowersItsBudget through the API and on the command line;
// what raises a limit, or names none, is refused by name.
func TestR69_ASubmissionLowersItsBudget(t *testing.T) {
	w := newWorld(t)
	c := w.operator()
	id := c.submit(`{"goal":"Which operating system is this?","intent":"observe","budget":{"tool_calls":7,"wall_clock_ms":60000}}`)
	c.end(id)
	var run struct {
		Budget map[string]engine.Spend
	}
	c.want(http.StatusOK, c.get("/api/v1/runs/"+id), &run)
	if run.Budget["tool_calls"].Limit != 7 || run.Budget["wall_clock_ms"].Limit != 60_000 || run.Budget["model_calls"].Limit != 40 {
		t.Errorf("got limits %+v, want 7 calls, a minute, and the profile's 40 model calls", run.Budget)
	}
	for body, word := range map[string]string{
		`{"goal":"x","budget":{"tool_calls":1001}}`: "tool_calls",
		`{"goal":"x","budget":{"tea":1}}`:           "tea",
		`{"goal":"x","budget":{"retries":-1}}`:      "retries",
	} {
		if p := c.problemOf(http.StatusUnprocessableEntity, c.post("/api/v1/runs", body)); !strings.Contains(p.Detail, word) || p.Fix == "" {
			t.Errorf("%s: got %q (%q), want one that names %s", body, p.Detail, p.Fix, word)
		}
	}
	data := t.TempDir()
	sluice(t, "", "run", "--data", data, "--budget", "tool_calls", "Which operating system is this?").wantCode(t, 2)
	out := sluice(t, "", "run", "--data", data, "--json", "--budget", "tool_calls=7", "--budget", "retries=0", "Which operating system is this?").wantCode(t, 0)
	if !strings.Contains(out.out, `"tool_calls":{"limit":7,`) || !strings.Contains(out.out, `"retries":{"limit":0,`) {
		t.Errorf("got %s, want the lowered limits", out.out)
	}
}
