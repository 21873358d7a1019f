package plan

import (
	"slices"
	"strconv"
)

// Diff names the steps in which two versions of a plan differ.
type Diff struct {
	Added, Removed, Changed []string // step ids, in the order of their version
}

// Compare says what became of from. Positions and the labels of literals do not
// count as a change; from may be nil.
func Compare(from, to *Compiled) Diff {
	var d Diff
	if from == nil {
		from = &Compiled{}
	}
	before := make(map[string]string, len(from.Steps))
	for i := range from.Steps {
		before[from.Steps[i].ID] = from.text(i)
	}
	after := make(map[string]bool, len(to.Steps))
	for i := range to.Steps {
		id := to.Steps[i].ID
		after[id] = true
		text, isKnown := before[id]
		if !isKnown {
			d.Added = append(d.Added, id)
		} else if text != to.text(i) {
			d.Changed = append(d.Changed, id)
		}
	}
	for i := range from.Steps {
		if id := from.Steps[i].ID; !after[id] {
			d.Removed = append(d.Removed, id)
		}
	}
	return d
}

// text is a step with predecessors by id instead of position.
func (c *Compiled) text(i int) string {
	s := c.Steps[i]
	deps, refs, guard, literals := s.Deps, s.Refs, s.Guard, s.Literals
	s.Deps, s.Refs, s.Guard, s.Literals = nil, nil, nil, nil
	out := s.encode(nil)
	names := make([]string, len(deps))
	for k, d := range deps {
		names[k] = c.Steps[d.From].ID + " " + strconv.FormatBool(d.Data)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(append(out, '\n'), name...)
	}
	for _, r := range refs {
		out = append(append(out, "\nref "...), c.Steps[r.From].ID...)
		r.From = 0
		out = r.encode(append(out, ' '))
	}
	if guard != nil {
		g := *guard
		out = append(append(out, "\nguard "...), c.Steps[g.From].ID...)
		g.From = 0
		out = g.encode(append(out, ' '))
	}
	for _, l := range literals {
		out = append(append(append(out, "\nliteral "...), l.Param...), ' ')
		out = append(out, l.Value...)
	}
	return string(out)
}
