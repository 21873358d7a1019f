//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tabUntil presses Tab until the element that has the focus is as wanted.
func (p *tab) tabUntil(what, condition string) {
	p.t.Helper()
	const most = 80
	for range most {
		if script[bool](p, "!!("+condition+")") {
			return
		}
		p.keys(kb.Tab)
	}
	p.t.Fatalf("%d times Tab do not reach %s", most, what)
}

// called: what has the focus bears this name.
func called(name string) string {
	return `document.activeElement.textContent.trim().startsWith("` + name + `") && document.activeElement.matches("a, button, summary")`
}

// drawFour draws list, read, disk_usage and sysinfo by keyboard: read takes its
// path from list, which F8 led to, and sysinfo waits for list or disk_usage. The
// one that comes second may be skipped, but for list, which read needs.
func (p *tab) drawFour(folder string) {
	p.t.Helper()
	p.tool("file.list", "list")
	p.letter("Enter")
	p.yes("the form", onField("param:path"))
	p.keys(folder)
	p.keys(kb.Escape)
	p.yes("back on the card", onStep("list"))
	p.tool("file.read", "read")
	p.yes("a finding: path is missing", errorsAre(1))
	p.keys(kb.F8)
	p.yes("F8 leads to the field", onField("param:path"))
	p.chord(kb.Tab, chromedp.ModifierShift)
	p.letter("Enter")
	p.yes("a choice of steps", `document.querySelector("select[data-field='param:path']")`)
	p.keys(kb.Tab)
	p.yes("step choice focused", onField("param:path"))
	p.keys("list")
	p.keys(kb.Tab)
	p.keys("entries.0.path")
	p.yes("mended", errorsAre(0))
	p.keys(kb.Escape)
	p.yes("back on the card", onStep("read"))

	p.tool("disk_usage", "disk_usage")
	p.tool("sysinfo", "sysinfo")
	p.link("list", "sysinfo")
	p.link("disk_usage", "sysinfo")
	p.walkTo("sysinfo")
	p.letter("Enter")
	p.tabField("join")
	p.keys("any")
	p.yes("any_of", `document.querySelector("[data-field=join]").value === "any_of"`)
	p.keys(kb.Escape)
	p.yes("back on sysinfo", onStep("sysinfo"))
	p.keys(kb.ArrowDown)
	p.keys(kb.Escape)
}

// TestP49_DrawnRunSavedAndRunAgainByKeyboardAlone: four steps with a reference
// and an any_of are drawn, a mistake is found with F8 and mended, the plan runs,
// its run becomes a template (R102), and the template runs with another value,
// which reaches the tool. No mouse is used.
func TestP49_DrawnRunSavedAndRunAgainByKeyboardAlone(t *testing.T) {
	s := serve(t)
	writeFile(t, filepath.Join(s.data, "workspace", "inbox", "first.txt"), "call the printer\n")
	writeFile(t, filepath.Join(s.data, "workspace", "archive", "old.txt"), "the lamp is mended\n")
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/builder"))
	p.ready()
	p.drawFour("inbox")
	p.tabField("goal")
	p.keys("Read the first note of inbox and look around")
	p.shot("builder-keyboard")

	p.chord("s", chromedp.ModifierCtrl)
	p.yes("saved", `document.querySelector("[data-saved=saved]") && location.search.startsWith("?draft=d_")`)
	plan := script[string](p, `fetch("/api/v1/drafts/" + location.search.slice(7)).then(r => r.json()).then(d => d.doc)`)
	for _, want := range []string{`"join":"any_of"`, `"depends_on":["list","disk_usage"]`, `"param_refs":{"path":{"step":"list","field":"entries.0.path"}}`} {
		if !strings.Contains(plan, want) {
			t.Errorf("got plan %s, want %s in it", plan, want)
		}
	}
	p.chord(kb.Enter, chromedp.ModifierCtrl)
	p.yes("run dialog", `document.activeElement.name === "intent"`)
	p.letter("Enter")
	first := p.onRun()
	p.ready()
	s.readsFrom(first, "inbox", "call the printer")

	p.yes("an end on the page", `document.querySelector("a[href^='/templates/new?run=']")`)
	p.tabUntil("Save as template", called("Save as template"))
	p.letter("Enter")
	p.yes("slots are proposed", `document.querySelector("input[name='on.0']:checked") && document.querySelector("input[name='name.0']").value === "path"`)
	p.shot("template-new-keyboard")
	p.tabUntil("Save template", called("Save template"))
	p.letter("Enter")
	p.yes("the template's page", `/^\/templates\/(?!new)/.test(location.pathname) && document.querySelector("input[name='slot.path']")`)
	p.shot("template-keyboard")
	p.tabUntil("its slot", `document.activeElement.name === "slot.path"`)
	p.chord("a", chromedp.ModifierCtrl)
	p.keys("archive")
	p.chord(kb.Enter, chromedp.ModifierCtrl)
	second := p.onRun()
	if second == first {
		t.Fatal("the template did not start a run of its own")
	}
	s.readsFrom(second, "archive", "the lamp is mended")
}

// readsFrom wants a run to have listed a folder and read its first file: the
// parameters in the log say the one, what the tool gave the other.
func (s *server) readsFrom(id, folder, content string) {
	s.t.Helper()
	api := s.api("observe")
	if r := api.until(id, "ended"); r.Code != "SUCCESS" || r.Counts["executed"] < 3 {
		s.t.Fatalf("got %s %v of %v, want SUCCESS of at least three steps", r.Code, r.Causes, r.Counts)
	}
	var log struct {
		Facts []struct {
			Kind, Node string
			Data       struct {
				Call struct {
					Params []struct {
						Name   string
						Value  json.RawMessage
						Labels []string
					}
				}
				Input struct{ Output json.RawMessage }
			}
		}
	}
	api.want(200, "GET", "/runs/"+id+"/facts", nil, &log)
	var took, gave string
	for _, f := range log.Facts {
		for _, param := range f.Data.Call.Params {
			if f.Node == "list" && f.Kind == "attempt.started" && param.Name == "path" {
				took = string(param.Value) + " " + strings.Join(param.Labels, ",")
			}
		}
		if f.Node == "read" && f.Kind == "attempt.ended" {
			gave = string(f.Data.Input.Output)
		}
	}
	if want := `"` + folder + `" user`; took != want {
		s.t.Errorf("list was called with %s, want %s", took, want)
	}
	if !strings.Contains(gave, content) {
		s.t.Errorf("read gave %s, want %q in it", gave, content)
	}
}
