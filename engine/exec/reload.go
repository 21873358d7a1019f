package exec

import (
	"context"
	"errors"
	"slices"
	"time"

	"sluice/engine"
)

// load folds the run from its log and feeds what a restart owes (duty 6).
func (r *runner) load() bool {
	for {
		err := r.fold(r.shell.ctx)
		if err == nil {
			r.owe()
			return true
		}
		r.shell.cfg.Logger.Error("fold run", "run", r.run, "err", err)
		var refused *engine.Refusal
		if errors.As(err, &refused) {
			r.giveUp(err)
			return false
		}
		select {
		case <-r.shell.ctx.Done():
			r.abandon()
			return false
		case <-time.After(reloadBackoff):
		}
	}
}

// giveUp answers everybody who waits and lets the run go.
func (r *runner) giveUp(err error) {
	r.shell.mu.Lock()
	delete(r.shell.live, r.run)
	r.shell.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.evicted = true
	for _, m := range r.inbox {
		reply(m.reply, err)
	}
	r.inbox = nil
}

func (r *runner) fold(ctx context.Context) error {
	s, err := r.restored(ctx)
	if err != nil {
		return err
	}
	for {
		facts, err := r.shell.cfg.Log.Load(ctx, r.run, s.Seq(), loadChunk)
		if err != nil {
			return err
		}
		for i := range facts {
			s.Apply(facts[i])
		}
		if len(facts) == 0 {
			break // a log may cut a page short, so only an empty one is the end
		}
	}
	if s.Seq() == 0 {
		return &engine.Refusal{Code: "not_found", Message: "no run " + r.run, Fix: "list the runs"}
	}
	pinned, err := r.shell.cfg.Policies.ByHash(ctx, s.PinnedPolicy())
	if err != nil {
		return err
	}
	s.SetEnv(engine.Env{Catalog: r.shell.cfg.Tools.Catalog(), Pinned: pinned,
		Current: r.shell.cfg.Policies.Current(), Planner: r.shell.cfg.Planner.Name(), Latency: r.shell.latency.now()})
	r.state = s
	r.shape = s.Shape()
	return nil
}

// owe feeds unknown outcomes and starts outstanding commands, leaving out what
// is in flight in this very process.
func (r *runner) owe() {
	head := engine.Head{At: r.shell.now(), Actor: "system"}
	r.meetPolicy()
	for _, u := range engine.Unresolved(r.state) {
		if !r.flying(u.Node, u.Attempt) {
			u.Head = head
			_ = r.deliver(message{in: &u}, 0)
		}
	}
	commands, withdrawn := engine.Outstanding(r.state)
	for _, w := range withdrawn {
		if !r.flying(w.Node, w.Attempt) {
			w.Head = head
			_ = r.deliver(message{in: &w}, 0)
		}
	}
	r.mu.Lock()
	commands = slices.DeleteFunc(commands, func(c engine.Command) bool { return r.inHand(c.CommandID()) })
	r.mu.Unlock()
	r.start(commands)
	r.nudge()
}

// snapshot keeps the state as it is now; every fact in it is durable (P32).
func (r *runner) snapshot() {
	data := r.state.Snapshot()
	if err := r.shell.cfg.Log.SaveSnapshot(r.shell.ctx, r.run, r.state.Seq(), data); err != nil {
		r.shell.cfg.Logger.Error("save snapshot", "run", r.run, "err", err)
	}
	r.fresh, r.kept = 0, len(data)
}

// restored is the state of the newest snapshot, or the empty one: a snapshot
// that cannot be read is as good as none.
func (r *runner) restored(ctx context.Context) (*engine.State, error) {
	data, err := r.shell.cfg.Log.Snapshot(ctx, r.run)
	if err != nil {
		return nil, err
	}
	if s, err := engine.Restore(data); err == nil && s.ID() == r.run {
		return s, nil
	}
	s := engine.New(engine.Env{})
	s.SetRun(r.run)
	return s, nil
}
