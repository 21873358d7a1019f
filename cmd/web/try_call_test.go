package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sluice/handlers"
	"sluice/store"
)

// stopping is the policy in force with another list of kill switches.
func (c *caller) stopping(tools string) string {
	c.Helper()
	return strings.Replace(c.active().YAML, "kill_switches: []", "kill_switches: ["+tools+"]", 1)
}

// TestP37_ACallIsTriedOnADraftAndOnThePolicyInForce: both answers have the shape
// of `gate check`; nothing runs.
func TestP37_ACallIsTriedOnADraftAndOnThePolicyInForce(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	body, err := json.Marshal(map[string]any{"yaml": o.stopping("file.delete"), "call": map[string]any{
		"id": "7", "tool": "file.delete", "params": map[string]any{"path": "notes.txt"}, "intent": "override"}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Draft, Active struct {
			ID, Decision, Policy string
			Stage                *string
			Rules                []string
			Asks                 []struct{ Rule string }
		}
	}
	o.want(http.StatusOK, o.post("/api/v1/policies/try-call", string(body)), &got)
	if got.Draft.Decision != "deny" || *got.Draft.Stage != "scope" || got.Draft.Rules[0] != "kill_switch" || got.Draft.ID != "7" {
		t.Errorf("draft: got %+v, want the kill switch to deny", got.Draft)
	}
	if got.Active.Decision != "ask" || len(got.Active.Asks) != 1 || got.Active.Policy != o.active().Hash {
		t.Errorf("in force: got %+v, want one approval asked for", got.Active)
	}
	p := o.problemOf(http.StatusUnprocessableEntity, o.post("/api/v1/policies/try-call", `{}`))
	if p.Pointer != "/call" {
		t.Errorf("got %+v, want the missing call named", p)
	}
	o.want(http.StatusOK, o.post("/api/v1/policies/try-call", `{"call":{"tool":"file.read","colour":"red"}}`), &got)
	if got.Active.Decision != "deny" || *got.Active.Stage != "input" {
		t.Errorf("got %+v, want a call with an unknown key denied as input", got.Active)
	}
	if r := o.get("/api/v1/runs"); strings.Contains(r.text(), "r_0") {
		t.Error("a tried call left a run")
	}
}

// TestP37_ThePageTriesACallWithoutScript: the row keeps what was typed, answers for
// both policies side by side, and says what is wrong with parameters.
func TestP37_ThePageTriesACallWithoutScript(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	ask := func(params string) string {
		return o.form("/policies/edit", url.Values{"op": {"check"}, "base": {"1"}, "yaml": {o.stopping("file.write")}, "call_tool": {"file.write"},
			"call_params": {params}, "call_intent": {"operate"}, "call_scopes": {"default"}}.Encode()).text()
	}
	page := ask(`{"path":"a.txt","content":"x"}`)
	if at := strings.Index(page, `id="policy-call"`); at < 0 || strings.Count(page[at:], `class="try-answer"`) != 2 ||
		!strings.Contains(page[at:], "kill switch file.write stops file.write") || !strings.Contains(page[at:], "Within the limit") ||
		!strings.Contains(page, `value="file.write"`) || !strings.Contains(page, "a.txt") {
		t.Errorf("got %.3000s, want the draft's deny and the active policy's allow", page[max(at, 0):])
	}
	if page = ask(`{"path":`); !strings.Contains(page, "The parameters can not be read") || strings.Contains(page, "try-answer\"") {
		t.Error("want parameters that are not JSON to be said, and no answer")
	}
}

// TestP20_TheDryRunNamesAuthoritiesDirectionsAndCalls: over the page and the API.
func TestP20_TheDryRunNamesAuthoritiesDirectionsAndCalls(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	r := o.runToRest(`{"goal":"read it","intent":"observe","plan":{"format":1,"goal":"read it","steps":[{"id":"look","tool":"file.read","params":{"path":"notes.txt"}}]}}`)
	asks := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	yaml := o.active().YAML
	draft := yaml[:strings.Index(yaml, "approvals:")] + "approvals: {self: allowed, rules: []}\nkill_switches: []\nclearance: [{id: C7, when: {tools: [file.read]}, url: \"https://c.example/\"}]\n"
	var got handlers.TrialReport
	o.want(http.StatusOK, o.post("/api/v1/policies/dry-run", yamlBody(draft)), &got)
	if len(got.List) != 2 || got.List[0].Run != asks.ID || got.List[0].Direction != "looser" || got.List[0].FromAsks[0] != "person" {
		t.Fatalf("got %+v, want what becomes looser first", got.List)
	}
	second := got.List[1]
	if second.Run != r.ID || second.Direction != "tighter" || second.To != "ask" || len(second.ToAsks) != 1 || second.ToAsks[0] != "authority" || second.What != "notes.txt" {
		t.Errorf("got %+v, want the read to need an authority", second)
	}
	if len(got.Changes) != 2 || got.Rules["C7"] != 1 {
		t.Errorf("got %+v and %v, want both changes and the rule counted", got.Changes, got.Rules)
	}
	page := o.form("/policies/edit", url.Values{"op": {"try"}, "base": {"1"}, "yaml": {draft}}.Encode()).text()
	at := strings.Index(page, `id="policy-trial"`)
	for _, want := range []string{"clearance", "Looser", "Tighter", "notes.txt</a>", `read it</span><span class="mono t3 cut">look`, "/runs/" + r.ID + "?node=look"} {
		if !strings.Contains(page[at:], want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if !strings.Contains(page, `data-count="C7">1<`) {
		t.Error("the table does not count the rule's calls")
	}
}

// TestP16_AGuardThatNamesNoToolIsSaid: a slip of the pen in a kill switch, a rule
// or a clearance holds nothing back, so whoever writes it is told.
func TestP16_AGuardThatNamesNoToolIsSaid(t *testing.T) {
	o := newWorld(t).operator()
	var got handlers.PolicyReport
	text := "version: 1\nscopes: {default: {tools: [\"file.*\"]}}\nkill_switches: [file.delte, \"git.*\"]\n" +
		"approvals: {rules: [{id: A1, when: {tools: [\"mial.*\", file.read]}}]}\nclearance: [{id: C1, when: {tools: [file.rite, file.read]}, url: \"https://c.example/\"}]\n"
	o.want(http.StatusOK, o.post("/api/v1/policies/check", yamlBody(text)), &got)
	all := strings.Join(got.Warnings, "\n")
	for _, want := range []string{"kill switch names file.delte", "Rule A1 names mial.*", "Clearance rule C1 names file.rite"} {
		if !strings.Contains(all, want) {
			t.Errorf("got %q, want %q", all, want)
		}
	}
	if !got.OK || len(got.Warnings) != 3 {
		t.Errorf("got %+v, want three warnings and no issue", got)
	}
	o.want(http.StatusOK, o.post("/api/v1/policies/check", yamlBody(o.active().YAML)), &got)
	if len(got.Warnings) != 0 {
		t.Errorf("got %q of the policy of a first start, want none", got.Warnings)
	}
}

// TestP33_TwoWindowsNeverHideADraftOfThePolicy: the first save of a second window
// says that there is a draft already; saving again replaces it.
func TestP33_TwoWindowsNeverHideADraftOfThePolicy(t *testing.T) {
	o := newWorld(t).operator()
	yaml := o.active().YAML
	save := func(mark string, more url.Values) *answer {
		values := url.Values{"base": {"1"}, "yaml": {"# " + mark + "\n" + yaml}}
		for name, value := range more {
			values[name] = value
		}
		return o.form("/policies/draft", values.Encode())
	}
	if a := save("first", nil); a.status != http.StatusOK && a.status != http.StatusSeeOther {
		t.Fatalf("got %d, want the first draft saved", a.status)
	}
	a := save("second", nil)
	page := a.text()
	if a.status != http.StatusConflict || !strings.Contains(page, "# second") || !strings.Contains(page, "saved in another window") {
		t.Fatalf("got %d, want the conflict said and the text kept", a.status)
	}
	if now := o.get("/policies").text(); !strings.Contains(now, "# first") {
		t.Error("the first draft is gone before anybody chose")
	}
	id := page[strings.Index(page, `name="draft" value="`)+len(`name="draft" value="`):]
	revision := page[strings.Index(page, `name="revision" value="`)+len(`name="revision" value="`):]
	save("second", url.Values{"draft": {id[:strings.Index(id, `"`)]}, "revision": {revision[:strings.Index(revision, `"`)]}})
	if now := o.get("/policies").text(); !strings.Contains(now, "# second") {
		t.Error("saving again did not replace the other draft")
	}
}

// TestP16_ARuleThatNobodyCanAnswerIsSaid: more approvers than there are people.
func TestP16_ARuleThatNobodyCanAnswerIsSaid(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	two := strings.Replace(o.active().YAML, "quorum: 1", "quorum: 2", 1)
	check := func(want int) {
		t.Helper()
		var got handlers.PolicyReport
		o.want(http.StatusOK, o.post("/api/v1/policies/check", yamlBody(two)), &got)
		if len(got.Warnings) != want || want > 0 && !strings.Contains(got.Warnings[0], "Rule A1 wants 2 approvers, and 1 here may answer") {
			t.Errorf("got %q, want %d warnings", got.Warnings, want)
		}
	}
	check(1)
	w.stranger("viewer", store.RoleViewer)
	check(1)
	w.stranger("second", store.RoleApprover)
	check(0)
}
