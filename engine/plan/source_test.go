package plan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// A person edits what Source writes, so it has to be the plan and nothing else.
func TestP10_SourceCompilesToTheSamePlan(t *testing.T) {
	compiled := 0
	rapid.Check(t, func(rt *rapid.T) {
		env := testEnv(t)
		c, _ := Compile(randomPlan(rt), env)
		if c == nil {
			return
		}
		compiled++
		doc, err := json.Marshal(c.Source(env.Catalog))
		if err != nil {
			rt.Fatal(err)
		}
		again, findings := Check(doc, env)
		if again == nil || !bytes.Equal(again.Canonical, c.Canonical) {
			rt.Fatalf("%s\nfrom %s\ngives another plan: %s", doc, c.Canonical, show(findings))
		}
		if d := Compare(c, again); !reflect.DeepEqual(d, Diff{}) {
			rt.Fatalf("a plan differs from itself: %+v", d)
		}
	})
	if compiled < 10 {
		t.Errorf("only %d plans compiled", compiled)
	}
}

func TestP10_SourceStatesOnlyWhatDiffers(t *testing.T) {
	env := testEnv(t)
	c := mustCompile(t, steps(`{"id":"a","tool":"list","params":{"path":"x"}},
		{"id":"b","tool":"write","params":{"path":"y"},"param_refs":{"text":{"step":"a","field":"names.0"}},"timeout_s":3,"retries":1,"depends_on":["a"]}`), env)
	got, err := json.Marshal(c.Source(env.Catalog))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format":1,"goal":"g","steps":[{"id":"a","tool":"list","params":{"path":"x"}},` +
		`{"id":"b","tool":"write","params":{"path":"y"},"param_refs":{"text":{"step":"a","field":"names.0"}},"timeout_s":3,"retries":1}]}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestR57_CompareNamesWhatChanged(t *testing.T) {
	env := testEnv(t)
	a := mustCompile(t, steps(`{"id":"a","tool":"noop","params":{"n":1}},{"id":"b","tool":"noop","params":{"n":2}},{"id":"c","tool":"noop","depends_on":["b"],"params":{"n":3}}`), env)
	b := mustCompile(t, steps(`{"id":"new","tool":"noop"},{"id":"c","tool":"noop","depends_on":["b"],"params":{"n":3}},{"id":"b","tool":"noop","params":{"n":4}}`), env)
	want := Diff{Added: []string{"new"}, Removed: []string{"a"}, Changed: []string{"b"}}
	if got := Compare(a, b); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Compare(nil, a); len(got.Added) != 3 || got.Removed != nil || got.Changed != nil {
		t.Errorf("got %+v, want three added", got)
	}
}
