package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"sluice/store"
)

// hidden reads a hidden field of a page's form.
func hidden(page, name string) string {
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	return found[1]
}

func values(pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v.Encode()
}

// TestP41_ADraftSavedElsewhereIsSaidAndBothAreKept: two windows of one person.
func TestP41_ADraftSavedElsewhereIsSaidAndBothAreKept(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	text := o.active().YAML
	if got := o.form("/policies/draft", values("yaml", text+"# first\n", "base", "1", "tab", "scopes")); got.status != http.StatusSeeOther || got.header.Get("Location") != "/policies?tab=scopes" {
		t.Fatalf("got %d to %s, want back to the same section", got.status, got.header.Get("Location"))
	}
	page := o.get("/policies").text()
	draft := hidden(page, "draft")
	if draft == "" || hidden(page, "revision") != "1" || !strings.Contains(page, "# first") {
		t.Fatalf("got draft %q at %q, want the saved text at revision 1", draft, hidden(page, "revision"))
	}
	save := func(words, revision string) *answer {
		return o.form("/policies/draft", values("yaml", text+words, "base", "1", "draft", draft, "revision", revision))
	}
	if got := save("# second\n", "1"); got.status != http.StatusSeeOther {
		t.Fatalf("got %d, want it saved", got.status)
	}
	late := save("# late\n", "1")
	if late.status != http.StatusConflict || !strings.Contains(late.text(), "# late") || !strings.Contains(late.text(), "another window") || hidden(late.text(), "revision") != "2" {
		t.Errorf("got %d, want the late text kept and the other revision named", late.status)
	}
	if page := o.get("/policies").text(); !strings.Contains(page, "# second") {
		t.Error("the draft that was saved in time is gone")
	}
	if got := save("# late\n", "2"); got.status != http.StatusSeeOther {
		t.Errorf("saving again on purpose: got %d", got.status)
	}
	if got := o.form("/policies/discard", values("draft", draft)); got.status != http.StatusSeeOther || strings.Contains(o.get("/policies").text(), "# late") {
		t.Errorf("got %d, want the draft discarded", got.status)
	}
}

// TestP43_CellsOfATableChangeTheTextWithoutScript: what was typed into cells is
// taken over as long as they show the text that came along.
func TestP43_CellsOfATableChangeTheTextWithoutScript(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	text := strings.Replace(o.active().YAML, "self: allowed", "self: allowed # for now", 1)
	page := o.form("/policies/edit", values("yaml", text, "base", "1", "op", "check")).text()
	seen := hidden(page, "seen")
	cells := []string{"yaml", text, "base", "1", "seen", seen, "set:/approvals/rules/0/quorum", "3", "set:/approvals/self", "denied",
		"key:/tools/file.delete", "file.d*", "set:/scopes/default/caps", "shell: 50, git.*: observe", "set:/approvals/rules/0/when/external", "yes"}
	page = o.form("/policies/edit", values(cells...)).text()
	for _, want := range []string{"quorum: 3", "self: denied # for now", "file.d*:", "git.*: observe", "shell: 50", "external: true"} {
		if !strings.Contains(page, want) {
			t.Errorf("want %q in the text", want)
		}
	}
	cells[5] = "another text"
	if page = o.form("/policies/edit", values(cells...)).text(); strings.Contains(page, "quorum: 3") {
		t.Error("cells of another text were taken over")
	}
}

func TestP20_OthersReadThePolicyAndTheTools(t *testing.T) {
	w := newWorld(t)
	o, reader := w.operator(), w.stranger("reader", store.RoleViewer)
	run := o.runToRest(`{"goal":"Show the kernel version","intent":"observe"}`)
	for _, path := range []string{"/policies", "/policies/1", "/tools", "/tools/sysinfo"} {
		page := reader.get(path)
		if page.status != http.StatusOK || strings.Contains(page.text(), "Publish v") || strings.Contains(page.text(), "Stop sysinfo") || strings.Contains(page.text(), run.ID) {
			t.Errorf("%s as a reader: got %d, want it readable, without actions and without runs of others", path, page.status)
		}
	}
	if page := o.get("/tools/sysinfo").text(); !strings.Contains(page, "/runs/"+run.ID+"?node=") || !strings.Contains(page, "Stop sysinfo") {
		t.Error("the owner sees neither the recorded call nor the kill switch")
	}
	for path, body := range map[string]string{"/policies": values("yaml", o.active().YAML+"#", "base", "1", "reason", "x"), "/policies/edit": "yaml=x",
		"/policies/draft": "yaml=x", "/policies/1/revert": "reason=x", "/tools/sysinfo/kill": "reason=x", "/tools/sysinfo/revive": "reason=x", "/policies/discard": "draft=x"} {
		if got := reader.form(path, body); got.status != http.StatusForbidden {
			t.Errorf("POST %s as a reader: got %d, want 403", path, got.status)
		}
	}
	if got := o.form("/tools/sysinfo/kill", "reason=+"); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text(), "reason") {
		t.Errorf("without a reason: got %d, want 422 saying so", got.status)
	}
	if got := reader.get("/tools/no.such"); got.status != http.StatusNotFound {
		t.Errorf("got %d, want 404", got.status)
	}
	// A policy that lets nothing run is allowed, with a warning.
	if page := o.form("/policies/edit", values("yaml", "version: 1\n", "base", "1", "op", "check")).text(); !strings.Contains(page, "lets no tool run") {
		t.Error("no warning of a policy that locks everybody out")
	}
}
