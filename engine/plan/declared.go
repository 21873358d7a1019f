package plan

import (
	"encoding/json"

	"sluice/policy"
)

// Declared writes a compiled plan as somebody would write it in form 1, to be
// edited: what the compiler filled in from a tool's declaration is left out.
// Compiled against the same catalogue it gives a plan of the same hash.
func (c *Compiled) Declared(catalog *Catalog) *Plan {
	p := &Plan{Format: Format, Goal: c.Goal, MaxSteps: c.MaxSteps, Steps: make([]Step, len(c.Steps))}
	if c.Contract != nil {
		p.Contract = &Contract{Schema: c.Contract}
	}
	for i := range c.Steps {
		p.Steps[i] = c.declared(i, catalog)
	}
	return p
}

func (c *Compiled) declared(i int, catalog *Catalog) Step {
	from := &c.Steps[i]
	s := Step{ID: from.ID, Tool: from.Tool, Approval: from.Approval, Why: from.Why}
	if from.Join != AllOf {
		s.Join = from.Join
	}
	for k := range from.Literals {
		if s.Params == nil {
			s.Params = map[string]json.RawMessage{}
		}
		s.Params[from.Literals[k].Param] = from.Literals[k].Value
	}
	for k := range from.Refs {
		if s.Refs == nil {
			s.Refs = map[string]Ref{}
		}
		r := &from.Refs[k]
		s.Refs[r.Param] = Ref{Step: c.Steps[r.From].ID, Field: r.Field, Template: r.Template}
	}
	for _, d := range from.Deps {
		if !d.Data {
			s.DependsOn = append(s.DependsOn, c.Steps[d.From].ID)
		}
	}
	if g := from.Guard; g != nil {
		s.Guard = &Guard{Ref: Ref{Step: c.Steps[g.From].ID, Field: g.Field}, Op: g.Op, Value: g.Value}
	}
	if from.Schema != nil {
		s.Contract = &Contract{Schema: from.Schema}
	}
	if tool, ok := catalog.Lookup(from.Tool); !ok || tool.Timeout != from.Timeout {
		seconds := from.Timeout.Seconds()
		s.TimeoutS = &seconds
	}
	if isUsual := from.Effect == policy.Once && from.Retries == 0 || from.Effect != policy.Once && from.Retries == retriesDefault; !isUsual {
		retries := from.Retries
		s.Retries = &retries
	}
	return s
}
