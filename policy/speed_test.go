package policy

import (
	"encoding/json"
	"testing"
	"time"
)

// callJSON is the call of the benchmarks as gate check reads it (P37).
const callJSON = `{"id":"1","tool":"file.write","params":{"content":"hello","path":"notes.txt"},"intent":"operate","scopes":["default"],"labels":{"/content":["user"],"/path":["user"]}}`

// TestR50_GateIsFasterThanAMillisecond: with the largest policy there can be,
// a thousand decisions take less than a second.
func TestR50_GateIsFasterThanAMillisecond(t *testing.T) {
	p := compiled(t, largest())
	c := callOf(Tool{Name: "no.such.tool", Impact: Operate})
	c.Known = true
	started := time.Now()
	for range 1000 {
		if d := Decide(p, c); d.Outcome != Deny {
			t.Fatalf("got %s, want deny", d.Outcome)
		}
	}
	if took := time.Since(started); took > time.Second {
		t.Errorf("got %v for 1,000 decisions, want under 1 ms each", took)
	}
}

// largest has as many entries of every kind as the limits allow, none of which
// matches, so that every one is looked at.
func largest() Document {
	d := Default()
	globs := many(EntriesMax, func(i int) string { return "x*y*" + string(rune('a'+i%26)) + "*" + string(rune('a'+i/26%26)) })
	scope := Scope{Tools: globs, Caps: map[string]Rank{}}
	for _, glob := range globs {
		scope.Caps[glob] = Operate
		d.Tools[glob] = ToolRule{Impact: rankOf(Override)}
	}
	delete(d.Tools, "file.delete")
	d.Scopes["default"], d.KillSwitches = scope, globs
	return d
}

func TestR50_AllowDoesNotAllocate(t *testing.T) {
	p, c := compiled(t, Default()), callOf(writer())
	if n := testing.AllocsPerRun(100, func() { Decide(p, c) }); n != 0 {
		t.Errorf("got %v allocations for an allow, want none", n)
	}
}

func BenchmarkDecideAllow(b *testing.B) {
	p, c := compiled(b, Default()), callOf(writer())
	b.ReportAllocs()
	for b.Loop() {
		Decide(p, c)
	}
}

func BenchmarkDecideAsk(b *testing.B) {
	p, c := compiled(b, Default()), callOf(deleter())
	b.ReportAllocs()
	for b.Loop() {
		Decide(p, c)
	}
}

func BenchmarkDecideApproved(b *testing.B) {
	p, c := compiled(b, Default()), approved(callOf(deleter()), "user:2")
	b.ReportAllocs()
	for b.Loop() {
		Decide(p, c)
	}
}

func BenchmarkAuthorise(b *testing.B) {
	p, c := compiled(b, Default()), callOf(writer())
	b.ReportAllocs()
	for b.Loop() {
		Authorise(p, p, c)
	}
}

func BenchmarkAuthoriseTwoPolicies(b *testing.B) {
	pinned, c := compiled(b, Default()), callOf(writer())
	current := edited(b, func(d *Document) { d.KillSwitches = []string{"mail.*"} })
	b.ReportAllocs()
	for b.Loop() {
		Authorise(pinned, current, c)
	}
}

// BenchmarkDecodeCall is what gate times are measured against (P47).
func BenchmarkDecodeCall(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var call struct {
			ID     string                     `json:"id"`
			Tool   string                     `json:"tool"`
			Params map[string]json.RawMessage `json:"params"`
			Intent string                     `json:"intent"`
			Scopes []string                   `json:"scopes"`
			Labels map[string][]Label         `json:"labels"`
		}
		if err := json.Unmarshal([]byte(callJSON), &call); err != nil {
			b.Fatal(err)
		}
	}
}
