package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/policy"
)

// TestR42_RecordsAreBoundedAndWhole: whatever the steps gave, the records are
// JSON, together within the bound, and those of small outputs are untouched.
func TestR42_RecordsAreBoundedAndWhole(t *testing.T) {
	env := testEnv(t, nil)
	env.Models = testModels()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(rt, env)
		n := rapid.IntRange(1, 30).Draw(rt, "steps")
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"id":"s%d","tool":"look","params":{"n":%d}}`, i, i)
		}
		r.must(r.create(steps(list...)))
		text := rapid.SampledFrom([]string{"a", `\"`, "é", `\u0000`, "<", "😀"})
		for i := range list {
			size := rapid.IntRange(0, OutputBytesMax/len(list[0])).Draw(rt, "size")
			piece := text.Draw(rt, "piece")
			output := `{"v":"` + strings.Repeat(piece, min(size*len(list[0]), OutputBytesMax-10)/len(piece)) + `"}`
			r.done(fmt.Sprintf("s%d", i), output)
		}
		records := r.s.records()
		if len(records) != n || total(records) > RecordsBytesMax {
			rt.Fatalf("%d records of %d steps with %d bytes, want at most %d", len(records), n, total(records), RecordsBytesMax)
		}
		for i, record := range records {
			if !json.Valid(record) {
				rt.Fatalf("record %d is no JSON: %s", i, record)
			}
			whole, _ := r.s.ModelRecord(fmt.Sprintf("s%d", i))
			if len(whole) < 200 && string(whole) != string(record) {
				rt.Fatalf("a small record was cut: %s, was %s", record, whole)
			}
		}
	})
}

func TestR42_MoreStepsThanFit(t *testing.T) {
	list := make([][]byte, 2000)
	for i := range list {
		list[i] = fmt.Appendf(nil, `{"step":"s%d","tool":"look","status":"not run"}`, i)
	}
	got := bounded(list)
	last := string(got[len(got)-1])
	if want := fmt.Sprintf(`{"steps_not_shown":%d}`, 2000-len(got)+1); total(got) > RecordsBytesMax || last != want {
		t.Errorf("%d bytes, the last %s, want %s", total(got), last, want)
	}
}

// everyMarked is a run in which every kind of failure carries a marker.
func everyMarked(t *testing.T, mode string, intent policy.Rank) *rig {
	env := testEnv(t, noAsk)
	env.Models = testModels()
	r := newRig(t, env)
	in := r.create("")
	in.Mode, in.Intent = mode, intent
	r.must(in)
	down := r.planned()
	down.Class, down.Detail = ClassUnavailable, "MARKER"
	r.must(down)
	r.now += second
	r.must(&Timer{Head: r.head("system")})
	r.must(r.plannedSteps(`{"id":"a","tool":"look","retries":0},{"id":"b","tool":"look","params":{"n":1},"retries":0},{"id":"c","tool":"look","params":{"n":2},"retries":0},` +
		`{"id":"d","tool":"look","params":{"n":3}},{"id":"e","tool":"look","param_refs":{"x":{"step":"d","field":"MARKER"}}}`))
	for id, class := range map[string]Class{"a": ClassInvalid, "b": ClassUnavailable} {
		r.must(&AttemptDone{Head: Head{At: r.now, Actor: "tool:look"}, Node: id, Attempt: 1, Class: class, Detail: "MARKER"})
	}
	r.done("c", `{"MARKER":1}`) // misses its contract
	r.done("d", `{"v":1}`)
	murmur := r.concluded("", "")
	murmur.Class, murmur.Detail = ClassTransient, "MARKER"
	r.must(murmur)
	r.now += second
	r.must(&Timer{Head: r.head("system")})
	return r
}

// TestR40_DiagnosticsNeverReachAModel: a marker in any error text is in none of
// what the core gives to a model.
func TestR40_DiagnosticsNeverReachAModel(t *testing.T) {
	r := everyMarked(t, "reflect", policy.Operate)
	if n := strings.Count(logOf(r.facts), "MARKER"); n < 5 {
		t.Fatalf("the log has %d markers, want one of every failure", n)
	}
	seen := 0
	for _, c := range r.cmds {
		text := ""
		switch c := c.(type) {
		case Propose:
			text = fmt.Sprintf("%+v %s", c, slices.Concat(c.Records...))
		case Conclude:
			text = fmt.Sprintf("%+v %s", c, slices.Concat(c.Records...))
			seen += len(c.Records)
		default:
			continue
		}
		if strings.Contains(text, "MARKER") {
			t.Errorf("a diagnostic reaches a model: %s", text)
		}
	}
	if seen != 2*5 {
		t.Errorf("%d records were shown, want five twice", seen)
	}
}

// TestR41_ModelsKnowNeitherModeNorGate: the same question in other modes and at
// other intents is the same command, and it has no place for more.
func TestR41_ModelsKnowNeitherModeNorGate(t *testing.T) {
	questions := func(r *rig) string {
		var b strings.Builder
		for _, c := range r.cmds {
			switch c.(type) {
			case Propose, Conclude:
				fmt.Fprintf(&b, "%+v\n", c)
			}
		}
		return b.String()
	}
	want := questions(everyMarked(t, "reflect", policy.Operate))
	for _, mode := range []string{"reflect", "plan-once"} {
		for _, intent := range []policy.Rank{policy.Observe, policy.Override} {
			if got := questions(everyMarked(t, mode, intent)); got != want {
				t.Errorf("mode %s, intent %d: %s", mode, intent, firstDifference(got, want))
			}
		}
	}
	for _, c := range []any{Propose{}, Conclude{}} {
		for i := range reflect.TypeOf(c).NumField() {
			name := strings.ToLower(reflect.TypeOf(c).Field(i).Name)
			for _, word := range []string{"mode", "gate", "intent", "policy", "impact", "approval", "requester"} {
				if strings.Contains(name, word) {
					t.Errorf("%T has a field %s", c, name)
				}
			}
		}
	}
}
