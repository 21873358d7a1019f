//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestP43_HarnessHearsEveryComplaint is the control of all browser tests: a page
// that breaks its own policy, throws and logs an error must not pass unheard.
func TestP43_HarnessHearsEveryComplaint(t *testing.T) {
	p := open(t, desktop)
	p.visit(static(t, map[string]string{
		"/": `<title>bad</title><p style="color:red">text</p><script src="/bad.js" defer></script>
			<button id="b">Press <b>me</b></button><label>Goal <input></label>`,
		"/bad.js": `console.error("said so"); setTimeout(() => { throw new Error("thrown") });
			document.getElementById("b").onclick = () => document.title = "pressed";`,
	}))
	want := []string{"CSP: style-src", "CSP issue: style-src", "console.error: said so", "thrown"}
	p.wait("all complaints", func() bool {
		all := strings.Join(p.heard(), "\n")
		for _, w := range want {
			if !strings.Contains(all, w) {
				return false
			}
		}
		return true
	})
	if got := fmt.Sprint(p.axe()); !strings.Contains(got, "html-has-lang") {
		t.Errorf("axe: got %s, want the missing language found", got)
	}
	p.enter("textbox", "Goal", "first")
	p.enter("textbox", "Goal", "second")
	if got := script[string](p, `document.querySelector("input").value`); got != "second" {
		t.Errorf("typed twice: got %q, want the second text alone", got)
	}
	p.tabTo("button", "Press me")
	p.keys(kb.Enter)
	p.wait("title", func() bool { return script[string](p, "document.title") == "pressed" })
	script[string](p, `document.title = "bad"`)
	p.click("button", "Press me")
	p.wait("title", func() bool { return script[string](p, "document.title") == "pressed" })
	if got := p.excuse(); len(got) < len(want) {
		t.Errorf("got %d complaints, want at least %d", len(got), len(want))
	}
}

// TestP43_HarnessAcceptsACleanPage is the other half: a page within its policy.
func TestP43_HarnessAcceptsACleanPage(t *testing.T) {
	p := open(t, view{320, 640, "dark"})
	p.visit(static(t, map[string]string{
		"/":      `<!doctype html><title>good</title><link rel="icon" href="data:,"><script src="/ok.js"></script><p>text</p>`,
		"/ok.js": `document.documentElement.dataset.ready = "";`,
	}))
	p.ready()
	p.says("text")
	if got := script[bool](p, `matchMedia("(prefers-color-scheme: dark)").matches && innerWidth === 320`); !got {
		t.Error("got another view than the one asked for")
	}
}

// static serves files under the policy of P43 and gives the address.
func static(t *testing.T, files map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := files[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:")
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/"
}
