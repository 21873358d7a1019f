package template

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/plan"
)

// Check compiles a template against a catalogue and gives what refuses it: such
// a template is shown, not offered. A slot without a default is tried with a
// stand-in, so findings about that very value do not count.
func (t *Template) Check(catalog *plan.Catalog) []plan.Finding {
	trial := *t
	trial.Slots = slices.Clone(t.Slots)
	trial.patterns = make([]*regexp.Regexp, len(t.Slots))
	standIn := map[string]bool{}
	for i := range trial.Slots {
		s := &trial.Slots[i]
		if s.Default == nil {
			standIn[s.Name] = true
			s.Default = s.sample()
		}
		s.Enum, s.Pattern, s.Min, s.Max = nil, "", nil, nil
	}
	var refused []plan.Finding
	for _, p := range places(t.Plan) {
		if finding, is := t.inProgram(p, catalog); is {
			refused = append(refused, finding)
		}
	}
	p, found := trial.Instantiate(nil)
	for _, f := range found {
		refused = append(refused, plan.Finding{Rule: "R103", Severity: plan.Error, Pointer: f.Pointer, Message: f.Message, Fix: f.Fix})
	}
	if p == nil {
		return refused
	}
	_, findings := plan.Compile(p, plan.Env{Catalog: catalog, Author: plan.Person})
	for _, f := range findings {
		if f.Severity == plan.Error && !t.aboutStandIn(f.Pointer, standIn) {
			refused = append(refused, f)
		}
	}
	return refused
}

// inProgram refuses a slot in a parameter that its tool reads as a program: a
// value would be code there.
func (t *Template) inProgram(p place, catalog *plan.Catalog) (plan.Finding, bool) {
	step := &t.Plan.Steps[p.step]
	tool, known := catalog.Lookup(step.Tool)
	if !known || p.param == "" || !slices.Contains(tool.Literal, p.param) || len(uses(p.value(t.Plan))) == 0 {
		return plan.Finding{}, false
	}
	return plan.Finding{Rule: "R103", Severity: plan.Error, Step: step.ID, Pointer: p.pointer,
		Message: "The parameter " + p.param + " is a program; a slot in it would let values change what it does.",
		Fix:     "Hand the value to the program as data."}, true
}

func (t *Template) aboutStandIn(pointer string, standIn map[string]bool) bool {
	for _, p := range places(t.Plan) {
		if pointer != p.pointer && !strings.HasPrefix(pointer, p.pointer+"/") {
			continue
		}
		for _, u := range uses(p.value(t.Plan)) {
			if standIn[u.name] {
				return true
			}
		}
	}
	return false
}

// sample is a value that stands in for one that is not known.
func (s *Slot) sample() json.RawMessage {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.Type {
	case Integer, Number:
		switch {
		case s.Min != nil:
			return json.RawMessage(strconv.FormatFloat(*s.Min, 'f', -1, 64))
		case s.Max != nil && *s.Max < 1:
			return json.RawMessage(strconv.FormatFloat(*s.Max, 'f', -1, 64))
		}
		return json.RawMessage("1")
	case Boolean:
		return json.RawMessage("true")
	}
	return json.RawMessage(`"example"`)
}
