package gatecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/policy"
)

// drawnLine is a call drawn twice: as the line that is sent and as the Call
// that the line means.
type drawnLine struct {
	text string
	call policy.Call
}

func drawLine(t *rapid.T) drawnLine {
	name := rapid.SampledFrom([]string{"sysinfo", "file.write", "file.delete", "shell", "nope", "file.nope"}).Draw(t, "tool")
	tool, known := tools(name)
	tool.Name = name
	call := policy.Call{Tool: tool, Known: known, Intent: policy.Observe, Scopes: []string{"default"}}
	members := []string{`"tool":` + quote(name)}
	if rapid.Bool().Draw(t, "has intent") {
		call.Intent = rapid.SampledFrom([]policy.Rank{0, 50, 100, 200}).Draw(t, "intent")
		text := fmt.Sprint(int(call.Intent))
		if call.Intent != 50 && rapid.Bool().Draw(t, "by name") {
			text = quote(call.Intent.Name())
		}
		members = append(members, `"intent":`+text)
	}
	if rapid.Bool().Draw(t, "has scopes") {
		call.Scopes = rapid.SampledFrom([][]string{{}, {"default"}, {"other"}, {"default", "default"}}).Draw(t, "scopes")
		list, _ := json.Marshal(call.Scopes)
		members = append(members, `"scopes":`+string(list))
	}
	if rapid.Bool().Draw(t, "has params") {
		values := rapid.MapOf(rapid.SampledFrom([]string{"command", "path", "a/b"}), rapid.SampledFrom([]string{`"ls"`, `1`, `{"x":[]}`})).Draw(t, "params")
		names := []string{}
		for name := range values {
			names = append(names, name)
		}
		sort.Strings(names)
		parts := []string{}
		for _, name := range names {
			call.Params = append(call.Params, policy.Param{Name: name, Value: []byte(values[name]), Labels: []policy.Label{policy.LabelUntrusted}})
			parts = append(parts, quote(name)+": "+values[name])
		}
		members = append(members, `"params":{`+strings.Join(rapid.Permutation(parts).Draw(t, "param order"), ", ")+`}`)
	}
	members = rapid.Permutation(members).Draw(t, "order")
	return drawnLine{text: "{" + strings.Join(members, ", ") + "}", call: call}
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// TestP37_AnswersAreThoseOfDecide: whatever the order and spacing of its keys,
// a line is answered with the decision on the call it means.
func TestP37_AnswersAreThoseOfDecide(t *testing.T) {
	o := options(t)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(drawLine), 1, 5).Draw(t, "lines")
		var in, want strings.Builder
		for _, line := range lines {
			in.WriteString(line.text + "\n")
			decision := policy.Decide(o.Policy, line.call)
			want.WriteString(`{"id":null,` + string(decision.AppendJSON(nil)[1:]) + "\n")
		}
		var out bytes.Buffer
		bad, err := Run(strings.NewReader(in.String()), &out, o)
		if err != nil || bad != 0 || out.String() != want.String() {
			t.Fatalf("got %d bad, %v and\n%s\nwant\n%s", bad, err, out.String(), want.String())
		}
	})
}

// TestP37_CutLinesNeverPass: a call cut off anywhere is no call.
func TestP37_CutLinesNeverPass(t *testing.T) {
	whole := `{"id":"1","tool":"file.write","params":{"path":"a"},"intent":"operate","scopes":["default"]}`
	for i := 1; i < len(whole); i++ {
		lines, bad := check(t, whole[:i])
		if bad != 1 || len(lines) != 1 || decoded(t, lines[0]).Decision != "deny" {
			t.Errorf("%s: got %d bad and %v, want a deny", whole[:i], bad, lines)
		}
	}
}
