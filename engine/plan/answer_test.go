package plan

import (
	"encoding/json"
	"fmt"
	"testing"

	"sluice/policy"
)

// TestP38_InspectAnswersForEveryStep: also of a plan that does not compile, and
// marks what hangs on a value that nobody knows yet.
func TestP38_InspectAnswersForEveryStep(t *testing.T) {
	doc := steps(`{"id":"l","tool":"list","params":{"path":"x"}},` +
		`{"id":"w","tool":"write","params":{"path":"x"}},` + // a parameter is missing
		`{"id":"none","tool":"unheard_of"},` +
		`{"id":"s","tool":"shell","param_refs":{"command":{"step":"l","field":"names.0"}}},` +
		`{"id":"d","tool":"delete","params":{"path":"x"},"depends_on":["w"]}`)
	env := policyEnv(t, nil)
	env.Intent = policy.Operate
	compiled, findings, answers := Inspect([]byte(doc), env)
	if _, want := Check([]byte(doc), env); compiled != nil || len(findings) != len(want) {
		t.Fatalf("got %v and %d findings, want none compiled and those of Check, %d", compiled, len(findings), len(want))
	}
	got := ""
	for _, a := range answers {
		got += fmt.Sprintf("%d %s %s %s %s %v;", a.Index, a.Step, a.Class, a.Decision.Outcome, a.Decision.ImpactName, a.Open)
	}
	want := "0 l fetch allow observe false;1 w act allow operate false;3 s act deny override true;4 d act deny override false;"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, _, none := Inspect([]byte(`{"format":1`), env); none != nil {
		t.Errorf("got answers %v for a document that cannot be read", none)
	}
}

// TestP10_DeclaredCompilesToTheSamePlan: what is opened in an editor and saved
// unchanged is the same plan.
func TestP10_DeclaredCompilesToTheSamePlan(t *testing.T) {
	env := policyEnv(t, nil)
	doc := steps(`{"id":"l","tool":"list","params":{"path":"x","depth":2},"timeout_s":3,"retries":0},` +
		`{"id":"b","tool":"noop","why":"again"},` +
		`{"id":"w","tool":"write","params":{"path":"y"},"param_refs":{"text":{"step":"l","field":"names.0","template":"see {{value}}"}},` +
		`"guard":{"ref":{"step":"l","field":"count"},"op":"gt","value":0},"depends_on":["b"],"contract":{"schema":{"type":"object"}}},` +
		`{"id":"d","tool":"delete","params":{"path":"x"},"depends_on":["w","b"],"join":"all_done","approval":true}`)
	first, findings := Check([]byte(doc), env)
	if first == nil {
		t.Fatal(show(findings))
	}
	text, err := json.Marshal(first.Declared(env.Catalog))
	if err != nil {
		t.Fatal(err)
	}
	again, findings := Check(text, env)
	if again == nil || again.Hash != first.Hash {
		t.Errorf("got %s%s, want the plan of %s", text, show(findings), first.Canonical)
	}
}

// BenchmarkInspect is what the builder asks for after each edit.
func BenchmarkInspect(b *testing.B) {
	env := testEnv(b)
	env.Policy, env.Scopes = testPolicy(b, nil), []string{"default"}
	doc := []byte(noops(300))
	for b.Loop() {
		if _, _, answers := Inspect(doc, env); len(answers) != 300 {
			b.Fatal("no answers")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/edit")
}
