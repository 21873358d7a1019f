//go:build e2e

package e2e

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// chord types a key with Ctrl, Shift or Alt held.
func (p *tab) chord(key string, held ...chromedp.Modifier) {
	p.t.Helper()
	evaluate(p, chromedp.KeyEvent(key, chromedp.KeyModifiers(held...)))
}

// letter presses a key as a keyboard does: its text comes only when no
// shortcut took the key, which two separate events would not show.
func (p *tab) letter(key string) {
	p.t.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Code: "Key" + strings.ToUpper(key),
		WindowsVirtualKeyCode: int64(strings.ToUpper(key)[0]), Text: key}
	if key == "Enter" {
		down.Code, down.WindowsVirtualKeyCode, down.Text = key, 13, "\r"
	}
	call(p, input.DispatchKeyEvent, down)
	down.Type, down.Text = input.DispatchKeyEventTypeKeyUp, ""
	call(p, input.DispatchKeyEvent, down)
}

// yes waits until an expression of the page is true.
func (p *tab) yes(what, expression string) {
	p.t.Helper()
	p.wait(what, func() bool { return script[bool](p, "!!("+expression+")") })
}

// settled: the findings that are shown are about the plan as it stands.
const settled = `(() => { const a = document.querySelector(".builder-app"), f = document.querySelector(".checks");
	return !!a && a.dataset.rev === f.dataset.checked })()`

func onField(name string) string { return `document.activeElement.dataset.field === "` + name + `"` }
func onStep(id string) string    { return `document.activeElement.dataset.node === "` + id + `"` }
func errorsAre(n int) string {
	return fmt.Sprintf(`%s && document.querySelectorAll(".checks li[data-severity=error]").length === %d`, settled, n)
}

// tool adds a step from the palette by keyboard.
func (p *tab) tool(name, id string) {
	p.t.Helper()
	p.letter("a")
	p.yes("palette", `document.activeElement.id === "palette-search"`)
	p.keys(name)
	p.letter("Enter")
	p.yes("step "+id, onStep(id))
}

// tabTo presses Tab until a field has the focus.
func (p *tab) tabField(field string) {
	p.t.Helper()
	for range 60 {
		if script[bool](p, onField(field)) {
			return
		}
		p.keys(kb.Tab)
	}
	p.t.Fatalf("60 times Tab do not reach %s", field)
}

// walkTo goes to a step by keyboard.
func (p *tab) walkTo(id string) {
	p.t.Helper()
	for range 20 {
		if script[bool](p, onStep(id)) {
			return
		}
		was := script[string](p, `document.activeElement.dataset.node ?? ""`)
		p.letter("j")
		p.yes("another step", `document.activeElement.dataset.node && document.activeElement.dataset.node !== "`+was+`"`)
	}
	p.t.Fatalf("20 steps do not reach %s", id)
}

// link connects two steps by keyboard.
func (p *tab) link(from, to string) {
	p.t.Helper()
	p.walkTo(from)
	p.letter("c")
	p.yes("connect dialog", `document.activeElement.id === "connect-search"`)
	p.keys(to)
	p.letter("Enter")
	p.yes("kind of connection", `document.activeElement.name === "kind"`)
	p.letter("Enter")
	p.yes("back on "+from, `!document.querySelector("dialog[open]") && `+onStep(from))
}
