package sim

import (
	"fmt"

	"sluice/engine"
)

// crash is kill -9 and the start after it: what was in flight is gone, the
// State is folded from what is durable, and the shell does its duties (P45).
// lost is an input whose facts did not become durable.
func (w *World) crash(lost engine.Input) {
	running := w.flights
	w.flights = map[string]*flight{}
	for _, f := range running {
		f.version++ // nothing it had planned happens
	}
	w.State = engine.New(w.Env)
	w.State.SetRun(run)
	for _, f := range w.Facts {
		w.State.Apply(f)
	}
	if len(w.Facts) > 0 {
		w.recover(running, lost)
	}
	w.again(lost)
}

// recover feeds unknown outcomes and withdrawals and starts what is owed.
func (w *World) recover(running map[string]*flight, lost engine.Input) {
	started := w.justStarted()
	for _, u := range engine.Unresolved(w.State) {
		w.MayDiffer = true
		if running[fmt.Sprintf("%s#%d", u.Node, u.Attempt)] == nil && !isResult(lost, u.Node, u.Attempt) && !started[u.Node] {
			w.fail(fmt.Errorf("%s#%d is unresolved, but was not in flight (P45)", u.Node, u.Attempt))
		}
		u.Actor = "system"
		w.input(&u)
	}
	commands, withdrawn := engine.Outstanding(w.State)
	for _, x := range withdrawn {
		w.MayDiffer = true
		x.Actor = "system"
		w.input(&x)
	}
	for _, c := range commands {
		w.resume(c, running, lost)
	}
	w.input(&engine.Timer{Head: engine.Head{Actor: "system"}})
	w.lookAround()
}

// justStarted names the nodes whose attempt is durable while the process died
// before the call: the last step's.
func (w *World) justStarted() map[string]bool {
	started := map[string]bool{}
	last := w.Facts[len(w.Facts)-1].Cause
	for i := len(w.Facts) - 1; i >= 0 && w.Facts[i].Seq >= last; i-- {
		if w.Facts[i].Kind == engine.AttemptStarted {
			started[w.Facts[i].Node] = true
		}
	}
	return started
}

// resume performs an owed command again. It takes no longer than it would have
// taken, so that the world afterwards is the one without the crash.
func (w *World) resume(c engine.Command, running map[string]*flight, lost engine.Input) {
	if stop, ok := c.(engine.Stop); ok {
		w.stop(stop)
		return
	}
	id := c.CommandID()
	f := running[id]
	switch {
	case f != nil && f.isOnce:
		w.fail(fmt.Errorf("%s is a once effect and is performed again (P5)", id))
	case f != nil:
		f.command, f.acted = c, false
		w.flights[id] = f
		w.land(id, f)
	case w.isOwed(c, lost):
		w.start([]engine.Command{c})
		w.flights[id].endsAt = w.now
		w.flights[id].result = lost
		w.land(id, w.flights[id])
	default:
		// Its fact is durable, and the process died before it could start.
		w.start([]engine.Command{c})
	}
}

// isOwed says whether the lost input was the result of the command.
func (w *World) isOwed(c engine.Command, lost engine.Input) bool {
	switch c := c.(type) {
	case engine.Perform:
		return isResult(lost, c.Node, c.Attempt)
	case engine.Clear:
		in, ok := lost.(*engine.Cleared)
		return ok && in.Node == c.Node && in.Attempt == c.Attempt && in.Rule == c.Rule && in.URL == c.URL
	case engine.Propose:
		in, ok := lost.(*engine.Planned)
		return ok && in.Node == c.Node && in.Attempt == c.Attempt
	case engine.Conclude:
		in, ok := lost.(*engine.Concluded)
		return ok && in.Node == c.Node && in.Attempt == c.Attempt
	}
	return false
}

func isResult(in engine.Input, node string, attempt int) bool {
	done, ok := in.(*engine.AttemptDone)
	return ok && done.Node == node && done.Attempt == attempt
}

// again gives an input of people or operators a second time: they were not told
// that it had been taken.
func (w *World) again(lost engine.Input) {
	switch lost.(type) {
	case *engine.Create, *engine.Decide, *engine.Attest, *engine.Cancel, *engine.Pause, *engine.Resume, *engine.Start, *engine.Replace, *engine.PolicyChanged, *engine.Withdrawn:
		w.input(lost)
	}
}
