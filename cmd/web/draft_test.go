package main

import (
	"net/http"
	"strings"
	"testing"

	"sluice/policy"
	"sluice/store"
)

func (c *caller) put(path, body string) *answer {
	c.Helper()
	return c.send(http.MethodPut, path, strings.NewReader(body))
}

// TestP35_ADraftIsSeenByItsOwnerAlone: not even by an admin; a token acts for
// its person. Two savers over one revision: the second gets a conflict.
func TestP35_ADraftIsSeenByItsOwnerAlone(t *testing.T) {
	w := newWorld(t)
	root, other := w.operator(), w.stranger("other", store.RoleAdmin)
	var d struct {
		ID       string
		Revision int64
	}
	other.want(http.StatusCreated, other.post("/api/v1/drafts", `{"kind":"plan","name":"mine","doc":"{"}`), &d)
	path := "/api/v1/drafts/" + d.ID
	for _, c := range []*caller{root, w.apiToken(1, policy.Override)} {
		c.problemOf(http.StatusNotFound, c.get(path))
		c.problemOf(http.StatusNotFound, c.put(path, `{"revision":1,"doc":"x"}`))
		c.problemOf(http.StatusNotFound, c.send(http.MethodDelete, path, strings.NewReader(`{"revision":1}`)))
		if text := c.get("/api/v1/drafts").text(); strings.Contains(text, d.ID) {
			t.Errorf("%s: the list shows another person's draft", c.name)
		}
	}
	w.nobody().problemOf(http.StatusUnauthorized, w.nobody().get(path))
	token := w.apiToken(2, policy.Observe)
	token.want(http.StatusOK, token.put(path, `{"revision":1,"doc":"theirs"}`), &d)
	p := other.problemOf(http.StatusConflict, other.put(path, `{"revision":1,"doc":"mine"}`))
	if p.Revision != 2 || p.Who != token.user || p.When == "" {
		t.Errorf("got %+v, want revision 2 by %s", p, token.user)
	}
	if text := other.get(path).text(); !strings.Contains(text, "theirs") {
		t.Errorf("got %s, want what was saved first", text)
	}
}

// TestP35_TheBuilderOpensNoStrangersRun: the plan of a run is opened by who may
// see the run, and only its owner is offered to save it back.
func TestP35_TheBuilderOpensNoStrangersRun(t *testing.T) {
	s := newScene(t)
	path := "/builder?run=" + s.run
	if got := s.other.get(path); got.status != http.StatusNotFound || strings.Contains(got.text(), "notes.txt") {
		t.Errorf("as other: got %d, want 404 and nothing of the plan", got.status)
	}
	if got := s.nobody().get(path); got.status != http.StatusSeeOther {
		t.Errorf("as nobody: got %d, want the sign-in page", got.status)
	}
	for _, c := range []*caller{s.owner, s.approver} {
		if got := c.get(path); got.status != http.StatusOK || !strings.Contains(got.text(), "notes.txt") || !strings.Contains(got.text(), `"review":false`) {
			t.Errorf("as %s: got %d, want the plan, as a copy", c.name, got.status)
		}
	}
	id := s.owner.submit(`{"goal":"show the kernel version","review":"plan"}`)
	s.owner.rest(id)
	for c, want := range map[*caller]string{s.owner: `"review":true`, s.auditor: `"review":false`} {
		if got := c.get("/builder?run=" + id); got.status != http.StatusOK || !strings.Contains(got.text(), want) {
			t.Errorf("as %s, under review: got %d, want %s", c.name, got.status, want)
		}
	}
}
