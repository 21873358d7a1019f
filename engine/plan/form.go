package plan

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Bounds on a step's own settings (P8).
const (
	timeoutSecondsMax = 86_400
	retriesMax        = 10
	idBytesMax        = 64
)

// valueSlot is where a template takes the value (P9).
const valueSlot = "{{value}}"

// form checks what each step states by itself, without catalogue or graph. It
// runs on every plan, however it was made.
type form struct {
	plan    *Plan
	found   *collector
	schemas map[string]error // compiled before, by text: plans repeat contracts
	i       int              // the step being checked
	step    *Step
}

func checkForm(p *Plan, found *collector) {
	f := &form{plan: p, found: found, schemas: map[string]error{}}
	if p.Format != 0 && p.Format != Format {
		found.add(Finding{Rule: "P08", Pointer: "/format", Message: fmt.Sprintf("The format %d is not known.", p.Format), Fix: "Write \"format\": 1."})
	}
	if p.MaxSteps < 0 || p.MaxSteps > StepsMax {
		found.add(Finding{Rule: "P08", Pointer: "/max_steps", Message: fmt.Sprintf("max_steps is %d.", p.MaxSteps), Fix: fmt.Sprintf("Write an integer from 1 to %d.", StepsMax)})
	}
	f.checkContract(p.Contract, func(parts ...string) Finding {
		return Finding{Pointer: "/" + strings.Join(parts, "/")}
	})
	for i := range p.Steps {
		f.i, f.step = i, &p.Steps[i]
		f.checkStep()
	}
}

// refuse adds an error about a part of the step being checked.
func (f *form) refuse(rule, message, fix string, parts ...string) {
	f.found.add(Finding{Rule: rule, Step: f.step.ID, Pointer: f.plan.at(f.i, parts...), Message: message, Fix: fix})
}

func (f *form) checkStep() {
	s := f.step
	if s.ID != "" && !isID(s.ID) {
		f.refuse("P08", fmt.Sprintf("%s is not an id.", quote(s.ID)), fmt.Sprintf("Start with a-z; then a-z, 0-9, _ and -, at most %d in all.", idBytesMax), "id")
	}
	f.checkJoin()
	if s.Class != "" && !isClass(s.Class) {
		f.refuse("P11", fmt.Sprintf("There is no class %s.", quote(string(s.Class))), "Remove the class: it follows from the tool.", "class")
	}
	if s.TimeoutS != nil && !(*s.TimeoutS > 0 && *s.TimeoutS <= timeoutSecondsMax) {
		f.refuse("P08", fmt.Sprintf("The timeout of %g s is out of range.", *s.TimeoutS), fmt.Sprintf("Write seconds above 0, at most %d.", timeoutSecondsMax), "timeout_s")
	}
	if s.Retries != nil && (*s.Retries < 0 || *s.Retries > retriesMax) {
		f.refuse("P08", fmt.Sprintf("%d retries are out of range.", *s.Retries), fmt.Sprintf("Write 0 to %d.", retriesMax), "retries")
	}
	f.checkParams()
	f.checkRefs()
	f.checkGuard()
	f.checkContract(s.Contract, func(parts ...string) Finding {
		return Finding{Step: s.ID, Pointer: f.plan.at(f.i, parts...)}
	})
}

// checkJoin also names the substitute of first_of, which would cancel running
// work whose effects nobody could settle (R23).
func (f *form) checkJoin() {
	switch f.step.Join {
	case "", AllOf, AnyOf, AllDone:
		return
	case "first_of":
		f.refuse("R23", "The join first_of does not exist: stopping the losers midway is not safe.", "Use all_of into a step that chooses among the results.", "join")
		return
	}
	f.refuse("P08", fmt.Sprintf("There is no join %s.", quote(string(f.step.Join))), "Write all_of, any_of or all_done.", "join")
}

func (f *form) checkParams() {
	size := 0
	for _, name := range sortedKeys(f.step.Params) {
		size += len(name) + len(f.step.Params[name])
		if _, isRef := f.step.Refs[name]; isRef {
			f.refuse("P08", fmt.Sprintf("The parameter %s has a value and a reference.", quote(name)), "Keep one of them.", "param_refs", name)
		}
		if name == "" {
			f.refuse("P08", "A parameter has no name.", "Name it.", "params", name)
		}
	}
	if size > ParamsBytesMax {
		f.refuse("P14", fmt.Sprintf("The parameters have %d bytes; at most %d are allowed (256 KiB).", size, ParamsBytesMax), "Pass less, or a handle.", "params")
	}
}

func (f *form) checkRefs() {
	if n := len(f.step.Refs); n > RefsMax {
		f.refuse("P14", fmt.Sprintf("The step has %d references; at most %d are allowed.", n, RefsMax), "Pass a whole output by one reference.", "param_refs")
	}
	for _, name := range sortedKeys(f.step.Refs) {
		ref := f.step.Refs[name]
		if name == "" {
			f.refuse("P08", "A parameter has no name.", "Name it.", "param_refs", name)
		}
		f.checkField(ref.Field, "param_refs", name, "field")
		if ref.Template != "" && strings.Count(ref.Template, valueSlot) != 1 {
			f.refuse("P09", fmt.Sprintf("The template has %d places for the value.", strings.Count(ref.Template, valueSlot)), "Write exactly one {{value}}.", "param_refs", name, "template")
		}
	}
}

func (f *form) checkField(field string, parts ...string) {
	if len(field) > PathBytesMax {
		f.refuse("P14", fmt.Sprintf("The field has %d bytes; at most %d are allowed.", len(field), PathBytesMax), "Use a shorter path.", parts...)
		return
	}
	if _, err := SplitPath(field); err != nil {
		f.refuse("P09", fmt.Sprintf("The field %s cannot be read: %s.", quote(field), err), "Write keys and indexes separated by dots.", parts...)
	}
}

func (f *form) checkGuard() {
	g := f.step.Guard
	if g == nil {
		return
	}
	f.checkField(g.Ref.Field, "guard", "ref", "field")
	if g.Ref.Template != "" {
		f.refuse("P09", "A guard reads a value; it has no template.", "Remove the template.", "guard", "ref", "template")
	}
	if problem := guardProblem(g.Op, g.Value); problem != "" {
		part := "value"
		if !isOp(g.Op) {
			part = "op"
		}
		parts := []string{"guard", part}
		if part == "value" && g.Value == nil || part == "op" && g.Op == "" {
			parts = parts[:1]
		}
		f.refuse("P09", problem, "Write op as eq, ne, lt, le, gt, ge or in with a fitting value, or exists without one.", parts...)
	}
}

// checkContract refuses a schema that does not compile and a contract without
// any rule (C04). Checks are refused whole, because nothing here runs them (P9).
func (f *form) checkContract(c *Contract, at func(parts ...string) Finding) {
	if c == nil {
		return
	}
	refuse := func(finding Finding, rule, message, fix string) {
		finding.Rule, finding.Message, finding.Fix = rule, message, fix
		f.found.add(finding)
	}
	if len(c.Checks) > 0 {
		refuse(at("contract", "checks"), "P09", "Checks are not yet available.", "State a schema instead.")
	}
	if c.Schema == nil && len(c.Checks) == 0 {
		refuse(at("contract"), "C04", "The contract has no rule.", "State a schema, or remove the contract.")
	}
	if c.Schema == nil {
		return
	}
	if err := f.schemaError(c.Schema); err != nil {
		refuse(at("contract", "schema"), "P09", fmt.Sprintf("The schema does not compile: %s.", err), "Write a JSON Schema (2020-12).")
		return
	}
	if isEmptySchema(c.Schema) {
		refuse(at("contract", "schema"), "C04", "The contract has no rule: its schema accepts everything.", "State what the output must satisfy, or remove the contract.")
	}
}

func (f *form) schemaError(raw json.RawMessage) error {
	if err, ok := f.schemas[string(raw)]; ok {
		return err
	}
	_, err := compilePlanSchema(raw)
	f.schemas[string(raw)] = err
	return err
}

// isID is ^[a-z][a-z0-9_-]{0,63}$ (P8).
func isID(id string) bool {
	if id == "" || len(id) > idBytesMax || id[0] < 'a' || id[0] > 'z' {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

func isClass(c Class) bool {
	switch c {
	case Fetch, Transform, Decide, Act:
		return true
	}
	return false
}

// sortedKeys gives a map's keys in order: findings do not depend on map order.
func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
