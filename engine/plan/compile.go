package plan

import (
	"fmt"
	"math"
	"time"

	"sluice/policy"
)

// retriesDefault is what repeatable effects get (P10); `once` gets none.
const retriesDefault = 2

// compiler holds what the checks of one plan share. Each check reads the plan
// and what earlier checks derived, and adds findings; none changes the plan.
type compiler struct {
	plan    *Plan
	env     Env
	found   *collector
	index   map[string]int // id → first position
	entries []*entry       // by step; nil: unknown tool
	steps   []CompiledStep
	order   []int              // a topological order, ties by position; nil when cyclic
	rank    []int              // position in order, by step
	own     map[string]*schema // schemas that steps state, by text
}

// Compile checks a plan (C01-C12, C16, C17), normalises it (P10) and hashes it.
// With an error among the findings there is no compiled plan. Policy findings
// refuse a person's plan; in a plan of a model or the built-in planner they are
// warnings with Policy set, and the step fails at dispatch (P12). The same plan
// and environment give the same result, byte for byte.
func Compile(p *Plan, env Env) (*Compiled, []Finding) {
	var found collector
	compiled, _ := compile(p, env, &found)
	return compiled, found.findings()
}

// compile gives the compiled plan, nil with an error, and what was derived on
// the way, nil where the plan was refused before its steps were looked at.
func compile(p *Plan, env Env, found *collector) (*Compiled, *compiler) {
	if p == nil {
		found.add(Finding{Rule: "P08", Message: "There is no plan.", Fix: "Send a plan."})
		return nil, nil
	}
	if len(p.Steps) > StepsMax {
		found.add(tooManySteps(p.list(), len(p.Steps)))
		return nil, nil
	}
	checkForm(p, found)
	c := &compiler{plan: p, env: env, found: found, own: map[string]*schema{}}
	c.steps = make([]CompiledStep, len(p.Steps))
	c.entries = make([]*entry, len(p.Steps))
	c.indexSteps()
	c.checkCount()
	for i := range p.Steps {
		c.fill(i)
	}
	c.link()
	c.checkGraph()
	for i := range p.Steps {
		c.checkParams(i)
		c.checkReferences(i)
	}
	c.checkDuplicates()
	if c.order != nil {
		c.checkJoins()
		c.checkCost()
	}
	c.checkPolicy()
	if found.hasError {
		return nil, c
	}
	c.warn()
	return c.finish(), c
}

// spot is one step, to say something about it.
type spot struct {
	*compiler
	step int
}

func (c *compiler) at(step int) spot { return spot{compiler: c, step: step} }

// refuse adds an error about a part of the step.
func (s spot) refuse(rule, message, fix string, parts ...string) {
	s.say(Finding{Rule: rule, Message: message, Fix: fix}, parts...)
}

// say adds a finding about a part of the step.
func (s spot) say(f Finding, parts ...string) {
	f.Step, f.Pointer = s.plan.Steps[s.step].ID, s.plan.at(s.step, parts...)
	s.found.add(f)
}

// indexSteps finds ids that are missing or stand twice (C17).
func (c *compiler) indexSteps() {
	c.index = make(map[string]int, len(c.plan.Steps))
	for i := range c.plan.Steps {
		id := c.plan.Steps[i].ID
		if id == "" {
			c.at(i).refuse("P08", "The step has no id.", "Give it an id of its own, such as \"a\".")
			continue
		}
		if first, isTaken := c.index[id]; isTaken {
			c.found.add(Finding{
				Rule: "C17", Step: id, Pointer: c.plan.at(i, "id"), Related: []string{id},
				Message: fmt.Sprintf("The id %s is taken by the step at position %d.", quote(id), first),
				Fix:     "Give each step an id of its own.",
			})
			continue
		}
		c.index[id] = i
	}
}

// checkCount compares the number of steps with what the plan and the budget
// allow (C07).
func (c *compiler) checkCount() {
	count := len(c.plan.Steps)
	if most := c.plan.MaxSteps; most > 0 && count > most {
		c.found.add(Finding{
			Rule: "C07", Pointer: "/max_steps",
			Message: fmt.Sprintf("The plan has %d steps and says that at most %d are needed.", count, most),
			Fix:     "Remove steps, or raise max_steps.",
		})
	}
	if most := c.env.Limits.Steps; most > 0 && int64(count) > most {
		c.found.add(Finding{
			Rule: "C07", Pointer: c.plan.list(),
			Message: fmt.Sprintf("The plan has %d steps; the budget allows %d.", count, most),
			Fix:     "Remove steps, or run it with a larger budget.",
		})
	}
}

// fill derives what follows from a step and its tool alone: class (P11), effect,
// timeout and retries (P10), with C10 and C12 for the tool.
func (c *compiler) fill(i int) {
	declared, s := &c.plan.Steps[i], &c.steps[i]
	s.Index, s.ID, s.Tool = i, declared.ID, declared.Tool
	s.Join, s.Approval, s.Why = declared.Join, declared.Approval, declared.Why
	if s.Join == "" {
		s.Join = AllOf
	}
	c.fillSchema(i)
	var e *entry
	if c.env.Catalog != nil {
		e = c.env.Catalog.tools[declared.Tool]
	}
	if e == nil {
		// R48: the text names no other tool, which the planner may not know.
		c.at(i).refuse("C10", fmt.Sprintf("There is no tool %s.", quote(declared.Tool)), "Name a tool of the catalogue.", "tool")
		return
	}
	c.entries[i] = e
	s.Effect, s.Class = e.Effect, classOf(&e.Tool)
	if declared.Class != "" && isClass(declared.Class) && declared.Class != s.Class {
		key := "class"
		if c.plan.origin != nil {
			key = "type"
		}
		c.at(i).refuse("P11", fmt.Sprintf("The step says %s, but the tool %s makes it %s.", declared.Class, e.Name, s.Class), "Remove the class: it follows from the tool.", key)
	}
	c.fillAttempts(i)
}

func (c *compiler) fillAttempts(i int) {
	declared, s, e := &c.plan.Steps[i], &c.steps[i], c.entries[i]
	s.Timeout = e.Timeout.Truncate(time.Microsecond)
	if declared.TimeoutS != nil {
		s.Timeout = time.Duration(math.Round(*declared.TimeoutS*1e6)) * time.Microsecond
	}
	if s.Timeout <= 0 {
		c.at(i).refuse("C12", fmt.Sprintf("Neither the step nor the tool %s has a timeout.", e.Name), "State timeout_s, at least 0.000001.")
	}
	if e.input == nil {
		c.at(i).refuse("C12", fmt.Sprintf("The tool %s declares no schema of its parameters.", e.Name), "Use a tool that declares one.", "tool")
	}
	if s.Effect != policy.Once {
		s.Retries = retriesDefault
	}
	if declared.Retries == nil {
		return
	}
	s.Retries = *declared.Retries
	if s.Effect == policy.Once && s.Retries > 0 {
		// R38: without an idempotency key a second attempt may do it twice.
		c.at(i).refuse("P10", fmt.Sprintf("The tool %s acts once and cannot tell a repeated call: a retry could do it twice.", e.Name), "Remove retries, or write 0.", "retries")
	}
}

// fillSchema keeps the step's own output schema, canonical. One that does not
// compile was refused with the form.
func (c *compiler) fillSchema(i int) {
	contract := c.plan.Steps[i].Contract
	if contract == nil || contract.Schema == nil {
		return
	}
	if canonical, err := Canonical(contract.Schema); err == nil {
		c.steps[i].Schema = canonical
	}
}

// ClassOf is the class of every step with this tool (P11).
func ClassOf(t *Tool) Class { return classOf(t) }

// classOf derives a step's class from its tool, never from the plan (P11). No
// tool of the catalogue is a model call, so none is decide.
func classOf(t *Tool) Class {
	switch {
	case t.Pure:
		return Transform
	case t.Effect == policy.Read:
		return Fetch
	}
	return Act
}

// finish writes the canonical form of a plan without errors and hashes it.
func (c *compiler) finish() *Compiled {
	compiled := &Compiled{Goal: c.plan.Goal, MaxSteps: c.plan.MaxSteps, Steps: c.steps}
	if contract := c.plan.Contract; contract != nil {
		// It compiled with the form, so it has a canonical form.
		compiled.Contract, _ = Canonical(contract.Schema)
	}
	compiled.ends()
	compiled.Canonical = compiled.encode()
	compiled.Hash = hashOf(compiled.Canonical)
	compiled.Findings = c.found.findings()
	return compiled
}

// ends derives entries and exits from the links.
func (c *Compiled) ends() {
	for i := range c.Steps {
		if len(c.Steps[i].Deps) == 0 {
			c.Entries = append(c.Entries, i)
		}
		if len(c.Steps[i].Next) == 0 {
			c.Exits = append(c.Exits, i)
		}
	}
}
