//go:build e2e

package e2e

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// none is the parameter of commands that take none.
var none = cdp.Empty{}

// call sends one protocol command, bounded in time.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	out, err := try(p, command, params)
	if err != nil {
		p.t.Fatalf("browser: %s: %v", command.Method, err)
	}
	return out
}

// try is call for what may fail while a page is changing.
func try[P, R any](p *tab, command cdp.Command[P, R], params P) (R, error) {
	started(p)
	ctx, cancel := context.WithTimeout(p.ctx, pageWithin)
	defer cancel()
	return chromedp.Call(ctx, command, params)
}

// started gives the tab its target under a context without a deadline: a target
// lives as long as the context of its first command.
func started(p *tab) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// evaluate runs an action and gives its value, bounded in time.
func evaluate[T any](p *tab, action chromedp.Action[T]) T {
	p.t.Helper()
	started(p)
	ctx, cancel := context.WithTimeout(p.ctx, pageWithin)
	defer cancel()
	out, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("browser: %v", err)
	}
	return out
}

// script evaluates an expression in the page.
func script[T any](p *tab, expression string) T {
	p.t.Helper()
	return evaluate(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// visit loads a page.
func (p *tab) visit(url string) {
	p.t.Helper()
	evaluate(p, chromedp.Navigate(url))
}

// signIn opens the server's one-time link.
func (p *tab) signIn(s *server) {
	p.t.Helper()
	p.visit(s.link)
}

// wait asks a question again until the answer is yes.
func (p *tab) wait(what string, ask func() bool) {
	p.t.Helper()
	p.waitFor(pageWithin, what, ask)
}

func (p *tab) waitFor(within time.Duration, what string, ask func() bool) {
	p.t.Helper()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	deadline := time.After(within)
	for !ask() {
		select {
		case <-ticker.C:
		case <-deadline:
			p.t.Fatalf("page: no %s within %v; the page says:\n%s", what, within, p.text())
		}
	}
}

// text is what the page shows.
func (p *tab) text() string {
	p.t.Helper()
	return script[string](p, `document.body ? document.body.innerText : ""`)
}

// says waits for a text on the page.
func (p *tab) says(text string) {
	p.t.Helper()
	p.wait("text "+text, func() bool { return strings.Contains(p.text(), text) })
}

// find gives the element of a role and accessible name, as assistive technology
// sees it: roles are those of ARIA ("button", "textbox", "radio", "link").
func (p *tab) find(role, name string) cdp.BackendNodeID {
	p.t.Helper()
	var found cdp.BackendNodeID
	p.wait(role+" named "+name, func() bool {
		found = p.lookup(role, name)
		return found != 0
	})
	return found
}

// lookup is find without waiting; 0 when there is none now.
func (p *tab) lookup(role, name string) cdp.BackendNodeID {
	p.t.Helper()
	document, err := try(p, runtime.Evaluate, runtime.EvaluateParams{Expression: "document"})
	if err != nil {
		return 0 // between two pages
	}
	query := accessibility.QueryAXTreeParams{ObjectID: document.Result.ObjectID, Role: role, AccessibleName: name}
	result, err := try(p, accessibility.QueryAXTree, query)
	if err != nil {
		return 0
	}
	for _, n := range result.Nodes {
		if !n.Ignored {
			return n.BackendDOMNodeID
		}
	}
	return 0
}

// click presses the mouse in the middle of an element that a person could see.
func (p *tab) click(role, name string) {
	p.t.Helper()
	node := p.find(role, name)
	call(p, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{BackendNodeID: node})
	quads := call(p, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: node}).Quads
	if len(quads) == 0 || len(quads[0]) != 8 {
		p.t.Fatalf("page: %s %q has no place on the page", role, name)
	}
	q := quads[0]
	evaluate(p, chromedp.MouseClickXY((q[0]+q[4])/2, (q[1]+q[5])/2))
}

// enter focuses an element and types, replacing what was there.
func (p *tab) enter(role, name, text string) {
	p.t.Helper()
	call(p, dom.Focus, dom.FocusParams{BackendNodeID: p.find(role, name)})
	evaluate(p, chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// keys types keys at the focus; names such as kb.Tab and kb.Enter are in chromedp/kb.
func (p *tab) keys(keys string) {
	p.t.Helper()
	evaluate(p, chromedp.KeyEvent(keys))
}

// focused is the element with the keyboard focus, 0 when there is none.
func (p *tab) focused() cdp.BackendNodeID {
	p.t.Helper()
	active := call(p, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.activeElement"})
	if active.Result.ObjectID == "" {
		return 0
	}
	node := call(p, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: active.Result.ObjectID})
	return node.Node.BackendNodeID
}

// ready waits until the page calls itself interactive (P47, P49).
func (p *tab) ready() {
	p.t.Helper()
	p.wait("data-ready", func() bool { return script[bool](p, `!!document.querySelector("[data-ready]")`) })
}
