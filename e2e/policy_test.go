//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp/kb"
)

// yamlText is what the editor holds.
func (p *tab) yamlText() string {
	p.t.Helper()
	return script[string](p, `document.getElementById("yaml").value`)
}

// replaceYAML selects a part of the text and types over it, as a person does.
func (p *tab) replaceYAML(old, typed string) {
	p.t.Helper()
	if !script[bool](p, fmt.Sprintf(`(() => { const y = document.getElementById("yaml"), at = y.value.indexOf(%q);
		if (at < 0) return false; y.focus(); y.setSelectionRange(at, at + %d); return true; })()`, old, len(old))) {
		p.t.Fatalf("the YAML has no %q", old)
	}
	call(p, input.InsertText, input.InsertTextParams{Text: typed})
}

func (p *tab) waitText(what, selector, want string) {
	p.t.Helper()
	p.wait(what, func() bool {
		return script[bool](p, fmt.Sprintf(`(document.querySelector(%q)?.textContent ?? "").includes(%q)`, selector, want))
	})
}

// policyVersion is the version in force.
func (c client) policyVersion() (version int, yaml string) {
	c.t.Helper()
	var list struct {
		Policies []struct{ Version int } `json:"policies"`
	}
	c.want(http.StatusOK, http.MethodGet, "/policies?limit=1", nil, &list)
	var one struct{ YAML string }
	c.want(http.StatusOK, http.MethodGet, "/policies/"+strconv.Itoa(list.Policies[0].Version), nil, &one)
	return list.Policies[0].Version, one.YAML
}

// twoSteps deletes a file once somebody approves, and then writes another.
const twoSteps = `{"format":1,"goal":"delete one file, then write another","steps":[
	{"id":"gone","tool":"file.delete","params":{"path":"notes.txt"}},
	{"id":"after","tool":"file.write","params":{"path":"after.txt","content":"x"},"depends_on":["gone"]}]}`

// send posts JSON as the page's own session: the sign-in link serves one session.
func (p *tab) send(path string, body any) int {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	return script[int](p, fmt.Sprintf(`fetch(%q, {method: "POST", headers: {"Content-Type": "application/json"}, body: %q}).then(r => r.status)`, path, text))
}

// publish opens the menu of the bar, gives a reason and publishes.
func (p *tab) publish(version int, reason string) {
	p.t.Helper()
	script[string](p, `document.getElementById("publish-menu").open = true; ""`)
	if !script[bool](p, `(() => { const r = document.querySelector("#publish-menu .confirm-panel").getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.height > 100; })()`) {
		p.t.Error("the menu that publishes is not whole in the window")
	}
	p.enter("textbox", "Reason", reason)
	p.click("button", "Publish version "+strconv.Itoa(version))
	p.wait("version page", func() bool {
		return script[bool](p, fmt.Sprintf(`location.pathname === "/policies/%d" && document.body?.dataset.ready === "true"`, version))
	})
}

// TestP19_APolicyIsEditedTriedPublishedAndMeetsARunningPlan is the whole way of
// a policy owner: a mistake shown at its line, tables and YAML in step, the dry
// run with its links, publishing, and the plan under way that is denied next.
func TestP19_APolicyIsEditedTriedPublishedAndMeetsARunningPlan(t *testing.T) {
	s := serve(t)
	writeFile(t, filepath.Join(s.data, "workspace", "notes.txt"), "keep")
	api := s.api("override")
	past := api.submit(map[string]any{"goal": "Show the kernel version", "intent": "observe"})
	api.until(past, "ended")
	running := api.submit(submission(twoSteps, "override"))
	approval := api.until(running, "waiting").Waiting[0]

	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/policies"))
	p.ready()

	// A mistake is said with line and column, marked in the gutter, and F8 goes there.
	p.replaceYAML("quorum: 1", "quorom: 1")
	p.waitText("the problem", "#policy-problems", "line ")
	place := script[string](p, `(() => { const e = document.querySelector('#yaml-lines [data-mark="error"]'); return e ? e.textContent : "" })()`)
	want := strconv.Itoa(1 + strings.Count(p.yamlText()[:strings.Index(p.yamlText(), "quorom")], "\n"))
	if place != want {
		t.Errorf("got the mark at line %q, want %s", place, want)
	}
	script[string](p, `document.getElementById("yaml").setSelectionRange(0, 0); ""`)
	p.keys(kb.F8)
	p.wait("the caret at the problem", func() bool {
		return script[bool](p, `(() => { const y = document.getElementById("yaml"); return y.value.slice(y.selectionStart).startsWith("quorom"); })()`)
	})
	p.replaceYAML("quorom: 1", "quorum: 1")
	p.waitText("no problem", "#policy-problems", "No problems")

	// A table changes the YAML, and the YAML the tables.
	p.click("button", "Add rule")
	p.wait("the new rule in the YAML", func() bool { return strings.Contains(p.yamlText(), "id: A2") })
	p.wait("the new rule's cells", func() bool {
		return script[bool](p, `!!document.querySelector('[aria-label="Tools of A2"]')`)
	})
	p.enter("textbox", "Tools of A2", "sysinfo")
	p.keys(kb.Enter)
	p.wait("the tools in the YAML", func() bool { return strings.Contains(p.yamlText(), "tools: [sysinfo]") })
	script[string](p, `(() => { const c = document.querySelector('select[aria-label="Impact from of A2"]'); c.value = ""; c.dispatchEvent(new Event("change", {bubbles: true})); return "" })()`)
	p.wait("the impact gone", func() bool { return strings.Count(p.yamlText(), "impact_at_least") == 1 })
	p.replaceYAML("kill_switches: []", `kill_switches: [file.write]`)
	p.wait("the switch in its table", func() bool {
		return script[bool](p, `!!document.querySelector('[aria-label="Stopped tool file.write"]')`)
	})

	// The dry run counts and links every call that would be answered otherwise.
	p.waitText("the dry run", "#policy-trial", "allow")
	link := script[string](p, `document.querySelector('#policy-trial .trial-row a')?.getAttribute("href") ?? ""`)
	if !strings.HasPrefix(link, "/runs/"+past+"?node=sysinfo") {
		t.Errorf("got the link %q, want the node of the recorded call", link)
	}
	row := script[string](p, `[...document.querySelectorAll('#policy-trial .trial-row .answer')].slice(0, 2).map(e => e.textContent.trim()).join(" to ")`)
	if row != "allow to ask" {
		t.Errorf("got %q, want allow to ask", row)
	}
	p.yes("the rule's calls", `document.querySelector('[data-count="A2"]')?.textContent === "1"`)
	p.enter("textbox", "Parameters as JSON", `{"path": "after.txt", "content": "x"}`)
	p.enter("combobox", "Tool", "file.write")
	p.waitText("the draft's answer", "#policy-call", "kill switch file.write stops file.write")
	p.waitText("the answer in force", "#policy-call", "Version 1, in force")
	p.shot("policy-draft")

	// A draft is kept as it is.
	p.click("button", "Save draft")
	p.wait("the saved draft", func() bool {
		return script[bool](p, `/saved/.test(document.querySelector(".titlebar")?.textContent ?? "")`)
	})
	if !strings.Contains(p.yamlText(), "[file.write]") {
		t.Errorf("got %s, want the draft as it was saved", p.yamlText())
	}

	p.publish(2, "no writing while we look into it")
	p.says("no writing while we look into it")
	if v, yaml := api.policyVersion(); v != 2 || !strings.Contains(yaml, "tools: [sysinfo]") {
		t.Errorf("got version %d: %s", v, yaml)
	}

	// The plan that was under way is denied at its next call.
	if code := p.send("/api/v1/approvals/"+approval, api.verdict(approval, "approve")); code != http.StatusOK {
		t.Fatalf("approve: got %d", code)
	}
	api.until(running, "ended")
	if _, err := os.Stat(filepath.Join(s.data, "workspace", "after.txt")); err == nil {
		t.Error("the second step wrote its file under the stricter policy")
	}
	p.visit(s.url("/runs/" + running + "?view=list&node=after"))
	p.says("kill switch")

	// History and revert.
	p.visit(s.url("/policies/1"))
	p.enter("textbox", "Reason", "looked into it")
	p.click("button", "Revert to version 1")
	p.wait("version 3", func() bool { return script[bool](p, `location.pathname === "/policies/3"`) })
	p.says("looked into it")
	if _, yaml := api.policyVersion(); strings.Contains(yaml, "[file.write]") {
		t.Errorf("got %s, want the switch gone", yaml)
	}
}

// TestP19_AToolIsStoppedFromItsPage: thrown at once with a reason, the next call
// of a running plan is denied, and taken back.
func TestP19_AToolIsStoppedFromItsPage(t *testing.T) {
	s := serve(t)
	writeFile(t, filepath.Join(s.data, "workspace", "notes.txt"), "keep")
	api := s.api("override")
	running := api.submit(submission(twoSteps, "override"))
	approval := api.until(running, "waiting").Waiting[0]
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/tools"))
	p.click("link", "file.write")
	p.wait("the tool's page", func() bool { return script[bool](p, `location.pathname === "/tools/file.write"`) })
	p.enter("textbox", "Reason", "it writes too much")
	p.click("button", "Stop file.write")
	p.wait("stopped", func() bool { return script[bool](p, `!!document.querySelector("#switch[data-killed]")`) })
	if code := p.send("/api/v1/approvals/"+approval, api.verdict(approval, "approve")); code != http.StatusOK {
		t.Fatalf("approve: got %d", code)
	}
	api.until(running, "ended")
	if _, err := os.Stat(filepath.Join(s.data, "workspace", "after.txt")); err == nil {
		t.Error("the stopped tool wrote its file")
	}
	p.visit(s.url("/tools/file.write"))
	p.says("deny")
	p.enter("textbox", "Reason", "mended")
	p.click("button", "Revive file.write")
	p.wait("revived", func() bool { return script[bool](p, `!document.querySelector("#switch[data-killed]")`) })
}

// TestP41_TwoEditorsOfOnePolicyLoseNothing: who was faster is said, and the text
// that came late is still there.
func TestP41_TwoEditorsOfOnePolicyLoseNothing(t *testing.T) {
	s := serve(t)
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/policies"))
	p.ready()
	_, yaml := s.api("override").policyVersion()
	code := p.send("/api/v1/policies", map[string]any{"yaml": "# quicker\n" + strings.Replace(yaml, "kill_switches: []", "kill_switches: [git.log]", 1), "reason": "quicker", "base": 1})
	if code != http.StatusCreated {
		t.Fatalf("got %d", code)
	}
	p.replaceYAML("kill_switches: []", "kill_switches: [sysinfo]")
	p.waitText("the note", "#policy-notes", "Version 2 was published meanwhile")
	script[string](p, `document.getElementById("publish-menu").open = true; ""`)
	if !script[bool](p, `(() => { const r = document.querySelector("#publish-menu .confirm-panel").getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight && r.height > 100; })()`) {
		p.t.Error("the menu that publishes is not whole in the window")
	}
	p.enter("textbox", "Reason", "slower")
	p.click("button", "Publish version 3")
	p.wait("the refusal", func() bool {
		return script[bool](p, `location.pathname === "/policies" && document.querySelector('[name="base"]')?.value === "2"`)
	})
	p.waitText("the conflict", "#policy-notes", "Version 2 was published meanwhile")
	if text := p.yamlText(); !strings.Contains(text, "[sysinfo]") {
		t.Errorf("got %s, want the late text kept", text)
	}
	p.excuse() // the browser notes the 409
	p.publish(3, "slower, knowingly")
}

// TestP43_ThePolicyPageWorksWithoutScript: check, change a cell, try and publish
// by forms alone.
func TestP43_ThePolicyPageWorksWithoutScript(t *testing.T) {
	s := serve(t)
	someone := s.person()
	_, yaml := s.api("override").policyVersion()
	send := func(path string, values map[string]string) (int, string) {
		form := make([]string, 0, len(values))
		for k, v := range values {
			form = append(form, url.QueryEscape(k)+"="+url.QueryEscape(v))
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url(path), strings.NewReader(strings.Join(form, "&")))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Origin", s.url(""))
		response, err := someone.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, readAll(t, response)
	}
	code, page := send("/policies/edit", map[string]string{"yaml": strings.ReplaceAll(yaml, "quorum", "quorom"), "base": "1", "op": "check"})
	if code != http.StatusOK || !strings.Contains(page, "1 problem") || !strings.Contains(page, "column") {
		t.Errorf("check: got %d, want the problem with its place", code)
	}
	code, page = send("/policies/edit", map[string]string{"yaml": yaml, "base": "1", "op": "add:/kill_switches", "new:/kill_switches": "git.*"})
	if code != http.StatusOK || !strings.Contains(page, "kill_switches: [git.*]") {
		t.Errorf("add: got %d, want the switch in the text", code)
	}
	code, page = send("/policies", map[string]string{"yaml": strings.Replace(yaml, "kill_switches: []", "kill_switches: [x]", 1), "base": "1", "reason": " "})
	if code != http.StatusUnprocessableEntity || !strings.Contains(page, "[x]") || !strings.Contains(page, `id="publish-menu" data-menu open`) {
		t.Errorf("without a reason: got %d, want 422 with the text and the field of the reason in sight", code)
	}
	code, page = send("/policies", map[string]string{"yaml": strings.Replace(yaml, "kill_switches: []", "kill_switches: [x]", 1), "base": "1", "reason": "by form"})
	if code != http.StatusOK || !strings.Contains(page, "by form") {
		t.Errorf("publish: got %d, want the version's page", code)
	}
}

// policyDraft is a text with one mistake, and lines that are new, changed and gone.
func policyDraft(yaml string) (bad, good string) {
	good = "# What our agents may do.\n" + strings.NewReplacer("compute, ", "", "expires_s: 86400", "expires_s: 3600",
		"    - id: A1\n", "    - id: A2\n      when:\n        tools: [sysinfo, disk_usage]\n    - id: A1\n", "kill_switches: []", `kill_switches: ["git.*"]`).Replace(yaml)
	return strings.Replace(good, "roles: [approver]", "roles: [aprover]", 1), good
}

// TestAxe_APolicyBeingEdited looks at the page with a draft, with a mistake and
// without, in every view.
func TestAxe_APolicyBeingEdited(t *testing.T) {
	s := serve(t)
	api := s.api("override")
	writeFile(t, filepath.Join(s.data, "workspace", "notes.txt"), "keep")
	for _, goal := range []string{mainGoal, "Show the kernel version", "Check disk usage"} {
		api.until(api.submit(map[string]any{"goal": goal, "intent": "observe"}), "ended")
	}
	api.until(api.submit(map[string]any{"goal": "delete notes.txt", "intent": "override"}), "waiting")
	_, yaml := api.policyVersion()
	bad, good := policyDraft(yaml)
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/policies"))
	for name, text := range map[string]string{"mistake": bad, "policy": good} {
		if code := p.send("/api/v1/drafts", map[string]any{"kind": "policy", "name": "default", "doc": text, "base": "1"}); code != http.StatusCreated {
			t.Fatalf("draft: got %d", code)
		}
		for _, v := range append([]view{{1440, 900, "light"}, {1440, 900, "dark"}}, views...) {
			t.Run(fmt.Sprintf("%s %d %s", name, v.width, v.scheme), func(t *testing.T) {
				p.look(v)
				p.visit(s.url("/policies"))
				p.ready()
				if got := p.yamlText(); got != text {
					t.Fatalf("the page shows another text than the draft %s", name)
				}
				for _, found := range p.axe() {
					t.Errorf("%s (%s):\n  %s", found.ID, found.Help, strings.Join(found.Where, "\n  "))
				}
				if wide := script[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("the page is %d px wider than the window", wide)
				}
				p.shot(v.picture("policy", name))
			})
		}
	}
}
