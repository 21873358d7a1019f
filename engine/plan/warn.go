package plan

import "fmt"

// Bounds of the warnings (R13).
const (
	chainStepsMin   = 3         // a shorter chain is not worth a word
	spuriousWorkMax = 4_000_000 // comparisons; a denser plan is not searched further
)

// warn adds what is odd and allowed (R13).
func (c *compiler) warn() {
	if len(c.steps) == 0 {
		c.found.add(Finding{Rule: "R13", Severity: Warning, Pointer: c.plan.list(), Message: "The plan has no steps.", Fix: "Add a step, or answer directly."})
		return
	}
	c.warnChain()
	c.warnRepeated()
	c.warnSpurious()
	c.warnCandidates()
}

// warnChain tells of a plan in which never two steps can run at once.
func (c *compiler) warnChain() {
	if len(c.order) < chainStepsMin {
		return
	}
	for k := 1; k < len(c.order); k++ {
		if !hasDep(&c.steps[c.order[k]], c.order[k-1]) {
			return
		}
	}
	c.found.add(Finding{
		Rule: "R13", Severity: Warning, Pointer: c.plan.list(),
		Message: fmt.Sprintf("The plan is a chain of %d steps: nothing runs in parallel.", len(c.order)),
		Fix:     "Remove dependencies that are not needed.",
	})
}

// warnRepeated tells of a dependency stated twice.
func (c *compiler) warnRepeated() {
	for i := range c.plan.Steps {
		deps := c.plan.Steps[i].DependsOn
		if len(deps) < 2 {
			continue
		}
		isSeen := make(map[string]bool, len(deps))
		for k, id := range deps {
			if isSeen[id] {
				c.warnEdge(i, c.plan.atDep(i, k), fmt.Sprintf("The dependency on %s stands twice.", id), id)
			}
			isSeen[id] = true
		}
	}
}

func (c *compiler) warnEdge(i int, pointer, message, from string) {
	c.found.add(Finding{
		Rule: "R13", Severity: Warning, Step: c.steps[i].ID, Pointer: pointer, Related: []string{from},
		Message: message, Fix: "Remove it.",
	})
}

// warnSpurious tells of an ordering edge that another predecessor implies.
func (c *compiler) warnSpurious() {
	work := 0
	stated := make([]int, len(c.steps)) // 1 + the step that last stated it as mere order
	for i := range c.steps {
		s := &c.steps[i]
		if s.Join != AllOf || len(s.Deps) < 2 {
			continue
		}
		for _, d := range s.Deps {
			if !d.Data {
				stated[d.From] = i + 1
			}
		}
		for _, d := range s.Deps {
			work += c.warnImplied(i, d.From, stated)
		}
		if work > spuriousWorkMax || c.found.more > 0 {
			return
		}
	}
}

// warnImplied tells of what step i states as order and its predecessor via
// comes after already. It returns how much it compared.
func (c *compiler) warnImplied(i, via int, stated []int) int {
	if c.steps[via].Join != AllOf {
		return 1
	}
	for _, d := range c.steps[via].Deps {
		if stated[d.From] != i+1 {
			continue
		}
		stated[d.From] = 0
		from := c.steps[d.From].ID
		c.warnEdge(i, c.edgePointer(i, d.From), fmt.Sprintf("The dependency on %s says nothing: %s comes after it already.", from, c.steps[via].ID), from)
	}
	return len(c.steps[via].Deps)
}

// warnCandidates tells of a step that reads what an any_of may have skipped.
func (c *compiler) warnCandidates() {
	joinOf := make([]int, len(c.steps)) // 1 + a step that chooses among it
	for i := range c.steps {
		for _, f := range c.steps[i].candidates() {
			joinOf[f] = i + 1
		}
	}
	for i := range c.steps {
		for _, d := range c.steps[i].Deps {
			if d.Data && joinOf[d.From] > 0 {
				c.warnSkipped(i, d.From, joinOf[d.From]-1)
			}
		}
	}
}

func (c *compiler) warnSkipped(i, from, join int) {
	c.found.add(Finding{
		Rule: "R13", Severity: Warning, Step: c.steps[i].ID, Pointer: c.dataPointer(i, from), Related: []string{c.steps[from].ID, c.steps[join].ID},
		Message: fmt.Sprintf("The step reads %s, which is skipped when another candidate of %s succeeds first.", quote(c.steps[from].ID), quote(c.steps[join].ID)),
		Fix:     "Read a step that always runs.",
	})
}

// dataPointer is where step i reads from a step.
func (c *compiler) dataPointer(i, from int) string {
	for k := range c.steps[i].Refs {
		if c.steps[i].Refs[k].From == from {
			return c.plan.at(i, "param_refs", c.steps[i].Refs[k].Param, "step")
		}
	}
	return c.plan.at(i, "guard", "ref", "step")
}
