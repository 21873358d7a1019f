//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// sends makes a request with the session of the page, as another tab would.
func (p *tab) sends(method, path string, body any) int {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	return script[int](p, fmt.Sprintf(`fetch("/api/v1" + %q, {method: %q, body: %q, headers: {"Content-Type": "application/json"}}).then(r => r.status)`, path, method, text))
}

// TestP38_APlanUnderReviewIsEditedAndStarted opens a plan that waits, changes it,
// saves it to the run, and starts the new version.
func TestP38_APlanUnderReviewIsEditedAndStarted(t *testing.T) {
	s := serve(t)
	api := s.api("observe")
	run := api.submit(map[string]any{"plan": json.RawMessage(pair), "intent": "observe", "review": "plan"})
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/builder?run=" + run))
	p.ready()
	p.yes("two steps", `document.querySelectorAll("#builder [data-node]").length === 2`)
	p.tool("net_info", "net_info")
	p.yes("checked", errorsAre(0))
	p.click("button", "Save to run")
	p.yes("the run's page", `location.pathname === "/runs/`+run+`"`)
	p.click("button", "Start")
	if r := api.until(run, "ended"); r.Code != "SUCCESS" || r.Counts["executed"] != 3 {
		t.Errorf("got code %s and counts %v, want SUCCESS with three steps", r.Code, r.Counts)
	}
}

// TestP41_APlanUnderReviewThatMovedIsNotOverwritten: two people edit one plan; who
// comes second is told, after a reload too, and decides. Who looks at an old
// version starts nothing.
func TestP41_APlanUnderReviewThatMovedIsNotOverwritten(t *testing.T) {
	s := serve(t)
	api := s.api("observe")
	run := api.submit(map[string]any{"plan": json.RawMessage(pair), "intent": "observe", "review": "plan"})
	var first, now struct {
		Version int
		Hash    string
		Source  json.RawMessage
	}
	api.want(http.StatusOK, http.MethodGet, "/runs/"+run+"/plan", nil, &first)
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/builder?run=" + run))
	p.ready()
	p.tool("net_info", "net_info")
	p.yes("a draft of it", `document.querySelector("[data-saved=saved]") && location.search.startsWith("?draft=")`)

	theirs := strings.Replace(pair, "look around", "theirs", 1)
	if status := p.sends("PUT", "/runs/"+run+"/plan", map[string]any{"plan": json.RawMessage(theirs), "base": first.Hash}); status != http.StatusOK {
		t.Fatalf("replace: got %d", status)
	}
	if status := p.sends("POST", "/runs/"+run+"/start", map[string]any{"base": first.Hash}); status != http.StatusConflict {
		t.Fatalf("start of a version that is no more: got %d, want 409", status)
	}
	p.visit(s.url(script[string](p, `location.pathname + location.search`)))
	p.ready()
	p.yes("checked", errorsAre(0))
	p.click("button", "Save to run")
	p.says("The run’s plan is another one by now")
	p.shot("builder-moved")
	api.want(http.StatusOK, http.MethodGet, "/runs/"+run+"/plan", nil, &now)
	if now.Version != 2 || !strings.Contains(string(now.Source), "theirs") {
		t.Fatalf("got version %d %s, want theirs still there", now.Version, now.Source)
	}
	p.click("button", "Load that plan")
	p.yes("their plan", `document.querySelectorAll("#builder [data-node]").length === 2`)
	p.click("button", "Undo")
	p.yes("mine by undo", `document.querySelectorAll("#builder [data-node]").length === 3 && `+settled)
	p.click("button", "Save to run")
	p.yes("the run's page", `location.pathname === "/runs/`+run+`"`)
	p.click("button", "Start")
	if r := api.until(run, "ended"); r.Code != "SUCCESS" || r.Counts["executed"] != 3 {
		t.Errorf("got code %s and counts %v, want SUCCESS with three steps", r.Code, r.Counts)
	}
	p.pardon(t, "409")
}

// TestR43_AScopeIsChosenAndAGoalAskedFor: a tool outside the scope is mended by the
// scope that has it, which the run then has; a drawing without a goal is asked for one.
func TestR43_AScopeIsChosenAndAGoalAskedFor(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "policy.yaml")
	writeFile(t, rules, "version: 1\nintents: {observe: 0, operate: 100, override: 200}\n"+
		"scopes: {default: {tools: [sysinfo]}, disks: {tools: [disk_usage]}}\napprovals: {self: allowed}\n")
	s := serveWith(t, must(t, shipped), filepath.Join(dir, "data"), "SLUICE_POLICY="+rules)
	id := s.draftOf("Untitled plan", strings.Replace(pair, "look around", "", 1))
	p := open(t, desktop)
	p.signIn(s)
	s.edit(p, id)
	p.says("disk_usage is not in the scope default")
	p.click("button", "Fix: Add the scope disks")
	p.yes("mended", errorsAre(0))
	p.says("default, disks")
	p.shot("builder-scopes")
	p.chord(kb.Enter, chromedp.ModifierCtrl)
	p.yes("the dialog asks for a goal", `document.activeElement.name === "goal" && document.activeElement.value === "first and second"`)
	p.shot("builder-run-goal")
	p.keys("See what this machine has")
	p.letter("Enter")
	run := p.onRun()
	api := s.api("observe")
	if r := api.until(run, "ended"); r.Code != "SUCCESS" {
		t.Fatalf("got %s %v, want SUCCESS", r.Code, r.Causes)
	}
	var got struct{ Goal string }
	api.want(http.StatusOK, http.MethodGet, "/runs/"+run, nil, &got)
	if got.Goal != "See what this machine has" {
		t.Errorf("got goal %q, want what was typed", got.Goal)
	}
	s.edit(p, id)
	p.yes("the scopes are kept with the draft", errorsAre(0)+` && document.body.textContent.includes("default, disks")`)
}
