package planner

import "sluice/engine/template"

// Templates gives the templates that are offered, in a fixed order.
type Templates interface{ Offered() []Offered }

// Offered is one version of a template.
type Offered struct {
	Ref string // "name@2"
	*template.Template
}

// fillTemplate plans a goal that is, as a whole, a phrase of a template. A goal
// that only begins like one means something else and is read word by word.
func (p *Planner) fillTemplate(goal string) (Proposal, bool) {
	if p.Templates == nil {
		return Proposal{}, false
	}
	for _, t := range p.Templates.Offered() {
		if made := t.Match(goal); made != nil {
			return Proposal{Plan: made, Unplanned: []Unplanned{}, By: By, Template: t.Ref}, true
		}
	}
	return Proposal{}, false
}
