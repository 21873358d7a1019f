package plan

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestP08_ParseReadsEveryKey(t *testing.T) {
	doc := `{"format":1,"goal":"book","max_steps":8,"contract":{"schema":{"required":["b"]}},"steps":[
	 {"id":"a","tool":"list","params":{"path":"x","depth":2}},
	 {"id":"b","tool":"write","params":{"path":"y"},"param_refs":{"text":{"step":"a","field":"names.0","template":"Hi {{value}}!"}},
	  "depends_on":["a"],"join":"all_of","guard":{"ref":{"step":"a","field":"count"},"op":"gt","value":0},"approval":true,
	  "contract":{"schema":{"type":"object","required":["ok"]}},"timeout_s":1.5,"retries":0,"class":"act","why":"because"}]}`
	got := mustParse(t, doc)
	b := got.Steps[1]
	if got.Goal != "book" || got.MaxSteps != 8 || got.Contract == nil || len(got.Steps) != 2 {
		t.Errorf("top: got %+v", got)
	}
	if b.ID != "b" || b.Tool != "write" || string(b.Params["path"]) != `"y"` || b.Join != AllOf || !b.Approval || b.Class != Act || b.Why != "because" {
		t.Errorf("step: got %+v", b)
	}
	if b.TimeoutS == nil || *b.TimeoutS != 1.5 || b.Retries == nil || *b.Retries != 0 {
		t.Errorf("timeout and retries: got %v %v, want 1.5 0", b.TimeoutS, b.Retries)
	}
	if want := (Ref{Step: "a", Field: "names.0", Template: "Hi {{value}}!"}); b.Refs["text"] != want {
		t.Errorf("ref: got %+v, want %+v", b.Refs["text"], want)
	}
	if b.Guard == nil || b.Guard.Op != "gt" || string(b.Guard.Value) != "0" || b.Guard.Ref.Field != "count" {
		t.Errorf("guard: got %+v", b.Guard)
	}
	if !reflect.DeepEqual(b.DependsOn, []string{"a"}) || string(b.Contract.Schema) != `{"type":"object","required":["ok"]}` {
		t.Errorf("depends_on and contract: got %v %s", b.DependsOn, b.Contract.Schema)
	}
}

// unreadable is a document with one fault in its form.
type unreadable struct {
	name, doc string
	want      expect
}

func runUnreadable(t *testing.T, cases []unreadable) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, findings := Parse([]byte(c.doc))
			if p != nil {
				t.Errorf("got a plan %+v, want none", p)
			}
			wantFinding(t, findings, c.want)
		})
	}
}

// noop is a plan of one step with more keys.
func noop(rest string) string { return steps(`{"id":"a","tool":"noop"` + rest + `}`) }

func TestP08_SyntaxAndShapeNamePointer(t *testing.T) {
	runUnreadable(t, []unreadable{
		{"empty", ``, expect{"json", "", ""}},
		{"not json", `{"format":1,"goal":"g","steps":[{"id":"a","tool":"noop"}`, expect{"json", "", "/steps"}},
		{"trailing text", steps(`{"id":"a","tool":"noop"}`) + `x`, expect{"json", "", ""}},
		{"two documents", steps(`{"id":"a","tool":"noop"}`) + `{}`, expect{"json", "", ""}},
		{"trailing comma", steps(`{"id":"a","tool":"noop"},`), expect{"json", "", "/steps"}},
		{"invalid utf-8", noop(",\"params\":{\"x\":\"\xff\"}"), expect{"json", "a", "/steps/0/params/x"}},
		{"lone surrogate", noop(`,"params":{"x":"\ud800"}`), expect{"json", "a", "/steps/0/params/x"}},
		{"an array", `[]`, expect{"P08", "", ""}},
		{"a number", `1`, expect{"P08", "", ""}},
		{"no steps", `{"format":1,"goal":"g"}`, expect{"P08", "", ""}},
		{"no format", `{"goal":"g","steps":[]}`, expect{"P08", "", ""}},
		{"other format", `{"format":2,"goal":"g","steps":[]}`, expect{"P08", "", "/format"}},
		{"steps an object", `{"format":1,"goal":"g","steps":{}}`, expect{"P08", "", "/steps"}},
		{"a step a string", steps(`"a"`), expect{"P08", "", "/steps/0"}},
		{"goal a number", `{"format":1,"goal":1,"steps":[]}`, expect{"P08", "", "/goal"}},
		{"max_steps zero", `{"format":1,"goal":"g","max_steps":0,"steps":[]}`, expect{"P08", "", "/max_steps"}},
		{"max_steps a fraction", `{"format":1,"goal":"g","max_steps":1.5,"steps":[]}`, expect{"P08", "", "/max_steps"}},
		{"unknown key", noop(`,"parms":{}`), expect{"P08", "a", "/steps/0/parms"}},
		{"unknown key on top", `{"format":1,"goal":"g","steps":[],"a/b~c":1}`, expect{"P08", "", "/a~1b~0c"}},
		{"unknown key in a reference", noop(`,"param_refs":{"x":{"step":"b","field":"","path":""}}`), expect{"P08", "a", "/steps/0/param_refs/x/path"}},
		{"duplicate key", noop(`,"tool":"list"`), expect{"P08", "a", "/steps/0/tool"}},
		{"duplicate key on top", `{"format":1,"goal":"g","steps":[],"goal":"h"}`, expect{"P08", "", "/goal"}},
		{"duplicate key in a value", noop(`,"params":{"x":[{"k":1,"k":2}]}`), expect{"P08", "a", "/steps/0/params/x/0/k"}},
		{"duplicate parameter", noop(`,"params":{"x":1,"x":2}`), expect{"P08", "a", "/steps/0/params/x"}},
		{"no id", steps(`{"tool":"noop"}`), expect{"P08", "", "/steps/0"}},
		{"no tool", steps(`{"id":"a"}`), expect{"P08", "a", "/steps/0"}},
		{"bad id", steps(`{"id":"A b","tool":"noop"}`), expect{"P08", "A b", "/steps/0/id"}},
		{"id too long", steps(`{"id":"` + strings.Repeat("a", 65) + `","tool":"noop"}`), expect{"P08", strings.Repeat("a", 65), "/steps/0/id"}},
		{"id a number", steps(`{"id":1,"tool":"noop"}`), expect{"P08", "", "/steps/0/id"}},
		{"params an array", noop(`,"params":[]`), expect{"P08", "a", "/steps/0/params"}},
		{"depends_on a string", noop(`,"depends_on":"b"`), expect{"P08", "a", "/steps/0/depends_on"}},
		{"depends_on an object", noop(`,"depends_on":[{}]`), expect{"P08", "a", "/steps/0/depends_on/0"}},
	})
}

func TestP08_KeysOfAStepNameRuleStepAndPointer(t *testing.T) {
	runUnreadable(t, []unreadable{
		{"null", noop(`,"guard":null`), expect{"P08", "a", "/steps/0/guard"}},
		{"unknown join", noop(`,"join":"some_of"`), expect{"P08", "a", "/steps/0/join"}},
		{"approval false", noop(`,"approval":false`), expect{"P08", "a", "/steps/0/approval"}},
		{"approval a string", noop(`,"approval":"yes"`), expect{"P08", "a", "/steps/0/approval"}},
		{"timeout zero", noop(`,"timeout_s":0`), expect{"P08", "a", "/steps/0/timeout_s"}},
		{"timeout negative", noop(`,"timeout_s":-1`), expect{"P08", "a", "/steps/0/timeout_s"}},
		{"timeout beyond a day", noop(`,"timeout_s":86401`), expect{"P08", "a", "/steps/0/timeout_s"}},
		{"retries negative", noop(`,"retries":-1`), expect{"P08", "a", "/steps/0/retries"}},
		{"retries beyond 10", noop(`,"retries":11`), expect{"P08", "a", "/steps/0/retries"}},
		{"retries a fraction", noop(`,"retries":1.5`), expect{"P08", "a", "/steps/0/retries"}},
		{"unknown class", noop(`,"class":"do"`), expect{"P11", "a", "/steps/0/class"}},
	})
}

func TestP09_ReferencesGuardsAndContracts(t *testing.T) {
	runUnreadable(t, []unreadable{
		{"literal and reference", noop(`,"params":{"x":1},"param_refs":{"x":{"step":"b","field":""}}`), expect{"P08", "a", "/steps/0/param_refs/x"}},
		{"reference without step", noop(`,"param_refs":{"x":{"field":""}}`), expect{"P09", "a", "/steps/0/param_refs/x"}},
		{"reference without field", noop(`,"param_refs":{"x":{"step":"b"}}`), expect{"P09", "a", "/steps/0/param_refs/x"}},
		{"empty part in a field", noop(`,"param_refs":{"x":{"step":"b","field":"a..b"}}`), expect{"P09", "a", "/steps/0/param_refs/x/field"}},
		{"template without a place", noop(`,"param_refs":{"x":{"step":"b","field":"","template":"t"}}`), expect{"P09", "a", "/steps/0/param_refs/x/template"}},
		{"empty template", noop(`,"param_refs":{"x":{"step":"b","field":"","template":""}}`), expect{"P09", "a", "/steps/0/param_refs/x/template"}},
		{"template with two places", noop(`,"param_refs":{"x":{"step":"b","field":"","template":"{{value}}{{value}}"}}`), expect{"P09", "a", "/steps/0/param_refs/x/template"}},
		{"unknown op", noop(`,"guard":{"ref":{"step":"b","field":"x"},"op":"like","value":1}`), expect{"P09", "a", "/steps/0/guard/op"}},
		{"no op", noop(`,"guard":{"ref":{"step":"b","field":"x"},"value":1}`), expect{"P09", "a", "/steps/0/guard"}},
		{"op without value", noop(`,"guard":{"ref":{"step":"b","field":"x"},"op":"eq"}`), expect{"P09", "a", "/steps/0/guard"}},
		{"exists with value", noop(`,"guard":{"ref":{"step":"b","field":"x"},"op":"exists","value":1}`), expect{"P09", "a", "/steps/0/guard/value"}},
		{"in without array", noop(`,"guard":{"ref":{"step":"b","field":"x"},"op":"in","value":1}`), expect{"P09", "a", "/steps/0/guard/value"}},
		{"order of booleans", noop(`,"guard":{"ref":{"step":"b","field":"x"},"op":"lt","value":true}`), expect{"P09", "a", "/steps/0/guard/value"}},
		{"guard without reference", noop(`,"guard":{"op":"exists"}`), expect{"P09", "a", "/steps/0/guard"}},
		{"guard with template", noop(`,"guard":{"ref":{"step":"b","field":"x","template":"{{value}}"},"op":"exists"}`), expect{"P08", "a", "/steps/0/guard/ref/template"}},
		{"checks", noop(`,"contract":{"checks":[{"starlark":"x"}]}`), expect{"P09", "a", "/steps/0/contract/checks"}},
		{"schema that is none", noop(`,"contract":{"schema":{"type":"objct"}}`), expect{"P09", "a", "/steps/0/contract/schema"}},
		{"schema with a reference", noop(`,"contract":{"schema":{"$ref":"#/$defs/x","$defs":{"x":{"type":"object"}}}}`), expect{"P09", "a", "/steps/0/contract/schema"}},
		{"schema that loads a file", noop(`,"contract":{"schema":{"$ref":"file:///etc/passwd"}}`), expect{"P09", "a", "/steps/0/contract/schema"}},
	})
}

func TestP14_LimitsNamePointer(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	runUnreadable(t, []unreadable{
		{"too deep", noop(`,"params":{"x":` + deep + `}`), expect{"P14", "a", "/steps/0/params/x" + strings.Repeat("/0", 60)}},
		{"integer beyond 2^53", noop(`,"params":{"x":9007199254740993}`), expect{"P14", "a", "/steps/0/params/x"}},
		{"negative beyond 2^53", noop(`,"params":{"x":[-9007199254740993]}`), expect{"P14", "a", "/steps/0/params/x/0"}},
		{"integer as a float", noop(`,"params":{"x":1e20}`), expect{"P14", "a", "/steps/0/params/x"}},
		{"beyond a double", noop(`,"params":{"x":1e400}`), expect{"P14", "a", "/steps/0/params/x"}},
		{"literals too large", noop(`,"params":{"x":"` + strings.Repeat("x", ParamsBytesMax) + `"}`), expect{"P14", "a", "/steps/0/params"}},
		{"field too long", noop(`,"param_refs":{"x":{"step":"b","field":"` + strings.Repeat("x", PathBytesMax+1) + `"}}`), expect{"P14", "a", "/steps/0/param_refs/x/field"}},
		{"too many references", noop(`,"param_refs":{` + manyRefs(RefsMax+1) + `}`), expect{"P14", "a", "/steps/0/param_refs"}},
	})
}

func manyRefs(count int) string {
	refs := make([]string, count)
	for i := range refs {
		refs[i] = fmt.Sprintf(`"p%d":{"step":"b","field":"x"}`, i)
	}
	return strings.Join(refs, ",")
}

func TestR45_IntentInAPlanIsRefused(t *testing.T) {
	for _, c := range []struct{ doc, step, pointer string }{
		{`{"format":1,"goal":"g","intent":"override","steps":[]}`, "", "/intent"},
		{steps(`{"id":"a","tool":"noop","intent":200}`), "a", "/steps/0/intent"},
	} {
		p, findings := Parse([]byte(c.doc))
		if p != nil {
			t.Errorf("%s: got a plan, want none", c.doc)
		}
		f := wantFinding(t, findings, expect{"P08", c.step, c.pointer})
		if !strings.Contains(f.Message, "R45") {
			t.Errorf("message: got %q, want it to say that intent is set by the trigger", f.Message)
		}
	}
}

func TestR23_FirstOfIsRefusedWithItsSubstitute(t *testing.T) {
	_, findings := Parse([]byte(steps(`{"id":"a","tool":"noop","join":"first_of"}`)))
	f := wantFinding(t, findings, expect{"R23", "a", "/steps/0/join"})
	if !strings.Contains(f.Fix, "all_of") || !strings.Contains(f.Fix, "choose") {
		t.Errorf("fix: got %q, want the substitute all_of into a choosing step", f.Fix)
	}
}

func TestP14_BoundsThatStillPass(t *testing.T) {
	id := strings.Repeat("a", 64)
	doc := steps(`{"id":"` + id + `","tool":"noop","timeout_s":86400,"retries":10,"params":{"x":9007199254740992,"y":-9007199254740992,"z":0.1,"deep":` +
		strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}}`)
	if p, findings := Parse([]byte(doc)); p == nil {
		t.Errorf("got refused:%s", show(findings))
	}
}

func TestP14_HundredThousandStepsGiveOneFinding(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"format":1,"goal":"g","steps":[`)
	for i := range 100_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"S%d","tool":"x"}`, i)
	}
	b.WriteString(`]}`)
	p, findings := Parse([]byte(b.String()))
	if p != nil || len(findings) != 1 {
		t.Fatalf("got plan %v and %d findings, want none and 1:%s", p != nil, len(findings), show(findings[:min(3, len(findings))]))
	}
	f := wantFinding(t, findings, expect{"P14", "", "/steps"})
	if !strings.Contains(f.Message, "100000") || !strings.Contains(f.Message, "10000 ") {
		t.Errorf("message: got %q, want the count and the limit", f.Message)
	}
}

func TestP14_TenThousandDeepIsOneFinding(t *testing.T) {
	for _, depth := range []int{65, 1000, 10_000, 100_000, 800_000} {
		for _, open := range []string{`[`, `{"a":`} {
			doc := steps(`{"id":"a","tool":"noop","params":{"x":` + strings.Repeat(open, depth) + `}}`)
			p, findings := Parse([]byte(doc))
			if p != nil || len(findings) != 1 && depth > 65 {
				t.Fatalf("depth %d of %s: got plan %v, findings:%s", depth, open, p != nil, show(findings))
			}
			if findings[0].Rule != "P14" || !strings.HasPrefix(findings[0].Pointer, "/steps/0/params/x/") {
				t.Errorf("depth %d: got %s at %s, want P14 inside /steps/0/params/x", depth, findings[0].Rule, findings[0].Pointer)
			}
		}
	}
}

func TestP14_DocumentSizeNamesTheLimit(t *testing.T) {
	doc := []byte(steps(`{"id":"a","tool":"noop"}`) + strings.Repeat(" ", DocumentBytesMax))
	_, findings := Parse(doc)
	if f := wantFinding(t, findings, expect{"P14", "", ""}); !strings.Contains(f.Message, "4194304") {
		t.Errorf("message: got %q, want the limit in bytes", f.Message)
	}
}

func TestP08_EveryProblemIsReported(t *testing.T) {
	doc := `{"format":3,"goal":"g","x":1,"steps":[{"id":"a","tool":"noop","y":1,"retries":99},{"id":"B","tool":"noop","join":"first_of","params":{"q":1,"q":2}}]}`
	_, findings := Parse([]byte(doc))
	for _, want := range []expect{{"P08", "", "/format"}, {"P08", "", "/x"}, {"P08", "a", "/steps/0/y"}, {"P08", "a", "/steps/0/retries"},
		{"P08", "B", "/steps/1/id"}, {"R23", "B", "/steps/1/join"}} {
		wantFinding(t, findings, want)
	}
	if len(findings) != 7 {
		t.Errorf("got %d findings, want 7:%s", len(findings), show(findings))
	}
}

func TestP14_FindingsAreBoundedAndCounted(t *testing.T) {
	doc := `{"format":1,"goal":"g","steps":[],` + strings.Repeat(`"goal":"h",`, 2500) + `"max_steps":3}`
	_, findings := Parse([]byte(doc))
	if len(findings) != FindingsMax+1 {
		t.Fatalf("got %d findings, want %d", len(findings), FindingsMax+1)
	}
	last := findings[FindingsMax]
	if last.Rule != "P14" || last.Severity != Error || !strings.Contains(last.Message, "1500 more") {
		t.Errorf("last: got %+v, want how many more there are", last)
	}
}

func TestP38_SyntaxSaysLineAndColumn(t *testing.T) {
	_, findings := Parse([]byte("{\"format\":1,\n \"goal\":tru}"))
	f := wantFinding(t, findings, expect{"json", "", "/goal"})
	if !strings.Contains(f.Message, "line 2") {
		t.Errorf("message: got %q, want line 2", f.Message)
	}
}

func TestP08_ThePlanKeepsNothingOfTheDocument(t *testing.T) {
	doc := []byte(steps(`{"id":"a","tool":"noop","params":{"x":"keep"}}`))
	p, _ := Parse(doc)
	for i := range doc {
		doc[i] = '#'
	}
	if got := string(p.Steps[0].Params["x"]); got != `"keep"` {
		t.Errorf("after the document changed: got %s, want \"keep\"", got)
	}
}

func TestP38_CheckJoinsFormAndGraph(t *testing.T) {
	doc := `{"format":1,"goal":"g","extra":1,"steps":[{"id":"a","tool":"noop","depends_on":["b"]},{"id":"b","tool":"nothing","depends_on":["a","z"]}]}`
	c, findings := Check([]byte(doc), testEnv(t))
	if c != nil {
		t.Error("got a compiled plan, want none")
	}
	for _, want := range []expect{{"P08", "", "/extra"}, {"C01", "a", "/steps/0/depends_on/0"}, {"C10", "b", "/steps/1/tool"}, {"C10", "b", "/steps/1/depends_on/1"}} {
		wantFinding(t, findings, want)
	}
	if c, findings = Check([]byte(steps(`{"id":"a","tool":"noop"}`)), testEnv(t)); c == nil || len(findings) != 0 {
		t.Errorf("good plan: got %v and%s", c, show(findings))
	}
	if c, findings = Check([]byte(steps(`{"id":"a"}`)), testEnv(t)); c != nil || len(findings) != 1 {
		t.Errorf("broken form: got %v and%s", c, show(findings))
	}
}
