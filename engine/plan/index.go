package plan

import (
	"fmt"
	"strconv"
)

// indexUse is one place of the index form that names a step by its position.
type indexUse struct {
	step   int          // that states it
	parts  []string     // where, below the step
	target string       // the position as written
	set    func(string) // puts the id in its place
}

// use notes that the number target at parts stands for a step.
func (d *document) use(step int, parts []string, target string, set func(string)) {
	d.uses = append(d.uses, indexUse{step: step, parts: parts, target: target, set: set})
}

// indexID names a step of the index form that states no id.
func indexID(i int) string { return "s" + strconv.Itoa(i) }

// resolveIndexes puts ids where the index form has positions (P10). Steps
// without an id are named after their position first.
func (d *document) resolveIndexes() {
	for _, use := range d.uses {
		at, err := strconv.Atoi(use.target)
		if err != nil || at < 0 || at >= len(d.plan.Steps) {
			d.isBroken = true
			d.found.add(Finding{
				Rule: "C10", Step: d.idAt(use.step), Pointer: d.plan.at(use.step, use.parts...),
				Message: fmt.Sprintf("There is no step at position %s: the plan has %d steps, counted from 0.", clip(use.target), len(d.plan.Steps)),
				Fix:     "Name the position or the id of another step of the plan.",
			})
			continue
		}
		use.set(d.idAt(at))
	}
}

func (d *document) idAt(i int) string {
	if id := d.plan.Steps[i].ID; id != "" {
		return id
	}
	return indexID(i)
}
