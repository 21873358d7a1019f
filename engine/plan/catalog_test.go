package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/policy"
)

func TestR48_CatalogKnowsItsToolsOnly(t *testing.T) {
	c := testCatalog(t)
	if tool, ok := c.Lookup("list"); !ok || tool.Name != "list" || tool.Timeout != 10*time.Second {
		t.Errorf("Lookup(list): got %+v %v", tool, ok)
	}
	if _, ok := c.Lookup("List"); ok {
		t.Error("Lookup(List): got a tool, want none")
	}
	if names := c.Names(); !slices.IsSorted(names) || len(names) != len(testTools()) {
		t.Errorf("Names: got %v, want all, sorted", names)
	}
	if err := c.CheckParams("nothing", []byte(`{}`)); !errors.Is(err, ErrUnknownTool) {
		t.Errorf("CheckParams of an unknown tool: got %v, want ErrUnknownTool", err)
	}
	if err := c.CheckOutput("nothing", nil, []byte(`{}`)); !errors.Is(err, ErrUnknownTool) {
		t.Errorf("CheckOutput of an unknown tool: got %v, want ErrUnknownTool", err)
	}
}

func TestP29_CatalogHashFollowsTheDeclarations(t *testing.T) {
	tools := testTools()
	slices.Reverse(tools)
	reversed, err := NewCatalog(tools)
	if err != nil {
		t.Fatalf("NewCatalog: %v", err)
	}
	c := testCatalog(t)
	if c.Hash() != reversed.Hash() || !bytes.Equal(c.Canonical(), reversed.Canonical()) {
		t.Error("another order: got another hash")
	}
	if canonical, err := Canonical(c.Canonical()); err != nil || !bytes.Equal(canonical, c.Canonical()) {
		t.Errorf("Canonical: got %s (%v), want RFC 8785", c.Canonical(), err)
	}
	changes := map[string]func(*Tool){
		"effect": func(t *Tool) { t.Effect = policy.Idempotent }, "impact": func(t *Tool) { t.Impact = policy.Operate }, "external": func(t *Tool) { t.External = true },
		"sinks": func(t *Tool) { t.Sinks = []string{"x"} }, "summary": func(t *Tool) { t.Summary = "x" }, "input": func(t *Tool) { t.Input = json.RawMessage(`{}`) },
		"output": func(t *Tool) { t.Output = json.RawMessage(`{}`) }, "trusted": func(t *Tool) { t.Trusted = []string{"x"} }, "timeout": func(t *Tool) { t.Timeout++; t.Timeout *= 2 },
		"bytes": func(t *Tool) { t.Bytes++ }, "impact function": func(t *Tool) { t.ImpactOf = func([]policy.Param) (policy.Rank, bool) { return 0, true } },
	}
	for name, change := range changes {
		tools := testTools()
		change(&tools[0])
		changed, err := NewCatalog(tools)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if changed.Hash() == c.Hash() {
			t.Errorf("another %s: got the same hash", name)
		}
	}
}

func TestR05_CatalogRefusesFalseDeclarations(t *testing.T) {
	cases := map[string]func(*Tool){
		"no name": func(t *Tool) { t.Name = "" }, "a name taken": func(t *Tool) { t.Name = "sum" }, "no effect": func(t *Tool) { t.Effect = "" },
		"pure with an effect": func(t *Tool) { t.Pure, t.Effect = true, policy.Once }, "pure with an impact": func(t *Tool) { t.Pure, t.Impact = true, policy.Operate },
		"pure and external": func(t *Tool) { t.Pure, t.External = true, true }, "long summary": func(t *Tool) { t.Summary = strings.Repeat("x", 121) },
		"two lines": func(t *Tool) { t.Summary = "a\nb" }, "input no schema": func(t *Tool) { t.Input = json.RawMessage(`{"type":1}`) },
		"output no JSON": func(t *Tool) { t.Output = json.RawMessage(`{`) }, "schema elsewhere": func(t *Tool) { t.Output = json.RawMessage(`{"$ref":"file:///etc/hostname"}`) },
		"schema on the net": func(t *Tool) { t.Output = json.RawMessage(`{"$ref":"http://127.0.0.1:1/x"}`) }, "trusted path": func(t *Tool) { t.Trusted = []string{"a..b"} },
		"negative timeout": func(t *Tool) { t.Timeout = -1 },
	}
	for name, change := range cases {
		tools := testTools()
		change(&tools[0])
		if _, err := NewCatalog(tools); err == nil {
			t.Errorf("%s: got accepted, want an error", name)
		}
	}
}

func TestC10_SchemasReadNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(path, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatalf("write schema: %v", err)
	}
	for _, key := range []string{"$ref", "$schema", "$dynamicRef"} {
		if _, err := compileSchema(json.RawMessage(`{"` + key + `":"file://` + path + `"}`)); err == nil {
			t.Errorf("%s to a file that exists: got compiled, want refused", key)
		}
	}
}

func TestC10_CheckParams(t *testing.T) {
	c := testCatalog(t)
	for _, ok := range [][2]string{{"list", `{"path":"x"}`}, {"list", `{"depth":3,"path":"x"}`}, {"noop", `{}`}, {"noop", `{"any":[1]}`}, {"bare", `{"x":1}`}} {
		if err := c.CheckParams(ok[0], []byte(ok[1])); err != nil {
			t.Errorf("%s %s: got %v, want accepted", ok[0], ok[1], err)
		}
	}
	for _, bad := range [][3]string{{"list", `{}`, "path"}, {"list", `{"path":1}`, "path"}, {"list", `{"path":"x","depth":0.5}`, "depth"}, {"list", `{"path":"x","y":1}`, "y"},
		{"noop", `[]`, "object"}, {"noop", `{"a":`, "JSON"}, {"noop", ``, "JSON"}, {"bare", `1`, "object"}, {"list", `{"path":"x","path":"y"}`, "JSON"}} {
		if err := c.CheckParams(bad[0], []byte(bad[1])); err == nil || !strings.Contains(err.Error(), bad[2]) {
			t.Errorf("%s %s: got %v, want an error that names %s", bad[0], bad[1], err, bad[2])
		}
	}
}

func TestR29_CheckOutputUsesTheStepsContractElseTheTools(t *testing.T) {
	c := testCatalog(t)
	own := []byte(`{"type":"object","required":["ok"]}`)
	for _, ok := range []struct{ tool, own, output string }{
		{"noop", "", `null`}, {"noop", "", `"text"`}, {"list", "", `{"names":[],"count":0}`}, {"list", string(own), `{"ok":1}`}, {"noop", string(own), `{"ok":null,"more":1}`},
	} {
		if err := c.CheckOutput(ok.tool, orNil(ok.own), []byte(ok.output)); err != nil {
			t.Errorf("%+v: got %v, want accepted", ok, err)
		}
	}
	for _, bad := range []struct{ tool, own, output string }{
		{"noop", "", `{`}, {"noop", "", ``}, {"list", "", `{"names":[1],"count":0}`}, {"list", "", `{"names":[],"count":0,"x":1}`}, {"noop", string(own), `{}`}, {"list", string(own), `{"names":[],"count":0}`},
	} {
		if err := c.CheckOutput(bad.tool, orNil(bad.own), []byte(bad.output)); err == nil {
			t.Errorf("%+v: got accepted, want an error", bad)
		}
	}
}

func orNil(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

func TestC10_ReachFollowsSchemasAsFarAsTheyAreClosed(t *testing.T) {
	for _, c := range []struct {
		schema, field string
		want          bool
	}{
		{`{"properties":{"a":{}}}`, "b", true},
		{`{"properties":{"a":{}},"additionalProperties":false}`, "b", false},
		{`{"properties":{"a":{}},"unevaluatedProperties":false}`, "b", false},
		{`{"anyOf":[{"properties":{"b":{}}}],"unevaluatedProperties":false}`, "b", true},
		{`{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`, "xy", true},
		{`{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`, "xy.z", false},
		{`{"additionalProperties":{"type":"array","items":{"type":"integer"}}}`, "k.3", true},
		{`{"additionalProperties":{"type":"array","items":{"type":"integer"}}}`, "k.v", false},
		{`{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, "0", true},
		{`{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, "1", false},
		{`{"type":"array","maxItems":2}`, "2", false},
		{`{"type":["object","null"],"properties":{"a":{}},"additionalProperties":false}`, "a", true},
		{`{"type":["array","object"]}`, "a.b.0", true},
		{`{"type":"string"}`, "a", false},
		{`{"type":"string"}`, "", true},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"}},"additionalProperties":false}}}`, "next.next.next", true},
		{`{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"}},"additionalProperties":false}}}`, "next.last", false},
		{`{"allOf":[{"type":"object"},{"properties":{"a":{"type":"object"}},"additionalProperties":false}]}`, "b", false},
		{`false`, "a", false},
	} {
		s, err := compileSchema(json.RawMessage(c.schema))
		if err != nil {
			t.Fatalf("compile %s: %v", c.schema, err)
		}
		path, _ := SplitPath(c.field)
		if _, got := reach(s.compiled, path); got != c.want {
			t.Errorf("%s in %s: got %v, want %v", c.field, c.schema, got, c.want)
		}
	}
}
