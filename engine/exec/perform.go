package exec

import (
	"context"
	"strconv"
	"time"

	"sluice/engine"
)

// flight is one command in flight.
type flight struct {
	cancel  context.CancelFunc
	stopped bool // a Stop asked for its end
}

// flying says that an attempt is in this process's hands: its command is in
// flight, or its result waits in the inbox.
func (r *runner) flying(node string, attempt int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inHand(commandID(node, attempt))
}

// inHand wants r.mu held. It is for a fresh fold, not for the hot path.
func (r *runner) inHand(id string) bool {
	if r.flights[id] != nil {
		return true
	}
	for i := range r.inbox {
		if resultOf(r.inbox[i].in) == id {
			return true
		}
	}
	return false
}

func commandID(node string, attempt int) string { return node + "#" + strconv.Itoa(attempt) }

// resultOf names the command an input answers, "" when it answers none.
func resultOf(in engine.Input) string {
	switch in := in.(type) {
	case *engine.AttemptDone:
		return commandID(in.Node, in.Attempt)
	case *engine.Cleared:
		return engine.ClearID(in.Node, in.Attempt, in.Rule, in.URL)
	case *engine.Planned:
		return commandID(in.Node, in.Attempt)
	case *engine.Concluded:
		return commandID(in.Node, in.Attempt)
	}
	return ""
}

// start performs commands whose facts are durable, none waiting for another;
// the core's slots bound them. A command already in flight is left alone.
func (r *runner) start(commands []engine.Command) {
	for _, c := range commands {
		if stop, ok := c.(engine.Stop); ok {
			r.stop(stop)
			continue
		}
		ctx, ok := r.takeOff(c.CommandID())
		if !ok {
			continue
		}
		r.shell.crew.do(func() { r.landed(c.CommandID(), r.perform(ctx, c)) })
	}
}

// launch starts the commands of a commit on the log's own goroutine when there
// are none, else beside it: the next commit need not wait for a wide wave.
func (r *runner) launch(commands []engine.Command) {
	r.mu.Lock()
	aside := len(commands) > 0 && r.shell.ctx.Err() == nil
	if aside {
		r.shell.wait.Add(1)
	}
	r.mu.Unlock()
	if !aside {
		r.start(commands)
		r.committed()
		return
	}
	r.shell.crew.do(func() {
		r.start(commands)
		r.committed()
	})
}

func (r *runner) takeOff(id string) (context.Context, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flights[id] != nil || r.shell.ctx.Err() != nil {
		return nil, false
	}
	r.shell.wait.Add(1) // under the lock that abandon needs before the shell stops waiting
	ctx, cancel := context.WithCancel(r.shell.ctx)
	r.flights[id] = &flight{cancel: cancel}
	return ctx, true
}

// landed returns a result as an input. After shutdown nothing is returned: the
// next start decides by the log what is unknown.
func (r *runner) landed(id string, in engine.Input) {
	r.mu.Lock()
	f := r.flights[id]
	delete(r.flights, id)
	if f != nil {
		f.cancel()
	}
	closing := r.shell.ctx.Err() != nil
	if done, ok := in.(*engine.AttemptDone); ok && f != nil && f.stopped && done.Class != engine.ClassNone && !done.Unsent {
		done.Class, done.Detail = engine.ClassStopped, ""
	}
	r.mu.Unlock()
	if closing || in == nil {
		return
	}
	faultPoint("result", r.run, 0)
	_ = r.deliver(message{in: in}, 0)
}

// stop ends a flight: at once for reads, after the grace for effects (P7).
func (r *runner) stop(c engine.Stop) {
	if c.Clearing != "" {
		r.stopClearing(c.Clearing)
		return
	}
	id := commandID(c.Node, c.Attempt)
	end := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if f := r.flights[id]; f != nil {
			f.stopped = true
			f.cancel()
		}
	}
	if c.Grace == 0 {
		end()
		return
	}
	r.shell.cfg.Clock.AfterFunc(c.Grace, end)
}

func (r *runner) perform(ctx context.Context, c engine.Command) engine.Input {
	switch c := c.(type) {
	case engine.Perform:
		return r.performTool(ctx, c)
	case engine.Clear:
		return r.performClear(ctx, c)
	case engine.Propose:
		return r.propose(ctx, c)
	case engine.Conclude:
		return r.conclude(ctx, c)
	}
	return nil
}

func (r *runner) performTool(ctx context.Context, c engine.Perform) engine.Input {
	done := r.shell.cfg.Tools.Perform(ctx, c)
	done.Node, done.Attempt = c.Node, c.Attempt
	done.Actor = "tool:" + c.Call.Tool.Name
	r.shell.latency.note(c.Call.Tool.Name, (done.EndedAt-done.StartedAt)/1000)
	if len(done.Output) > engine.OutputBytesMax {
		r.keepBlob(&done)
	}
	done.At = r.shell.now()
	faultPoint("performed:"+c.Node, r.run, 0)
	return &done
}

// keepBlob makes a large output durable before the fact that cites it (P30).
func (r *runner) keepBlob(done *engine.AttemptDone) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.shell.ctx), 30*time.Second)
	defer cancel()
	sum, err := r.shell.cfg.Log.PutBlob(ctx, r.run, done.Output)
	if err != nil {
		r.shell.cfg.Logger.Error("store blob", "run", r.run, "node", done.Node, "err", err)
		done.Output, done.Class, done.Detail = nil, engine.ClassTransient, "the output could not be stored"
		return
	}
	const edge = 1024
	done.Blob = &engine.Blob{SHA256: sum, Size: int64(len(done.Output)), Type: "application/json",
		Head: validText(done.Output[:edge]), Tail: validText(done.Output[len(done.Output)-edge:])}
}
