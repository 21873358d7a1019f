package engine

import (
	"slices"
	"strings"

	"sluice/engine/plan"
)

// SketchBytesMax bounds one streamed step; a larger one is shown with its plan.
const SketchBytesMax = 16 << 10

// sketchWordMax bounds what is drawn of one.
const sketchWordMax = 256

// sketched is a step of an answer that is still coming in. Nothing runs from it
// and nothing counts it: the version that follows is what was planned (P13's
// provisional versions come later).
type sketched struct {
	id, tool, join string
	deps           []SketchDep
}

// SketchView is a sketched step as pages show it.
type SketchView struct {
	ID   string
	Tool string
	Join string
	Deps []SketchDep
}

// SketchDep is a dependency that a sketched step states. What it names may not
// have come in yet, or never come.
type SketchDep struct {
	From  string
	Data  bool
	Field string
}

// Sketches lists the steps sketched so far, in the order in which they came.
func (s *State) Sketches() []SketchView {
	list := make([]SketchView, len(s.sketch))
	for i := range s.sketch {
		k := &s.sketch[i]
		list[i] = SketchView{ID: k.id, Tool: k.tool, Join: k.join, Deps: k.deps}
	}
	return list
}

func (s *State) isSketched(id string) bool {
	return slices.ContainsFunc(s.sketch, func(k sketched) bool { return k.id == id })
}

// acceptSketch refuses what is late, too much, or no step: the full answer is
// what counts, so nothing is lost.
func (s *State) acceptSketch(in *Sketched) error {
	if err := s.acceptControl(KindPlanner, in.Node, in.Attempt); err != nil {
		return err
	}
	if len(in.Step) > SketchBytesMax {
		return refuse("invalid", "the sketched step is larger than 16 KiB", "wait for the plan")
	}
	if int64(len(s.sketch)+len(s.nodes)) >= s.run.profile.Steps {
		return refuse("invalid", "the profile allows no more steps", "wait for the plan")
	}
	step, ok := readSketch(in.Step)
	if !ok {
		return refuse("invalid", "the sketched step cannot be read", "wait for the plan")
	}
	if _, known := s.env.Catalog.Lookup(step.Tool); !known || !isPlain(step) {
		return refuse("invalid", "the sketched step names no tool there is, or holds signs that no plan may", "wait for the plan")
	}
	if _, known := s.index[step.ID]; known {
		return refuse("conflict", "the step "+step.ID+" exists already", "wait for the plan")
	}
	if s.isSketched(step.ID) {
		return refuse("conflict", "the step "+step.ID+" is sketched already", "wait for the plan")
	}
	return nil
}

// isPlain says that what a page would draw of a sketched step can not look like
// something else: it has not been compiled yet.
func isPlain(step *plan.Step) bool {
	k := sketchOf(step)
	words := []string{k.id, k.join}
	for i := range k.deps {
		words = append(words, k.deps[i].From, k.deps[i].Field)
	}
	return !slices.ContainsFunc(words, func(word string) bool {
		return len(word) > sketchWordMax || strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' || r == '<' })
	})
}

func (s *State) takeSketched(in *Sketched) {
	c := s.answering(KindPlanner, in.Node)
	s.emit(PlanSketched, c.id, in.Attempt, &sketchData{Step: compactJSON(in.Step)})
}

func (s *State) foldSketch(d *sketchData) {
	step, ok := readSketch(d.Step)
	if !ok {
		return // it shows nothing, and decides nothing
	}
	s.sketch = append(s.sketch, sketchOf(step))
}

// readSketch reads one step with the reader of plans.
func readSketch(raw []byte) (*plan.Step, bool) {
	if !validJSON(raw) {
		return nil, false
	}
	doc := append([]byte(`{"format":1,"goal":"","steps":[`), raw...)
	p, _ := plan.Parse(append(doc, "]}"...))
	if p == nil || len(p.Steps) != 1 || p.Steps[0].ID == "" {
		return nil, false
	}
	return &p.Steps[0], true
}

func sketchOf(step *plan.Step) sketched {
	k := sketched{id: step.ID, tool: step.Tool, join: string(step.Join)}
	for _, r := range step.SortedRefs() {
		k.depend(SketchDep{From: r.Step, Data: true, Field: r.Field})
	}
	if step.Guard != nil {
		k.depend(SketchDep{From: step.Guard.Ref.Step, Data: true, Field: step.Guard.Ref.Field})
	}
	for _, id := range step.DependsOn {
		k.depend(SketchDep{From: id})
	}
	return k
}

// depend keeps each predecessor once, data before order.
func (k *sketched) depend(d SketchDep) {
	for i := range k.deps {
		if k.deps[i].From == d.From {
			return
		}
	}
	k.deps = append(k.deps, d)
}

func (k *sketched) pack(p *packer) {
	p.strs([]string{k.id, k.tool, k.join})
	p.int(int64(len(k.deps)))
	for i := range k.deps {
		p.str(k.deps[i].From)
		p.bool(k.deps[i].Data)
		p.str(k.deps[i].Field)
	}
}

func (k *sketched) unpack(p *packer) {
	var words []string
	p.readStrs(&words)
	if len(words) != 3 {
		p.bad = true
		return
	}
	k.id, k.tool, k.join = words[0], words[1], words[2]
	for range p.readLen() {
		var d SketchDep
		p.readStr(&d.From)
		d.Data = p.readBool()
		p.readStr(&d.Field)
		k.deps = append(k.deps, d)
	}
}
