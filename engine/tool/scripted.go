package tool

import (
	"context"
	"encoding/json"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// Extra is a tool brought in through Config.Extra. It runs like a shipped one:
// only through Open.
type Extra struct {
	entry entry
}

// Scripted makes an extra tool from a declaration and a function. The name
// given wins over the declaration's.
func Scripted(name string, decl plan.Tool, fn Func) Extra {
	decl.Name = name
	if decl.Timeout == 0 {
		decl.Timeout = scriptedTimeout
	}
	return Extra{entry: entry{decl: decl, run: fn}}
}

// scriptedTimeout holds for a scripted tool that declares none.
const scriptedTimeout = 30 * time.Second

// NoOp makes a pure tool that takes any parameters and answers {}: the node of
// an engine benchmark.
func NoOp(name string) Extra {
	decl := plan.Tool{
		Tool:    policy.Tool{Effect: policy.Read, Pure: true, Impact: policy.Observe},
		Summary: "Does nothing and answers an empty object.",
		Input:   json.RawMessage(`{"type":"object"}`),
		Output:  json.RawMessage(`{"type":"object"}`),
	}
	return Scripted(name, decl, func(context.Context, Request) ([]byte, error) {
		return []byte(`{}`), nil
	})
}
