package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Graft extends a compiled plan by the steps of another one, which may depend on
// the steps there are (R58). The whole is compiled again; the steps that were
// there stay as they are, byte for byte, and keep their positions. Findings
// point into the added document.
func Graft(old *Compiled, add *Plan, env Env) (*Compiled, []Finding) {
	var found collector
	compiled := graft(old, add, env, &found)
	return compiled, found.findings()
}

func graft(old *Compiled, add *Plan, env Env, found *collector) *Compiled {
	switch {
	case add == nil || len(add.Steps) == 0:
		found.add(Finding{Rule: "P08", Pointer: "/steps", Message: "There is no step to add.", Fix: "Add a step, or answer directly."})
		return nil
	case add.origin != nil:
		found.add(Finding{Rule: "P10", Message: "Steps are added in form 1.", Fix: "Write \"steps\": [...]."})
		return nil
	case len(old.Steps)+len(add.Steps) > StepsMax:
		found.add(tooManySteps("/steps", len(old.Steps)+len(add.Steps)))
		return nil
	}
	whole := old.Declared(env.Catalog)
	whole.Steps = append(whole.Steps, add.Steps...)
	compiled, _ := compile(whole, env, found)
	found.shift(len(old.Steps))
	if compiled == nil {
		return nil
	}
	for i := range old.Steps {
		next := compiled.Steps[i].Next
		compiled.Steps[i] = old.Steps[i]
		compiled.Steps[i].Next = next
	}
	compiled.Canonical = compiled.encode()
	compiled.Hash = hashOf(compiled.Canonical)
	compiled.Findings = found.findings()
	return compiled
}

// shift lets pointers into the whole point into what was added; warnings about
// steps that were there have been said before.
func (c *collector) shift(by int) {
	kept := c.list[:0]
	for _, f := range c.list {
		at, rest, ok := stepPointer(f.Pointer)
		switch {
		case !ok:
		case at >= by:
			f.Pointer = "/steps/" + strconv.Itoa(at-by) + rest
		case f.Severity == Warning:
			continue
		default:
			f.Pointer = "/steps"
			f.Message = fmt.Sprintf("Step %s, which exists: %s", quote(f.Step), f.Message)
		}
		kept = append(kept, f)
	}
	c.list = kept
}

func stepPointer(pointer string) (at int, rest string, ok bool) {
	tail, ok := strings.CutPrefix(pointer, "/steps/")
	if !ok {
		return 0, "", false
	}
	number, rest, more := strings.Cut(tail, "/")
	if more {
		rest = "/" + rest
	}
	at, err := strconv.Atoi(number)
	return at, rest, err == nil
}

// SortedRefs lists what a step's parameters read, by parameter.
func (s *Step) SortedRefs() []Ref {
	list := make([]Ref, 0, len(s.Refs))
	for _, name := range sortedKeys(s.Refs) {
		list = append(list, s.Refs[name])
	}
	return list
}

// Extends says whether a plan has every step of an earlier one unchanged and in
// its place (C21).
func (c *Compiled) Extends(old *Compiled) bool {
	if len(c.Steps) < len(old.Steps) {
		return false
	}
	for i := range old.Steps {
		if !slices.Equal(c.Steps[i].encode(nil), old.Steps[i].encode(nil)) {
			return false
		}
	}
	return true
}
