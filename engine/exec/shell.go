package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sluice/engine"
)

// Limits of the shell.
const (
	InboxMax      = 4096      // inputs from outside that may wait for one run
	BatchMax      = 256       // inputs stepped into one append (P31)
	batchFirst    = 64        // the same while no append of the run is under way
	loadChunk     = 4096      // facts read at once while folding
	snapshotEvery = 256 << 10 // bytes of facts, or the snapshot's own size if larger (P32)
	reloadBackoff = time.Second
)

// GCPercent is how far the heap of a program around the shell should grow between
// collections, in percent of what is live (GOGC). A run leaves much behind that
// is short-lived beside a small heap: at Go's 100 the collector took a fifth of
// the time of a wide plan.
const GCPercent = 400

// ErrClosed says that the shell is shutting down.
var ErrClosed = errors.New("the engine is shutting down")

// ErrBusy says that a run's inbox is full.
var ErrBusy = errors.New("the run has too many inputs waiting")

// Config wires a Shell.
type Config struct {
	Log      Log
	Tools    Tools
	Planner  Planner
	Policies Policies
	// Models gives the models that a new run pins; nil: none.
	Models func() engine.Models
	// Authorities is asked for clearance; nil: every question is a denial.
	Authorities Authorities
	// Latency has latencies of earlier attempts by tool, in ms, oldest first.
	Latency map[string][]int64
	Clock   Clock // nil: SystemClock
	// Redact replaces secrets in every input before it is stepped (P26).
	Redact func(string) string
	// Ended is told after a run's last fact is durable; it must be quick.
	Ended  func(run string)
	Logger *slog.Logger
}

// Shell runs runs. It is safe for concurrent use.
type Shell struct {
	cfg Config

	mu     sync.Mutex
	live   map[string]*runner
	alarms map[string]func() bool // deadlines of evicted runs
	closed bool
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
	crew   crew

	watch   watchers
	latency *latencies
}

// New builds a Shell; it panics on a missing part, because that is a fault of
// the program, not of its input.
func New(cfg Config) *Shell {
	if cfg.Log == nil || cfg.Tools == nil || cfg.Planner == nil || cfg.Policies == nil {
		panic("exec: Log, Tools, Planner and Policies are required")
	}
	if cfg.Clock == nil {
		cfg.Clock = SystemClock{}
	}
	if cfg.Redact == nil {
		cfg.Redact = func(s string) string { return s }
	}
	if cfg.Models == nil {
		cfg.Models = func() engine.Models { return engine.Models{} }
	}
	if cfg.Ended == nil {
		cfg.Ended = func(string) {}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Shell{cfg: cfg, live: map[string]*runner{}, alarms: map[string]func() bool{}, ctx: ctx, cancel: cancel,
		latency: newLatencies(cfg.Latency)}
	s.crew.wait = &s.wait
	return s
}

func (s *Shell) now() int64 { return s.cfg.Clock.Now().UnixMicro() }

// Submit creates a run and returns once its first facts are durable. The error
// is an *engine.Refusal when the core refused the input.
func (s *Shell) Submit(ctx context.Context, in *engine.Create, c Creation) error {
	in.Goal = s.cfg.Redact(in.Goal)
	reply := make(chan error, 1)
	if err := s.begin(message{in: in, reply: reply}, in.Run, &c); err != nil {
		return err
	}
	return s.outcome(ctx, reply)
}

// begin makes the runner of a new run: there is nothing to fold. Its first input
// is in the inbox before anybody finds the runner: a policy that is published
// now comes after it, and is not refused for want of a run.
func (s *Shell) begin(first message, run string, c *Creation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.live[run] != nil {
		return fmt.Errorf("create run: %s exists", run)
	}
	r := newRunner(s, run)
	current := s.cfg.Policies.Current()
	r.state = engine.New(engine.Env{Catalog: s.cfg.Tools.Catalog(), Pinned: current, Current: current,
		Planner: s.cfg.Planner.Name(), Models: s.cfg.Models(), Latency: s.latency.now()})
	r.create = c
	if err := r.deliver(first, 0); err != nil {
		return err
	}
	s.live[run] = r
	s.wait.Add(1)
	go r.loop()
	return nil
}

// Send gives a run an input and returns once what followed is durable.
func (s *Shell) Send(ctx context.Context, run string, in engine.Input) error {
	r, err := s.runner(run)
	if err != nil {
		return err
	}
	return s.await(ctx, r, in)
}

func (s *Shell) await(ctx context.Context, r *runner, in engine.Input) error {
	reply := make(chan error, 1)
	for {
		err := r.deliver(message{in: in, reply: reply}, InboxMax)
		if !errors.Is(err, errEvicted) {
			if err != nil {
				return err
			}
			break
		}
		if r, err = s.runner(r.run); err != nil {
			return err
		}
	}
	return s.outcome(ctx, reply)
}

func (s *Shell) outcome(ctx context.Context, reply chan error) error {
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ctx.Done():
		return ErrClosed
	}
}

// runner gives the live runner of a run, folding the log when it has none.
func (s *Shell) runner(run string) (*runner, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if r := s.live[run]; r != nil {
		return r, nil
	}
	if stop := s.alarms[run]; stop != nil {
		stop()
		delete(s.alarms, run)
	}
	r := newRunner(s, run)
	s.live[run] = r
	s.wait.Add(1)
	go r.loop()
	return r, nil
}

// Recover folds every run that had not ended when the process stopped and lets
// it go on: owed commands start again, unknown outcomes go to people (P5).
func (s *Shell) Recover(runs []string) error {
	for _, run := range runs {
		r, err := s.runner(run)
		if err != nil {
			return err
		}
		r.nudge()
	}
	return nil
}

// Live counts the runs that hold a goroutine.
func (s *Shell) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.live)
}

// Close stops every runner after what it has in hand is appended. Attempts in
// flight are cancelled; the next start finds them in the log.
func (s *Shell) Close() {
	s.mu.Lock()
	s.closed = true
	for _, stop := range s.alarms {
		stop()
	}
	s.mu.Unlock()
	s.cancel()
	s.wait.Wait()
}

// evict lets a runner go when nothing more can come by itself. It reports
// whether the runner may end.
func (s *Shell) evict(r *runner, deadline int64, has bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.inbox) > 0 || len(r.flights) > 0 || r.commits > 0 {
		return false
	}
	r.evicted = true
	delete(s.live, r.run)
	if has && !s.closed {
		d := time.Duration(deadline-s.now()) * time.Microsecond
		s.alarms[r.run] = s.cfg.Clock.AfterFunc(max(d, 0), func() { s.alarm(r.run) })
	}
	return true
}

func (s *Shell) alarm(run string) {
	r, err := s.runner(run)
	if err == nil {
		r.nudge()
	}
}
