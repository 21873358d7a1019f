package exec

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

const waitMax = 10 * time.Second

// memoryLog is a log in memory whose commits a test can hold back or fail.
type memoryLog struct {
	mu      sync.Mutex
	facts   map[string][]engine.Fact
	commits int
	failing int           // commits that will fail
	hold    chan struct{} // nil: commit at once
	sums    map[string]engine.Summary
	queue   chan func()
	blobs   int
	snaps   map[string][]byte
}

func newLog(t *testing.T) *memoryLog {
	l := &memoryLog{facts: map[string][]engine.Fact{}, sums: map[string]engine.Summary{}, snaps: map[string][]byte{}, queue: make(chan func(), 1024)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for work := range l.queue {
			work()
		}
	}()
	t.Cleanup(func() { close(l.queue); <-done })
	return l
}

func (l *memoryLog) Append(a Append, done func(error)) {
	l.queue <- func() {
		if hold := l.held(); hold != nil {
			<-hold
		}
		done(l.commit(a))
	}
}

func (l *memoryLog) held() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hold
}

func (l *memoryLog) commit(a Append) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failing > 0 {
		l.failing--
		return errors.New("disk full")
	}
	if int64(len(l.facts[a.Run])) != a.Expected {
		return errors.New("conflict")
	}
	l.facts[a.Run] = append(l.facts[a.Run], a.Facts...)
	l.commits++
	if a.Summary != nil {
		l.sums[a.Run] = *a.Summary
	}
	return nil
}

func (l *memoryLog) Load(_ context.Context, run string, after int64, limit int) ([]engine.Fact, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.facts[run]
	if after >= int64(len(all)) {
		return nil, nil
	}
	return append([]engine.Fact(nil), all[after:min(int(after)+limit, len(all))]...), nil
}

func (l *memoryLog) Snapshot(_ context.Context, run string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.snaps[run], nil
}

func (l *memoryLog) SaveSnapshot(_ context.Context, run string, _ int64, data []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.snaps[run] = data
	return nil
}

func (l *memoryLog) PutBlob(context.Context, string, []byte) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blobs++
	return "00ff", nil
}

// count gives how many facts of a kind a node has.
func (l *memoryLog) count(run, node string, kind engine.Kind) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, f := range l.facts[run] {
		if f.Kind == kind && (node == "*" || f.Node == node) {
			n++
		}
	}
	return n
}

// scripted is the tools and the planner of a test.
type scripted struct {
	mu      sync.Mutex
	catalog *plan.Catalog
	calls   []string
	tool    func(ctx context.Context, c engine.Perform) engine.AttemptDone
}

func (s *scripted) Catalog() *plan.Catalog { return s.catalog }

func (s *scripted) Perform(ctx context.Context, c engine.Perform) engine.AttemptDone {
	s.mu.Lock()
	s.calls = append(s.calls, c.ID)
	tool := s.tool
	s.mu.Unlock()
	if tool != nil {
		return tool(ctx, c)
	}
	return engine.AttemptDone{Output: []byte(`{}`)}
}

func (s *scripted) called(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.calls {
		if c == id {
			n++
		}
	}
	return n
}

func (s *scripted) Name() string { return "none" }

func (s *scripted) Propose(context.Context, engine.Propose, func([]byte)) (engine.Planned, error) {
	return engine.Planned{}, errors.New("no planner here")
}

func (s *scripted) Conclude(context.Context, engine.Conclude) (engine.Concluded, error) {
	return engine.Concluded{Ruling: "conclude", Verdict: engine.Verdict{By: "builtin"}}, nil
}

// fixedPolicy is the policy in force and the only one.
type fixedPolicy struct{ p *policy.Policy }

func (f fixedPolicy) Current() *policy.Policy { return f.p }

func (f fixedPolicy) ByHash(context.Context, string) (*policy.Policy, error) { return f.p, nil }

// stepClock stands still until a test moves it.
type stepClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*stepTimer
}

type stepTimer struct {
	at   time.Time
	do   func()
	gone bool
}

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &stepTimer{at: c.now.Add(d), do: f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := !t.gone
		t.gone = true
		return was
	}
}

// advance moves time and fires what has come due.
func (c *stepClock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for _, t := range c.timers {
		if !t.gone && !t.at.After(c.now) {
			t.gone = true
			due = append(due, t.do)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// world is a shell with everything a test can turn.
type world struct {
	t     *testing.T
	log   *memoryLog
	tools *scripted
	clock *stepClock
	shell *Shell
	rules fixedPolicy
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, log: newLog(t), tools: &scripted{catalog: testCatalog(t)}, clock: &stepClock{now: time.UnixMicro(1_800_000_000_000_000)}}
	doc := policy.Default()
	doc.Scopes["default"] = policy.Scope{Tools: []string{"*"}}
	p, err := policy.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	w.rules = fixedPolicy{p}
	w.open()
	return w
}

// open starts a shell on the log as it is, as a restarted process would.
func (w *world) open() {
	w.shell = New(Config{Log: w.log, Tools: w.tools, Planner: w.tools, Policies: w.rules, Clock: w.clock,
		Redact: func(s string) string {
			if s == "use hunter2" {
				return "use [redacted]"
			}
			return s
		}})
	w.t.Cleanup(w.shell.Close)
}

func testCatalog(t *testing.T) *plan.Catalog {
	t.Helper()
	declare := func(name string, effect policy.Effect, impact policy.Rank) plan.Tool {
		return plan.Tool{Tool: policy.Tool{Name: name, Effect: effect, Impact: impact}, Summary: name, Timeout: time.Minute,
			Input: json.RawMessage(`{"type":"object"}`), Output: json.RawMessage(`{"type":"object"}`), Bytes: 1 << 20}
	}
	c, err := plan.NewCatalog([]plan.Tool{declare("read", policy.Read, policy.Observe),
		declare("write", policy.Idempotent, policy.Operate), declare("once", policy.Once, policy.Operate),
		declare("delete", policy.Once, policy.Override)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// submit creates a run of a plan; steps is the JSON of its steps.
func (w *world) submit(run, steps string) error {
	w.t.Helper()
	doc := []byte(`{"format":1,"goal":"test","steps":` + steps + `}`)
	c, findings := plan.Check(doc, plan.Env{Catalog: w.tools.catalog, Policy: w.rules.p, Scopes: []string{"default"},
		Intent: policy.Override, Requester: "user:1", Author: plan.Person})
	if c == nil {
		w.t.Fatal(findings)
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	return w.shell.Submit(ctx, &engine.Create{Head: engine.Head{At: w.clock.Now().UnixMicro(), Actor: "user:1"}, Run: run,
		Goal: "test", Intent: policy.Override, Scopes: []string{"default"}, Mode: "plan-once", Plan: c, PlanDoc: doc,
		PlanAuthor: plan.Person}, Creation{Run: run, Owner: "user:1"})
}

func (w *world) send(run string, in engine.Input) error {
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	return w.shell.Send(ctx, run, in)
}

func (w *world) head() engine.Head {
	return engine.Head{At: w.clock.Now().UnixMicro(), Actor: "user:1"}
}

// until waits for a condition that commits bring about.
func (w *world) until(what string, cond func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(waitMax)
	for !cond() {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited %s for: %s", waitMax, what)
		}
		time.Sleep(time.Millisecond)
	}
}

// state folds a run from the log.
func (w *world) state(run string) *engine.State {
	s := engine.New(engine.Env{})
	s.SetRun(run)
	facts, _ := w.log.Load(context.Background(), run, 0, 1<<20)
	for _, f := range facts {
		s.Apply(f)
	}
	return s
}

func (w *world) ended(run string) func() bool {
	return func() bool { return w.log.count(run, "", engine.RunEnded) == 1 }
}

func compiled(t *testing.T, d policy.Document) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
