package gatecheck

import (
	"bytes"
	"strings"
	"testing"

	"sluice/policy"
)

// TestP37_AnUnansweredClearanceAsks: a check calls nobody, so it says what
// would be asked, and of whom.
func TestP37_AnUnansweredClearanceAsks(t *testing.T) {
	doc := policy.Default()
	doc.Clearance = []policy.ClearanceRule{{ID: "C1", When: policy.When{Tools: []string{"file.*"}}, URL: "https://a.example/clear"}}
	p, err := policy.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Policy, o.Intent = p, policy.Override
	var out bytes.Buffer
	if _, err := Run(strings.NewReader(`{"id":1,"tool":"file.write"}`+"\n"+`{"id":2,"tool":"sysinfo"}`+"\n"+`{"id":3,"tool":"file.delete"}`), &out, o); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range [][]string{
		{`"decision":"ask"`, `"stage":"clearance"`, `"rules":["C1"]`, `"asks":[]`, `"clear":[{"rule":"C1","url":"https://a.example/clear","timeout_s":5}]`},
		{`"decision":"allow"`, `"stage":null`},
		{`"decision":"ask"`, `"stage":"clearance"`, `"asks":[{"rule":"A1"`, `"clear":[{"rule":"C1"`},
	} {
		for _, part := range want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("line %d: got %s, want %s", i+1, lines[i], part)
			}
		}
	}
	if strings.Contains(lines[1], "clear") {
		t.Errorf("got %s, want no word of clearance where none is asked", lines[1])
	}
}
