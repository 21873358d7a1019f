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
// that only begins like one means something else and is read word by word. The
// phrase with the most words of its own wins; two templates that fit equally well
// are no choice for a planner to make.
func (p *Planner) fillTemplate(goal string) (Proposal, bool) {
	if p.Templates == nil {
		return Proposal{}, false
	}
	var best Proposal
	most, isTied := -1, false
	for _, t := range p.Templates.Offered() {
		made, fixed := t.Match(goal)
		if made == nil || fixed < most {
			continue
		}
		isTied = fixed == most
		most, best = fixed, Proposal{Plan: made, Unplanned: []Unplanned{}, By: By, Template: t.Ref}
	}
	if best.Plan == nil || isTied {
		return Proposal{}, false
	}
	return best, true
}
