package trace

import (
	"slices"

	"sluice/engine"
	"sluice/engine/plan"
)

// Projector folds one run's facts into a View and the events between views.
type Projector struct {
	state  *engine.State
	layout *layout
	nodes  map[string]*Node
	order  []string
	plan   *plan.Compiled // of the version on the page
	kept   map[string]int // version by step, after a plan was replaced

	sketching bool // sketched cards may be on the page
}

// NewProjector starts before the first fact of a run.
func NewProjector(run string) *Projector {
	s := engine.New(engine.Env{})
	s.SetRun(run)
	return &Projector{state: s, layout: newLayout(), nodes: map[string]*Node{}}
}

// Seq is the last fact folded.
func (p *Projector) Seq() int64 { return p.state.Seq() }

// State is the fold itself, for readers that need more than the graph.
func (p *Projector) State() *engine.State { return p.state }

// Apply folds one fact and gives the events about nodes and versions that
// follow from it. RunEvent closes a batch of them.
func (p *Projector) Apply(f engine.Fact) []Event {
	p.state.Apply(f)
	var events []Event
	if f.Kind == engine.VersionAdded {
		events = p.addVersion(p.startOver(events))
	}
	events = p.sketch(events)
	if f.Kind == engine.AttemptStarted && engine.ControlKind(f.Node) != "" && p.nodes[f.Node] == nil {
		if v, ok := p.state.Node(f.Node); ok {
			events = p.addControl(events, v)
		}
	}
	return p.changed(events, f)
}

// startOver takes the steps off the page again when a person replaced a plan of
// which nothing was dispatched; what stays as it was keeps the version that
// added it.
func (p *Projector) startOver(events []Event) []Event {
	c := p.state.Plan()
	if c == nil || p.plan == nil || !p.state.Reviewing() {
		p.plan = c
		return events
	}
	d := plan.Compare(p.plan, c)
	p.plan, p.kept = c, map[string]int{}
	for id, n := range p.nodes { // order-free: fills a map
		if !slices.Contains(d.Changed, id) {
			p.kept[id] = n.Version
		}
	}
	p.layout, p.nodes, p.order = newLayout(), map[string]*Node{}, nil
	events = append(events, Event{K: "reset"})
	if v, ok := p.state.Node(engine.PlannerNode); ok {
		events = p.addControl(events, v)
	}
	return events
}

// addVersion adds the new steps in an order in which parents come first.
func (p *Projector) addVersion(events []Event) []Event {
	c := p.state.Plan()
	if c == nil {
		return events
	}
	added := make([]string, 0, len(c.Steps))
	for _, i := range topological(c) {
		step := &c.Steps[i]
		n := p.nodes[step.ID]
		if n != nil && !n.Sketch {
			continue
		}
		v, _ := p.state.Node(step.ID)
		deps := stepDeps(c, step, p.planner())
		if n == nil {
			events = p.addNode(events, v, deps)
		} else {
			events = p.confirm(events, v, deps)
		}
		added = append(added, step.ID)
	}
	return append(events, Event{K: "version", N: p.state.Version(), Added: added})
}

func topological(c *plan.Compiled) []int {
	left := make([]int, len(c.Steps))
	order := make([]int, 0, len(c.Steps))
	for i := range c.Steps {
		left[i] = len(c.Steps[i].Deps)
		if left[i] == 0 {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, j := range c.Steps[order[k]].Next {
			if left[j]--; left[j] == 0 {
				order = append(order, j)
			}
		}
	}
	return order
}

func stepDeps(c *plan.Compiled, step *plan.CompiledStep, planner string) []Dep {
	deps := make([]Dep, 0, len(step.Deps))
	for _, d := range step.Deps {
		dep := Dep{From: c.Steps[d.From].ID, Data: d.Data}
		for k := range step.Refs {
			if step.Refs[k].From == d.From {
				dep.Field = step.Refs[k].Field
				break
			}
		}
		deps = append(deps, dep)
	}
	if len(deps) == 0 && planner != "" {
		deps = append(deps, Dep{From: planner})
	}
	return deps
}

func (p *Projector) addNode(events []Event, v engine.NodeView, deps []Dep) []Event {
	parents := make([]string, len(deps))
	for k := range deps {
		parents[k] = deps[k].From
	}
	at := p.layout.add(v.ID, parents)
	n := &Node{ID: v.ID, Kind: v.Kind, X: at.col * ColumnPX, Y: at.row * RowPX, Deps: deps,
		Version: max(p.state.Version(), 1)}
	if kept, ok := p.kept[v.ID]; ok {
		n.Version = kept
	}
	describe(n, v)
	fill(n, v)
	p.nodes[v.ID] = n
	p.order = append(p.order, v.ID)
	card := *n
	return append(events, Event{K: "node_added", Node: &card})
}

func fill(n *Node, v engine.NodeView) {
	n.State, n.Attempt, n.Started, n.Ended = v.State, v.Attempt, v.StartedAt, v.EndedAt
	n.Approval, n.Expires, n.Unknown, n.Note = v.Approval, v.Expires, v.Unknown, note(v)
	n.By, n.Fallback, n.Usage = v.By, v.Fallback, nil
	if v.Usage != (engine.Usage{}) {
		n.Usage = &v.Usage
	}
}

// changed gives one event for every node the fact moved.
func (p *Projector) changed(events []Event, f engine.Fact) []Event {
	var ids []string
	for _, t := range p.state.Transitions() {
		if !slices.Contains(ids, t.Node) {
			ids = append(ids, t.Node)
		}
	}
	for _, id := range ids {
		v, ok := p.state.Node(id)
		n := p.nodes[id]
		if !ok || n == nil {
			continue
		}
		fill(n, v)
		events = append(events, Event{K: "node", ID: id, State: n.State, Attempt: n.Attempt, Note: n.Note,
			At: f.At, Started: n.Started, Ended: n.Ended, Approval: n.Approval, Expires: n.Expires, Unknown: n.Unknown,
			By: n.By, Fallback: n.Fallback, Usage: n.Usage})
	}
	return events
}

// RunEvent is the header as folded so far: once per batch, not per fact.
func (p *Projector) RunEvent() Event {
	run := p.header()
	return Event{K: "run", Run: &run}
}

func (p *Projector) header() Run {
	s := engine.Summarise(p.state)
	r := Run{ID: s.ID, Goal: s.Goal, Status: s.Status, Code: s.Code, Causes: s.Causes,
		Intent: s.Intent.Name(), Mode: s.Mode, Counts: s.Counts, Version: s.PlanVersion, Seq: s.Seq,
		Created: s.CreatedAt, Ended: s.EndedAt, Budget: s.Budget, Waiting: s.Waiting, By: p.state.PlanBy()}
	r.Question = len(s.Questions)
	r.Fallbacks, r.Unpriced = s.Fallbacks, s.Unpriced
	return r
}

// View is the graph as folded so far. Cards come in the order they were placed.
func (p *Projector) View() View {
	v := View{Run: p.header(), Nodes: make([]Node, 0, len(p.order))}
	for _, id := range p.order {
		v.Nodes = append(v.Nodes, *p.nodes[id])
	}
	return v
}
