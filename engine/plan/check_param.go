package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/policy"
)

// checkParams canonicalises and labels the literals of a step and type-checks
// them against the tool's schema (C10), as far as references leave them known.
func (c *compiler) checkParams(i int) {
	declared, s := &c.plan.Steps[i], &c.steps[i]
	if g := declared.Guard; g != nil && g.Value != nil {
		if _, err := Canonical(g.Value); err != nil {
			c.at(i).refuse("P08", fmt.Sprintf("The value cannot be used: %s.", err), "Write it otherwise.", "guard", "value")
		}
	}
	isWhole := true
	for _, name := range sortedKeys(declared.Params) {
		value, err := Canonical(declared.Params[name])
		if err != nil {
			isWhole = false
			c.at(i).refuse("P08", fmt.Sprintf("The value of %s cannot be used: %s.", quote(name), err), "Write it otherwise.", "params", name)
			continue
		}
		s.Literals = append(s.Literals, Literal{Param: name, Value: value, Labels: c.labels(i, name), Source: literalSource(i, name)})
	}
	if e := c.entries[i]; e != nil {
		s.Impact = impactOf(&e.Tool, s)
		c.checkWritten(i, e.Literal)
		if isWhole && e.input != nil {
			c.checkInput(i, e.input)
		}
	}
}

// labels are where a literal comes from (P20). A model's words count as
// untrusted: nobody says here what it had read before it wrote them.
func (c *compiler) labels(i int, name string) []policy.Label {
	switch c.env.Author {
	case Model:
		return []policy.Label{policy.LabelUntrusted}
	case Builtin:
		stated, ok := c.plan.Steps[i].Labels[name]
		if !ok {
			return []policy.Label{policy.LabelConstant}
		}
		if label := policy.Label(stated); isLabel(label) {
			return []policy.Label{label}
		}
		return []policy.Label{policy.LabelUntrusted}
	}
	// What a template fixed is not the word of the person who runs it.
	switch stated := policy.Label(c.plan.Steps[i].Labels[name]); stated {
	case policy.LabelConstant, policy.LabelUntrusted:
		return []policy.Label{stated}
	}
	return []policy.Label{policy.LabelUser}
}

func isLabel(l policy.Label) bool {
	switch l {
	case policy.LabelUser, policy.LabelConstant, policy.LabelTrusted, policy.LabelUntrusted:
		return true
	}
	return false
}

// impactOf is the most a step can have: of its literals when they are all, else
// of its tool (P11). What is not known ranks highest (R46).
func impactOf(t *Tool, s *CompiledStep) policy.Rank {
	rank, isKnown := t.Impact, true
	if t.ImpactOf != nil && len(s.Refs) == 0 {
		rank, isKnown = t.ImpactOf(s.params())
	}
	if !isKnown || rank < policy.Observe || rank > policy.RankMax {
		return policy.RankMax
	}
	return rank
}

// params are the literals as the gate sees them.
func (s *CompiledStep) params() []policy.Param {
	if len(s.Literals) == 0 {
		return nil
	}
	params := make([]policy.Param, len(s.Literals))
	for k := range s.Literals {
		l := &s.Literals[k]
		params[k] = policy.Param{Name: l.Param, Value: l.Value, Labels: l.Labels, Source: l.Source}
	}
	return params
}

// checkInput validates the whole parameters when all are literals. Otherwise,
// and to say which parameter is wrong, it validates each literal by itself.
func (c *compiler) checkInput(i int, input *schema) {
	s := &c.steps[i]
	if input.compiled == nil {
		return
	}
	var whole []problem
	if len(s.Refs) == 0 {
		var err error
		whole, err = input.problems(Splice(s.params()))
		if err == nil && len(whole) == 0 {
			return
		}
	}
	before := len(c.found.list) + c.found.more
	top := layers(input.compiled)
	for k := range s.Literals {
		c.checkLiteral(i, &s.Literals[k], top)
	}
	for k := range s.Refs {
		c.checkRefType(i, &s.Refs[k], top)
	}
	c.checkRequired(i, top)
	if len(c.found.list)+c.found.more > before {
		return
	}
	for _, p := range whole {
		c.at(i).refuse("C10", fmt.Sprintf("The parameters do not fit the tool %s: %s.", s.Tool, p), "Correct them.", c.paramsParts(i, p.at)...)
	}
}

// checkWritten refuses references into what is read as a program: a value is
// inserted as data, never as text to be parsed (design §3).
func (c *compiler) checkWritten(i int, literal []string) {
	for k := range c.steps[i].Refs {
		ref := &c.steps[i].Refs[k]
		if slices.Contains(literal, ref.Param) {
			c.at(i).refuse("C10", fmt.Sprintf("The parameter %s of the tool %s must be written in the plan: it is read as a program, and a program does not come from another step.", quote(ref.Param), c.steps[i].Tool),
				"Write it under params, and give values to it by another parameter.", "param_refs", ref.Param)
		}
	}
}

func (c *compiler) paramsParts(i int, at []string) []string {
	if len(c.plan.Steps[i].Params) == 0 {
		return nil
	}
	return append([]string{"params"}, at...)
}

func (c *compiler) checkLiteral(i int, l *Literal, top []*jsonschema.Schema) {
	value, err := decode(l.Value)
	if err != nil {
		return
	}
	for _, layer := range top {
		schemas, isAllowed := property(layer, l.Param)
		if !isAllowed {
			c.refuseParam(i, "params", l.Param)
			return
		}
		for _, s := range schemas {
			for _, p := range validate(s, value) {
				c.at(i).refuse("C10", fmt.Sprintf("The parameter %s does not fit the tool %s: %s.", quote(l.Param), c.steps[i].Tool, p), "Correct the value.", append([]string{"params", l.Param}, p.at...)...)
			}
		}
	}
}

func (c *compiler) refuseParam(i int, key, name string) {
	c.at(i).refuse("C10", fmt.Sprintf("The tool %s has no parameter %s.", c.steps[i].Tool, quote(name)), "Remove it, or use the name that the tool declares.", key, name)
}

// checkRequired wants every required parameter as a literal or a reference.
func (c *compiler) checkRequired(i int, top []*jsonschema.Schema) {
	declared := &c.plan.Steps[i]
	for _, layer := range top {
		for _, name := range layer.Required {
			_, isLiteral := declared.Params[name]
			_, isRef := declared.Refs[name]
			if !isLiteral && !isRef {
				c.at(i).refuse("C10", fmt.Sprintf("The tool %s needs the parameter %s.", c.steps[i].Tool, quote(name)), "State it, or take it from another step by param_refs.", c.paramsParts(i, nil)...)
			}
		}
	}
}

// checkRefType wants the parameter to exist and its type to fit what the
// referenced field can be; a template always makes a string.
func (c *compiler) checkRefType(i int, ref *CompiledRef, top []*jsonschema.Schema) {
	have := []string{"string"}
	if ref.Template == "" {
		have = c.typesAt(ref.From, ref.Path)
	}
	for _, layer := range top {
		schemas, isAllowed := property(layer, ref.Param)
		if !isAllowed {
			c.refuseParam(i, "param_refs", ref.Param)
			return
		}
		var want []string
		for _, s := range schemas {
			want = append(want, typesOf(layers(s))...)
		}
		if want == nil || have == nil || slices.ContainsFunc(have, func(t string) bool { return fits(want, t) }) {
			continue
		}
		c.at(i).refuse("C10", fmt.Sprintf("The parameter %s of the tool %s takes %s, the reference gives %s.", quote(ref.Param), c.steps[i].Tool, strings.Join(want, " or "), strings.Join(have, " or ")), "Reference another field, or use a template to make a string.", "param_refs", ref.Param)
		return
	}
}

// typesAt are the types that a field of a step's output can have; nil: any.
func (c *compiler) typesAt(from int, path []string) []string {
	s := c.outputSchema(from)
	if s == nil || s.compiled == nil {
		return nil
	}
	types, _ := reach(s.compiled, path)
	return types
}

// checkReferences follows every path into the output that its step declares:
// where that is closed, the field must exist (C10).
func (c *compiler) checkReferences(i int) {
	s := &c.steps[i]
	for k := range s.Refs {
		ref := &s.Refs[k]
		if !c.hasField(ref.From, ref.Path) {
			c.refuseField(i, ref.From, ref.Field, "param_refs", ref.Param, "field")
		}
	}
	if g := s.Guard; g != nil && !c.hasField(g.From, g.Path) {
		c.refuseField(i, g.From, g.Field, "guard", "ref", "field")
	}
}

func (c *compiler) refuseField(i, from int, field string, parts ...string) {
	c.at(i).refuse("C10", fmt.Sprintf("The output of %s has no field %s.", quote(c.plan.Steps[from].ID), quote(field)), "Name a field that its output declares.", parts...)
}

func (c *compiler) hasField(from int, path []string) bool {
	s := c.outputSchema(from)
	if s == nil || s.compiled == nil {
		return true
	}
	_, ok := reach(s.compiled, path)
	return ok
}

// outputSchema is what a step's output must satisfy: its own contract, or the
// tool's declaration. nil: not known.
func (c *compiler) outputSchema(i int) *schema {
	if own := c.steps[i].Schema; own != nil {
		return c.ownSchema(own)
	}
	if c.entries[i] == nil {
		return nil
	}
	return c.entries[i].output
}

func (c *compiler) ownSchema(raw json.RawMessage) *schema {
	if s, ok := c.own[string(raw)]; ok {
		return s
	}
	// One that does not compile was refused with the form.
	s, _ := compilePlanSchema(raw)
	c.own[string(raw)] = s
	return s
}
