package planner

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/plan"
)

// draft is the plan while it grows. Earlier steps never change their meaning;
// only the order and limit of a listing may be set by a later clause.
type draft struct {
	steps []plan.Step
	acts  []string // ids of the steps that change something
	ids   map[string]bool
}

// clone copies the draft so that what a rule adds in vain can be taken back.
func (d draft) clone() draft {
	steps := slices.Clone(d.steps)
	for i := range steps {
		steps[i].Params, steps[i].Labels = maps.Clone(steps[i].Params), maps.Clone(steps[i].Labels)
	}
	return draft{steps: steps, acts: slices.Clone(d.acts), ids: maps.Clone(d.ids)}
}

// spec is a step as a rule states it.
type spec struct {
	tool   string
	name   string         // what its id is made of
	given  map[string]any // literals taken from the goal: label user (P20)
	chosen map[string]any // literals the planner chose: label constant
	refs   map[string]plan.Ref
	guard  *plan.Guard
	schema string // a stricter output contract, "" for the tool's
	act    bool
}

// add appends a step, or gives the id of an equal one that is there already and
// still holds.
func (d *draft) add(s spec) string {
	step := plan.Step{Tool: s.tool, Params: map[string]json.RawMessage{}, Refs: s.refs, Guard: s.guard, Labels: map[string]string{}}
	for name, v := range s.given { // order-free: fills a map
		step.Params[name], step.Labels[name] = literal(v), "user"
	}
	for name, v := range s.chosen { // order-free: fills a map
		step.Params[name], step.Labels[name] = literal(v), "constant"
	}
	if s.schema != "" {
		step.Contract = &plan.Contract{Schema: json.RawMessage(s.schema)}
	}
	after, again := d.touching(step, s.act)
	if id := d.same(step); id != "" {
		if !again {
			return id
		}
		step.Why = "again, after a change"
	}
	step.ID = d.newID(s.name, s.tool)
	step.DependsOn = after
	d.steps = append(d.steps, step)
	if s.act {
		d.acts = append(d.acts, step.ID)
	}
	return step.ID
}

// touching lists the earlier steps on the same path that this one must follow:
// everything before a change, and every change before a reading.
func (d *draft) touching(step plan.Step, act bool) (after []string, changed bool) {
	mine, has := step.Params["path"]
	for i, earlier := range d.steps {
		isAct := slices.Contains(d.acts, earlier.ID)
		theirs, is := earlier.Params["path"]
		if has && is && bytes.Equal(mine, theirs) && (act || isAct) && !refersTo(step, earlier.ID) {
			after = append(after, earlier.ID)
		}
		changed = changed || isAct && i > d.position(d.same(step))
	}
	return after, changed
}

func refersTo(step plan.Step, id string) bool {
	if step.Guard != nil && step.Guard.Ref.Step == id {
		return true
	}
	for _, ref := range step.Refs { // order-free: any will do
		if ref.Step == id {
			return true
		}
	}
	return false
}

// same gives the last step that makes the same call whenever this one would, ""
// for none.
func (d *draft) same(step plan.Step) string {
	for i := len(d.steps) - 1; i >= 0; i-- {
		if g := d.steps[i].Guard; sameCall(d.steps[i], step) && (g == nil || sameGuard(g, step.Guard)) {
			return d.steps[i].ID
		}
	}
	return ""
}

func sameCall(a, b plan.Step) bool {
	return a.Tool == b.Tool && maps.Equal(a.Refs, b.Refs) &&
		maps.EqualFunc(a.Params, b.Params, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

func sameGuard(a, b *plan.Guard) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Ref == b.Ref && a.Op == b.Op && bytes.Equal(a.Value, b.Value)
}

func (d *draft) position(id string) int {
	return slices.IndexFunc(d.steps, func(s plan.Step) bool { return s.ID == id })
}

func (d *draft) step(id string) *plan.Step {
	if i := d.position(id); i >= 0 {
		return &d.steps[i]
	}
	return nil
}

// set gives a literal that the planner chose to a step that is there already.
func (d *draft) set(id, param string, v any) {
	if s := d.step(id); s != nil {
		s.Params[param], s.Labels[param] = literal(v), "constant"
	}
}

// justify says why a call occurs twice (C17) where its conditions differ or a
// later clause made two calls alike.
func (d *draft) justify() {
	for i := range d.steps {
		isTwin := slices.ContainsFunc(d.steps[:i], func(s plan.Step) bool { return sameCall(s, d.steps[i]) })
		if isTwin && d.steps[i].Why == "" {
			d.steps[i].Why = "asked for more than once"
		}
	}
}

// order makes the steps added since before follow the last ones where the goal
// asks for an order.
func (d *draft) order(before int, p phrase, last []string) {
	if !p.then || len(last) == 0 {
		return
	}
	for i := before; i < len(d.steps); i++ {
		for _, id := range last {
			s := &d.steps[i]
			if s.ID != id && !refersTo(*s, id) && !slices.Contains(s.DependsOn, id) && d.position(id) < before {
				s.DependsOn = append(s.DependsOn, id)
			}
		}
	}
}

// idBytesMax is the longest id of a step (P8).
const idBytesMax = 64

// newID makes a readable id that is free: "read_readme_md", "disk_usage_2".
func (d *draft) newID(name, tool string) string {
	if name == "" {
		name = tool
	}
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	id := strings.Trim(b.String(), "_")
	if id == "" || id[0] < 'a' {
		id = "step_" + id
	}
	id = strings.TrimRight(id[:min(len(id), idBytesMax-4)], "_")
	free := id
	for n := 2; d.ids[free]; n++ {
		free = id + "_" + strconv.Itoa(n)
	}
	d.ids[free] = true
	return free
}
