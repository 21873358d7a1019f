package plan

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// document is what was read, before the other forms are converted.
type document struct {
	*reader
	plan      Plan
	hasFormat bool
	hasSteps  bool
	hasNodes  bool
	count     int        // steps or nodes in the document, also beyond StepsMax
	uses      []indexUse // references by position (the index form)
	nameless  []int      // steps that state no id
	edges     []edge     // of the node/edge form
}

// Parse reads a plan document: form 1, the index form or the node/edge form
// (P8, P10). The plan is nil when any finding is an error. Everything that can
// be read is checked, so one pass shows all that is wrong with the form; what
// needs a catalogue or the graph is Compile's. The plan keeps no part of doc.
func Parse(doc []byte) (*Plan, []Finding) {
	var found collector
	read := readDocument(bytes.Clone(doc), &found)
	if !read.isEnded {
		checkForm(&read.plan, &found)
	}
	if found.hasError {
		return nil, found.findings()
	}
	return &read.plan, found.findings()
}

// Check is Parse and Compile with the findings of both: what the form alone
// shows does not hide what is wrong with the graph. The compiled plan is nil
// when any finding is an error.
func Check(doc []byte, env Env) (*Compiled, []Finding) {
	compiled, _, findings := check(doc, env)
	return compiled, findings
}

func check(doc []byte, env Env) (*Compiled, *compiler, []Finding) {
	var found collector
	read := readDocument(bytes.Clone(doc), &found)
	if read.isBroken {
		if !read.isEnded {
			checkForm(&read.plan, &found)
		}
		return nil, nil, found.findings()
	}
	compiled, c := compile(&read.plan, env, &found)
	return compiled, c, found.findings()
}

func readDocument(doc []byte, found *collector) *document {
	d := &document{reader: newReader(doc, found), plan: Plan{Format: Format}}
	if len(doc) > DocumentBytesMax {
		d.isEnded, d.isBroken = true, true
		d.report("P14", fmt.Sprintf("The document is larger than %d bytes (4 MiB).", DocumentBytesMax), "Send a smaller plan.")
		return d
	}
	before := len(found.list)
	d.readTop()
	d.end()
	if d.count > StepsMax {
		d.refuseSteps(before)
		return d
	}
	d.convert()
	return d
}

// refuseSteps leaves one finding that names the limit (P14), beside broken syntax.
func (d *document) refuseSteps(before int) {
	var syntax []Finding
	for _, f := range d.found.list[before:] {
		if f.Rule == "json" {
			syntax = append(syntax, f)
		}
	}
	d.found.list, d.found.more = append(d.found.list[:before], syntax...), 0
	d.found.add(tooManySteps(d.plan.list(), d.count))
	d.isEnded, d.isBroken = true, true
}

func tooManySteps(pointer string, count int) Finding {
	return Finding{
		Rule: "P14", Pointer: pointer,
		Message: fmt.Sprintf("The plan has %d steps; at most %d are allowed.", count, StepsMax),
		Fix:     "Split the plan.",
	}
}

func (d *document) readTop() {
	d.object(func(key string) {
		switch key {
		case "format":
			d.readFormat()
		case "goal":
			d.plan.Goal, _ = d.text()
		case "max_steps":
			d.plan.MaxSteps, _ = d.integer(1, StepsMax)
		case "contract":
			d.plan.Contract = d.readContract()
		case "steps":
			d.hasSteps = true
			d.readSteps(false)
		case "nodes":
			d.hasNodes = true
			d.plan.origin = &origin{steps: "nodes"}
			d.readSteps(true)
		case "edges":
			d.readEdges()
		default:
			d.unknown(key, "format, goal, max_steps, contract and steps")
		}
	})
}

func (d *document) readFormat() {
	d.hasFormat = true
	if d.kind() != '0' {
		d.mistyped("the number 1")
		return
	}
	raw, ok := d.number()
	if ok && raw != "1" {
		d.report("P08", fmt.Sprintf("The format %s is not known.", clip(raw)), "Write \"format\": 1.")
	}
}

// unknown reports a key that the form does not have (P8). R45: an intent is
// refused with its own words, because it comes from the trigger alone.
func (d *document) unknown(key, known string) {
	if key == "intent" {
		d.report("P08", "A plan cannot state an intent: it is set by whoever starts the run (R45).", "Remove the key.")
	} else {
		d.report("P08", fmt.Sprintf("The key %s is not known here.", quote(key)), fmt.Sprintf("Remove it; known are %s.", known))
	}
	d.skip()
}

// readSteps reads steps or nodes. Beyond the limit they are only counted.
func (d *document) readSteps(isNodes bool) {
	if d.count > 0 {
		// Both lists: convert says so, once.
		d.skip()
		return
	}
	ok := d.array(func(i int) {
		d.count++
		if i >= StepsMax {
			d.skip()
			return
		}
		d.plan.Steps = append(d.plan.Steps, Step{})
		before := len(d.found.list)
		d.readStep(i, isNodes)
		d.name(before, d.plan.Steps[i].ID)
	})
	d.isBroken = d.isBroken || !ok
}

// name puts the step's id on the findings made while it was read.
func (d *document) name(before int, id string) {
	if !isID(id) {
		return
	}
	for i := before; i < len(d.found.list); i++ {
		d.found.list[i].Step = id
	}
}

// convert turns the other forms into form 1 and reports what a document of any
// form must state.
func (d *document) convert() {
	if d.isEnded {
		return
	}
	switch {
	case d.hasSteps && d.hasNodes:
		d.isBroken = true
		d.report("P10", "The document has steps and nodes.", "Write steps (form 1) or nodes and edges, not both.")
		return
	case d.hasNodes:
		d.joinEdges()
	case len(d.edges) > 0:
		d.report("P10", "The document has edges but no nodes.", "Write depends_on in the steps, or nodes beside the edges.")
	case !d.hasSteps:
		if d.kindOfRoot() == '{' {
			d.isBroken = true
			d.report("P08", "The plan has no steps.", "Write \"steps\": [...].")
		}
		return
	}
	isIndexForm := len(d.uses) > 0
	d.resolveIndexes()
	d.requireIDs(isIndexForm)
	if !d.hasFormat && !isIndexForm && !d.hasNodes {
		d.report("P08", "The plan does not state its format.", "Write \"format\": 1.")
	}
}

func (d *document) kindOfRoot() jsontext.Kind {
	trimmed := bytes.TrimLeft(d.doc, " \t\r\n")
	if len(trimmed) == 0 {
		return 0
	}
	return jsontext.Kind(trimmed[0])
}

func (d *document) requireIDs(isIndexForm bool) {
	for _, i := range d.nameless {
		if isIndexForm {
			d.plan.Steps[i].ID = indexID(i)
			continue
		}
		d.isBroken = true
		d.found.add(Finding{Rule: "P08", Pointer: d.plan.at(i), Message: "The step has no id.", Fix: "Give it an id of its own, such as \"a\"."})
	}
}
