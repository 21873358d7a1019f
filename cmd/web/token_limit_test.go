package main

import (
	"net/http"
	"strings"
	"testing"

	"sluice/policy"
)

// TestP42a_NoTokenWritesWhatAPersonPublishes: a draft of the policy is its owner's
// own, so that what the page opens is what they wrote; a draft of a plan is not.
func TestP42a_NoTokenWritesWhatAPersonPublishes(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	var mine struct{ ID string }
	o.want(http.StatusCreated, o.post("/api/v1/drafts", `{"kind":"policy","name":"default","doc":"version: 1\n","base":"1"}`), &mine)
	path := "/api/v1/drafts/" + mine.ID
	local := &caller{world: w, name: "local token", token: localSecret}
	for _, c := range []*caller{w.apiToken(1, policy.Override), local} {
		c.problemOf(http.StatusForbidden, c.post("/api/v1/drafts", `{"kind":"policy","name":"default","doc":"x","base":"1"}`))
		c.problemOf(http.StatusForbidden, c.put(path, `{"revision":1,"doc":"x"}`))
		c.problemOf(http.StatusForbidden, c.send(http.MethodDelete, path, strings.NewReader(`{"revision":1}`)))
		c.want(http.StatusCreated, c.post("/api/v1/drafts", `{"kind":"plan","name":"a plan","doc":"{}"}`), nil)
		for _, got := range []*answer{c.putModel("planner", `{"model":"x"}`), c.form("/settings/models/planner", "model=x")} {
			if got.status != http.StatusForbidden {
				t.Errorf("%s: settings: got %d, want 403", c.name, got.status)
			}
		}
	}
	o.want(http.StatusOK, o.get(path), nil)
}
