package gatecheck

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/policy"
)

// canonical stands in for plan.Canonical: RFC 8785, no duplicate keys.
func canonical(raw []byte) ([]byte, error) {
	value := jsontext.Value(bytes.Clone(raw))
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return value, nil
}

// tools has a reader, a writer, a deleter and a shell ranked by its parameter.
func tools(name string) (policy.Tool, bool) {
	switch name {
	case "sysinfo":
		return policy.Tool{Name: name, Effect: policy.Read}, true
	case "file.write":
		return policy.Tool{Name: name, Effect: policy.Idempotent, Impact: policy.Operate}, true
	case "file.delete":
		return policy.Tool{Name: name, Effect: policy.Once, Impact: policy.Override}, true
	case "shell":
		return policy.Tool{Name: name, Effect: policy.Once, Impact: policy.Override, ImpactOf: shellImpact}, true
	}
	return policy.Tool{}, false
}

func shellImpact(params []policy.Param) (policy.Rank, bool) {
	for _, param := range params {
		if param.Name == "command" && string(param.Value) == `"ls"` {
			return policy.Observe, true
		}
	}
	return policy.Override, true
}

func options(t *testing.T) Options {
	t.Helper()
	p, err := policy.Compile(policy.Default())
	if err != nil {
		t.Fatalf("compile default policy: %v", err)
	}
	return Options{Policy: p, Tool: tools, Intent: policy.Observe, Scopes: []string{"default"}, Canonical: canonical}
}

func check(t *testing.T, in string) (lines []string, bad int) {
	t.Helper()
	var out bytes.Buffer
	bad, err := Run(strings.NewReader(in), &out, options(t))
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if text == "" {
		return nil, bad
	}
	return strings.Split(text, "\n"), bad
}

type answerLine struct {
	ID       any             `json:"id"`
	Decision string          `json:"decision"`
	Impact   int             `json:"impact"`
	Stage    *string         `json:"stage"`
	Rules    []string        `json:"rules"`
	Reasons  []string        `json:"reasons"`
	Asks     json.RawMessage `json:"asks"`
}

func decoded(t *testing.T, line string) answerLine {
	t.Helper()
	var a answerLine
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		t.Fatalf("output line %q: %v", line, err)
	}
	return a
}

func TestP37_Golden(t *testing.T) {
	hash := options(t).Policy.Hash()
	cases := []struct{ name, in, want string }{
		{"the example", `{"id":"1","tool":"shell","params":{"command":"rm x"},"intent":"operate","scopes":["default"],"labels":{"/command":["user"]}}`,
			`{"id":"1","decision":"deny","impact":200,"impact_name":"override","limit":100,"stage":"impact","rules":["impact"],"reasons":["shell has the impact override (200), above the limit operate (100) of the intent."],"asks":[],"policy":"HASH"}`},
		{"allow", `{"id":"2","tool":"sysinfo","params":{}}`,
			`{"id":"2","decision":"allow","impact":0,"impact_name":"observe","limit":0,"stage":null,"rules":[],"reasons":[],"asks":[],"policy":"HASH"}`},
		{"ask", `{"id":"3","tool":"file.delete","params":{"path":"a"},"intent":"override"}`,
			`{"id":"3","decision":"ask","impact":200,"impact_name":"override","limit":200,"stage":null,"rules":["A1"],"reasons":["Rule A1 asks a person to approve this call of file.delete."],"asks":[{"rule":"A1","per":"call","quorum":1,"roles":["approver"],"expires_s":86400}],"policy":"HASH"}`},
		{"out of scope", `{"id":"4","tool":"file.delete","params":{"path":"a"},"intent":200,"scopes":[]}`,
			`{"id":"4","decision":"deny","impact":200,"impact_name":"override","limit":200,"stage":"scope","rules":["scope"],"reasons":["No scope is given, so file.delete is not allowed."],"asks":[],"policy":"HASH"}`},
		{"a bad line", `{"id":"5","intent":"observe"}`,
			`{"id":"5","decision":"deny","impact":200,"impact_name":"override","limit":0,"stage":"input","rules":["input"],"reasons":["The line names no tool."],"asks":[],"policy":"HASH"}`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			lines, _ := check(t, tc.in)
			want := strings.ReplaceAll(tc.want, "HASH", hash)
			if len(lines) != 1 || lines[0] != want {
				t.Errorf("got  %v\nwant %s", lines, want)
			}
		})
	}
}

func TestP37_LinesKeepTheirOrder(t *testing.T) {
	var in strings.Builder
	for i := range 500 {
		tool := []string{"sysinfo", "nope", "file.write"}[i%3]
		in.WriteString(`{"id":"` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + `","tool":"` + tool + `"}` + "\n")
	}
	lines, bad := check(t, in.String())
	if len(lines) != 500 || bad != 0 {
		t.Fatalf("got %d lines and %d bad, want 500 and 0", len(lines), bad)
	}
	for i, line := range lines {
		want := strings.Repeat("x", i%7) + string(rune('a'+i%26))
		if got := decoded(t, line).ID; got != want {
			t.Fatalf("line %d has id %v, want %s", i, got, want)
		}
	}
}

func TestP37_BadLinesAreDeniedAndCounted(t *testing.T) {
	deep := `{"id":"7","tool":"sysinfo","params":{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`
	long := `{"id":"7","tool":"sysinfo","params":{"a":"` + strings.Repeat("x", LineBytesMax) + `"}}`
	cases := []struct{ name, line, id, reason string }{
		{"syntax", `{"id":"7",`, "", "not usable JSON"},
		{"not an object", `["sysinfo"]`, "", "not a JSON object"},
		{"null", `null`, "", "not a JSON object"},
		{"unknown key", `{"id":"7","tool":"sysinfo","approval":true}`, "7", `"approval" is not known`},
		{"key in another case", `{"id":"7","Tool":"sysinfo"}`, "7", `"Tool" is not known`},
		{"duplicate key", `{"id":"7","tool":"sysinfo","tool":"file.delete"}`, "7", "not usable JSON"},
		{"duplicate parameter", `{"id":"7","tool":"sysinfo","params":{"a":1,"a":2}}`, "7", "not usable JSON"},
		{"two values", `{"id":"7","tool":"sysinfo"} {}`, "", "not usable JSON"},
		{"no tool", `{"id":"7"}`, "7", "names no tool"},
		{"null tool", `{"id":"7","tool":null}`, "7", "tool is not a text"},
		{"empty tool", `{"id":"7","tool":""}`, "7", "0 bytes"},
		{"long tool", `{"id":"7","tool":"` + strings.Repeat("x", policy.NameBytesMax+1) + `"}`, "7", "129 bytes"},
		{"unknown intent", `{"id":"7","tool":"sysinfo","intent":"admin"}`, "7", `intent "admin"`},
		{"intent off the scale", `{"id":"7","tool":"sysinfo","intent":201}`, "7", "whole number from 0 to 200"},
		{"negative intent", `{"id":"7","tool":"sysinfo","intent":-1}`, "7", "whole number"},
		{"half an intent", `{"id":"7","tool":"sysinfo","intent":1.5}`, "7", "whole number"},
		{"null intent", `{"id":"7","tool":"sysinfo","intent":null}`, "7", "whole number"},
		{"scopes not a list", `{"id":"7","tool":"sysinfo","scopes":"default"}`, "7", "scopes are not"},
		{"null scopes", `{"id":"7","tool":"sysinfo","scopes":null}`, "7", "scopes are not"},
		{"null in scopes", `{"id":"7","tool":"sysinfo","scopes":[null]}`, "7", "scopes are not"},
		{"too many scopes", `{"id":"7","tool":"sysinfo","scopes":[` + strings.Repeat(`"a",`, ScopesMax) + `"a"]}`, "7", "65 scopes"},
		{"params not an object", `{"id":"7","tool":"sysinfo","params":[1]}`, "7", "params are not"},
		{"null params", `{"id":"7","tool":"sysinfo","params":null}`, "7", "params are not"},
		{"unknown label", `{"id":"7","tool":"sysinfo","params":{"a":1},"labels":{"/a":["safe"]}}`, "7", `label "safe"`},
		{"label on nothing", `{"id":"7","tool":"sysinfo","params":{"a":1},"labels":{"/b":["user"]}}`, "7", `"/b"`},
		{"label on nothing inside", `{"id":"7","tool":"sysinfo","params":{"a":[1]},"labels":{"/a/1":["user"]}}`, "7", `"/a/1"`},
		{"label not a pointer", `{"id":"7","tool":"sysinfo","params":{"a":1},"labels":{"a":["user"]}}`, "7", `"a"`},
		{"label with a bad escape", `{"id":"7","tool":"sysinfo","params":{"a~2":1},"labels":{"/a~2":["user"]}}`, "7", `"/a~2"`},
		{"labels not a list", `{"id":"7","tool":"sysinfo","params":{"a":1},"labels":{"/a":null}}`, "7", "not a list"},
		{"labels not an object", `{"id":"7","tool":"sysinfo","labels":[]}`, "7", "labels are not"},
		{"id not a text", `{"id":{},"tool":"sysinfo"}`, "", "neither a text nor a number"},
		{"too deep", deep, "", "deeper than 64"},
		{"too long", long, "", "longer than 1048576 bytes"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			lines, bad := check(t, tc.line+"\n"+`{"id":"next","tool":"sysinfo"}`)
			if bad != 1 || len(lines) != 2 {
				t.Fatalf("got %d bad and %d lines, want 1 and 2: %v", bad, len(lines), lines)
			}
			a := decoded(t, lines[0])
			var wantID any
			if tc.id != "" {
				wantID = tc.id
			}
			if a.ID != wantID || a.Decision != "deny" || a.Stage == nil || *a.Stage != "input" || a.Impact != 200 {
				t.Errorf("got %s, want id %v, deny at input with impact 200", lines[0], wantID)
			}
			if len(a.Reasons) != 1 || !strings.Contains(a.Reasons[0], tc.reason) {
				t.Errorf("got reasons %q, want one with %q", a.Reasons, tc.reason)
			}
			if next := decoded(t, lines[1]); next.ID != "next" || next.Decision != "allow" {
				t.Errorf("the line after a bad one got %s, want an allow", lines[1])
			}
		})
	}
}

func TestP37_LineLimitIsExact(t *testing.T) {
	head, tail := `{"id":"1","tool":"sysinfo","params":{"a":"`, `"}}`
	fits := head + strings.Repeat("x", LineBytesMax-len(head)-len(tail)) + tail
	for _, end := range []string{"", "\n", "\r\n"} {
		if lines, bad := check(t, fits+end); bad != 0 || decoded(t, lines[0]).Decision != "allow" {
			t.Errorf("a line of %d bytes with end %q: got %d bad, want it decided", len(fits), end, bad)
		}
		if _, bad := check(t, " "+fits+end); bad != 1 {
			t.Errorf("a line of %d bytes with end %q: got %d bad, want 1", len(fits)+1, end, bad)
		}
	}
}

func TestP37_DepthLimitIsExact(t *testing.T) {
	line := func(depth int) string {
		return `{"tool":"sysinfo","params":{"a":` + strings.Repeat("[", depth-2) + strings.Repeat("]", depth-2) + `}}`
	}
	if _, bad := check(t, line(DepthMax)); bad != 0 {
		t.Errorf("depth %d: got %d bad, want 0", DepthMax, bad)
	}
	if _, bad := check(t, line(DepthMax+1)); bad != 1 {
		t.Errorf("depth %d: got %d bad, want 1", DepthMax+1, bad)
	}
	brackets := `{"tool":"sysinfo","params":{"a":"` + strings.Repeat(`[\"`, 100) + `"}}`
	if _, bad := check(t, brackets); bad != 0 {
		t.Errorf("brackets inside a text: got %d bad, want 0", bad)
	}
}

func TestP37_BlankLinesAreNoCalls(t *testing.T) {
	lines, bad := check(t, "\n  \n{\"id\":\"1\",\"tool\":\"sysinfo\"}\r\n\n")
	if len(lines) != 1 || bad != 0 {
		t.Errorf("got %d lines and %d bad, want 1 and 0", len(lines), bad)
	}
	if lines, bad = check(t, ""); len(lines) != 0 || bad != 0 {
		t.Errorf("no input: got %d lines and %d bad, want none", len(lines), bad)
	}
}

func TestP37_IDIsEchoed(t *testing.T) {
	cases := map[string]string{
		`"a<b\u00e9\u2028"`: `"a\u003cbé\u2028"`, `12`: `12`, `null`: `null`, `""`: `""`,
	}
	for in, want := range cases {
		lines, _ := check(t, `{"id":`+in+`,"tool":"sysinfo"}`)
		if !strings.HasPrefix(lines[0], `{"id":`+want+`,"decision":"allow"`) {
			t.Errorf("id %s: got %s, want id %s", in, lines[0], want)
		}
	}
	lines, bad := check(t, `{"tool":"sysinfo"}`)
	if bad != 0 || !strings.HasPrefix(lines[0], `{"id":null,"decision":"allow"`) {
		t.Errorf("no id: got %d bad and %s, want a decision with id null", bad, lines[0])
	}
}

func TestR45_IntentByNameAndNumber(t *testing.T) {
	cases := []struct{ intent, want string }{
		{`"observe"`, "deny"}, {`0`, "deny"}, {`99`, "deny"}, {`"operate"`, "allow"}, {`100`, "allow"}, {`"override"`, "allow"},
	}
	for _, tc := range cases {
		lines, bad := check(t, `{"tool":"file.write","intent":`+tc.intent+`}`)
		if got := decoded(t, lines[0]).Decision; got != tc.want || bad != 0 {
			t.Errorf("file.write at %s: got %s, want %s", tc.intent, got, tc.want)
		}
	}
}

func TestP37_OptionsHoldWhereALineIsSilent(t *testing.T) {
	o := options(t)
	o.Intent, o.Scopes = policy.Operate, nil
	for line, want := range map[string]string{
		`{"tool":"file.write"}`:                                             "deny",
		`{"tool":"file.write","scopes":["default"]}`:                        "allow",
		`{"tool":"file.write","scopes":["default"],"intent":"observe"}`:     "deny",
		`{"tool":"file.write","scopes":["default","x"],"intent":"operate"}`: "deny",
	} {
		var out bytes.Buffer
		if _, err := Run(strings.NewReader(line), &out, o); err != nil {
			t.Fatalf("Run: %v", err)
		}
		if got := decoded(t, out.String()).Decision; got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func TestR46_ParametersRankACall(t *testing.T) {
	for command, want := range map[string]int{"ls": 0, "rm x": 200} {
		lines, _ := check(t, `{"tool":"shell","params":{"command":"`+command+`"}}`)
		if got := decoded(t, lines[0]).Impact; got != want {
			t.Errorf("shell %q: got impact %d, want %d", command, got, want)
		}
	}
}

func TestR48_UnknownToolIsDeniedAtEveryIntent(t *testing.T) {
	for _, tool := range []string{"file.nope", "nope"} {
		lines, bad := check(t, `{"tool":"`+tool+`","intent":"override"}`)
		if a := decoded(t, lines[0]); a.Decision != "deny" || a.Impact != 200 || bad != 0 {
			t.Errorf("%s: got %s, want a deny with impact 200", tool, lines[0])
		}
	}
}

// captured runs one line and gives the parameters that its tool was ranked by.
func captured(t *testing.T, line string) []policy.Param {
	t.Helper()
	o := options(t)
	var seen []policy.Param
	o.Tool = func(name string) (policy.Tool, bool) {
		return policy.Tool{Name: name, Impact: policy.Override, ImpactOf: func(params []policy.Param) (policy.Rank, bool) {
			seen = params
			return policy.Observe, true
		}}, true
	}
	if bad, err := Run(strings.NewReader(line), io.Discard, o); bad != 0 || err != nil {
		t.Fatalf("Run(%s): %d bad, %v", line, bad, err)
	}
	return seen
}

func TestP20_LabelsByPointer(t *testing.T) {
	params := captured(t,
		`{"tool":"sysinfo","params":{"to":["a","b"],"a/b":1,"c":{"d":1.0},"z":2},"labels":{"/to/0":["user"],"/to/1":["untrusted","user"],"/a~1b":["constant"],"/c/d":["trusted"]}}`)
	want := []struct{ name, value, labels string }{
		{"a/b", "1", "constant"}, {"c", `{"d":1}`, "trusted"}, {"to", `["a","b"]`, "untrusted user"}, {"z", "2", "untrusted"},
	}
	if len(params) != len(want) {
		t.Fatalf("got %d parameters, want %d", len(params), len(want))
	}
	for i, w := range want {
		labels := []string{}
		for _, label := range params[i].Labels {
			labels = append(labels, string(label))
		}
		if got := strings.Join(labels, " "); params[i].Name != w.name || string(params[i].Value) != w.value || got != w.labels {
			t.Errorf("parameter %d: got %s = %s (%s), want %s = %s (%s)", i, params[i].Name, params[i].Value, got, w.name, w.value, w.labels)
		}
	}
}
