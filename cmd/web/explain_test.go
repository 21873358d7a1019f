package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sluice/engine"
	"sluice/store"
)

// wantWords fails for each text that a page does not show.
func wantWords(t *testing.T, c *caller, path string, words ...string) {
	t.Helper()
	a := c.get(path)
	c.want(http.StatusOK, a, nil)
	for _, w := range words {
		if !strings.Contains(a.text(), w) {
			t.Errorf("%s: want %q on the page", path, w)
		}
	}
}

// A failed step shows the words of its tool, not a class alone, and what to do.
func TestR55_VerdictSaysWhatTheToolSaid(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	id := op.runToRest(`{"goal":"read nope/none.txt","intent":"observe"}`).ID
	wantWords(t, op, "/runs/"+id+"?view=verdict", "&#34;nope/none.txt&#34; does not exist in the workspace", "Check the name", "at=6#fact-6")
	wantWords(t, op, "/runs/"+id+"?view=list&node=read_nope_none_txt", "Why it was not done", "does not exist in the workspace")
	wantWords(t, op, "/runs/"+id+"?view=log", `data-tone="failed"`, "Failed: &#34;nope/none.txt&#34; does not exist")
	wantWords(t, op, "/api/v1/runs/"+id+"/why", "does not exist in the workspace", `"node":"read_nope_none_txt"`)
}

// A denial shows the gate's reason and the intent that would have been enough.
func TestR43_VerdictSaysWhatTheGateSaid(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	id := op.runToRest(`{"goal":"delete notes.txt","intent":"operate"}`).ID
	wantWords(t, op, "/runs/"+id+"?view=verdict", "above the limit operate (100) of the intent", "intent=override")
}

// A person's no shows who said it, with their words; a cancel too, with what was
// done before it.
func TestP6_VerdictSaysWhoStoppedIt(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	id := op.submit(`{"goal":"show the kernel version and delete notes.txt","intent":"override"}`)
	op.rest(id)
	op.want(http.StatusSeeOther, op.form("/runs/"+id+"/cancel", "reason=not+today"), nil)
	op.end(id)
	wantWords(t, op, "/runs/"+id+"?view=verdict", "Cancelled by <b>", "not today", "1 of 2 steps verified, 1 cancelled", "It only read.")
}

// A step that its condition left out shows the condition and the value it met.
func TestP9_InspectorSaysWhyAGuardLeftItOut(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	id := op.runToRest(`{"plan":{"format":1,"goal":"g","max_steps":9,"steps":[{"id":"list","tool":"file.list","params":{"path":"."}},
		{"id":"host","tool":"sysinfo","guard":{"ref":{"step":"list","field":"total"},"op":"gt","value":99999}}]},"intent":"observe"}`).ID
	wantWords(t, op, "/runs/"+id+"?view=list&node=host", "Why it was left out", "Asked: list.total gt 99999. Found: ")
}

// The log can be narrowed to a step and a kind, and a link opens it at a fact.
func TestLogFilters(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	id := op.runToRest(`{"goal":"show disk usage and the kernel version","intent":"observe"}`).ID
	text := op.get("/runs/" + id + "?view=log&step=disk_usage&kind=calls").text()
	if n := strings.Count(text, `<details class="fact"`); n != 2 {
		t.Errorf("got %d facts of one step, want its start and its end", n)
	}
	wantWords(t, op, "/runs/"+id+"?view=log&q=nothing-like-it", "No fact matches")
	wantWords(t, op, "/runs/"+id+"?view=log&at=2", `id="fact-open-2" open`)
}

// The browser's Back brings an old form with its old key: what happened is said
// in words, and pressing Run again is enough.
func TestP41_BackAndOtherWordsIsExplained(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	op.want(http.StatusSeeOther, op.form("/runs", "key=k1&intent=observe&goal=show+disk+usage"), nil)
	a := op.form("/runs", "key=k1&intent=observe&goal=show+the+kernel+version")
	if a.status != http.StatusConflict || !strings.Contains(a.text(), "press Run to start this one too") || strings.Contains(a.text(), "idempotency") {
		t.Errorf("got %d without the words", a.status)
	}
}

// A log that takes no more is told in words, and nothing typed is lost.
func TestP41_AFullDiskInWords(t *testing.T) {
	var refused *engine.Refusal
	if err := refusal(fmt.Errorf("commit facts: %w", store.ErrDisk)); !errors.As(err, &refused) || refused.Code != "unavailable" || !strings.Contains(refused.Fix, "make room") {
		t.Errorf("got %v", err)
	}
}

// A run that goes on says what it waits for, and who paused it.
func TestP3_ARunSaysWhatItWaitsFor(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	id := op.submit(`{"goal":"delete notes.txt","intent":"override"}`)
	op.rest(id)
	wantWords(t, op, "/runs/"+id, "delete_notes_txt waits for a person to answer")
	op.want(http.StatusSeeOther, op.form("/runs/"+id+"/pause", ""), nil)
	op.until(id, func(s engine.Status) bool { return s == engine.Paused })
	wantWords(t, op, "/runs/"+id, "Paused by ", "takes effect when somebody resumes the run")
	wantWords(t, op, "/runs?status=planning", "No run is in this state now")
}

// The inspector of a step that was asked for says who answered, when, with what
// words, and leads to the request and the fact.
func TestR55_InspectorSaysWhoAnswered(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	id := op.submit(`{"goal":"delete notes.txt","intent":"override"}`)
	waits := op.rest(id).Waiting[0]
	page := op.get("/approvals/" + waits).text()
	hash := between(t, page, `name="hash" value="`, `"`)
	op.want(http.StatusSeeOther, op.form("/approvals/"+waits+"/decision", "decision=deny&key=k1&hash="+url.QueryEscape(hash)+"&reason=keep+it"), nil)
	op.end(id)
	wantWords(t, op, "/runs/"+id+"?view=list&node=delete_notes_txt", "data-answer", "<b>Denied</b>", "keep it", "/approvals/"+waits, "A person denied it")
}

// Parts of a goal are shown in any script, without the word that tied them.
func TestP6_PartsOfAGoalInAnyScript(t *testing.T) {
	w := newWorld(t)
	op := w.operator()
	id := op.runToRest(`{"goal":"אנא הצג, and book me a table","intent":"observe"}`).ID
	wantWords(t, op, "/runs/"+id+"?view=verdict", "<h3>אנא הצג", "<h3>Book me a table</h3>")
}
