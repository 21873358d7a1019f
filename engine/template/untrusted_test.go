package template

import (
	"strings"
	"testing"
)

// TestP20_UntrustedValuesStayMarked, and a mark that points nowhere is refused.
func TestP20_UntrustedValuesStayMarked(t *testing.T) {
	const doc = `{"format":1,"name":"look","title":"Look","description":"","match":[],"untrusted":["%s"],"slots":[{"name":"what","type":"string","description":"","default":"a"}],
		"plan":{"format":1,"goal":"Look","steps":[{"id":"l","tool":"file.search","params":{"query":{"$slot":"what"},"path":"."}}]}}`
	for at, want := range map[string]string{"/steps/0/params/path": "user untrusted", "/steps/0/params/query": "untrusted constant"} {
		p, found := parsed(t, strings.Replace(doc, "%s", at, 1)).Instantiate(nil)
		if p == nil {
			t.Fatal(found)
		}
		if got := p.Steps[0].Labels["query"] + " " + p.Steps[0].Labels["path"]; got != want {
			t.Errorf("%s: got %s, want %s", at, got, want)
		}
	}
	for _, at := range []string{"/steps/1/params/path", "/steps/0/params/none", "", "/goal"} {
		if _, found := Parse([]byte(strings.Replace(doc, "%s", at, 1))); len(found) != 1 || found[0].Pointer != "/untrusted/0" {
			t.Errorf("%q: got %+v, want the pointer refused", at, found)
		}
	}
}
