package exec

import (
	"context"
	"strings"

	"sluice/engine"
	"sluice/policy"
)

// Publish makes a policy the current one for every run that has not ended, and
// puts that on record in each (P19). Config.Policies must give it already: a run
// that holds no goroutine meets it first thing when it is folded next, and so
// does a run that begins meanwhile.
func (s *Shell) Publish(p *policy.Policy, actor string) {
	s.mu.Lock()
	live := make([]*runner, 0, len(s.live))
	for _, r := range s.live {
		live = append(live, r)
	}
	s.mu.Unlock()
	for _, r := range live {
		// Without a limit: a full inbox must not keep a kill switch out. A runner
		// that has let its run go meanwhile needs nothing.
		in := &engine.PolicyChanged{Head: engine.Head{At: s.now(), Actor: actor}, Policy: p}
		_ = r.deliver(message{in: in}, 0)
	}
}

// meetPolicy puts a policy that was published while the run was away before
// everything else that waits for it.
func (r *runner) meetPolicy() {
	p := r.shell.cfg.Policies.Current()
	if r.state.CurrentPolicy() == p.Hash() {
		return
	}
	m := message{in: &engine.PolicyChanged{Head: engine.Head{At: r.shell.now(), Actor: "system"}, Policy: p}}
	r.mu.Lock()
	r.inbox = append([]message{m}, r.inbox...)
	r.mu.Unlock()
	r.nudge()
}

// noAuthority is the failure of a shell that cannot ask anybody.
const noAuthority = "nobody to ask"

func (r *runner) performClear(ctx context.Context, c engine.Clear) engine.Input {
	in := engine.Cleared{Failure: noAuthority}
	started := r.shell.now()
	if asks := r.shell.cfg.Authorities; asks != nil {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		in = asks.Clear(ctx, c)
		cancel()
	}
	now := r.shell.now()
	in.Head = engine.Head{At: now, Actor: "system"}
	in.Node, in.Attempt, in.Rule, in.URL = c.Node, c.Attempt, c.Rule, c.URL
	in.Reason, in.LatencyMS = r.shell.cfg.Redact(in.Reason), (now-started)/1000
	return &in
}

// stopClearing ends every question whose id begins so.
func (r *runner) stopClearing(prefix string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, f := range r.flights {
		if strings.HasPrefix(id, prefix) {
			f.stopped = true
			f.cancel()
		}
	}
}
