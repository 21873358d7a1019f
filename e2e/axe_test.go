//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// views are the sizes and schemes in which every page must hold.
var views = []view{
	{320, 640, "light"}, {320, 640, "dark"},
	{768, 1024, "light"}, {768, 1024, "dark"},
	{1280, 800, "light"}, {1280, 800, "dark"},
}

var axeSource = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(filepath.Join("testdata", "axe-core", "axe.min.js"))
	return string(text), err
})

// violation is one rule of axe that a page breaks, with the first places.
type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Where []string `json:"where"`
}

// axe checks the page as it stands. It is put in by the browser's own protocol,
// so the page's policy does not have to allow it.
func (p *tab) axe() []violation {
	p.t.Helper()
	evaluate(p, chromedp.Evaluate[chromedp.Void](must(p.t, axeSource)+";undefined"))
	return script[[]violation](p, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v =>
		({id: v.id, help: v.help, where: v.nodes.slice(0, 3).map(n => n.target.join(" ") + ": " + n.html.slice(0, 120))})))`)
}

// sites gives every kind of page by name, on a server with a finished run, one
// that waits for a person, and one that was refused.
func sites(s *server) map[string]string {
	s.t.Helper()
	writeFile(s.t, filepath.Join(s.data, "workspace", "notes.txt"), "keep")
	api := s.api("override")
	done := api.submit(map[string]any{"goal": mainGoal, "intent": "observe"})
	refused := api.submit(map[string]any{"goal": "delete notes.txt", "intent": "operate"})
	waits := api.submit(map[string]any{"goal": "delete notes.txt", "intent": "override"})
	api.until(done, "ended")
	api.until(refused, "ended")
	approval := api.until(waits, "waiting").Waiting[0]
	out := map[string]string{
		"templates": "/templates", "template": "/templates/overdue-invoices", "home": "/", "runs": "/runs", "approvals": "/approvals", "packet": "/approvals/" + approval, "builder": "/builder?run=" + done,
		"waiting": "/runs/" + waits, "refused": "/runs/" + refused, "missing": "/no-such-page",
		"policies": "/policies", "version": "/policies/1", "tools": "/tools", "tool": "/tools/file.delete",
		"settings": "/settings",
	}
	for _, view := range []string{"graph", "list", "log", "verdict"} {
		out[view] = "/runs/" + done + "?view=" + view
	}
	return out
}

func TestAxe_NoViolationOnAnyPageInAnyView(t *testing.T) {
	s := serve(t)
	pages := sites(s)
	p := open(t, desktop)
	p.signIn(s)
	for name, path := range pages {
		for _, v := range views {
			t.Run(fmt.Sprintf("%s %d %s", name, v.width, v.scheme), func(t *testing.T) {
				p.look(v)
				p.visit(s.url(path))
				for _, found := range p.axe() {
					t.Errorf("%s (%s):\n  %s", found.ID, found.Help, strings.Join(found.Where, "\n  "))
				}
				if wide := script[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("the page is %d px wider than the window", wide)
				}
				p.shot(fmt.Sprintf("%s-%d-%s", name, v.width, v.scheme))
			})
		}
	}
	expectMissing(t, p)
}

// expectMissing takes back what the browser says of the page that is not there,
// and nothing else.
func expectMissing(t *testing.T, p *tab) {
	t.Helper()
	for _, c := range p.excuse() {
		if !strings.Contains(c, "/no-such-page") {
			t.Errorf("browser: %s", c)
		}
	}
}

// TestP43_EveryPageHasThePolicyAndAnIcon reads headers and heads.
func TestP43_EveryPageHasThePolicyAndAnIcon(t *testing.T) {
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	s := serve(t)
	someone := s.person()
	for name, path := range sites(s) {
		response, err := someone.client.Get(s.url(path))
		if err != nil {
			t.Fatal(err)
		}
		text := readAll(t, response)
		if got := response.Header.Get("Content-Security-Policy"); got != policy {
			t.Errorf("%s: got policy %q, want that of P43", name, got)
		}
		if !strings.Contains(text, `rel="icon"`) {
			t.Errorf("%s: no icon link", name)
		}
		if strings.Contains(text, " style=") {
			t.Errorf("%s: a style attribute", name)
		}
		wantStatus := http.StatusOK
		if name == "missing" {
			wantStatus = http.StatusNotFound
		}
		if response.StatusCode != wantStatus {
			t.Errorf("%s: got %d, want %d", name, response.StatusCode, wantStatus)
		}
	}
}
