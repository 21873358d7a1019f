//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// mixedPlan has what a drawing can show at once: values that flow, a choice
// between candidates, a condition, a step that asks, an error and a warning.
const mixedPlan = `{"format":1,"goal":"Keep the newest note where the others read it on Monday","steps":[
	{"id":"notes","tool":"file.list"},
	{"id":"newest","tool":"file.read","param_refs":{"path":{"step":"notes","field":"entries.0.path"}}},
	{"id":"disk","tool":"disk_usage"},
	{"id":"machine","tool":"sysinfo"},
	{"id":"either","tool":"net_info","depends_on":["disk","machine"],"join":"any_of"},
	{"id":"summary","tool":"file.write","params":{"path":"summary.txt"},"param_refs":{"content":{"step":"newest","field":"size_bytes"}},"depends_on":["notes"]},
	{"id":"old","tool":"file.delete","params":{"path":"old.txt"},"depends_on":["either"],"guard":{"ref":{"step":"machine","field":"os"},"op":"eq","value":"linux"}}]}`

// TestAxe_TheBuilderInEveryState looks at each view and dialog in both themes
// and three widths.
func TestAxe_TheBuilderInEveryState(t *testing.T) {
	s := serve(t)
	id := s.draftOf("Notes for Monday", mixedPlan)
	p := open(t, desktop)
	p.signIn(s)
	states := map[string]func(){
		"empty": func() { p.visit(s.url("/builder")); p.ready() },
		"builder": func() {
			s.edit(p, id)
			p.click("button", "Canvas")
			script[bool](p, `document.querySelector("#builder-intent").focus() || true`)
			p.keys("override")
			p.yes("one error", errorsAre(1))
			p.keys(kb.F8)
			p.yes("saved", `document.querySelector("[data-saved=saved]")`) // the next state opens the same draft
		},
		"asks":    func() { s.edit(p, id); p.click("button", "Canvas"); p.walkTo("old") },
		"outline": func() { s.edit(p, id); p.click("button", "Outline"); p.keys(kb.F8) },
		"json":    func() { s.edit(p, id); p.click("button", "JSON") },
		"run":     func() { s.edit(p, id); p.chord(kb.Enter, chromedp.ModifierCtrl); p.says("Run this plan") },
		"connect": func() {
			s.edit(p, id)
			p.click("button", "Outline")
			script[bool](p, `document.querySelector(".outline-main").click() || true`)
			p.click("button", "Connect…")
			p.says("Connect notes to…")
		},
		"import": func() {
			s.edit(p, id)
			script[bool](p, `document.querySelector("summary[aria-label='More actions']").click() || true`)
			p.click("button", "Import…")
			p.says("Import a plan")
		},
	}
	for name, arrange := range states {
		for i, v := range append(views, pictureViews()...) {
			t.Run(fmt.Sprintf("%s %d %s", name, v.width, v.scheme), func(t *testing.T) {
				p.look(v)
				if i%2 == 0 { // the views come in pairs of one size
					arrange()
				}
				p.yes("colours at rest", `document.getAnimations().every(a => a.playState !== "running")`)
				for _, found := range p.axe() {
					t.Errorf("%s (%s):\n  %s", found.ID, found.Help, strings.Join(found.Where, "\n  "))
				}
				if wide := script[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("the page is %d px wider than the window", wide)
				}
				if n := script[int](p, `[...document.querySelectorAll(":is(dialog[open], body:not(:has(dialog[open]))) [data-kind=primary]")].filter(e => e.checkVisibility()).length`); n > 1 {
					t.Errorf("got %d primary buttons, want at most one", n)
				}
				p.shot(v.picture("builder", name))
			})
		}
	}
}
