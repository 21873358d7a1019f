package tool

import (
	"context"
	"encoding/json"
	"testing"

	"sluice/policy"
)

// BenchmarkPerform measures what the door adds to a tool that does nothing.
func BenchmarkPerform(b *testing.B) {
	registry, err := New(Config{Workspace: b.TempDir(), Extra: []Extra{NoOp("test.noop")}})
	if err != nil {
		b.Fatal(err)
	}
	defer registry.Close()
	document := policy.Default()
	document.Scopes["default"] = policy.Scope{Tools: []string{"test.*"}}
	compiled, err := policy.Compile(document)
	if err != nil {
		b.Fatal(err)
	}
	declared, _ := registry.Catalog().Lookup("test.noop")
	jobs := make([]Job, b.N)
	for i := range jobs {
		c := policy.Call{Run: "r_1", Node: "n", Attempt: i + 1, Tool: declared.Tool, Known: true, Scopes: []string{"default"}, Requester: "user:1"}
		grant, d := policy.Authorise(compiled, compiled, c)
		if d.Outcome != policy.Allow {
			b.Fatalf("got %s: %v", d.Outcome, d.Reasons)
		}
		jobs[i] = Job{Grant: grant, Call: c, Params: json.RawMessage(`{}`)}
	}
	executor := NewExecutor(registry)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range jobs {
		if out := executor.Perform(context.Background(), jobs[i]); out.Class != OK {
			b.Fatalf("got %q, fault %v", out.Class, out.Fault)
		}
	}
}
