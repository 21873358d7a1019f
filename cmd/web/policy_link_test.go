package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// lineOf is the number of the line of a text that holds something.
func lineOf(text, what string) string {
	return strconv.Itoa(1 + strings.Count(text[:strings.Index(text, what)], "\n"))
}

// TestP29_ADenialLeadsToTheRuleBehindIt: from verdict, inspector and log of a run
// to the tool and to the line of the version that decided, for people.
func TestP29_ADenialLeadsToTheRuleBehindIt(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	waits := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	step := `data-policy="v1"`
	if page := o.get("/runs/" + waits.ID).text(); !strings.Contains(page, step) || !strings.Contains(page, `href="/policies/1"`) {
		t.Error("the panel does not name the version that the run was started under")
	}
	asks := `href="/policies/1#L` + lineOf(o.active().YAML, "id: A1") + `" data-rule="rule A1, v1"`
	if packet := o.get("/approvals/" + waits.Waiting[0]).text(); !strings.Contains(packet, asks) {
		t.Error("the packet does not lead to the rule that asks")
	}
	o.want(http.StatusCreated, o.post("/api/v1/tools/file.delete/kill", `{"reason":"an accident"}`), nil)
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+waits.Waiting[0], verdictOf("approve", o.hashOf(waits.Waiting[0]), "")), nil)
	o.end(waits.ID)
	rule := `href="/policies/2#L` + lineOf(o.active().YAML, "file.delete]") + `" data-rule="kill switch file.delete, v2"`
	verdict := o.get("/runs/" + waits.ID + "?view=verdict").text()
	node := verdict[strings.Index(verdict, `data-show-node="`)+len(`data-show-node="`):]
	node = node[:strings.Index(node, `"`)]
	for place, text := range map[string]string{"verdict": verdict, "inspector": o.get("/runs/" + waits.ID + "?view=list&node=" + node).text()} {
		for _, want := range []string{rule, `href="/tools/file.delete"`, "The current policy (version 2) decides deny."} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s does not hold %s", place, want)
			}
		}
	}
	if page := o.get("/policies/2").text(); !strings.Contains(page, `<span id="L`+lineOf(o.active().YAML, "file.delete]")+`">`) {
		t.Error("the version's page has no place to lead to")
	}
	if log := o.get("/runs/" + waits.ID + "?view=log").text(); !strings.Contains(log, `href="/policies/2">v2</a>`) || !strings.Contains(log, `href="/policies/1">v1</a>`) {
		t.Error("the log does not name the versions")
	}

	// The same document again is another version: a run names the one of its time.
	o.want(http.StatusCreated, o.post("/api/v1/tools/file.delete/revive", `{"reason":"over"}`), nil)
	later := o.runToRest(`{"goal":"Show the kernel version","intent":"observe"}`)
	if page := o.get("/runs/" + later.ID).text(); !strings.Contains(page, `data-policy="v3"`) {
		t.Error("a later run does not name the version of its time")
	}
	if page := o.get("/runs/" + waits.ID).text(); !strings.Contains(page, step) {
		t.Error("the older run names a version that came after it")
	}
}
