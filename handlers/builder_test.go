package handlers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sluice/engine/plan"
	"sluice/policy"
)

// stockedBed is a server with two tools.
func stockedBed(t *testing.T) *bed {
	t.Helper()
	return newBed(t, &ports{tools: []plan.Tool{
		{Tool: policy.Tool{Name: "git.look", Effect: policy.Read}, Summary: "Looks", Timeout: 1e9, Input: json.RawMessage(`{"type":"object"}`)},
		{Tool: policy.Tool{Name: "file.delete", Effect: policy.Once, Impact: policy.Override}, Timeout: 1e9, Input: json.RawMessage(`{"type":"object"}`)}}})
}

const drawn = `{"format":1,"goal":"g","steps":[{"id":"a","tool":"file.delete"},{"id":"b","tool":"none"}]}`

// TestP38_CheckSaysWhatTheGateWouldAnswer: only when asked, per step with a
// known tool, also where the plan does not compile.
func TestP38_CheckSaysWhatTheGateWouldAnswer(t *testing.T) {
	b := stockedBed(t)
	if got := b.send("POST", "/api/v1/plans/check", `{"plan":`+drawn+`}`); got.Code != http.StatusOK || strings.Contains(got.Body.String(), `"steps"`) {
		t.Errorf("without gate: got %d %s, want the shape of P38 alone", got.Code, got.Body)
	}
	for intent, want := range map[string]string{"observe": "deny", "override": "ask"} {
		var report gatedCheck
		got := b.send("POST", "/api/v1/plans/check", `{"plan":`+drawn+`,"intent":"`+intent+`","gate":true}`)
		if err := json.Unmarshal(got.Body.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		if report.OK || len(report.Findings) == 0 || len(report.Steps) != 1 {
			t.Fatalf("%s: got %s, want findings and one answer", intent, got.Body)
		}
		a := report.Steps[0]
		if a.Step != "a" || a.Decision != want || a.ImpactName != "override" || a.Class != plan.Act || len(a.Reasons) == 0 || len(a.Rules) == 0 {
			t.Errorf("%s: got %+v, want %s with rules and reasons", intent, a, want)
		}
	}
}

// TestR47_CheckSaysWhoIsAsked: an ask of an authority alone names its rule and
// no approval.
func TestR47_CheckSaysWhoIsAsked(t *testing.T) {
	b := newBed(t, &ports{tools: []plan.Tool{{Tool: policy.Tool{Name: "git.look", Effect: policy.Read}, Timeout: 1e9, Input: json.RawMessage(`{"type":"object"}`)}},
		clearance: []policy.ClearanceRule{{ID: "C1", When: policy.When{Tools: []string{"git.*"}}, URL: "https://a.example/clear"}}})
	for approval, asks := range map[string]int{"": 0, `,"approval":true`: 1} {
		got := b.send("POST", "/api/v1/plans/check", `{"plan":{"format":1,"goal":"g","steps":[{"id":"a","tool":"git.look"`+approval+`}]},"intent":"observe","gate":true}`)
		var report gatedCheck
		if err := json.Unmarshal(got.Body.Bytes(), &report); err != nil || len(report.Steps) != 1 {
			t.Fatalf("got %d %s, want one answer", got.Code, got.Body)
		}
		a := report.Steps[0]
		if a.Decision != "ask" || len(a.Clear) != 1 || a.Clear[0].Rule != "C1" || len(a.Asks) != asks || a.Asks == nil {
			t.Errorf("got %s, want an ask of C1 and %d of people", got.Body, asks)
		}
	}
}

// TestP10_PlansOfOtherFormsAreRead: JSON and YAML come back as form 1, and what
// cannot be read says why.
func TestP10_PlansOfOtherFormsAreRead(t *testing.T) {
	b := stockedBed(t)
	for _, text := range []string{`{"format":1,"goal":"g","steps":[{"id":"a","tool":"git.look"}]}`, "format: 1\ngoal: g\nsteps:\n- {id: a, tool: git.look}\n"} {
		body, _ := json.Marshal(map[string]string{"text": text})
		got := b.send("POST", "/api/v1/plans/read", string(body))
		if got.Code != http.StatusOK || strings.TrimSpace(got.Body.String()) != `{"plan":{"format":1,"goal":"g","steps":[{"id":"a","tool":"git.look"}]}}` {
			t.Errorf("got %d %s, want form 1", got.Code, got.Body)
		}
	}
	p := b.problem(http.StatusUnprocessableEntity, b.send("POST", "/api/v1/plans/read", `{"text":"steps: ["}`))
	if len(p.Findings) == 0 || p.Fix == "" {
		t.Errorf("got %+v, want findings", p)
	}
}

// TestP35_TheBuilderOpensWhatItsOwnerMaySee: the boot has tools and the draft;
// other people's drafts, unknown runs and drafts of policies are not found.
func TestP35_TheBuilderOpensWhatItsOwnerMaySee(t *testing.T) {
	b := stockedBed(t)
	got := b.send("GET", "/builder?draft=d_1", "")
	if body := got.Body.String(); got.Code != http.StatusOK || !strings.Contains(body, `"id":"d_1"`) || !strings.Contains(body, `"family":"git"`) || !strings.Contains(body, `"class":"act"`) {
		t.Errorf("got %d %.400s, want the page with draft and tools", got.Code, body)
	}
	for _, path := range []string{"/builder?draft=d_9", "/builder?draft=x", "/builder?run=r_1", "/builder?run=x"} {
		if got := b.send("GET", path, ""); got.Code != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404", path, got.Code)
		}
	}
}

// TestP43_TheBuildersFormKeepsTheText: what was written stands in the page
// again, whatever is wrong with it, and nothing in it becomes markup.
func TestP43_TheBuildersFormKeepsTheText(t *testing.T) {
	b := stockedBed(t)
	for text, want := range map[string]string{drawn: "There is no tool", "{<script>": "&lt;script&gt;"} {
		form := url.Values{"plan": {text}, "intent": {"operate"}, "action": {"run"}}
		got := b.send("POST", "/builder", form.Encode())
		if body := got.Body.String(); got.Code != http.StatusOK || !strings.Contains(body, want) || strings.Contains(body, "<script>") || !strings.Contains(body, `<option value="operate" selected`) {
			t.Errorf("%s: got %d %.600s, want the page with %q", text, got.Code, body, want)
		}
	}
	good := url.Values{"plan": {`{"format":1,"goal":"g","steps":[{"id":"a","tool":"git.look"}]}`}, "intent": {"observe"}, "action": {"run"}}
	if got := b.send("POST", "/builder", good.Encode()); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/runs/r_1" {
		t.Errorf("got %d %s %.300s, want the page of the run", got.Code, got.Header().Get("Location"), got.Body)
	}
}
