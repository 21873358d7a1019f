package plan

import (
	"fmt"
	"slices"
	"strconv"
)

// link resolves every step that a step names into its predecessors. A reference
// or guard adds its step by itself (R8) and makes the edge one of data (R22).
func (c *compiler) link() {
	for i := range c.plan.Steps {
		c.linkStep(i)
	}
	linkNext(c.steps)
}

func (c *compiler) linkStep(i int) {
	declared, s := &c.plan.Steps[i], &c.steps[i]
	count := len(declared.DependsOn) + len(declared.Refs)
	if count == 0 && declared.Guard == nil {
		return
	}
	deps := make([]Dep, 0, count+1)
	for k, id := range declared.DependsOn {
		if from, ok := c.target(i, id, func() string { return c.plan.atDep(i, k) }); ok {
			deps = append(deps, Dep{From: from})
		}
	}
	for _, name := range sortedKeys(declared.Refs) {
		ref := declared.Refs[name]
		from, ok := c.target(i, ref.Step, func() string { return c.plan.at(i, "param_refs", name, "step") })
		if !ok {
			continue
		}
		deps = append(deps, Dep{From: from, Data: true})
		s.Refs = append(s.Refs, newRef(name, from, ref))
	}
	if g := declared.Guard; g != nil {
		if from, ok := c.target(i, g.Ref.Step, func() string { return c.plan.at(i, "guard", "ref", "step") }); ok {
			deps = append(deps, Dep{From: from, Data: true})
			s.Guard = newGuard(from, g)
		}
	}
	s.Deps = mergeDeps(deps)
}

// target finds the step that id names. C10: a reference to nothing.
func (c *compiler) target(i int, id string, pointer func() string) (int, bool) {
	from, ok := c.index[id]
	if !ok {
		c.found.add(Finding{
			Rule: "C10", Step: c.plan.Steps[i].ID, Pointer: pointer(),
			Message: fmt.Sprintf("There is no step %s in this plan.", quote(id)),
			Fix:     "Name another step of the plan.",
		})
	}
	return from, ok
}

func newRef(name string, from int, ref Ref) CompiledRef {
	// A field that cannot be split was refused with the form.
	path, _ := SplitPath(ref.Field)
	return CompiledRef{Param: name, From: from, Field: ref.Field, Path: path, Template: ref.Template, Source: refSource(ref.Step, ref.Field)}
}

func newGuard(from int, g *Guard) *CompiledGuard {
	path, _ := SplitPath(g.Ref.Field)
	compiled := &CompiledGuard{From: from, Field: g.Ref.Field, Path: path, Op: g.Op}
	if g.Value != nil {
		// A value without canonical form is refused by checkParams.
		compiled.Value, _ = Canonical(g.Value)
	}
	return compiled
}

func refSource(step, field string) string { return "step:" + step + "/" + field }

func literalSource(step int, param string) string {
	return "plan:/steps/" + strconv.Itoa(step) + "/params/" + escape(param)
}

// mergeDeps sorts predecessors and keeps each once; data wins over order.
func mergeDeps(deps []Dep) []Dep {
	slices.SortFunc(deps, func(a, b Dep) int { return a.From - b.From })
	kept := deps[:0]
	for _, d := range deps {
		if n := len(kept); n > 0 && kept[n-1].From == d.From {
			kept[n-1].Data = kept[n-1].Data || d.Data
			continue
		}
		kept = append(kept, d)
	}
	return kept
}

// linkNext derives successors from predecessors, all in one block of memory.
func linkNext(steps []CompiledStep) {
	counts := make([]int, len(steps))
	total := 0
	for i := range steps {
		for _, d := range steps[i].Deps {
			counts[d.From]++
			total++
		}
	}
	block := make([]int, 0, total)
	for i, n := range counts {
		start := len(block)
		block = block[:start+n]
		steps[i].Next = block[start : start : start+n]
	}
	for i := range steps {
		for _, d := range steps[i].Deps {
			steps[d.From].Next = append(steps[d.From].Next, i)
		}
	}
}
