//go:build e2e

package e2e

import "testing"

// A page that is left open follows its run to the end without being loaded
// again: the word, the counts and the whole graph in view.
func TestP40_AnOpenPageEndsWithItsRun(t *testing.T) {
	s := serve(t)
	p := open(t, desktop)
	p.signIn(s)
	p.submit(s, mainGoal, "Observe")
	p.ready()
	if r := s.api("observe").until(p.runID(), "ended"); r.Code != "SUCCESS" {
		t.Fatalf("got code %s", r.Code)
	}
	p.wait("the word of the end", func() bool {
		return script[bool](p, `document.querySelector("[data-live-word]").textContent === "Ended"`)
	})
	p.wait("the counts of the end", func() bool {
		return script[bool](p, `document.querySelector('[data-count="executed"]').textContent === "5" && document.querySelector("[data-follow]").hidden`)
	})
	inView := `[...document.querySelectorAll("#graph [data-node]")].every((n) => { const r = n.getBoundingClientRect(), b = document.getElementById("graph").getBoundingClientRect();
		return r.left >= b.left && r.right <= b.right && r.top >= b.top && r.bottom <= b.bottom; })`
	p.wait("the whole graph in view", func() bool { return script[bool](p, inView) })
}
