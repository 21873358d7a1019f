package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/policy"
)

// ErrNotCompiled means that bytes are not the canonical form of a compiled plan.
var ErrNotCompiled = errors.New("not the canonical form of a compiled plan")

// stored mirrors the canonical form (encode.go).
type stored struct {
	Contract json.RawMessage `json:"contract"`
	Format   int             `json:"format"`
	Goal     string          `json:"goal"`
	MaxSteps int             `json:"max_steps"`
	Steps    []storedStep    `json:"steps"`
}

type storedStep struct {
	Approval  bool            `json:"approval"`
	Class     Class           `json:"class"`
	Deps      []storedDep     `json:"deps"`
	Effect    policy.Effect   `json:"effect"`
	Guard     *storedRef      `json:"guard"`
	ID        string          `json:"id"`
	Impact    policy.Rank     `json:"impact"`
	Join      Join            `json:"join"`
	Literals  []storedLiteral `json:"literals"`
	Refs      []storedRef     `json:"refs"`
	Retries   int             `json:"retries"`
	Schema    json.RawMessage `json:"schema"`
	TimeoutUS int64           `json:"timeout_us"`
	Tool      string          `json:"tool"`
	Why       string          `json:"why"`
}

type storedDep struct {
	From int  `json:"from"`
	Data bool `json:"data"`
}

type storedLiteral struct {
	Labels []policy.Label  `json:"labels"`
	Param  string          `json:"param"`
	Value  json.RawMessage `json:"value"`
}

// storedRef is a reference, or a guard, which has op and value besides.
type storedRef struct {
	Field    string          `json:"field"`
	From     int             `json:"from"`
	Op       string          `json:"op"`
	Param    string          `json:"param"`
	Template string          `json:"template"`
	Value    json.RawMessage `json:"value"`
}

// Load reads a compiled plan back from its canonical form. It needs no catalogue
// and gives what Compile gave, without findings. Bytes that Compile would not
// have written are refused with ErrNotCompiled.
func Load(canonical []byte) (*Compiled, error) {
	var s stored
	if err := json.Unmarshal(canonical, &s); err != nil {
		return nil, fmt.Errorf("load plan: %w: %w", ErrNotCompiled, err)
	}
	if len(s.Steps) > StepsMax {
		return nil, fmt.Errorf("load plan: %w: %d steps", ErrNotCompiled, len(s.Steps))
	}
	c := &Compiled{Goal: s.Goal, MaxSteps: s.MaxSteps, Contract: given(s.Contract), Steps: make([]CompiledStep, len(s.Steps))}
	for i := range s.Steps {
		step, err := s.Steps[i].load(i, s.Steps)
		if err != nil {
			return nil, fmt.Errorf("load plan: step %d: %w", i, err)
		}
		c.Steps[i] = step
	}
	linkNext(c.Steps)
	if len(kahn(c.Steps)) != len(c.Steps) {
		return nil, fmt.Errorf("load plan: %w: it has a cycle", ErrNotCompiled)
	}
	c.ends()
	// The encoder has one form for each plan: what it writes differently was
	// not written by it.
	c.Canonical = c.encode()
	if !bytes.Equal(c.Canonical, canonical) {
		return nil, fmt.Errorf("load plan: %w", ErrNotCompiled)
	}
	c.Hash = hashOf(c.Canonical)
	return c, nil
}

// given is a schema where one is stated; no schema is null. What has no
// canonical form is left out, which the comparison with the original shows.
func given(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return nil
	}
	return canonical
}

func (s *storedStep) load(i int, all []storedStep) (CompiledStep, error) {
	step := CompiledStep{
		ID: s.ID, Index: i, Tool: s.Tool, Class: s.Class, Effect: s.Effect, Impact: s.Impact, Join: s.Join,
		Approval: s.Approval, Timeout: time.Duration(s.TimeoutUS) * time.Microsecond, Retries: s.Retries, Why: s.Why, Schema: given(s.Schema),
	}
	isJoin := s.Join == AllOf || s.Join == AnyOf || s.Join == AllDone
	if !isID(s.ID) || !isClass(s.Class) || !isEffect(s.Effect) || !isJoin || s.Retries < 0 || s.Retries > retriesMax || s.TimeoutUS <= 0 {
		return step, ErrNotCompiled
	}
	for _, d := range s.Deps {
		step.Deps = append(step.Deps, Dep(d))
	}
	for _, l := range s.Literals {
		value, err := Canonical(l.Value)
		if err != nil {
			return step, fmt.Errorf("%w: %w", ErrNotCompiled, err)
		}
		step.Literals = append(step.Literals, Literal{Param: l.Param, Value: value, Labels: l.Labels, Source: literalSource(i, l.Param)})
	}
	if err := step.checkDeps(len(all)); err != nil {
		return step, err
	}
	return step, s.loadRefs(&step, all)
}

// loadRefs rebuilds references and guard. Each must be among the data edges:
// a run looks there for what it has to wait for.
func (s *storedStep) loadRefs(step *CompiledStep, all []storedStep) error {
	for _, r := range s.Refs {
		if !step.reads(r.From) {
			return ErrNotCompiled
		}
		ref := newRef(r.Param, r.From, Ref{Step: all[r.From].ID, Field: r.Field, Template: r.Template})
		step.Refs = append(step.Refs, ref)
	}
	if g := s.Guard; g != nil {
		if !step.reads(g.From) || guardProblem(g.Op, g.Value) != "" {
			return ErrNotCompiled
		}
		step.Guard = newGuard(g.From, &Guard{Ref: Ref{Step: all[g.From].ID, Field: g.Field}, Op: g.Op, Value: g.Value})
	}
	return nil
}

func (s *CompiledStep) checkDeps(count int) error {
	for k, d := range s.Deps {
		if d.From < 0 || d.From >= count || d.From == s.Index || k > 0 && s.Deps[k-1].From >= d.From {
			return ErrNotCompiled
		}
	}
	return nil
}

func (s *CompiledStep) reads(from int) bool {
	return slices.Contains(s.Deps, Dep{From: from, Data: true})
}
