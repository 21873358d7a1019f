package yamlform

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"sluice/engine/plan"
)

const booking = `
# a comment
format: 1
goal: book a sync
max_steps: 8
steps:
  - id: cal
    tool: calendar.check
    params: {team: engineering, "on": 2026-01-02, max: 0x10, ratio: 1.5, all: true, none: null, no: no, text: "1"}
  - id: mail
    tool: mail.send
    approval: true
    param_refs:
      body: {step: cal, field: members.0, template: "Event {{value}} is set."}
`

func TestP08_YAMLReadsAsJSONDoes(t *testing.T) {
	got, findings := Parse([]byte(booking))
	if got == nil {
		t.Fatalf("got refused: %+v", findings)
	}
	want, findings := plan.Parse([]byte(`{"format":1,"goal":"book a sync","max_steps":8,"steps":[
	 {"id":"cal","tool":"calendar.check","params":{"team":"engineering","on":"2026-01-02","max":16,"ratio":1.5,"all":true,"none":null,"no":"no","text":"1"}},
	 {"id":"mail","tool":"mail.send","approval":true,"param_refs":{"body":{"step":"cal","field":"members.0","template":"Event {{value}} is set."}}}]}`))
	if want == nil {
		t.Fatalf("the JSON twin was refused: %+v", findings)
	}
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func TestP08_YAMLRefusesWhatJSONHasNot(t *testing.T) {
	deep := strings.Repeat("[", 80) + strings.Repeat("]", 80)
	bomb := "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
	for _, c := range []struct{ name, doc, rule, pointer string }{
		{"empty", "", "yaml", ""},
		{"only a comment", "# nothing\n", "yaml", ""},
		{"broken", "a: [1", "yaml", ""},
		{"two documents", "format: 1\n---\nformat: 1\n", "yaml", ""},
		{"duplicate key", "format: 1\ngoal: a\ngoal: b\n", "P08", "/goal"},
		{"duplicate key inside", "format: 1\nsteps:\n - id: a\n   params: {x: 1, x: 2}\n", "P08", "/steps/0/params/x"},
		{"key a number", "1: x\n", "P08", "/1"},
		{"key a mapping", "? {a: 1}\n: x\n", "P08", "/"},
		{"merge key", "<<: {a: 1}\n", "P08", "/<<"},
		{"anchor and alias", bomb, "yaml", "/c/0"},
		{"tag", "goal: !!binary aGk=\n", "yaml", "/goal"},
		{"own tag", "goal: !thing {a: 1}\n", "yaml", "/goal"},
		{"infinity", "max_steps: .inf\n", "P14", "/max_steps"},
		{"beyond 64 bits", "max_steps: 18446744073709551615\n", "P14", "/max_steps"},
		{"too deep", "x: " + deep + "\n", "P14", "/x" + strings.Repeat("/0", 64)},
		{"invalid UTF-8", "goal: \"\xff\"\n", "yaml", ""},
		{"too large", "goal: " + strings.Repeat("x", plan.DocumentBytesMax), "P14", ""},
		{"the form", "format: 1\ngoal: g\nintent: 2\nsteps: []\n", "P08", "/intent"},
		{"an integer bent", "format: 1\ngoal: g\nsteps: [{id: a, tool: t, params: {x: 9007199254740993}}]\n", "P14", "/steps/0/params/x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, findings := Parse([]byte(c.doc))
			if p != nil {
				t.Fatal("got a plan, want none")
			}
			for _, f := range findings {
				if f.Rule == c.rule && f.Pointer == c.pointer && f.Severity == plan.Error && f.Message != "" && f.Fix != "" {
					return
				}
			}
			t.Errorf("got %+v, want %s at %q", findings, c.rule, c.pointer)
		})
	}
}

func TestP38_YAMLCheckCompiles(t *testing.T) {
	catalog, err := plan.NewCatalog(nil)
	if err != nil {
		t.Fatalf("NewCatalog: %v", err)
	}
	c, findings := Check([]byte("format: 1\ngoal: g\nsteps: [{id: a, tool: nothing}]\n"), plan.Env{Catalog: catalog})
	if c != nil || len(findings) != 1 || findings[0].Rule != "C10" || findings[0].Pointer != "/steps/0/tool" {
		t.Errorf("got %v and %+v, want C10 at /steps/0/tool", c, findings)
	}
	if c, findings = Check([]byte("a: [1"), plan.Env{Catalog: catalog}); c != nil || len(findings) != 1 || findings[0].Rule != "yaml" {
		t.Errorf("broken: got %v and %+v, want one finding", c, findings)
	}
}

// FuzzToJSON wants valid JSON or a finding, for every document.
func FuzzToJSON(f *testing.F) {
	f.Add([]byte(booking))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("? - x\n: - .5\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		text, findings := ToJSON(doc)
		if (text == nil) != (len(findings) > 0) {
			t.Fatalf("got %d bytes and %d findings", len(text), len(findings))
		}
		if text != nil && !json.Valid(text) {
			t.Fatalf("not JSON: %s", text)
		}
	})
}
