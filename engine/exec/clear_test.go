package exec

import (
	"context"
	"strings"
	"sync"
	"testing"

	"sluice/engine"
	"sluice/policy"
)

// movingPolicy is the policy in force, which a test may change, and all that were.
type movingPolicy struct {
	mu    sync.Mutex
	now   *policy.Policy
	known map[string]*policy.Policy
}

func (m *movingPolicy) Current() *policy.Policy {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *movingPolicy) ByHash(_ context.Context, hash string) (*policy.Policy, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[hash], nil
}

func (m *movingPolicy) set(p *policy.Policy) *policy.Policy {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now, m.known[p.Hash()] = p, p
	return p
}

// authority answers what a test wants, or waits for the end of the question.
type authority struct {
	mu    sync.Mutex
	asked []engine.Clear
	say   func(ctx context.Context, c engine.Clear) engine.Cleared
}

func (a *authority) Clear(ctx context.Context, c engine.Clear) engine.Cleared {
	a.mu.Lock()
	a.asked = append(a.asked, c)
	say := a.say
	a.mu.Unlock()
	return say(ctx, c)
}

func (a *authority) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.asked)
}

// governed is a world whose policy moves and whose authority listens.
type governed struct {
	*world
	rules *movingPolicy
	asks  *authority
}

func newGoverned(t *testing.T, change func(*policy.Document)) *governed {
	t.Helper()
	w := newWorld(t)
	doc := w.rules.p.Document()
	change(&doc)
	rules := &movingPolicy{known: map[string]*policy.Policy{}}
	w.rules = fixedPolicy{rules.set(compiled(t, doc))}
	g := &governed{world: w, rules: rules, asks: &authority{say: func(context.Context, engine.Clear) engine.Cleared { return engine.Cleared{Allow: true} }}}
	w.shell.Close()
	g.open()
	return g
}

func (g *governed) open() {
	g.shell = New(Config{Log: g.log, Tools: g.tools, Planner: g.tools, Policies: g.rules, Clock: g.clock, Authorities: g.asks})
	g.t.Cleanup(g.shell.Close)
}

func (g *governed) publish(change func(*policy.Document)) {
	doc := g.rules.Current().Document()
	change(&doc)
	g.shell.Publish(g.rules.set(compiled(g.t, doc)), "user:9")
}

func wantsClearance(tool string) func(*policy.Document) {
	return func(d *policy.Document) {
		d.Clearance = []policy.ClearanceRule{{ID: "C1", When: policy.When{Tools: []string{tool}}, URL: "https://a.example", TimeoutS: 5}}
	}
}

func TestR47_TheShellAsksAndTheAnswerIsOnRecord(t *testing.T) {
	g := newGoverned(t, wantsClearance("write"))
	g.asks.say = func(_ context.Context, c engine.Clear) engine.Cleared {
		g.clock.advance(12_000_000)
		return engine.Cleared{Allow: true, Reason: "fine", Nonce: "n1"}
	}
	if err := g.submit("r_1", `[{"id":"a","tool":"write","params":{"x":1}}]`); err != nil {
		t.Fatal(err)
	}
	g.until("end of run", g.ended("r_1"))
	if g.tools.called("a#1") != 1 || g.asks.count() != 1 || string(g.asks.asked[0].Params) != `{"x":1}` || g.asks.asked[0].User != "user:1" {
		t.Fatalf("asked %+v, called %d times", g.asks.asked, g.tools.called("a#1"))
	}
	for _, f := range g.log.facts["r_1"] {
		if f.Kind == engine.ClearanceAnswered {
			if text := string(f.Data); !strings.Contains(text, `"allow":true,"reason":"fine","latency_ms":12`) || !strings.Contains(text, `"nonce":"n1"`) {
				t.Errorf("on record is %s", text)
			}
		}
	}
}

func TestR47_AShellWithoutAuthoritiesDenies(t *testing.T) {
	g := newGoverned(t, wantsClearance("write"))
	g.shell.Close()
	g.shell = New(Config{Log: g.log, Tools: g.tools, Planner: g.tools, Policies: g.rules, Clock: g.clock})
	t.Cleanup(g.shell.Close)
	if err := g.submit("r_1", `[{"id":"a","tool":"write"}]`); err != nil {
		t.Fatal(err)
	}
	g.until("end of run", g.ended("r_1"))
	if g.tools.called("a#1") != 0 {
		t.Error("the call was made")
	}
}

// TestP7_CancelEndsAQuestionInFlight, and the runner is free at once.
func TestP7_CancelEndsAQuestionInFlight(t *testing.T) {
	g := newGoverned(t, wantsClearance("write"))
	g.asks.say = func(ctx context.Context, _ engine.Clear) engine.Cleared {
		<-ctx.Done()
		return engine.Cleared{Failure: "stopped"}
	}
	if err := g.submit("r_1", `[{"id":"a","tool":"write"}]`); err != nil {
		t.Fatal(err)
	}
	g.until("the question", func() bool { return g.asks.count() == 1 })
	if err := g.send("r_1", &engine.Cancel{Head: g.head()}); err != nil {
		t.Fatal(err)
	}
	g.until("no live run", func() bool { return g.shell.Live() == 0 })
	if n := g.log.count("r_1", "a", engine.ClearanceAnswered); n != 0 {
		t.Errorf("%d answers on record of a question that was stopped", n)
	}
}

func TestP45_AQuestionIsAskedAgainByTheNextProcess(t *testing.T) {
	g := newGoverned(t, wantsClearance("write"))
	g.asks.say = func(ctx context.Context, _ engine.Clear) engine.Cleared {
		<-ctx.Done()
		return engine.Cleared{Failure: "stopped"}
	}
	if err := g.submit("r_1", `[{"id":"a","tool":"write"}]`); err != nil {
		t.Fatal(err)
	}
	g.until("the question", func() bool { return g.asks.count() == 1 })
	g.shell.Close()
	g.asks.say = func(context.Context, engine.Clear) engine.Cleared { return engine.Cleared{Allow: true} }
	g.open()
	if err := g.shell.Recover([]string{"r_1"}); err != nil {
		t.Fatal(err)
	}
	g.until("end of run", g.ended("r_1"))
	if g.tools.called("a#1") != 1 || g.asks.count() != 2 || g.log.count("r_1", "a", engine.ClearanceRequested) != 1 {
		t.Errorf("called %d times after %d questions", g.tools.called("a#1"), g.asks.count())
	}
}

// TestP19_TighteningReachesARunInFlight: its next step is denied, and loosening
// afterwards gives nothing that the run did not have.
func TestP19_TighteningReachesARunInFlight(t *testing.T) {
	g := newGoverned(t, func(d *policy.Document) { d.KillSwitches = []string{"once"} })
	release := make(chan struct{})
	g.tools.tool = func(context.Context, engine.Perform) engine.AttemptDone {
		<-release
		return engine.AttemptDone{Output: []byte(`{}`)}
	}
	if err := g.submit("r_1", `[{"id":"a","tool":"read"},{"id":"b","tool":"write","depends_on":["a"]},{"id":"c","tool":"read","params":{"x":2},"depends_on":["a"]}]`); err != nil {
		t.Fatal(err)
	}
	g.publish(func(d *policy.Document) { d.KillSwitches = []string{"write"} })
	g.until("the input", func() bool { return g.log.count("r_1", "", engine.InputPolicy) == 1 })
	close(release)
	g.until("end of run", g.ended("r_1"))
	if g.tools.called("b#1") != 0 || g.tools.called("c#1") != 1 {
		t.Errorf("called b %d times and c %d times, want never and once", g.tools.called("b#1"), g.tools.called("c#1"))
	}
}

func TestP19_LooseningHasNoEffectOnARun(t *testing.T) {
	g := newGoverned(t, wantsClearance("write"))
	answer := make(chan bool)
	g.asks.say = func(context.Context, engine.Clear) engine.Cleared { return engine.Cleared{Allow: <-answer} }
	if err := g.submit("r_1", `[{"id":"a","tool":"write"},{"id":"b","tool":"write","params":{"x":2},"depends_on":["a"]}]`); err != nil {
		t.Fatal(err)
	}
	g.publish(func(d *policy.Document) { d.Clearance = nil })
	g.until("the input", func() bool { return g.log.count("r_1", "", engine.InputPolicy) == 1 })
	answer <- true
	answer <- false
	g.until("end of run", g.ended("r_1"))
	if g.tools.called("a#1") != 1 || g.tools.called("b#1") != 0 {
		t.Error("a rule of the pinned policy was not asked after it had been removed")
	}
}

// TestP19_IdleRunsMeetThePolicyFirst: a run that waits for a person holds no
// goroutine; the policy is on its record before what the person said.
func TestP19_IdleRunsMeetThePolicyFirst(t *testing.T) {
	g := newGoverned(t, func(*policy.Document) {})
	if err := g.submit("r_1", `[{"id":"a","tool":"delete"}]`); err != nil {
		t.Fatal(err)
	}
	g.until("eviction", func() bool { return g.shell.Live() == 0 })
	g.publish(func(d *policy.Document) { d.KillSwitches = []string{"delete"} })
	a := g.state("r_1").Approvals()[0]
	if err := g.send("r_1", &engine.Decide{Head: engine.Head{At: g.clock.Now().UnixMicro(), Actor: "user:2"}, Approval: a.ID, Verdict: engine.Approve, Hash: a.Hash, Roles: []string{"approver"}}); err != nil {
		t.Fatal(err)
	}
	g.until("end of run", g.ended("r_1"))
	if g.tools.called("a#1") != 0 {
		t.Error("a tool that was switched off while the run was away acted")
	}
	order := ""
	for _, f := range g.log.facts["r_1"] {
		if f.Kind == engine.InputPolicy || f.Kind == engine.ApprovalDecided || f.Kind == engine.NodeChanged {
			order += string(f.Kind) + " "
		}
	}
	if order != "input.policy approval.decided node.changed " {
		t.Errorf("the order on record is %s", order)
	}
}
