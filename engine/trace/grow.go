package trace

import (
	"slices"

	"sluice/engine"
)

// planner is the youngest planner on the page, "" where none acted.
func (p *Projector) planner() string { return p.youngest(engine.KindPlanner) }

func (p *Projector) youngest(kind string) string {
	for k := len(p.order) - 1; k >= 0; k-- {
		if engine.ControlKind(p.order[k]) == kind {
			return p.order[k]
		}
	}
	return ""
}

// addControl adds a planner or a reflection.
func (p *Projector) addControl(events []Event, v engine.NodeView) []Event {
	return p.addNode(events, v, p.controlDeps(v.ID))
}

// controlDeps: a reflection reads what every exit came to that none has read
// yet; a further planner follows the reflection that asked for it.
func (p *Projector) controlDeps(id string) []Dep {
	c := p.state.Plan()
	deps := []Dep{}
	if c == nil {
		return deps
	}
	reflection := p.youngest(engine.KindReflection)
	if engine.ControlKind(id) == engine.KindPlanner {
		if reflection != "" {
			deps = append(deps, Dep{From: reflection})
		}
		return deps
	}
	for _, i := range c.Exits {
		from := c.Steps[i].ID
		if n := p.nodes[from]; reflection == "" || n != nil && n.Version > p.nodes[reflection].Version {
			deps = append(deps, Dep{From: from})
		}
	}
	if len(deps) == 0 {
		deps = append(deps, Dep{From: p.order[len(p.order)-1]})
	}
	return deps
}

// sketch follows the steps of an answer that is still coming in: each gets its
// place when it is seen, and keeps it when the version has it. One that no
// version has goes off the page again.
func (p *Projector) sketch(events []Event) []Event {
	list := p.state.Sketches()
	if len(list) == 0 && !p.sketching {
		return events
	}
	p.sketching = len(list) > 0
	for k := range list {
		if p.nodes[list[k].ID] == nil {
			events = p.addSketch(events, &list[k])
		}
	}
	for _, id := range slices.Clone(p.order) {
		isSketched := slices.ContainsFunc(list, func(s engine.SketchView) bool { return s.ID == id })
		if p.nodes[id].Sketch && !isSketched {
			events = p.remove(events, id)
		}
	}
	return events
}

func (p *Projector) addSketch(events []Event, s *engine.SketchView) []Event {
	deps := []Dep{}
	for _, d := range s.Deps {
		if p.nodes[d.From] != nil { // what has not come in yet has no place to draw an edge from
			deps = append(deps, Dep{From: d.From, Data: d.Data, Field: d.Field})
		}
	}
	if planner := p.planner(); len(deps) == 0 && planner != "" {
		deps = append(deps, Dep{From: planner})
	}
	v, _ := p.state.Node(s.ID)
	events = p.addNode(events, v, deps)
	n := p.nodes[s.ID]
	n.Tool, n.Join, n.Sketch = s.Tool, s.Join, true
	n.Version = p.state.Version() + 1
	card := *n
	events[len(events)-1].Node = &card
	return events
}

// confirm makes a sketched card the card of a step, in its place.
func (p *Projector) confirm(events []Event, v engine.NodeView, deps []Dep) []Event {
	n := p.nodes[v.ID]
	n.Deps, n.Sketch, n.Version = deps, false, max(p.state.Version(), 1)
	describe(n, v)
	fill(n, v)
	card := *n
	return append(events, Event{K: "node_set", Node: &card})
}

// remove takes a sketched card off the page; its place is free again.
func (p *Projector) remove(events []Event, id string) []Event {
	delete(p.nodes, id)
	p.layout.drop(id)
	p.order = slices.DeleteFunc(p.order, func(other string) bool { return other == id })
	return append(events, Event{K: "removed", ID: id})
}

func describe(n *Node, v engine.NodeView) {
	if v.Step != nil {
		n.Tool, n.Join = v.Step.Tool, string(v.Step.Join)
	}
}
