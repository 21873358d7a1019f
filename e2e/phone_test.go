//go:build e2e

package e2e

import (
	"fmt"
	"testing"
)

// bar measures what a phone's row of places shows.
const bar = `(() => {
	const shown = [...document.querySelectorAll("nav.nav .nav-item")].filter(e => e.checkVisibility());
	const all = document.querySelector("nav.nav").getBoundingClientRect();
	return { words: shown.map(e => e.innerText.trim().split("\n")[0]).join(" "),
		small: shown.filter(e => e.offsetWidth < 44 || e.offsetHeight < 44).length,
		out: shown.filter(e => { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth || e.scrollWidth > e.clientWidth + 1 }).length,
		scrolls: document.querySelector("nav.nav ul").scrollWidth - document.querySelector("nav.nav ul").clientWidth,
		high: all.height } })()`

// TestPhone_FivePlacesAndTheRestUnderMore: nothing scrolls, every target
// is large enough, and the menu holds the other places and the person's own.
func TestPhone_FivePlacesAndTheRestUnderMore(t *testing.T) {
	s := serve(t)
	p := open(t, desktop)
	p.signIn(s)
	for _, v := range []view{{320, 640, "light"}, {390, 844, "dark"}, {639, 800, "light"}} {
		p.look(v)
		p.visit(s.url("/tools"))
		got := script[struct {
			Words               string
			Small, Out, Scrolls int
		}](p, bar)
		if got.Words != "Home Runs Approvals Policies More" || got.Small+got.Out+got.Scrolls != 0 {
			t.Errorf("%d px: got %+v, want five places that fit", v.width, got)
		}
		script[bool](p, `document.querySelector("#user-menu > summary").click(), true`)
		rows := script[[]string](p, `[...document.querySelectorAll("#user-menu .menu-row")].filter(e => e.checkVisibility() && e.getBoundingClientRect().height >= 44).map(e => e.innerText.trim().split("\n")[0])`)
		if text := fmt.Sprint(rows); text != "[Templates Builder Tools Theme Settings Notify me here Keyboard shortcuts ? Sign out]" && text != "[Templates Builder Tools Theme Settings Notify me here Keyboard shortcuts Sign out]" {
			t.Errorf("%d px: got %s under More", v.width, text)
		}
		if wide := script[int](p, `Math.max(0, ...[...document.querySelectorAll("#user-menu .menu-panel *")].map(e => e.getBoundingClientRect().right - innerWidth))`); wide > 0 {
			t.Errorf("%d px: the menu is %d px out of the window", v.width, wide)
		}
		for _, found := range p.axe() {
			t.Errorf("%d px: %s %v", v.width, found.Help, found.Where)
		}
		p.shot(fmt.Sprintf("phone-more-%d-%s", v.width, v.scheme))
	}
}
