package plan

import (
	"fmt"
	"time"

	"sluice/policy"
)

// Compiled is an immutable, checked, normalised plan. Steps keep the order of
// the document; every index below is a position in Steps.
type Compiled struct {
	Hash      string // "sha256:" + hex over Canonical
	Canonical []byte // RFC 8785 JSON of the normalised plan; Load reads it back
	Goal      string
	MaxSteps  int    // 0: not stated
	Contract  []byte // the plan's own contract, nil: all exits executed (P10); see CheckContract
	Steps     []CompiledStep
	Entries   []int     // steps without predecessors
	Exits     []int     // steps without successors
	Findings  []Finding // of compiling: warnings and P12; not part of Canonical
}

// CheckContract validates a finished run against the plan's own contract:
// outputs is the JSON object of the executed exits' verified outputs by step
// id. A plan that states no contract accepts everything.
func (c *Compiled) CheckContract(outputs []byte) error {
	if c.Contract == nil {
		return nil
	}
	s, err := compilePlanSchema(c.Contract)
	if err != nil {
		return fmt.Errorf("check the plan's contract: %w", err)
	}
	if err := s.check(outputs); err != nil {
		return fmt.Errorf("check the plan's contract: %w", err)
	}
	return nil
}

// CompiledStep is one step with everything derived.
type CompiledStep struct {
	ID       string
	Index    int
	Tool     string
	Class    Class
	Effect   policy.Effect
	Impact   policy.Rank // the most the step can have, as far as known at compile
	Join     Join
	Deps     []Dep // sorted by From; one per predecessor
	Next     []int // successors, ascending
	Literals []Literal
	Refs     []CompiledRef // sorted by Param
	Guard    *CompiledGuard
	Approval bool
	Timeout  time.Duration
	Retries  int
	Why      string
	Schema   []byte // the step's own output schema, nil when the tool's holds
}

// Dep is one predecessor. Data is true when a reference or guard reads it: such
// an edge needs it executed whatever the join says (R22).
type Dep struct {
	From int
	Data bool
}

// Literal is a parameter the plan states, canonical since compile (P18).
type Literal struct {
	Param  string
	Value  []byte
	Labels []policy.Label
	Source string // "plan:/steps/0/params/path"
}

// CompiledRef is a reference with its path split.
type CompiledRef struct {
	Param    string
	From     int
	Field    string // as written, for people
	Path     []string
	Template string // "" inserts the value itself
	Source   string // "step:cal/slots.0.start"
}

// CompiledGuard is a guard with its reference resolved.
type CompiledGuard struct {
	From  int
	Field string
	Path  []string
	Op    string
	Value []byte // canonical JSON
}
