package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/engine/plan"
	"sluice/policy"
)

func TestP11a_ShippedToolsDeclareTheirEffectAndImpact(t *testing.T) {
	read := policy.Tool{Effect: policy.Read, Impact: policy.Observe}
	want := map[string]policy.Tool{
		"sysinfo": read, "disk_usage": read, "net_info": read, "process_list": read, "env_list": read,
		"git.find": read, "git.status": read, "git.log": read, "git.diff": read,
		"file.read": read, "file.list": read, "file.search": read,
		"compute":     {Effect: policy.Read, Pure: true},
		"mail.send":   {Effect: policy.Once, Impact: policy.Override, External: true, Sinks: []string{"body", "cc", "subject", "to"}},
		"file.write":  {Effect: policy.Idempotent, Impact: policy.Operate, Sinks: []string{"content", "path"}},
		"file.patch":  {Effect: policy.Once, Impact: policy.Operate, Sinks: []string{"append", "edits", "path"}},
		"file.delete": {Effect: policy.Once, Impact: policy.Override, Sinks: []string{"path"}},
	}
	catalog := newWorld(t, nil).registry.Catalog()
	if got := len(catalog.Names()); got != len(want) {
		t.Errorf("got %d tools, want %d: %v", got, len(want), catalog.Names())
	}
	for name, tool := range want {
		got, found := catalog.Lookup(name)
		if !found {
			t.Errorf("%s: not in the catalogue", name)
			continue
		}
		if got.Effect != tool.Effect || got.Impact != tool.Impact || got.External != tool.External || got.Pure != tool.Pure || got.ImpactOf != nil {
			t.Errorf("%s: got effect %s impact %d external %v pure %v, want %s %d", name, got.Effect, got.Impact, got.External, got.Pure, tool.Effect, tool.Impact)
		}
		if !slices.Equal(got.Sinks, tool.Sinks) {
			t.Errorf("%s: got sinks %v, want %v", name, got.Sinks, tool.Sinks)
		}
	}
}

// R46: the declared impact is what the gate ranks a call at, and at observe only
// reading passes.
func TestR46_AtObserveOnlyReadingPasses(t *testing.T) {
	w := newWorld(t, nil)
	for tool, rank := range map[string]policy.Rank{"file.read": policy.Observe, "file.write": policy.Operate, "file.patch": policy.Operate, "file.delete": policy.Override} {
		call := w.call(tool, `{"path":"x"}`)
		call.Intent = policy.Observe
		d := policy.Decide(w.policy, call)
		if isAllowed := d.Outcome == policy.Allow; d.Impact != rank || isAllowed != (rank == policy.Observe) {
			t.Errorf("%s at observe: got %s with impact %d, want impact %d", tool, d.Outcome, d.Impact, rank)
		}
	}
}

func TestP20_OnlyNumbersAndConstantsOfTheSystemAreTrusted(t *testing.T) {
	catalog := newWorld(t, nil).registry.Catalog()
	for _, name := range catalog.Names() {
		tool, _ := catalog.Lookup(name)
		fromFiles := strings.HasPrefix(name, "file.") || strings.HasPrefix(name, "git.")
		if fromFiles && len(tool.Trusted) > 0 {
			t.Errorf("%s: got trusted fields %v, want none: anybody can write files", name, tool.Trusted)
		}
		for _, field := range tool.Trusted {
			path, err := plan.SplitPath(field)
			if err != nil {
				t.Errorf("%s: trusted field %q: %v", name, field, err)
				continue
			}
			if !declares(t, tool.Output, path) {
				t.Errorf("%s: trusted field %q is not in its output", name, field)
			}
		}
	}
}

// declares says whether a schema of nested objects has the property.
func declares(t *testing.T, schema json.RawMessage, path []string) bool {
	t.Helper()
	for _, key := range path {
		var object struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(schema, &object); err != nil {
			t.Fatal(err)
		}
		found := false
		if schema, found = object.Properties[key]; !found {
			return false
		}
	}
	return true
}

func TestC12_DeclarationsAreComplete(t *testing.T) {
	catalog := newWorld(t, nil).registry.Catalog()
	for _, name := range catalog.Names() {
		tool, _ := catalog.Lookup(name)
		if len(tool.Summary) == 0 || len(tool.Summary) > 120 || strings.Contains(tool.Summary, "\n") {
			t.Errorf("%s: summary has %d bytes, want one line of 1 to 120", name, len(tool.Summary))
		}
		if tool.Timeout <= 0 || tool.Bytes <= 0 {
			t.Errorf("%s: timeout %v and cap %d, want both", name, tool.Timeout, tool.Bytes)
		}
		for side, schema := range map[string]json.RawMessage{"input": tool.Input, "output": tool.Output} {
			var read any
			if err := json.Unmarshal(schema, &read); err != nil {
				t.Errorf("%s: %s schema: %v", name, side, err)
				continue
			}
			checkSchema(t, name+" "+side, read, true)
		}
	}
}

// checkSchema wants every object closed and every property described.
func checkSchema(t *testing.T, at string, schema any, isRoot bool) {
	t.Helper()
	object := schema.(map[string]any)
	if object["type"] == "object" && object["additionalProperties"] != false {
		t.Errorf("%s: the object is open", at)
	}
	if isRoot && object["type"] != "object" {
		t.Errorf("%s: got type %v, want object", at, object["type"])
	}
	properties, _ := object["properties"].(map[string]any)
	for name, property := range properties {
		if text, _ := property.(map[string]any)["description"].(string); text == "" {
			t.Errorf("%s.%s: no description", at, name)
		}
		checkSchema(t, at+"."+name, property, false)
	}
	if items, found := object["items"]; found {
		checkSchema(t, at+"[]", items, false)
	}
}

// Every tool refuses what its schema refuses, without running.
func TestP8_UnknownParametersAreRefused(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range w.registry.Catalog().Names() {
		for _, params := range []string{`{"nonsense":1}`, `{"PATH":"x"}`, `{"path":7}`} {
			if w.registry.Catalog().CheckParams(name, []byte(params)) == nil {
				t.Errorf("%s %s: the schema accepts it", name, params)
			}
			w.refuse(name, params, Invalid)
		}
	}
}
