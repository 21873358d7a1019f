package engine

import (
	"fmt"
	"strings"
	"testing"

	"sluice/policy"
)

// The plan of these tests: x fails or is denied; the others depend on it in
// every way there is, so that nothing around x tells the two apart either.
func recordPlan() []string {
	return []string{
		`{"id":"x","tool":"erase"}`,
		`{"id":"other","tool":"look"}`,
		`{"id":"after","tool":"look","params":{"n":1},"depends_on":["x"]}`,
		`{"id":"reads","tool":"look","param_refs":{"p":{"step":"x","field":"v"}},"join":"all_done"}`,
		`{"id":"either","tool":"look","params":{"n":2},"depends_on":["after","reads"],"join":"any_of"}`,
		`{"id":"always","tool":"look","params":{"n":3},"depends_on":["x"],"join":"all_done"}`,
		`{"id":"last","tool":"look","params":{"n":4},"depends_on":["either"]}`,
	}
}

func noAsk(d *policy.Document) { d.Approvals.Rules = []policy.ApprovalRule{} }

// modelView is everything a model could see of a run: the records of all steps
// and the digests of the final reflection.
func (r *rig) modelView() string {
	r.t.Helper()
	var b strings.Builder
	for i := range r.s.plan.Steps {
		record, ok := r.s.ModelRecord(r.s.plan.Steps[i].ID)
		if !ok {
			r.t.Fatalf("no record of %s", r.s.plan.Steps[i].ID)
		}
		b.Write(append(record, '\n'))
	}
	for _, c := range r.cmds {
		if c, ok := c.(Conclude); ok {
			fmt.Fprintf(&b, "%+v\n", c)
		}
	}
	return b.String()
}

// others lets everything but x end.
func (r *rig) others() *rig {
	r.t.Helper()
	for range r.s.plan.Steps {
		for _, v := range r.s.Nodes() {
			if v.State == NodeRunning && v.Kind == "tool" {
				r.done(v.ID, `{"v":"`+v.ID+`"}`)
			}
		}
	}
	return r
}

// failures are real causes of class unavailable, as tools report them.
func failures() []string {
	return []string{"exec: \"git\": executable file not found in $PATH", "sandbox: landlock refused", "dial tcp 127.0.0.1:9: connect: connection refused",
		"mcp: the server is gone", "503 Service Unavailable", "", "denied by policy"}
}

func denials(t *testing.T) map[string]*rig {
	t.Helper()
	scope := begin(t, func(d *policy.Document) {
		noAsk(d)
		d.Scopes = map[string]policy.Scope{"default": {Tools: []string{"look"}}}
	}, recordPlan()...)
	impact := begin(t, func(d *policy.Document) {
		noAsk(d)
		d.Scopes["default"] = policy.Scope{Tools: d.Scopes["default"].Tools, Caps: map[string]policy.Rank{"erase": policy.Operate}}
	}, recordPlan()...)
	killed := begin(t, func(d *policy.Document) { noAsk(d); d.KillSwitches = []string{"erase"} }, recordPlan()...)
	rejected := begin(t, nil, recordPlan()...)
	rejected.must(rejected.verdict("user:2", Reject, "denied by policy A1, says the approver"))
	expired := begin(t, nil, recordPlan()...).others() // or 24 h of execution end the run
	expired.now = expired.s.Approvals()[0].ExpiresAt
	expired.must(&Timer{Head: expired.head("system")})
	return map[string]*rig{"scope": scope, "impact": impact, "kill switch": killed, "rejected": rejected, "expired": expired}
}

func TestP24_DenialsReadLikeAMissingTool(t *testing.T) {
	want := ""
	for _, detail := range failures() {
		r := begin(t, noAsk, recordPlan()...)
		r.must(&AttemptDone{Head: r.head("tool:erase"), Node: "x", Attempt: 1, Class: ClassUnavailable, Detail: detail, Unsent: detail == ""})
		got := r.others().modelView()
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("failure %q reads\n%s\nwant\n%s", detail, got, want)
		}
	}
	for name, r := range denials(t) {
		if got := r.others().modelView(); got != want {
			t.Errorf("denial by %s reads\n%s\nwant\n%s", name, got, want)
		}
	}
	wantFirst := `{"step":"x","tool":"erase","status":"failed","error":{"class":"unavailable","message":"The tool is not available."}}`
	if got, _, _ := strings.Cut(want, "\n"); got != wantFirst {
		t.Errorf("got %s, want %s", got, wantFirst)
	}
}

// R49: people see everything at once.
func TestR49_PeopleSeeTheWholeDenial(t *testing.T) {
	for name, r := range denials(t) {
		v := r.node("x")
		if v.Cause != "gate" && v.Cause != "rejected" && v.Cause != "expired" {
			t.Errorf("%s: cause %q does not say that it was denied", name, v.Cause)
		}
		reason := map[string]string{"scope": "scope", "impact": "impact", "kill switch": "kill", "rejected": "says the approver", "expired": `"result":"expired"`}[name]
		if log := logOf(r.facts); !strings.Contains(log, reason) {
			t.Errorf("%s: the log does not say %q:\n%s", name, reason, log)
		}
	}
}

func logOf(facts []Fact) string {
	var b strings.Builder
	for _, f := range facts {
		fmt.Fprintf(&b, "%d %s %s#%d %s %s\n", f.Seq, f.Kind, f.Node, f.Attempt, f.Actor, f.Data)
	}
	return b.String()
}

func TestP24_WaitingReadsAsInProgress(t *testing.T) {
	r := begin(t, nil, recordPlan()...)
	r.wantState("x", NodeWaiting)
	record, _ := r.s.ModelRecord("x")
	if got, want := string(record), `{"step":"x","tool":"erase","status":"in progress"}`; got != want {
		t.Errorf("waiting for approval reads %s, want %s", got, want)
	}
	q := begin(t, noAsk, recordPlan()...)
	running, _ := q.s.ModelRecord("x")
	q.fail("x", ClassTimeout)
	q.wantState("x", NodeWaiting)
	asked, _ := q.s.ModelRecord("x")
	if string(running) != string(record) || string(asked) != string(record) {
		t.Errorf("running reads %s, in question %s, want both %s", running, asked, record)
	}
}

// The other classes have one text each, and an error's own words never show.
func TestP24_ErrorsHaveAClassAndNoWordsOfTheirOwn(t *testing.T) {
	seen := map[string]Class{}
	for _, class := range []Class{ClassTransient, ClassTimeout, ClassInvalid, ClassNotFound, ClassConflict, ClassUnavailable} {
		r := begin(t, nil, `{"id":"a","tool":"look","retries":0}`)
		r.must(&AttemptDone{Head: r.head("tool:look"), Node: "a", Attempt: 1, Class: class, Detail: "MARKER"})
		r.wantState("a", NodeFailed)
		record, _ := r.s.ModelRecord("a")
		text := string(record)
		if strings.Contains(text, "MARKER") || !strings.Contains(text, `"class":"`+string(class)+`"`) || seen[text] != "" {
			t.Errorf("class %s reads %s", class, text)
		}
		seen[text] = class
	}
	r := begin(t, nil, `{"id":"a","tool":"look","retries":0}`)
	r.done("a", `{"secret":1}`)
	if record, _ := r.s.ModelRecord("a"); !strings.Contains(string(record), `"class":"contract"`) || strings.Contains(string(record), "secret") {
		t.Errorf("a missed contract reads %s", record)
	}
}

func TestP24_OutputsAreTheOnlyContent(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"b","tool":"look","params":{"n":1}}`)
	r.done("a", `{"v":[1, "x"]}`)
	r.must(&AttemptDone{Head: r.head("tool:look"), Node: "b", Attempt: 1, Output: []byte(`{"v":1}`),
		Blob: &Blob{SHA256: "ab", Size: 70000, Head: `{"v`, Tail: `}`}})
	for id, want := range map[string]string{
		"a": `{"step":"a","tool":"look","status":"done","output":{"v":[1,"x"]}}`,
		"b": `{"step":"b","tool":"look","status":"done","output_head":"{\"v","output_bytes":70000}`,
	} {
		if record, _ := r.s.ModelRecord(id); string(record) != want {
			t.Errorf("got %s, want %s", record, want)
		}
	}
	if _, ok := r.s.ModelRecord(ReflectNode); ok {
		t.Error("a control node has a record")
	}
}
