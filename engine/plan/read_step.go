package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
)

const stepKeys = "id, tool, params, param_refs, depends_on, join, guard, approval, contract, timeout_s, retries, class and why"

// readStep reads one step of form 1 or of the index form, or one node of the
// node/edge form, which has the same keys but class and depends_on.
func (d *document) readStep(i int, isNode bool) {
	step := &d.plan.Steps[i]
	var hasID, hasTool, isUnmapped bool
	ok := d.object(func(key string) {
		if isNode && isNodeKey(key) {
			isUnmapped = d.readNodeKey(step, key) || isUnmapped
			return
		}
		switch key {
		case "id":
			hasID = true
			step.ID, _ = d.text()
		case "tool":
			hasTool = true
			step.Tool, _ = d.text()
		default:
			d.readStepKey(i, key)
		}
	})
	if !ok {
		return
	}
	if !hasID {
		d.nameless = append(d.nameless, i)
	}
	if !hasTool {
		d.isBroken = true
		if !isUnmapped {
			d.report("P08", "The step has no tool.", "Write \"tool\": \"…\".")
		}
	}
}

func (d *document) readStepKey(i int, key string) {
	step := &d.plan.Steps[i]
	switch key {
	case "params":
		step.Params = d.readParams()
	case "param_refs":
		step.Refs = d.readRefs(i)
	case "depends_on":
		d.readDependsOn(i)
	case "join":
		join, _ := d.text()
		step.Join = Join(join)
	case "guard":
		step.Guard = d.readGuard(i)
	case "approval":
		step.Approval = d.readApproval()
	case "contract":
		step.Contract = d.readContract()
	case "timeout_s":
		step.TimeoutS = d.readTimeout()
	case "retries":
		if n, ok := d.integer(0, retriesMax); ok {
			step.Retries = &n
		}
	case "class":
		class, _ := d.text()
		step.Class = Class(class)
	case "why":
		step.Why, _ = d.text()
	default:
		d.unknown(key, stepKeys)
	}
}

func (d *document) readParams() map[string]json.RawMessage {
	var params map[string]json.RawMessage
	d.object(func(name string) {
		if params == nil {
			params = map[string]json.RawMessage{}
		}
		params[name] = d.raw()
	})
	return params
}

func (d *document) readRefs(i int) map[string]Ref {
	refs := map[string]Ref{}
	d.object(func(name string) {
		ref, isIndex := d.readRef(true)
		refs[name] = ref
		if isIndex {
			d.use(i, []string{"param_refs", name, "step"}, ref.Step, func(id string) {
				ref.Step = id
				refs[name] = ref
			})
		}
	})
	return refs
}

// readRef reads a reference. isIndex says that its step is a position, which
// the caller notes for when all steps are known.
func (d *document) readRef(isTemplated bool) (ref Ref, isIndex bool) {
	var hasStep, hasField bool
	ok := d.object(func(key string) {
		switch {
		case key == "step":
			hasStep = true
			ref.Step, isIndex = d.readTarget()
		case key == "field":
			hasField = true
			ref.Field, _ = d.text()
		case key == "template" && isTemplated:
			ref.Template = d.readTemplate()
		default:
			d.unknown(key, "step, field and template")
		}
	})
	if ok && !hasStep {
		d.isBroken = true
		d.report("P09", "The reference names no step.", "Write \"step\": \"…\".")
	}
	if ok && !hasField {
		d.report("P09", "The reference names no field.", "Write \"field\": \"…\"; \"\" is the whole output.")
	}
	return ref, isIndex
}

// readTemplate reads a template; a stated one that is empty has no place for
// the value and would be lost as "not stated".
func (d *document) readTemplate() string {
	template, ok := d.text()
	if ok && template == "" {
		d.report("P09", "The template is empty.", "Write exactly one {{value}}, or leave the template out.")
	}
	return template
}

// readTarget reads a step by id, or by position in the index form. A position
// is returned as written, to be resolved when all steps are known.
func (d *document) readTarget() (target string, isIndex bool) {
	switch d.kind() {
	case '0':
		raw, ok := d.number()
		return raw, ok
	case '"':
		target, _ = d.text()
		return target, false
	}
	d.mistyped("a step id")
	return "", false
}

func (d *document) readDependsOn(i int) {
	step := &d.plan.Steps[i]
	d.array(func(k int) {
		target, isIndex := d.readTarget()
		step.DependsOn = append(step.DependsOn, target)
		if isIndex {
			d.use(i, []string{"depends_on", strconv.Itoa(k)}, target, func(id string) {
				d.plan.Steps[i].DependsOn[k] = id
			})
		}
	})
}

func (d *document) readGuard(i int) *Guard {
	guard := &Guard{}
	var hasRef bool
	ok := d.object(func(key string) {
		switch key {
		case "ref":
			hasRef = true
			var isIndex bool
			guard.Ref, isIndex = d.readRef(false)
			if isIndex {
				d.use(i, []string{"guard", "ref", "step"}, guard.Ref.Step, func(id string) { guard.Ref.Step = id })
			}
		case "op":
			guard.Op, _ = d.text()
		case "value":
			guard.Value = d.raw()
		default:
			d.unknown(key, "ref, op and value")
		}
	})
	if ok && !hasRef {
		d.isBroken = true
		d.report("P09", "The guard has no reference.", "Write \"ref\": {\"step\": …, \"field\": …}.")
	}
	if !ok || !hasRef {
		return nil
	}
	return guard
}

// readApproval reads the flag that may only add an ask (R51): false would look
// like taking one away, so it is not a value of the form.
func (d *document) readApproval() bool {
	kind := d.kind()
	if kind != 't' && kind != 'f' {
		d.mistyped("true")
		return false
	}
	d.skip()
	if kind == 'f' {
		d.report("P08", "approval may only be true: a plan can add an approval, never remove one (R51).", "Write true, or remove the key.")
	}
	return kind == 't'
}

func (d *document) readContract() *Contract {
	contract := &Contract{}
	d.object(func(key string) {
		switch key {
		case "schema":
			contract.Schema = d.raw()
		case "checks":
			d.readChecks(contract)
		default:
			d.unknown(key, "schema")
		}
	})
	return contract
}

// readChecks counts the checks; what they say is refused with the form.
func (d *document) readChecks(contract *Contract) {
	d.array(func(int) {
		d.skip()
		contract.Checks = append(contract.Checks, nil)
	})
}

func (d *document) readTimeout() *float64 {
	raw, ok := d.number()
	if !ok {
		return nil
	}
	seconds, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		d.report("P08", fmt.Sprintf("The timeout %s is not a number of seconds.", clip(raw)), "Write a number of seconds.")
		return nil
	}
	return &seconds
}
