package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/plan"
)

// slotKey marks a slot inside a value.
const slotKey = "$slot"

// gapForm is a slot in a goal or a phrase.
var gapForm = regexp.MustCompile(`\{([a-z][a-z0-9_]{0,31})\}`)

// place is one value of the plan in which slots may stand.
type place struct {
	step    int
	param   string // "" is the guard's value
	pointer string // into the plan
}

// places lists every value in which a slot may stand.
func places(p *plan.Plan) []place {
	var list []place
	for i := range p.Steps {
		at := "/steps/" + strconv.Itoa(i)
		for _, name := range slices.Sorted(maps.Keys(p.Steps[i].Params)) {
			list = append(list, place{i, name, at + "/params/" + escape(name)})
		}
		if g := p.Steps[i].Guard; g != nil && g.Value != nil {
			list = append(list, place{i, "", at + "/guard/value"})
		}
	}
	return list
}

func (p place) value(in *plan.Plan) json.RawMessage {
	if p.param == "" {
		return in.Steps[p.step].Guard.Value
	}
	return in.Steps[p.step].Params[p.param]
}

func (p place) set(in *plan.Plan, raw json.RawMessage) {
	if p.param == "" {
		g := *in.Steps[p.step].Guard
		g.Value = raw
		in.Steps[p.step].Guard = &g
		return
	}
	in.Steps[p.step].Params[p.param] = raw
}

// checkPlaces wants every slot used, every use declared, and no use elsewhere.
func (t *Template) checkPlaces(found *problems) {
	used := map[string]bool{}
	for _, name := range gaps(t.Plan.Goal) {
		used[name] = true
	}
	for _, p := range places(t.Plan) {
		for _, u := range uses(p.value(t.Plan)) {
			switch {
			case u.problem != "":
				found.add("/plan"+p.pointer+u.pointer, u.problem, `Write {"$slot": "name"} and nothing beside it.`)
			case t.index(u.name) < 0:
				found.add("/plan"+p.pointer+u.pointer, "There is no slot "+strconv.Quote(u.name)+".", "Declare it under slots.")
			}
			used[u.name] = true
		}
	}
	for i, s := range t.Slots {
		if !used[s.Name] {
			found.add("/slots/"+strconv.Itoa(i)+"/name", "The slot "+s.Name+" is used nowhere.", "Use it in a parameter, or leave it out.")
		}
	}
	t.checkElsewhere(found)
	for i, at := range t.Untrusted {
		if !slices.ContainsFunc(places(t.Plan), func(p place) bool { return p.param != "" && p.pointer == at }) {
			found.add("/untrusted/"+strconv.Itoa(i), "There is no parameter at "+strconv.Quote(at)+" of the plan.", "Write the pointer of a parameter, as /steps/0/params/path.")
		}
	}
}

// Wrote gives the pointers of the parameters that a model wrote, for Untrusted.
func Wrote(p *plan.Plan, model func(step, param string) bool) []string {
	var list []string
	for _, at := range places(p) {
		if at.param != "" && model(p.Steps[at.step].ID, at.param) {
			list = append(list, at.pointer)
		}
	}
	return list
}

// label says where the value of a parameter comes from (P20): a slot holds what a
// person gives, everything else what the template has, and whose words that were.
func (t *Template) label(p place, values map[string]json.RawMessage) string {
	isGiven := true
	used := uses(p.value(t.Plan))
	for _, u := range used {
		_, given := values[u.name]
		isGiven = isGiven && given
	}
	switch {
	case slices.Contains(t.Untrusted, p.pointer) && (len(used) == 0 || !isGiven):
		return "untrusted"
	case len(used) > 0:
		return "user"
	}
	return "constant"
}

// checkElsewhere refuses slots where only structure may stand (R103). Other
// members of a plan hold no objects at all, and reading the form refused them.
func (t *Template) checkElsewhere(found *problems) {
	const fix = "Use slots inside params and guard values only."
	schema := func(c *plan.Contract, pointer string) {
		if c != nil && len(uses(c.Schema)) > 0 {
			found.add("/plan"+pointer, "A slot may not stand in a contract.", fix)
		}
	}
	schema(t.Plan.Contract, "/contract/schema")
	for i := range t.Plan.Steps {
		schema(t.Plan.Steps[i].Contract, "/steps/"+strconv.Itoa(i)+"/contract/schema")
	}
}

// use is one slot inside a value.
type use struct {
	name    string
	pointer string // below the value
	problem string
}

// uses finds the slots inside a JSON value, in a fixed order.
func uses(raw json.RawMessage) []use {
	if !bytes.Contains(raw, []byte(slotKey)) && !bytes.Contains(raw, []byte(`\u0024`)) {
		return nil
	}
	var v any
	if decodeNumbers(raw, &v) != nil {
		return nil
	}
	var list []use
	walk(v, "", func(u use) { list = append(list, u) })
	return list
}

func walk(v any, pointer string, see func(use)) {
	switch v := v.(type) {
	case map[string]any:
		if _, is := v[slotKey]; is {
			see(slotOf(v, pointer))
			return
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			walk(v[k], pointer+"/"+escape(k), see)
		}
	case []any:
		for i := range v {
			walk(v[i], pointer+"/"+strconv.Itoa(i), see)
		}
	}
}

func slotOf(v map[string]any, pointer string) use {
	name, is := v[slotKey].(string)
	if !is || len(v) != 1 {
		return use{name: name, pointer: pointer, problem: "A slot stands alone in its object and is named by a string."}
	}
	return use{name: name, pointer: pointer}
}

// Instantiate fills the slots. Only values inside params and guards and the goal's
// words change; which values a slot takes is checked before (R103).
func (t *Template) Instantiate(values map[string]json.RawMessage) (*plan.Plan, []Problem) {
	full, found := t.fill(values)
	if len(found) > 0 {
		return nil, found
	}
	out := *t.Plan
	out.Steps = slices.Clone(t.Plan.Steps)
	for i := range out.Steps {
		out.Steps[i].Params = maps.Clone(out.Steps[i].Params)
	}
	for _, p := range places(t.Plan) {
		raw := p.value(t.Plan)
		if len(uses(raw)) > 0 {
			p.set(&out, substitute(raw, full))
		}
		if p.param != "" {
			out.Steps[p.step].Labels = withLabel(out.Steps[p.step].Labels, p.param, t.label(p, values))
		}
	}
	out.Goal = gapForm.ReplaceAllStringFunc(t.Plan.Goal, func(gap string) string {
		if v, is := full[gap[1:len(gap)-1]]; is {
			return Words(v)
		}
		return gap
	})
	return &out, nil
}

// withLabel says whether a parameter holds what a person gave, or what the
// template has (P20).
func withLabel(labels map[string]string, param, label string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[param] = label
	return labels
}

// fill gives every slot its value, or says which lack one.
func (t *Template) fill(values map[string]json.RawMessage) (map[string]json.RawMessage, []Problem) {
	var found problems
	full := make(map[string]json.RawMessage, len(t.Slots))
	size := 0
	for _, name := range slices.Sorted(maps.Keys(values)) {
		size += len(values[name])
		if t.index(name) < 0 {
			found.add("/values/"+escape(name), "There is no slot "+strconv.Quote(name)+".", "Use the slots of this version: "+t.slotNames()+".")
		}
	}
	if size > ValuesBytesMax {
		found.add("/values", fmt.Sprintf("The values have %d bytes together, at most %d are allowed.", size, ValuesBytesMax), "Shorten them.")
		return nil, found
	}
	for i, s := range t.Slots {
		v, given := values[s.Name]
		if !given && s.Default == nil {
			found.add("/values/"+s.Name, "The slot "+s.Name+" needs a value.", "Give "+s.Type.withArticle()+".")
			continue
		}
		if !given {
			v = s.Default
		}
		if why := t.valueProblem(i, v); why != "" {
			found.add("/values/"+s.Name, why, "Give "+s.Type.withArticle()+" that fits the slot "+s.Name+".")
		}
		full[s.Name] = v
	}
	return full, found
}

func (t *Template) slotNames() string {
	names := make([]string, len(t.Slots))
	for i := range t.Slots {
		names[i] = t.Slots[i].Name
	}
	if len(names) == 0 {
		return "it has none"
	}
	return strings.Join(names, ", ")
}

// substitute puts values in the places of slots. A value is put in whole: what
// looks like a slot inside it stays data.
func substitute(raw json.RawMessage, values map[string]json.RawMessage) json.RawMessage {
	var v any
	if decodeNumbers(raw, &v) != nil {
		return raw
	}
	out, err := marshal(replaced(v, values))
	if err != nil {
		return raw
	}
	return out
}

func replaced(v any, values map[string]json.RawMessage) any {
	switch v := v.(type) {
	case map[string]any:
		if name, is := v[slotKey].(string); is && len(v) == 1 {
			return values[name]
		}
		out := make(map[string]any, len(v))
		for k, x := range v { // order-free: fills a map
			out[k] = replaced(x, values)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = replaced(v[i], values)
		}
		return out
	}
	return v
}

// decodeNumbers keeps numbers as they are written.
func decodeNumbers(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(into)
}

func gaps(text string) []string {
	var names []string
	for _, m := range gapForm.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// escape writes a name as a reference token of RFC 6901.
func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// SlotsOf names the slots that a step uses, in the order of their places.
func SlotsOf(s *plan.Step) []string {
	one := plan.Plan{Steps: []plan.Step{*s}}
	var names []string
	for _, p := range places(&one) {
		for _, u := range uses(p.value(&one)) {
			if !slices.Contains(names, u.name) {
				names = append(names, u.name)
			}
		}
	}
	return names
}
