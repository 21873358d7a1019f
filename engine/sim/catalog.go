package sim

import (
	"encoding/json"
	"fmt"
	"time"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// declare is short for a scripted tool: it answers with an object that has n.
func declare(name string, effect policy.Effect, impact policy.Rank) plan.Tool {
	return plan.Tool{
		Tool:  policy.Tool{Name: name, Effect: effect, Impact: impact},
		Input: json.RawMessage(`{"type":"object"}`), Output: json.RawMessage(`{"type":"object","required":["n"]}`),
		Timeout: 10 * time.Second, Bytes: 1 << 16,
	}
}

// Policies of a world: the one in force at the start and a stricter one.
type Policies struct{ Start, Strict *policy.Policy }

// NewEnv compiles what every world shares: the scripted tools and two policies.
func NewEnv() (engine.Env, Policies, error) {
	catalog, err := plan.NewCatalog([]plan.Tool{
		declare("look", policy.Read, policy.Observe), declare("write", policy.Idempotent, policy.Operate),
		declare("patch", policy.Once, policy.Operate), declare("erase", policy.Once, policy.Override), declare("secret", policy.Read, policy.Observe),
	})
	if err != nil {
		return engine.Env{}, Policies{}, fmt.Errorf("declare tools: %w", err)
	}
	doc := policy.Default()
	doc.Scopes = map[string]policy.Scope{"default": {Tools: []string{"look", "write", "patch", "erase"}}}
	doc.Clearance = []policy.ClearanceRule{clearanceOf("C1", "write")}
	start, err := policy.Compile(doc)
	if err != nil {
		return engine.Env{}, Policies{}, fmt.Errorf("compile policy: %w", err)
	}
	doc.KillSwitches = []string{"write"}
	doc.Clearance = append(doc.Clearance, clearanceOf("C2", "erase"))
	doc.Approvals.Rules = append(doc.Approvals.Rules, policy.ApprovalRule{ID: "A2", When: policy.When{Tools: []string{"patch"}},
		Per: "call", Quorum: 2, Roles: []string{"approver"}, ExpiresS: 3600})
	strict, err := policy.Compile(doc)
	if err != nil {
		return engine.Env{}, Policies{}, fmt.Errorf("compile stricter policy: %w", err)
	}
	env := engine.Env{Catalog: catalog, Pinned: start, Current: start, Planner: "builtin/1"}
	return env, Policies{Start: start, Strict: strict}, nil
}
