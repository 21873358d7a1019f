package exec

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"sluice/engine"
)

// errEvicted says that the runner has let its run go: ask the shell again.
var errEvicted = errors.New("run was evicted")

type message struct {
	in     engine.Input
	reply  chan error // nil when nobody waits
	failed bool       // a commit of this epoch failed
	epoch  int
	nudge  bool
	fired  bool // by the alarm, which is spent
}

// runner owns one run's State.
type runner struct {
	shell *Shell
	run   string

	mu      sync.Mutex
	inbox   []message
	flights map[string]*flight // commands in flight by id
	commits int                // appends not yet answered
	evicted bool
	wake    chan struct{}

	// owned by loop
	state  *engine.State
	create *Creation
	epoch  int
	shape  engine.Shape // of the summary saved last
	fresh  int          // bytes of facts since the last snapshot
	kept   int          // bytes of the last snapshot
	alarm  func() bool  // stops the armed deadline, nil when none is
	armed  int64        // the deadline armed, µs UTC
	batch  []message    // drained, reused
}

func newRunner(s *Shell, run string) *runner {
	return &runner{shell: s, run: run, flights: map[string]*flight{}, wake: make(chan struct{}, 1)}
}

// deliver puts a message in the inbox. A limit of 0 is none: results of
// attempts are bounded by the core's slots already.
func (r *runner) deliver(m message, limit int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.evicted {
		return errEvicted
	}
	if limit > 0 && len(r.inbox) >= limit {
		return ErrBusy
	}
	r.inbox = append(r.inbox, m)
	r.again()
	return nil
}

// again lets loop look into the inbox once more without waiting for news.
func (r *runner) again() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *runner) nudge() { _ = r.deliver(message{nudge: true}, 0) }

// drain takes at most so many inputs from the inbox.
func (r *runner) drain(most int) []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.inbox), most)
	if n == 0 {
		return nil
	}
	r.batch = append(r.batch[:0], r.inbox[:n]...)
	r.inbox = append(r.inbox[:0], r.inbox[n:]...)
	return r.batch
}

// loop takes inputs until the run is idle or the shell closes.
func (r *runner) loop() {
	defer r.shell.wait.Done()
	defer r.stopAlarm()
	for {
		if r.state == nil && r.settled() && !r.load() {
			return
		}
		if r.state != nil {
			r.turn()
		}
		if r.fresh > max(snapshotEvery, r.kept) && r.state != nil && r.settled() {
			r.snapshot()
		}
		if r.state != nil && r.idle() {
			return
		}
		select {
		case <-r.wake:
		case <-r.shell.ctx.Done():
			r.abandon()
			return
		}
	}
}

// turn steps everything in the inbox into one append (P31). When the inbox is
// empty it yields once and looks again, so results that arrive together share
// a commit (P31a).
func (r *runner) turn() {
	b := &batch{expected: r.state.Seq()}
	for yielded := false; ; {
		room := r.batchMax() - b.taken
		if room <= 0 {
			r.again()
			break
		}
		messages := r.drain(room)
		if messages == nil {
			if yielded || b.taken == 0 {
				break
			}
			yielded = true
			runtime.Gosched()
			continue
		}
		for i := range messages {
			m := &messages[i]
			b.taken++
			if m.failed && m.epoch == r.epoch {
				r.refold(b, messages[i+1:])
				return
			}
			if !m.failed {
				r.take(b, m)
			}
		}
	}
	if len(b.facts) == 0 {
		r.start(b.commands)
		answer(b.replies, nil)
	} else {
		r.append(b)
	}
	r.arm()
}

// batchMax is small while the log has nothing of this run to write: of a wide
// wave of results it gets the first part while the rest comes in.
func (r *runner) batchMax() int {
	if r.settled() {
		return batchFirst
	}
	return BatchMax
}

// batch is what one turn stepped: one append.
type batch struct {
	expected int64
	taken    int
	facts    []engine.Fact
	commands []engine.Command
	replies  []chan error
	results  []message // inputs nobody would send again: kept until durable
}

func (r *runner) take(b *batch, m *message) {
	out, err := r.step(m)
	if err != nil {
		reply(m.reply, err)
		return
	}
	b.facts = append(b.facts, out.Facts...)
	b.commands = append(b.commands, out.Commands...)
	if m.reply != nil {
		b.replies = append(b.replies, m.reply)
	}
	if resultOf(m.in) != "" {
		b.results = append(b.results, *m)
	}
}

func (r *runner) step(m *message) (engine.Effects, error) {
	in := m.in
	if m.fired {
		r.alarm = nil
	}
	if m.nudge {
		in = &engine.Timer{Head: engine.Head{At: r.shell.now(), Actor: "system"}}
	}
	return r.state.Step(in)
}

func reply(ch chan error, err error) {
	if ch != nil {
		ch <- err
	}
}

func answer(replies []chan error, err error) {
	for _, ch := range replies {
		ch <- err
	}
}

// append hands facts to the log and, once they are durable, publishes them and
// starts the commands. The runner may step on meanwhile.
func (r *runner) append(b *batch) {
	r.mu.Lock()
	r.commits++
	r.mu.Unlock()
	a := Append{Run: r.run, Expected: b.expected, Facts: b.facts, Create: r.create, Summary: r.project()}
	r.create = nil
	epoch := r.epoch
	ended := r.state.Ended()
	last := b.facts[len(b.facts)-1].Seq
	for i := range b.facts {
		r.fresh += len(b.facts[i].Data)
	}
	faultPoint("append", r.run, last)
	r.shell.cfg.Log.Append(a, func(err error) {
		if err != nil {
			r.shell.cfg.Logger.Error("append facts", "run", r.run, "after", b.expected, "err", err)
			_ = r.deliver(message{failed: true, epoch: epoch}, 0)
			r.giveBack(b.results)
			r.committed()
			answer(b.replies, err)
			return
		}
		faultPoint("commit", r.run, last)
		r.launch(b.commands)
		answer(b.replies, nil)
		r.shell.watch.wake(r.run)
		if ended {
			r.shell.cfg.Ended(r.run)
		}
	})
}

// giveBack puts inputs whose facts were lost into the inbox again: an outcome
// that is known must not become unknown because a commit failed.
func (r *runner) giveBack(results []message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inbox = append(r.inbox, results...)
}

// settled says that no append is unanswered: only then does folding again see
// everything that became durable.
func (r *runner) settled() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commits == 0
}

// committed counts an append as answered and lets loop look whether it is idle.
func (r *runner) committed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits--
	if r.commits == 0 {
		r.again()
	}
}

// project gives the summary when what lists show of it changes: status, open
// approvals, questions; what a crash loses is projected again at the next start.
func (r *runner) project() *engine.Summary {
	shape := r.state.Shape()
	if shape == r.shape && r.create == nil {
		return nil
	}
	r.shape = shape
	sum := engine.Summarise(r.state)
	return &sum
}

// refold drops the State after a failed commit; loop folds it from the log once
// every append is answered. What was taken but is not durable goes back.
func (r *runner) refold(b *batch, rest []message) {
	answer(b.replies, errors.New("append facts: the log refused an earlier append of this run"))
	r.mu.Lock()
	back := append([]message(nil), b.results...)
	r.inbox = append(append(back, rest...), r.inbox...)
	r.mu.Unlock()
	r.epoch++
	r.state = nil
	r.shape = engine.Shape{}
	r.nudge()
}

// idle lets the run go when only people or time can move it (P32), or when there
// is none because its creation was refused.
func (r *runner) idle() bool {
	switch r.state.Status() {
	case engine.Waiting, engine.Paused, engine.Ended:
	default:
		if r.state.Seq() > 0 {
			return false
		}
	}
	r.mu.Lock()
	busy := len(r.inbox) > 0 || len(r.flights) > 0 || r.commits > 0
	r.mu.Unlock()
	if busy {
		return false
	}
	if r.fresh > 0 && !r.state.Ended() {
		r.snapshot()
	}
	deadline, has := r.state.Deadline()
	return r.shell.evict(r, deadline, has)
}

// arm sets the run's alarm to its next deadline.
func (r *runner) arm() {
	at, ok := r.state.Deadline()
	if ok && r.alarm != nil && at == r.armed {
		return
	}
	r.stopAlarm()
	if ok {
		d := time.Duration(at-r.shell.now()) * time.Microsecond
		r.alarm, r.armed = r.shell.cfg.Clock.AfterFunc(max(d, 0), r.fire), at
	}
}

// fire is the alarm: the timer is spent, so the next turn arms again.
func (r *runner) fire() { _ = r.deliver(message{nudge: true, fired: true}, 0) }

func (r *runner) stopAlarm() {
	if r.alarm != nil {
		r.alarm()
		r.alarm = nil
	}
}

// abandon ends the runner at shutdown: attempts in flight are cancelled by the
// shell's context, and their callers are told.
func (r *runner) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.evicted = true
	for _, m := range r.inbox {
		reply(m.reply, ErrClosed)
	}
	r.inbox = nil
}
