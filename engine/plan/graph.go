package plan

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"
)

// checkGraph orders the steps with Kahn's algorithm. C01: what it leaves over is
// in a cycle or behind one. C02: what no entry reaches, or what reaches no exit;
// of the steps in a cycle only C01 is said.
func (c *compiler) checkGraph() {
	order := kahn(c.steps)
	if len(order) == len(c.steps) {
		c.order = order
		c.rank = make([]int, len(order))
		for at, i := range order {
			c.rank[i] = at
		}
		return
	}
	isCyclic := make([]bool, len(c.steps))
	for _, members := range components(c.steps) {
		if len(members) > 1 || hasDep(&c.steps[members[0]], members[0]) {
			c.refuseCycle(members)
			for _, i := range members {
				isCyclic[i] = true
			}
		}
	}
	c.checkReach(isCyclic)
}

// kahn gives a topological order, ties by position; it is shorter than the plan
// when there is a cycle.
func kahn(steps []CompiledStep) []int {
	waiting := make([]int, len(steps))
	var ready positions
	for i := range steps {
		waiting[i] = len(steps[i].Deps)
		if waiting[i] == 0 {
			ready = append(ready, i)
		}
	}
	order := make([]int, 0, len(steps))
	for len(ready) > 0 {
		i, _ := heap.Pop(&ready).(int)
		order = append(order, i)
		for _, next := range steps[i].Next {
			if waiting[next]--; waiting[next] == 0 {
				heap.Push(&ready, next)
			}
		}
	}
	return order
}

// positions is a heap of step positions, the lowest first.
type positions []int

func (p positions) Len() int           { return len(p) }
func (p positions) Less(i, j int) bool { return p[i] < p[j] }
func (p positions) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *positions) Push(x any)        { i, _ := x.(int); *p = append(*p, i) }
func (p *positions) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}

func hasDep(s *CompiledStep, from int) bool {
	_, ok := slices.BinarySearchFunc(s.Deps, from, func(d Dep, from int) int { return d.From - from })
	return ok
}

// components finds the strongly connected components (Tarjan), each sorted, in
// the order of their lowest step. It keeps its own stack: a plan may be deep.
func components(steps []CompiledStep) [][]int {
	t := &tarjan{steps: steps, number: make([]int, len(steps)), low: make([]int, len(steps)), isOpen: make([]bool, len(steps))}
	for i := range steps {
		if t.number[i] == 0 {
			t.visit(i)
		}
	}
	slices.SortFunc(t.found, func(a, b []int) int { return a[0] - b[0] })
	return t.found
}

type tarjan struct {
	steps       []CompiledStep
	count       int
	number, low []int // from 1; 0 is not yet seen
	isOpen      []bool
	open        []int
	found       [][]int
}

type frame struct{ step, next int }

func (t *tarjan) visit(root int) {
	frames := []frame{t.enter(root)}
	for len(frames) > 0 {
		f := &frames[len(frames)-1]
		if f.next < len(t.steps[f.step].Next) {
			to := t.steps[f.step].Next[f.next]
			f.next++
			if t.number[to] == 0 {
				frames = append(frames, t.enter(to))
			} else if t.isOpen[to] {
				t.low[f.step] = min(t.low[f.step], t.number[to])
			}
			continue
		}
		done := f.step
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			parent := frames[len(frames)-1].step
			t.low[parent] = min(t.low[parent], t.low[done])
		}
		t.close(done)
	}
}

func (t *tarjan) enter(i int) frame {
	t.count++
	t.number[i], t.low[i] = t.count, t.count
	t.isOpen[i] = true
	t.open = append(t.open, i)
	return frame{step: i}
}

// close takes a finished component off the stack when i is its root.
func (t *tarjan) close(i int) {
	if t.low[i] != t.number[i] {
		return
	}
	at := len(t.open) - 1
	for t.open[at] != i {
		at--
	}
	members := slices.Clone(t.open[at:])
	t.open = t.open[:at]
	for _, m := range members {
		t.isOpen[m] = false
	}
	slices.Sort(members)
	t.found = append(t.found, members)
}

// refuseCycle names one shortest cycle through the component's first step and
// points to the edge that closes it there. The other steps of the component
// follow in Related.
func (c *compiler) refuseCycle(members []int) {
	cycle := c.shortestCycle(members)
	first, before := cycle[0], cycle[len(cycle)-1]
	ids := make([]string, 0, len(cycle)+1)
	for _, i := range cycle {
		ids = append(ids, c.plan.Steps[i].ID)
	}
	related := slices.Clone(ids[1:])
	for _, i := range members {
		if !slices.Contains(cycle, i) {
			related = append(related, c.plan.Steps[i].ID)
		}
	}
	message := fmt.Sprintf("The step %s waits for itself.", ids[0])
	if len(cycle) > 1 {
		const shown = 10
		text := strings.Join(append(slices.Clone(ids[:min(len(ids), shown)]), ids[0]), " → ")
		if len(ids) > shown {
			text = strings.Join(ids[:shown], " → ") + fmt.Sprintf(" → %d more → %s", len(ids)-shown, ids[0])
		}
		message = "These steps wait for each other: " + text + "."
	}
	c.found.add(Finding{
		Rule: "C01", Step: ids[0], Pointer: c.edgePointer(first, before), Related: related,
		Message: message, Fix: "Remove one of the dependencies or references between them.",
	})
}

// shortestCycle searches breadth first from the lowest member back to itself.
func (c *compiler) shortestCycle(members []int) []int {
	root := members[0]
	isMember := make(map[int]bool, len(members))
	for _, m := range members {
		isMember[m] = true
	}
	came := map[int]int{}
	queue := []int{root}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, next := range c.steps[i].Next {
			if next == root {
				return walkBack(came, root, i)
			}
			if _, isSeen := came[next]; !isSeen && isMember[next] {
				came[next] = i
				queue = append(queue, next)
			}
		}
	}
	return members
}

func walkBack(came map[int]int, root, last int) []int {
	cycle := []int{last}
	for last != root {
		last = came[last]
		cycle = append(cycle, last)
	}
	slices.Reverse(cycle)
	return cycle
}

// edgePointer is where step i says that it comes after from.
func (c *compiler) edgePointer(i, from int) string {
	declared, id := &c.plan.Steps[i], c.plan.Steps[from].ID
	for k, dep := range declared.DependsOn {
		if dep == id {
			return c.plan.atDep(i, k)
		}
	}
	for _, name := range sortedKeys(declared.Refs) {
		if declared.Refs[name].Step == id {
			return c.plan.at(i, "param_refs", name, "step")
		}
	}
	if declared.Guard != nil && declared.Guard.Ref.Step == id {
		return c.plan.at(i, "guard", "ref", "step")
	}
	return c.plan.at(i)
}

// checkReach reports the steps behind or before a cycle (C02).
func (c *compiler) checkReach(isCyclic []bool) {
	forward := c.spread(func(s *CompiledStep) bool { return len(s.Deps) == 0 }, func(i int, to func(int)) {
		for _, next := range c.steps[i].Next {
			to(next)
		}
	})
	backward := c.spread(func(s *CompiledStep) bool { return len(s.Next) == 0 }, func(i int, to func(int)) {
		for _, d := range c.steps[i].Deps {
			to(d.From)
		}
	})
	for i := range c.steps {
		switch {
		case isCyclic[i]:
		case !forward[i]:
			c.at(i).refuse("C02", "No entry of the plan reaches this step: everything before it is a cycle.", "Break the cycle, or remove the dependency on it.")
		case !backward[i]:
			c.at(i).refuse("C02", "This step reaches no exit of the plan: everything after it is a cycle.", "Break the cycle.")
		}
	}
}

// spread marks every step that is reached from the steps that start.
func (c *compiler) spread(starts func(*CompiledStep) bool, each func(i int, to func(int))) []bool {
	isReached := make([]bool, len(c.steps))
	var queue []int
	mark := func(i int) {
		if !isReached[i] {
			isReached[i] = true
			queue = append(queue, i)
		}
	}
	for i := range c.steps {
		if starts(&c.steps[i]) {
			mark(i)
		}
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		each(i, mark)
	}
	return isReached
}
