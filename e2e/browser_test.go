//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// pageWithin bounds every wait for something on a page.
const pageWithin = 20 * time.Second

// names under which a browser may be installed, as in .ci/need.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell", "headless-shell"}

// shared is the one browser of the test process; every tab has cookies of its own.
var shared struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

func browser() (context.Context, error) {
	shared.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.WSURLReadTimeout(startWithin))
		for _, name := range browserNames {
			if path, err := exec.LookPath(name); err == nil {
				options = append(options, chromedp.ExecPath(path))
				break
			}
		}
		if os.Getuid() == 0 {
			options = append(options, chromedp.NoSandbox) // the browser's sandbox refuses root
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		shared.ctx, shared.cancel = ctx, func() { cancel(); stop() }
		shared.err = chromedp.Do(ctx) // starts it, bound to no test's deadline
	})
	return shared.ctx, shared.err
}

func closeBrowser() {
	if shared.cancel != nil {
		shared.cancel()
	}
}

// tab is one page with everything the browser complained about since before its
// first load: console errors, exceptions, failed requests, CSP violations.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// view is how a tab looks at pages.
type view struct {
	width, height int64
	scheme        string // "light" or "dark"
}

var desktop = view{1280, 800, "light"}

// open makes a tab with no cookies. Unless the test calls excuse, it fails at its
// end when the browser complained.
func open(t *testing.T, v view) *tab {
	t.Helper()
	parent, err := browser()
	if err != nil {
		lack(t, "browser", "no browser: %v", err)
	}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		for _, c := range p.heard() {
			t.Errorf("browser: %s", c)
		}
		cancel()
	})
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatalf("open tab: %v", err)
	}
	call(p, runtime.AddBinding, runtime.AddBindingParams{Name: violationBinding})
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: violationScript})
	call(p, audits.Enable, none)
	p.look(v)
	return p
}

// violationScript reports every violation of the page's policy; it is installed
// before any document exists, so none is missed (P43).
const (
	violationBinding = "reportViolation"
	violationScript  = `addEventListener("securitypolicyviolation", e =>
		reportViolation(e.violatedDirective + " blocked " + (e.blockedURI || "inline") + " at " + e.sourceFile + ":" + e.lineNumber), true)`
)

// listen runs on the connection's own goroutine: it only notes.
func (p *tab) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventBindingCalled:
		p.note("CSP: %s", e.Payload)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "assert" {
			p.note("console.%s: %s", e.Type, arguments(e.Args))
		}
	case *runtime.EventExceptionThrown:
		p.note("exception: %s %s", e.ExceptionDetails.Text, arguments([]*runtime.RemoteObject{e.ExceptionDetails.Exception}))
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			p.note("%s log: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		if csp := e.Issue.Details.ContentSecurityPolicyIssueDetails; csp != nil {
			p.note("CSP issue: %s blocked %q", csp.ViolatedDirective, csp.BlockedURL)
		}
	}
}

func arguments(list []*runtime.RemoteObject) string {
	var words []string
	for _, o := range list {
		if o == nil {
			continue
		}
		if words = append(words, o.Description); o.Description == "" {
			words[len(words)-1] = strings.Trim(string(o.Value), `"`)
		}
	}
	return strings.Join(words, " ")
}

func (p *tab) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, fmt.Sprintf(format, args...))
}

func (p *tab) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.complaints...)
}

// excuse gives the complaints so far and forgets them: for a test that provokes
// one, such as a page that answers 404.
func (p *tab) excuse() []string {
	out := p.heard()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = nil
	return out
}

// look sets the window's size and the preferred colour scheme.
func (p *tab) look(v view) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: v.width, Height: v.height, DeviceScaleFactor: 1,
	})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}},
	})
}

// shot keeps a picture when SHOTS names a folder.
func (p *tab) shot(name string) {
	p.t.Helper()
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), evaluate(p, chromedp.CaptureScreenshot()), 0o644); err != nil {
		p.t.Fatal(err)
	}
}
