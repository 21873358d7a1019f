package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/policy"
	"sluice/store"
)

const readTemplate = `{"template":{"format":1,"name":"read","title":"Read","description":"","match":["read the note {path} for me"],
	"slots":[{"name":"path","type":"string","description":"","min":1}],
	"plan":{"format":1,"goal":"read {path}","steps":[{"id":"read","tool":"file.read","params":{"path":{"$slot":"path"}}}]}}}`

func runOf(path string) string {
	return fmt.Sprintf(`{"template":{"name":"read","values":{"path":%q}}}`, path)
}

// stateOf asks until the newest version of a template stands as wanted.
func (c *caller) stateOf(name, want string) {
	c.Helper()
	for deadline := time.Now().Add(restWithin); ; {
		var got struct{ State, Reason string }
		c.want(http.StatusOK, c.get("/api/v1/templates/"+name), &got)
		if got.State == want {
			return
		}
		if time.Now().After(deadline) {
			c.Fatalf("%s is %s (%s), want %s", name, got.State, got.Reason, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestR103_ATemplateThatFailsIsQuarantined: three runs in a row with a failure
// of its own; a new version lifts it, and what happened is on record.
func TestR103_ATemplateThatFailsIsQuarantined(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	op.want(http.StatusCreated, op.post("/api/v1/templates", readTemplate), nil)
	for _, path := range []string{"gone", "gone", "notes.txt", "gone", "gone"} {
		op.rest(op.submit(runOf(path)))
	}
	op.stateOf("read", "offered") // never three in a row
	op.rest(op.submit(runOf("gone")))
	op.stateOf("read", "quarantined")
	p := op.problemOf(http.StatusConflict, op.post("/api/v1/runs", runOf("notes.txt")))
	if p.Who != "system" || !strings.Contains(p.Detail, "quarantined") {
		t.Errorf("got %+v, want who quarantined it and why", p)
	}
	if planned := op.post("/api/v1/plans/propose", `{"goal":"Read the note notes.txt for me"}`).text(); strings.Contains(planned, `"template"`) {
		t.Errorf("the built-in planner still uses it: %s", planned)
	}
	if page := op.get("/templates/read").text(); !strings.Contains(page, "This version is not offered") {
		t.Error("its page does not say that it is not offered")
	}
	op.want(http.StatusCreated, op.post("/api/v1/templates", strings.Replace(readTemplate, `"title":"Read"`, `"title":"Read a note"`, 1)), nil)
	op.stateOf("read", "offered")
	if r := op.rest(op.submit(runOf("notes.txt"))); r.code() != "SUCCESS" {
		t.Errorf("got %s of version 2, want SUCCESS", r.code())
	}
	report, err := w.app.store.Verify(w.Context(), store.VerifyOptions{})
	if err != nil || !report.OK {
		t.Errorf("got %+v %v, want a log and projections that agree", report, err)
	}
}

// TestR102_OnlySuccessBecomesATemplate, by people, and under a name of one's own.
func TestR102_OnlySuccessBecomesATemplate(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	failed := op.rest(op.submit(`{"goal":"read gone.txt"}`))
	p := op.problemOf(http.StatusConflict, op.post("/api/v1/templates", fmt.Sprintf(`{"run":%q,"name":"x","title":"x"}`, failed.ID)))
	if p.Rule != "R102" {
		t.Errorf("got %+v, want R102", p)
	}
	good := op.rest(op.submit(`{"goal":"read notes.txt"}`))
	body := fmt.Sprintf(`{"run":%q,"name":"mine","title":"Mine","slots":[{"key":"/steps/0/params/path","name":"file","description":"which"}]}`, good.ID)
	token := w.apiToken(1, policy.Override)
	token.problemOf(http.StatusForbidden, token.post("/api/v1/templates", body))
	op.want(http.StatusCreated, op.post("/api/v1/templates", body), nil)
	other := w.stranger("other", store.RoleOperator)
	other.problemOf(http.StatusForbidden, other.post("/api/v1/templates", strings.Replace(readTemplate, `"name":"read"`, `"name":"mine"`, 1)))
	other.problemOf(http.StatusNotFound, other.post("/api/v1/templates", body))
	var got struct {
		Version            int
		Owner, From, State string
		Slots              []struct{ Name, Type string }
	}
	op.want(http.StatusOK, op.get("/api/v1/templates/mine"), &got)
	if got.Version != 1 || got.Owner != "user:1" || got.From != "run:"+good.ID || len(got.Slots) != 1 || got.Slots[0].Name != "file" {
		t.Errorf("got %+v, want version 1 of user:1 from the run with one slot", got)
	}
	var made struct{ Template string }
	op.want(http.StatusOK, op.post("/api/v1/templates/mine/instantiate", `{"values":{"file":"other.txt"}}`), &made)
	if made.Template != "mine@1" {
		t.Errorf("got %+v", made)
	}
}

func TestR103_AValueInAProgramIsRefused(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	p := op.problemOf(http.StatusUnprocessableEntity, op.post("/api/v1/templates", `{"template":{"format":1,"name":"code","title":"t","description":"","match":[],
		"slots":[{"name":"code","type":"string","description":""}],
		"plan":{"format":1,"goal":"g","steps":[{"id":"a","tool":"compute","params":{"code":{"$slot":"code"}}}]}}}`))
	if p.Rule != "R103" || !strings.Contains(p.Detail, "program") {
		t.Errorf("got %+v, want R103", p)
	}
}

// TestR102_WhatToolsRefuseIsSaidAtTheSlot: a value that a slot of a file's own
// making takes and its tool does not is refused at the slot, in the form too.
func TestR102_WhatToolsRefuseIsSaidAtTheSlot(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	op.want(http.StatusCreated, op.post("/api/v1/templates", `{"template":{"format":1,"name":"top","title":"Top","description":"","match":[],
		"slots":[{"name":"n","type":"integer","description":"","default":3}],
		"plan":{"format":1,"goal":"show {n}","steps":[{"id":"p","tool":"process_list","params":{"limit":{"$slot":"n"}}}]}}}`), nil)
	p := op.problemOf(http.StatusUnprocessableEntity, op.post("/api/v1/runs", `{"template":{"name":"top","values":{"n":5000}}}`))
	if p.Pointer != "/template/values/n" || p.Rule != "C10" {
		t.Errorf("got %+v, want the finding at the slot", p)
	}
	page := op.form("/templates/top/run", "version=1&intent=observe&slot.n=5000")
	if text := page.text(); page.status != http.StatusUnprocessableEntity || !strings.Contains(text, `id="slot-n-problem"`) || !strings.Contains(text, `value="5000"`) {
		t.Errorf("got %d, want the form with the value and its problem", page.status)
	}
}

// TestR102_ASavedValueIsBoundedByItsTool: what the schema says of a value is what
// its slot takes, from a plan as from a run.
func TestR102_ASavedValueIsBoundedByItsTool(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	op.want(http.StatusCreated, op.post("/api/v1/templates", `{"name":"few","title":"Few","slots":[{"key":"/steps/0/params/limit","name":"n"},{"key":"/steps/0/params/sort","name":"by"}],
		"plan":{"format":1,"goal":"show 3","steps":[{"id":"p","tool":"process_list","params":{"limit":3,"sort":"cpu"}}]}}`), nil)
	for _, values := range []string{`{"n":0}`, `{"n":5000}`, `{"by":"colour"}`, `{"n":"3"}`} {
		if p := op.problemOf(http.StatusUnprocessableEntity, op.post("/api/v1/runs", `{"template":{"name":"few","values":`+values+`}}`)); p.Rule != "R103" || !strings.HasPrefix(p.Pointer, "/template/values/") {
			t.Errorf("%s: got %+v, want it refused by the slot", values, p)
		}
	}
	if r := op.rest(op.submit(`{"template":{"name":"few","values":{"n":2,"by":"memory"}}}`)); r.code() != "SUCCESS" {
		t.Errorf("got %s, want SUCCESS", r.code())
	}
}

// TestR102_TheBuiltinPlannerUsesATemplate and says which.
func TestR102_TheBuiltinPlannerUsesATemplate(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	r := op.rest(op.submit(`{"goal":"Check this host under ."}`))
	if r.code() != "SUCCESS" {
		t.Fatalf("got %s %v, want SUCCESS", r.code(), r.Causes)
	}
	if text := op.get("/api/v1/runs/" + r.ID).text(); !strings.Contains(text, `"template":"host-check@1"`) {
		t.Errorf("got %s, want the template named", text)
	}
	if page := op.get("/runs/" + r.ID + "?view=list").text(); !strings.Contains(page, "host-check@1") || !strings.Contains(page, "no model") {
		t.Error("the run's page does not name planner and template")
	}
}

// TestR102_NobodysPhraseReadsAnothersGoal: a template is filled by everybody's
// words only when an admin saved it; its author and others run it by name.
func TestR102_NobodysPhraseReadsAnothersGoal(t *testing.T) {
	w := newWorld(t)
	author, op := w.stranger("author", store.RoleOperator), w.operator()
	theirs := strings.NewReplacer(`"name":"read","title"`, `"name":"theirs","title"`, "read the note {path} for me", "tell me of the note {path}").Replace(readTemplate)
	author.want(http.StatusCreated, author.post("/api/v1/templates", theirs), nil)
	op.want(http.StatusCreated, op.post("/api/v1/templates", readTemplate), nil)
	if planned := op.post("/api/v1/plans/propose", `{"goal":"tell me of the note notes.txt"}`).text(); strings.Contains(planned, "theirs@") {
		t.Errorf("another person's phrase planned the goal: %s", planned)
	}
	if planned := author.post("/api/v1/plans/propose", `{"goal":"read the note notes.txt for me"}`).text(); !strings.Contains(planned, "read@1") {
		t.Errorf("got %s, want the admin's template", planned)
	}
	for name, want := range map[string]bool{"theirs": false, "read": true} {
		if page := op.get("/templates/" + name).text(); strings.Contains(page, "Goals that use it") != want {
			t.Errorf("the page of %s: says that goals use it, want %v", name, want)
		}
	}
	author.want(http.StatusOK, author.post("/api/v1/templates/theirs/instantiate", `{"values":{"path":"x"}}`), nil)
}
