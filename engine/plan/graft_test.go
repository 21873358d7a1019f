package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func grafted(t *testing.T, old *Compiled, doc string, env Env) (*Compiled, []Finding) {
	t.Helper()
	env.Author = Model
	return Graft(old, mustParse(t, doc), env)
}

// TestR58_AGraftLeavesWhatIsThereAsItIs: the old steps byte for byte and in their
// places, labels included, whoever wrote the new ones.
func TestR58_AGraftLeavesWhatIsThereAsItIs(t *testing.T) {
	env := testEnv(t)
	env.Author = Person
	old := mustCompile(t, steps(`{"id":"a","tool":"noop","params":{"n":1},"retries":1,"timeout_s":2.5},`+`{"id":"b","tool":"noop","depends_on":["a"],"join":"all_done"}`), env)
	got, findings := grafted(t, old, steps(`{"id":"c","tool":"noop","params":{"n":3},"depends_on":["a","b"]}`), env)
	if got == nil {
		t.Fatalf("refused:%s", show(findings))
	}
	if !got.Extends(old) || len(got.Steps) != 3 || !slices.Equal(got.Steps[0].Next, []int{1, 2}) {
		t.Errorf("got %s, want %s and one more", got.Canonical, old.Canonical)
	}
	if label := got.Steps[2].Literals[0].Labels; fmt.Sprint(label) != "[untrusted]" || fmt.Sprint(got.Steps[0].Literals[0].Labels) != "[user]" {
		t.Errorf("labels %v and %v", label, got.Steps[0].Literals[0].Labels)
	}
	back, err := Load(got.Canonical)
	if err != nil || back.Hash != got.Hash {
		t.Errorf("the graft cannot be loaded: %v", err)
	}
	if old.Extends(got) {
		t.Error("the shorter plan extends the longer one")
	}
	changed := mustCompile(t, steps(`{"id":"a","tool":"noop","params":{"n":2},"retries":1,"timeout_s":2.5},{"id":"b","tool":"noop","depends_on":["a"],"join":"all_done"}`), env)
	if changed.Extends(old) {
		t.Error("a plan with other parameters extends the old one")
	}
}

// TestR58_WhatAGraftMayNot is refused with pointers into the added document.
func TestR58_WhatAGraftMayNot(t *testing.T) {
	env := testEnv(t)
	old := mustCompile(t, steps(`{"id":"a","tool":"noop"},`+`{"id":"b","tool":"noop","params":{"n":2},"depends_on":["a"]}`), env)
	for _, x := range []struct{ name, doc, rule, pointer string }{
		{"an id that is taken", steps(`{"id":"c","tool":"noop","params":{"n":3}},` + `{"id":"a","tool":"noop","params":{"n":4}}`), "C17", "/steps/1/id"},
		{"a call that was made", steps(`{"id":"c","tool":"noop"}`), "C17", "/steps/0"},
		{"an unknown tool", steps(`{"id":"c","tool":"nope"}`), "C10", "/steps/0/tool"},
		{"a step that is nowhere", steps(`{"id":"c","tool":"noop","params":{"n":3},"depends_on":["x"]}`), "C10", "/steps/0/depends_on/0"},
		{"a cycle", steps(`{"id":"c","tool":"noop","params":{"n":3},"depends_on":["d"]},` + `{"id":"d","tool":"noop","params":{"n":4},"depends_on":["c"]}`), "C01", "/steps/0/depends_on/0"},
	} {
		got, findings := grafted(t, old, x.doc, env)
		at := slices.IndexFunc(findings, func(f Finding) bool { return f.Rule == x.rule && f.Pointer == x.pointer })
		if got != nil || at < 0 {
			t.Errorf("%s: got %v with%s, want %s at %s", x.name, got != nil, show(findings), x.rule, x.pointer)
		}
	}
	if got, findings := Graft(old, &Plan{Format: Format}, env); got != nil || len(findings) != 1 {
		t.Errorf("no step to add: got %v with%s", got != nil, show(findings))
	}
	env.Limits.Steps = 2
	if got, findings := grafted(t, old, steps(`{"id":"c","tool":"noop","params":{"n":3}}`), env); got != nil || findings[0].Rule != "C07" {
		t.Errorf("more steps than the profile allows: got %v with%s", got != nil, show(findings))
	}
}

// TestR58_RandomGrafts: what comes of a graft is what compiling the whole gives,
// and every old step is in it unchanged.
func TestR58_RandomGrafts(t *testing.T) {
	env := testEnv(t)
	rapid.Check(t, func(rt *rapid.T) {
		var ids []string
		draw := func(n int) string {
			list := make([]string, n)
			for k := range list {
				id := fmt.Sprintf("s%d", len(ids))
				deps := ""
				for range rapid.IntRange(0, min(len(ids), 3)).Draw(rt, "deps") {
					deps += `,"` + rapid.SampledFrom(ids).Draw(rt, "dep") + `"`
				}
				join := ""
				if deps != "" {
					join = rapid.SampledFrom([]string{"", `,"join":"all_of"`, `,"join":"all_done"`}).Draw(rt, "join")
				}
				list[k] = fmt.Sprintf(`{"id":"%s","tool":"noop","params":{"n":%d},"depends_on":[%s]%s}`, id, len(ids), strings.TrimPrefix(deps, ","), join)
				ids = append(ids, id)
			}
			return strings.Join(list, ",")
		}
		first := draw(rapid.IntRange(1, 8).Draw(rt, "old"))
		parse := func(doc string) *Plan {
			p, findings := Parse([]byte(steps(doc)))
			if p == nil {
				rt.Fatalf("%s:%s", doc, show(findings))
			}
			return p
		}
		old, _ := Compile(parse(first), env)
		more := draw(rapid.IntRange(1, 8).Draw(rt, "new"))
		got, findings := Graft(old, parse(more), env)
		if got == nil {
			rt.Fatalf("refused:%s", show(findings))
		}
		whole, _ := Compile(parse(first+","+more), env)
		if !got.Extends(old) || !bytes.Equal(got.Canonical, whole.Canonical) {
			rt.Fatalf("got %s\nwant %s", got.Canonical, whole.Canonical)
		}
	})
}
