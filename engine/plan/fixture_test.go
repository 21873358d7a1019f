package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/policy"
)

// declaration is short for a tool in these tests.
func declaration(name string, effect policy.Effect, impact policy.Rank) Tool {
	return Tool{
		Tool:  policy.Tool{Name: name, Effect: effect, Impact: impact},
		Input: json.RawMessage(`{"type":"object"}`), Timeout: 10 * time.Second, Bytes: 65536,
	}
}

// testTools is a small catalogue with every effect and closed schemas.
func testTools() []Tool {
	noop := declaration("noop", policy.Read, policy.Observe)
	sum := declaration("sum", policy.Read, policy.Observe)
	sum.Pure = true
	list := declaration("list", policy.Read, policy.Observe)
	list.Input = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","minLength":1},"depth":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`)
	list.Output = json.RawMessage(`{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"count":{"type":"integer"},"first":{"type":"object","properties":{"a.b":{"type":"string"}},"additionalProperties":false}},"required":["names","count"],"additionalProperties":false}`)
	write := declaration("write", policy.Idempotent, policy.Operate)
	write.Input = json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path","text"],"additionalProperties":false}`)
	patch := declaration("patch", policy.Once, policy.Operate)
	remove := declaration("delete", policy.Once, policy.Override)
	send := declaration("send", policy.Once, policy.Override)
	send.External = true
	shell := declaration("shell", policy.Once, policy.Override)
	shell.ImpactOf = func(params []policy.Param) (policy.Rank, bool) {
		for _, p := range params {
			if p.Name == "command" {
				return policy.Observe, strings.HasPrefix(string(p.Value), `"ls`)
			}
		}
		return policy.Observe, false
	}
	untimed := declaration("untimed", policy.Read, policy.Observe)
	untimed.Timeout = 0
	bare := declaration("bare", policy.Read, policy.Observe)
	bare.Input = nil
	return []Tool{noop, sum, list, write, patch, remove, send, shell, untimed, bare}
}

func testCatalog(t testing.TB) *Catalog {
	t.Helper()
	c, err := NewCatalog(testTools())
	if err != nil {
		t.Fatalf("NewCatalog: %v", err)
	}
	return c
}

func testEnv(t testing.TB) Env { return Env{Catalog: testCatalog(t), Author: Person} }

// testPolicy allows tools in one scope, with a second scope the run may lack.
func testPolicy(t testing.TB, change func(*policy.Document)) *policy.Policy {
	t.Helper()
	doc := policy.Default()
	doc.Scopes = map[string]policy.Scope{
		"default": {Tools: []string{"noop", "list", "write", "delete", "shell"}, Caps: map[string]policy.Rank{"shell": policy.Operate}},
		"mail":    {Tools: []string{"send"}},
	}
	if change != nil {
		change(&doc)
	}
	p, err := policy.Compile(doc)
	if err != nil {
		t.Fatalf("policy.Compile: %v", err)
	}
	return p
}

// steps wraps steps into a plan document of form 1.
func steps(list string) string { return `{"format":1,"goal":"g","steps":[` + list + `]}` }

func mustParse(t testing.TB, doc string) *Plan {
	t.Helper()
	p, findings := Parse([]byte(doc))
	if p == nil {
		t.Fatalf("Parse(%s) refused: %s", doc, show(findings))
	}
	return p
}

func mustCompile(t testing.TB, doc string, env Env) *Compiled {
	t.Helper()
	c, findings := Compile(mustParse(t, doc), env)
	if c == nil {
		t.Fatalf("Compile(%s) refused: %s", doc, show(findings))
	}
	return c
}

func show(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "\n  %s %s step=%q at %q related=%v: %s [%s]", f.Rule, f.Severity, f.Step, f.Pointer, f.Related, f.Message, f.Fix)
	}
	if b.Len() == 0 {
		return "no findings"
	}
	return b.String()
}

// expect is where a finding is wanted.
type expect struct{ rule, step, pointer string }

// wantFinding wants exactly one finding at the place, with words for people.
func wantFinding(t *testing.T, findings []Finding, want expect) Finding {
	t.Helper()
	var found []Finding
	for _, f := range findings {
		if f.Rule == want.rule && f.Step == want.step && f.Pointer == want.pointer {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("got %d findings %+v, want 1; all:%s", len(found), want, show(findings))
	}
	if found[0].Message == "" || found[0].Fix == "" {
		t.Errorf("finding %+v says nothing: message %q, fix %q", want, found[0].Message, found[0].Fix)
	}
	return found[0]
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
