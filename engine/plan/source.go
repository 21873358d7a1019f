package plan

import (
	"encoding/json"
	"slices"

	"sluice/policy"
)

// Source writes a compiled plan as form 1 (P8), for people to read and change.
// What normalisation filled in (P10) is left out again where the catalogue
// would fill in the same; compiling the result gives an equal plan. catalog may
// be nil.
func (c *Compiled) Source(catalog *Catalog) *Plan {
	p := &Plan{Format: Format, Goal: c.Goal, MaxSteps: c.MaxSteps, Steps: make([]Step, len(c.Steps))}
	if c.Contract != nil {
		p.Contract = &Contract{Schema: c.Contract}
	}
	for i := range c.Steps {
		p.Steps[i] = c.source(i, catalog)
	}
	return p
}

func (c *Compiled) source(i int, catalog *Catalog) Step {
	from := &c.Steps[i]
	s := Step{ID: from.ID, Tool: from.Tool, Approval: from.Approval, Why: from.Why}
	if from.Join != AllOf {
		s.Join = from.Join
	}
	if from.Schema != nil {
		s.Contract = &Contract{Schema: from.Schema}
	}
	for _, l := range from.Literals {
		if s.Params == nil {
			s.Params = map[string]json.RawMessage{}
		}
		s.Params[l.Param] = l.Value
	}
	for _, r := range from.Refs {
		if s.Refs == nil {
			s.Refs = map[string]Ref{}
		}
		s.Refs[r.Param] = Ref{Step: c.Steps[r.From].ID, Field: r.Field, Template: r.Template}
	}
	if g := from.Guard; g != nil {
		s.Guard = &Guard{Ref: Ref{Step: c.Steps[g.From].ID, Field: g.Field}, Op: g.Op, Value: g.Value}
	}
	for _, d := range from.Deps {
		if !d.Data { // a reference or guard says the others
			s.DependsOn = append(s.DependsOn, c.Steps[d.From].ID)
		}
	}
	s.state(from, catalog)
	return s
}

// state writes timeout and retries where they are not what the tool gives.
func (s *Step) state(from *CompiledStep, catalog *Catalog) {
	retries := retriesDefault
	if from.Effect == policy.Once {
		retries = 0
	}
	if from.Retries != retries {
		s.Retries = &from.Retries
	}
	if catalog != nil {
		if tool, ok := catalog.Lookup(from.Tool); ok && tool.Timeout == from.Timeout {
			return
		}
	}
	seconds := from.Timeout.Seconds()
	s.TimeoutS = &seconds
}

// Untrusted says whether a step's parameter is a literal that nobody vouches for:
// a model wrote it (P20).
func (c *Compiled) Untrusted(step, param string) bool {
	for i := range c.Steps {
		for j := range c.Steps[i].Literals {
			if l := &c.Steps[i].Literals[j]; c.Steps[i].ID == step && l.Param == param {
				return slices.Contains(l.Labels, policy.LabelUntrusted)
			}
		}
	}
	return false
}
