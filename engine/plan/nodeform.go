package plan

import (
	"fmt"
	"strconv"
)

// edge is one edge of the node/edge form: to starts after from.
type edge struct {
	at       int // position in edges
	from, to string
}

// isNodeKey says whether a key belongs to nodes and not to steps.
func isNodeKey(key string) bool {
	switch key {
	case "type", "source", "op", "model", "scope", "class", "depends_on":
		return true
	}
	return false
}

// readNodeKey reads a key that only nodes have. A type is the class that the
// tool must turn out to have (P11). What would choose a tool or a permission in
// other words than this program's has no mapping and is a finding, never a
// guess (P10); isUnmapped says that such a key stood in a tool's place.
func (d *document) readNodeKey(step *Step, key string) (isUnmapped bool) {
	switch key {
	case "type":
		d.readType(step)
		return false
	case "class", "depends_on":
		d.unknown(key, "id, type, tool, params, param_refs, join, guard, approval, contract, timeout_s, retries and why; edges order nodes")
		return false
	case "scope":
		d.unmapped(key, "Remove it: scopes are given to a run by whoever starts it.")
		return false
	}
	d.unmapped(key, "Name the tool that does this: \"tool\": \"…\".")
	return true
}

func (d *document) unmapped(key, fix string) {
	value := d.raw()
	d.report("P10", fmt.Sprintf("The %s %s has no mapping.", key, clip(string(value))), fix)
}

func (d *document) readType(step *Step) {
	name, ok := d.text()
	if !ok {
		return
	}
	if !isClass(Class(name)) {
		d.report("P10", fmt.Sprintf("The type %s has no mapping.", quote(name)), "Write fetch, transform, decide or act.")
		return
	}
	step.Class = Class(name)
}

func (d *document) readEdges() {
	ok := d.array(func(i int) {
		e := edge{at: i}
		count := 0
		isPair := d.array(func(k int) {
			count++
			switch k {
			case 0:
				e.from, _ = d.text()
			case 1:
				e.to, _ = d.text()
			default:
				d.skip()
			}
		})
		if isPair && count != 2 {
			d.isBroken = true
			d.report("P08", fmt.Sprintf("An edge has two ends, this one has %d.", count), "Write [\"from\", \"to\"].")
			return
		}
		d.edges = append(d.edges, e)
	})
	d.isBroken = d.isBroken || !ok
}

// joinEdges writes each edge as a dependency of the node it leads to, and
// remembers where the edge stands.
func (d *document) joinEdges() {
	index := make(map[string]int, len(d.plan.Steps))
	for i := range d.plan.Steps {
		if _, isTaken := index[d.plan.Steps[i].ID]; !isTaken {
			index[d.plan.Steps[i].ID] = i
		}
	}
	deps := make([][]string, len(d.plan.Steps))
	for _, e := range d.edges {
		to, ok := index[e.to]
		if !ok {
			d.isBroken = true
			d.found.add(Finding{
				Rule: "C10", Pointer: edgePointer(e.at, 1),
				Message: fmt.Sprintf("The edge leads to %s, which is no node.", quote(e.to)),
				Fix:     "Name a node of this plan.",
			})
			continue
		}
		step := &d.plan.Steps[to]
		step.DependsOn = append(step.DependsOn, e.from)
		deps[to] = append(deps[to], edgePointer(e.at, 0))
	}
	d.plan.origin.deps = deps
}

func edgePointer(at, end int) string {
	return "/edges/" + strconv.Itoa(at) + "/" + strconv.Itoa(end)
}
