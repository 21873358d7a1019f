package plan

import (
	"strings"
	"testing"

	"sluice/policy"
)

func policyEnv(t *testing.T, change func(*policy.Document)) Env {
	env := testEnv(t)
	env.Policy, env.Scopes, env.Intent = testPolicy(t, change), []string{"default"}, policy.Override
	return env
}

func TestC06_ScopeOfTheStepIsNotHeld(t *testing.T) {
	doc := steps(`{"id":"a","tool":"noop"},{"id":"m","tool":"send"}`)
	env := policyEnv(t, nil)
	runRefusals(t, env, []refusal{{"another scope has it", doc, expect{"C06", "m", "/steps/1/tool"}, nil}})
	_, findings := Compile(mustParse(t, doc), env)
	if len(findings) != 1 || !findings[0].Policy {
		t.Errorf("got %d findings, want C06 alone, marked as policy:%s", len(findings), show(findings))
	}
	env.Scopes = []string{"default", "mail"}
	mustCompile(t, doc, env)
	env.Scopes = []string{"default", "none"}
	runRefusals(t, env, []refusal{{"unknown scope", doc, expect{"C06", "a", "/steps/0/tool"}, nil}})
}

func TestC08_ConsequentialStepsNeedAnApproval(t *testing.T) {
	doc := steps(`{"id":"d","tool":"delete","params":{"path":"x"}}`)
	nobodyAsks := func(d *policy.Document) { d.Approvals.Rules = []policy.ApprovalRule{} }
	env := policyEnv(t, nobodyAsks)
	runRefusals(t, env, []refusal{{"nobody would ask", doc, expect{"C08", "d", "/steps/0"}, nil}})
	mustCompile(t, strings.Replace(doc, `"id":"d"`, `"id":"d","approval":true`, 1), env)
	mustCompile(t, doc, policyEnv(t, nil))
	mustCompile(t, steps(`{"id":"w","tool":"write","params":{"path":"x","text":""}}`), env)
}

func TestC09_NoPathToAToolThatNobodyGrants(t *testing.T) {
	runRefusals(t, policyEnv(t, nil), []refusal{{"no scope has it", steps(`{"id":"a","tool":"patch"}`), expect{"C09", "a", "/steps/0/tool"}, nil}})
	killed := policyEnv(t, func(d *policy.Document) { d.KillSwitches = []string{"no*"} })
	doc := steps(`{"id":"a","tool":"noop"}`)
	runRefusals(t, killed, []refusal{{"kill switch", doc, expect{"C09", "a", "/steps/0/tool"}, nil}})
	if _, findings := Compile(mustParse(t, doc), killed); len(findings) != 1 {
		t.Errorf("kill switch in a scope held: got %d findings, want C09 alone:%s", len(findings), show(findings))
	}
}

func TestC11_ImpactWithinIntentAndCap(t *testing.T) {
	env := policyEnv(t, nil)
	env.Intent = policy.Observe
	runRefusals(t, env, []refusal{{"above the intent", steps(`{"id":"w","tool":"write","params":{"path":"x","text":""}}`), expect{"C11", "w", "/steps/0/tool"}, nil}})
	env.Intent = policy.Override
	runRefusals(t, env, []refusal{{"above the cap", steps(`{"id":"s","tool":"shell","params":{"command":"rm"}}`), expect{"C11", "s", "/steps/0/tool"}, nil}})
	mustCompile(t, steps(`{"id":"s","tool":"shell","params":{"command":"ls"}}`), env)
	// Not computable from literals: the gate decides at dispatch.
	mustCompile(t, steps(`{"id":"l","tool":"list","params":{"path":"x"}},{"id":"s","tool":"shell","param_refs":{"command":{"step":"l","field":"names.0"}}}`), env)
	// The impact of a tool without an impact function does not depend on values.
	env.Intent = policy.Observe
	runRefusals(t, env, []refusal{{"whatever the values", steps(`{"id":"l","tool":"list","params":{"path":"x"}},{"id":"w","tool":"write","params":{"path":"x"},"param_refs":{"text":{"step":"l","field":"names.0"}}}`), expect{"C11", "w", "/steps/1/tool"}, nil}})
}

func TestP12_PolicyFindingsAreRecordedInPlansOfModels(t *testing.T) {
	doc := steps(`{"id":"a","tool":"noop"},{"id":"m","tool":"send"},{"id":"d","tool":"delete"},{"id":"p","tool":"patch"}`)
	for _, author := range []Author{Model, Builtin} {
		env := policyEnv(t, func(d *policy.Document) { d.Approvals.Rules = []policy.ApprovalRule{} })
		env.Author, env.Intent = author, policy.Operate
		c, findings := Compile(mustParse(t, doc), env)
		if c == nil {
			t.Fatalf("%s: got refused, want compiled:%s", author, show(findings))
		}
		for _, want := range []expect{{"C06", "m", "/steps/1/tool"}, {"C11", "d", "/steps/2/tool"}, {"C09", "p", "/steps/3/tool"}} {
			if f := wantFinding(t, c.Findings, want); f.Severity != Warning || !f.Policy {
				t.Errorf("%s: got %+v, want a warning marked as policy", author, f)
			}
		}
		env.Author = Person
		if c, _ := Compile(mustParse(t, doc), env); c != nil {
			t.Error("the same plan by a person: got compiled, want refused")
		}
		env.Author = author
		if c, _ := Compile(mustParse(t, steps(`{"id":"a","tool":"nothing"}`)), env); c != nil {
			t.Errorf("%s: an unknown tool: got compiled, want refused", author)
		}
	}
}

func TestC06_WithoutAPolicyNothingIsSaidAboutIt(t *testing.T) {
	mustCompile(t, steps(`{"id":"m","tool":"send"}`), testEnv(t))
}

func TestR48_UnknownToolNamesNoOther(t *testing.T) {
	_, findings := Compile(mustParse(t, steps(`{"id":"a","tool":"delet"}`)), testEnv(t))
	f := wantFinding(t, findings, expect{"C10", "a", "/steps/0/tool"})
	if text := f.Message + f.Fix; strings.Contains(text, "delete") {
		t.Errorf("got %q, want no name of a tool that may be out of scope", text)
	}
}
