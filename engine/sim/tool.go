package sim

import (
	"fmt"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// flight is a command being performed.
type flight struct {
	command  engine.Command
	result   engine.Input
	endsAt   int64
	actsAt   int64 // when the effect happens
	acts     bool  // whether it does
	acted    bool
	isOnce   bool
	version  int // a stop plans another end; the old one is then stale
	startsAt int64
	sketches [][]byte // steps of a model's answer, while it comes in
	isDouble bool
}

// start performs commands whose facts are durable.
func (w *World) start(commands []engine.Command) {
	for _, c := range commands {
		switch c := c.(type) {
		case engine.Stop:
			w.stop(c)
		case engine.Clear:
			w.clear(c)
		case engine.Perform:
			if err := checkGrant(c); err != nil {
				w.fail(err)
			}
			w.launch(w.perform(c))
		case engine.Propose:
			w.launch(w.plans(c))
		case engine.Conclude:
			w.launch(w.reflects(c))
		}
	}
}

func checkGrant(c engine.Perform) error {
	if !c.Grant.Valid() || !c.Grant.Covers(c.Call) {
		return fmt.Errorf("command %s holds no grant for its call (P18)", c.ID)
	}
	return nil
}

func (w *World) launch(f *flight) {
	id := f.command.CommandID()
	if w.flights[id] != nil {
		w.fail(fmt.Errorf("command %s is started a second time", id))
	}
	w.flights[id] = f
	w.land(id, f)
}

// land plans the end of a flight, and the effect before it.
func (w *World) land(id string, f *flight) {
	f.version++
	version := f.version
	isLive := func() bool { return w.flights[id] == f && f.version == version }
	w.stream(f, isLive)
	if f.acts && !f.acted {
		w.agenda.plan(f.actsAt, func() {
			if isLive() {
				w.act(f)
			}
		})
	}
	w.agenda.plan(f.endsAt, func() {
		if !isLive() {
			return
		}
		delete(w.flights, id)
		w.input(f.result)
		if f.isDouble {
			w.agenda.plan(w.now+5*ms, func() { w.input(f.result) })
		}
	})
}

func (w *World) act(f *flight) {
	if c, ok := f.command.(engine.Perform); ok && !f.acted {
		f.acted = true
		w.Effects[c.Node]++
	}
}

// perform draws what becomes of an attempt.
func (w *World) perform(c engine.Perform) *flight {
	took := int64(1+w.drawAttempt(900, "latency", c.Node, c.Attempt)) * ms
	done := &engine.AttemptDone{Head: engine.Head{Actor: "tool:" + c.Call.Tool.Name}, Node: c.Node, Attempt: c.Attempt}
	f := &flight{command: c, result: done, endsAt: w.now + took, actsAt: w.now + took/2,
		isOnce: c.Call.Tool.Effect == policy.Once, acts: c.Call.Tool.Effect != policy.Read,
		isDouble: w.drawAttempt(8, "double", c.Node, c.Attempt) == 0}
	switch w.drawAttempt(14, "outcome", c.Node, c.Attempt) {
	case 0:
		done.Class = engine.ClassTransient // after the effect, if any
	case 1:
		done.Class, f.acts = engine.ClassTransient, false
	case 2:
		done.Class, done.Unsent, f.acts = engine.ClassTransient, true, false
	case 3: // never answers, and is killed in the end
		done.Class, f.endsAt = engine.ClassTimeout, w.now+c.Timeout.Microseconds()
		f.acts = f.acts && w.drawAttempt(2, "acted", c.Node, c.Attempt) == 0
	case 4:
		done.Output = []byte(`{"other":true}`) // misses its contract
	case 5:
		classes := []engine.Class{engine.ClassInvalid, engine.ClassNotFound, engine.ClassUnavailable, engine.ClassConflict}
		done.Class, done.Detail = classes[w.drawAttempt(len(classes), "class", c.Node, c.Attempt)], "told by the tool"
		f.acts = false
	default:
		done.Output = fmt.Appendf(nil, `{"n":%d}`, w.drawAttempt(3, "n", c.Node, c.Attempt))
	}
	return f
}

// stop ends a flight at once or after its grace, unless it ends before (P7).
func (w *World) stop(c engine.Stop) {
	if c.Clearing != "" {
		w.stopClearing(c.Clearing)
		return
	}
	id := fmt.Sprintf("%s#%d", c.Node, c.Attempt)
	f := w.flights[id]
	if f == nil || f.endsAt <= w.now+c.Grace.Microseconds() {
		return
	}
	f.endsAt = w.now + c.Grace.Microseconds() + ms
	f.result = &engine.AttemptDone{Head: engine.Head{Actor: "tool:stopped"}, Node: c.Node, Attempt: c.Attempt, Class: engine.ClassStopped}
	w.land(id, f)
}

func (w *World) plans(c engine.Propose) *flight {
	if isModel(c.By) {
		return w.modelPlans(c)
	}
	return &flight{command: c, endsAt: w.now + 30*ms, result: w.propose(c)}
}

func (w *World) reflects(c engine.Conclude) *flight {
	if isModel(c.By) {
		return w.modelReflects(c)
	}
	return &flight{command: c, endsAt: w.now + 20*ms, result: conclude(c)}
}

func (w *World) propose(c engine.Propose) engine.Input {
	in := &engine.Planned{Head: engine.Head{Actor: "system"}, Node: c.Node, Attempt: c.Attempt, By: "builtin", Author: plan.Builtin, Plan: w.plan}
	switch w.draw(10, "proposal") {
	case 0:
		in.Plan, in.Answer = nil, "nothing to do"
	case 1:
		in.Plan = nil
	case 2:
		in.Unplanned = []engine.Unplanned{{Clause: "make coffee", Why: "no tool"}}
	}
	return in
}

// conclude claims what was executed, and one thing that was not.
func conclude(c engine.Conclude) engine.Input {
	v := engine.Verdict{Text: "report", By: "builtin", Claims: []engine.Claim{{Text: "unfounded", Observations: []string{"o_none"}}}}
	for _, d := range c.Steps {
		if d.State == engine.NodeExecuted {
			v.Claims = append(v.Claims, engine.Claim{Text: d.Node, Observations: []string{d.Observation}})
		}
	}
	return &engine.Concluded{Head: engine.Head{Actor: "system"}, Node: c.Node, Attempt: c.Attempt, Ruling: "conclude", Verdict: v}
}
