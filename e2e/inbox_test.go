//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

const twoDeletes = `{"format": 1, "goal": "tidy up", "max_steps": 3, "steps": [
	{"id": "first", "tool": "file.delete", "params": {"path": "first.txt"}},
	{"id": "second", "tool": "file.delete", "params": {"path": "second.txt"}}]}`

// TestP49_TheInboxWorksByKeyboardAlone answers two requests from the inbox with
// letters, Tab and Enter: one is denied with a reason, one is approved.
func TestP49_TheInboxWorksByKeyboardAlone(t *testing.T) {
	s := serve(t)
	for _, name := range []string{"first.txt", "second.txt"} {
		writeFile(t, filepath.Join(s.data, "workspace", name), "keep")
	}
	api := s.api("override")
	id := api.submit(map[string]any{"plan": json.RawMessage(twoDeletes), "intent": "override"})
	p := open(t, desktop)
	p.wait("two requests", func() bool { return len(api.until(id, "waiting").Waiting) == 2 })
	p.signIn(s)
	p.visit(s.url("/approvals"))

	p.press("j", "packet", `!!document.querySelector("[data-packet-state=open]")`)
	denied := script[string](p, `document.querySelector(".args .value").textContent`)
	p.press("d", "reason focused", `document.activeElement.id === "reason"`)
	p.keys("still needed")
	p.press(kb.Tab, "Deny focused", `document.activeElement.id === "deny"`)
	p.press(kb.Enter, "denial", `document.querySelector("#packet")?.dataset.packetState === "denied"`)
	p.says("still needed")

	p.press("k", "other packet", `document.querySelector("#packet")?.dataset.packetState === "open"`)
	p.press("a", "Approve once focused", `document.activeElement.id === "approve"`)
	p.press(kb.Enter, "approval", `document.querySelector("#packet")?.dataset.packetState === "approved"`)
	if r := api.until(id, "ended"); r.Code != "PARTIAL_SUCCESS" {
		t.Errorf("got code %s and causes %v, want PARTIAL_SUCCESS", r.Code, r.Causes)
	}
	for _, name := range []string{"first.txt", "second.txt"} {
		_, err := os.Stat(filepath.Join(s.data, "workspace", name))
		if kept := err == nil; kept != (name == denied) {
			t.Errorf("%s: got kept %v, want only %s kept", name, kept, denied)
		}
	}
}

// press waits until the page listens, types a key and waits for what it does.
func (p *tab) press(key, what, done string) {
	p.t.Helper()
	p.ready()
	p.keys(key)
	p.wait(what+" after a key", func() bool { return script[bool](p, done) })
}
