//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// onRun waits for a run's page and gives the run's id.
func (p *tab) onRun() string {
	p.t.Helper()
	p.wait("run page", func() bool { return script[bool](p, `/^\/runs\/r_[^/]+$/.test(location.pathname)`) })
	return p.runID()
}

// TestP3_PlanIsReviewedChangedAndStarted: with the switch on home a run stops at
// its plan; nothing runs until a person, who has changed a value first, starts it.
func TestP3_PlanIsReviewedChangedAndStarted(t *testing.T) {
	s := serve(t)
	writeFile(t, filepath.Join(s.data, "workspace", "notes.txt"), "first file")
	writeFile(t, filepath.Join(s.data, "workspace", "other.txt"), "second file")
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/"))
	p.enter("textbox", "Goal", "Read notes.txt and show the kernel version")
	p.click("checkbox", "Review plan before it runs")
	p.click("button", "Run")
	id := p.onRun()
	p.ready()
	p.says("Nothing has run yet.")
	p.says("What will ask")
	p.says("built-in planner (no model)")
	api := s.api("observe")
	api.until(id, "waiting")
	for _, f := range api.facts(id) {
		if f.Kind == "attempt.started" && f.Node != "kernel.plan" {
			t.Fatalf("%s started while the plan is under review", f.Node)
		}
	}
	for _, v := range views {
		p.look(v)
		p.visit(s.url("/runs/" + id))
		p.says("Nothing has run yet.")
		for _, found := range p.axe() {
			t.Errorf("review %d %s: %s (%s):\n  %s", v.width, v.scheme, found.ID, found.Help, strings.Join(found.Where, "\n  "))
		}
		p.shot(fmt.Sprintf("review-%d-%s", v.width, v.scheme))
	}
	p.look(desktop)
	if status, body := api.do(http.MethodPost, "/runs/"+id+"/start", nil); status != http.StatusForbidden {
		t.Errorf("a token starts a plan: got %d %s, want 403", status, body)
	}

	p.visit(s.url("/runs/" + id))
	p.click("link", "Edit as JSON")
	p.says("Edit the plan")
	for _, found := range p.axe() {
		t.Errorf("edit: %s (%s):\n  %s", found.ID, found.Help, strings.Join(found.Where, "\n  "))
	}
	p.shot("plan-edit")
	edit := func(from, to string) {
		script[bool](p, fmt.Sprintf(`(() => { const area = document.getElementById("plan-text"); area.value = area.value.replace(%q, %q); return true })()`, from, to))
		p.click("button", "Save as version 2")
	}
	edit(`"tool": "file.read"`, `"tool": "file.reed"`)
	p.says("The plan was not taken")
	p.says("C10")
	p.shot("plan-edit-refused")
	p.excuse() // the browser notes the 422
	edit(`"tool": "file.reed"`, `"tool": "file.read"`)
	p.says("The plan is the same")
	p.excuse()
	edit("notes.txt\"", "other.txt\"")
	if got := p.onRun(); got != id {
		t.Fatalf("saved and got to %s, want the run", got)
	}
	p.ready()
	p.says("Plan v2")
	p.shot("review-v2")
	p.click("button", "Start")
	r := api.until(id, "ended")
	if r.Code != "SUCCESS" {
		t.Errorf("got %s %v, want SUCCESS", r.Code, r.Causes)
	}
	p.wait("the review is over", func() bool { return script[bool](p, `document.getElementById("run-review").hidden`) })
	var kinds []string
	for _, f := range api.facts(id) {
		kinds = append(kinds, f.Kind)
	}
	order := strings.Join(kinds, " ")
	if !strings.Contains(order, "input.replace version.added input.start attempt.started") {
		t.Errorf("got the facts %s, want the edit and the start before the first attempt", order)
	}
	if text := fmt.Sprint(r.Verdict); !strings.Contains(text, "second file") && !strings.Contains(text, "other.txt") {
		t.Errorf("got %s, want the file that the edited plan reads", text)
	}
}

// TestP3_ReviewComesToAnOpenPage: the plan is still being written when the page
// opens, and asks to be started once it is there.
func TestP3_ReviewComesToAnOpenPage(t *testing.T) {
	url := fakeModel(t, modelScript)
	s := serveWith(t, must(t, shipped), t.TempDir(), "SLUICE_MODEL_URL="+url, "SLUICE_MODEL_NAME=demo")
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/"))
	p.enter("textbox", "Goal", "look around")
	p.click("checkbox", "Review plan before it runs")
	p.click("button", "Run")
	id := p.onRun()
	p.ready()
	if strings.Contains(p.text(), "Nothing has run yet.") {
		t.Fatal("the plan was there before the page: nothing came to an open page")
	}
	p.says("Nothing has run yet.")
	p.click("button", "Start")
	if r := s.api("observe").until(id, "ended"); r.Code != "SUCCESS" {
		t.Errorf("got %s, want SUCCESS", r.Code)
	}
}

// TestP32_ReviewSurvivesKill: the plan waits through a power cut, and the run
// then goes on.
func TestP32_ReviewSurvivesKill(t *testing.T) {
	s := serve(t)
	api := s.api("observe")
	id := api.submit(map[string]any{"goal": "show the kernel version", "review": "plan"})
	api.until(id, "waiting")
	s.kill()
	s.start()
	api.base = s.url("/api/v1")
	if r := api.until(id, "waiting"); r.Counts["executed"] != 0 {
		t.Errorf("got %+v after the restart, want nothing done", r.Counts)
	}
	if status, body := s.person().post("/api/v1/runs/"+id+"/start", nil); status != http.StatusOK {
		t.Fatalf("start: got %d %s", status, body)
	}
	if r := api.until(id, "ended"); r.Code != "SUCCESS" {
		t.Errorf("got %s, want SUCCESS", r.Code)
	}
}

func TestP36_RunWithReviewWaits(t *testing.T) {
	s := serve(t)
	r := command(t, s.binary, "", "run", "show the kernel version", "--review", "plan", "--data", s.data, "--json")
	got := decode[struct {
		Status string
		Review bool
	}](t, r.wantCode(t, 11))
	if got.Status != "waiting" || !got.Review {
		t.Errorf("got %+v, want a run that waits at its plan", got)
	}
}
