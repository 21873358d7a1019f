package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/engine"
)

func TestR53_NoCommandStartsBeforeItsFactIsDurable(t *testing.T) {
	w := newWorld(t)
	w.log.hold = make(chan struct{})
	submitted := make(chan error, 1)
	go func() { submitted <- w.submit("r_1", `[{"id":"a","tool":"once"}]`) }()
	select {
	case err := <-submitted:
		t.Fatalf("submit came back (%v) before its facts were durable", err)
	case <-time.After(50 * time.Millisecond):
	}
	if n := w.tools.called("a#1"); n != 0 {
		t.Fatalf("got %d calls before the commit, want 0", n)
	}
	w.log.hold <- struct{}{}
	if err := <-submitted; err != nil {
		t.Fatal(err)
	}
	w.until("the call after the commit", func() bool { return w.tools.called("a#1") == 1 })
	close(w.log.hold)
	w.until("end of run", w.ended("r_1"))
}

func TestP31_FailedCommitDropsTheStateAndFoldsAgain(t *testing.T) {
	w := newWorld(t)
	release := make(chan struct{})
	w.tools.tool = func(context.Context, engine.Perform) engine.AttemptDone {
		<-release
		return engine.AttemptDone{Output: []byte(`{}`)}
	}
	if err := w.submit("r_1", `[{"id":"a","tool":"once"},{"id":"b","tool":"read","depends_on":["a"]}]`); err != nil {
		t.Fatal(err)
	}
	w.log.mu.Lock()
	w.log.failing = 1
	w.log.mu.Unlock()
	if err := w.send("r_1", &engine.Pause{Head: w.head()}); err == nil {
		t.Fatal("got no error for an input whose commit failed")
	}
	if w.state("r_1").Status() == engine.Paused {
		t.Fatal("the log says paused, but the commit failed")
	}
	close(release)
	w.until("end of run", w.ended("r_1"))
	if n := w.tools.called("a#1"); n != 1 {
		t.Fatalf("got %d calls of the effect in flight, want 1", n)
	}
	if n := w.log.count("r_1", "a", engine.InputUnknown); n != 0 {
		t.Fatalf("an attempt in flight in this process was taken for lost")
	}
}

func TestP31_KnownOutcomeSurvivesAFailedCommit(t *testing.T) {
	w := newWorld(t)
	release := make(chan struct{})
	w.tools.tool = func(context.Context, engine.Perform) engine.AttemptDone {
		<-release
		return engine.AttemptDone{Output: []byte(`{}`)}
	}
	if err := w.submit("r_1", `[{"id":"a","tool":"once"}]`); err != nil {
		t.Fatal(err)
	}
	w.log.mu.Lock()
	w.log.failing = 1
	w.log.mu.Unlock()
	close(release)
	w.until("end of run", func() bool {
		return w.log.count("r_1", "", engine.RunEnded) == 1 || w.log.count("r_1", "a", engine.InputUnknown) == 1
	})
	if n, _ := w.state("r_1").Node("a"); n.State != engine.NodeExecuted || w.tools.called("a#1") != 1 {
		t.Fatalf("got state %s after %d calls, want executed after one", n.State, w.tools.called("a#1"))
	}
}

func TestP31a_ReadyWaveTakesAtMostTwoCommits(t *testing.T) {
	w := newWorld(t)
	const width = 40
	var steps []string
	for i := range width {
		steps = append(steps, fmt.Sprintf(`{"id":"n%d","tool":"read","params":{"n":%d}}`, i, i))
	}
	arrived := make(chan struct{}, width)
	release := make(chan struct{})
	w.tools.tool = func(context.Context, engine.Perform) engine.AttemptDone {
		arrived <- struct{}{}
		<-release
		return engine.AttemptDone{Output: []byte(`{}`)}
	}
	if err := w.submit("r_1", "["+strings.Join(steps, ",")+"]"); err != nil {
		t.Fatal(err)
	}
	for range width {
		<-arrived
	}
	w.log.mu.Lock()
	started := w.log.commits
	w.log.hold = make(chan struct{})
	w.log.mu.Unlock()
	if started != 1 {
		t.Errorf("got %d commits to start a wave of %d, want 1", started, width)
	}
	close(release)
	w.until("all results in hand", func() bool { return len(w.shell.live["r_1"].inboxNow()) == 0 })
	close(w.log.hold)
	w.until("end of run", w.ended("r_1"))
}

func (r *runner) inboxNow() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.flights) > 0 {
		return make([]message, 1)
	}
	return append([]message(nil), r.inbox...)
}

func TestP32_WaitingRunHoldsNoGoroutineAndGoesOn(t *testing.T) {
	w := newWorld(t)
	if err := w.submit("r_1", `[{"id":"gone","tool":"delete"}]`); err != nil {
		t.Fatal(err)
	}
	w.until("eviction", func() bool { return w.shell.Live() == 0 })
	ask := w.state("r_1").Approvals()
	if len(ask) != 1 || w.log.sums["r_1"].Status != engine.Waiting {
		t.Fatalf("got %d requests and status %s, want 1 and waiting", len(ask), w.log.sums["r_1"].Status)
	}
	err := w.send("r_1", &engine.Decide{Head: w.head(), Approval: ask[0].ID, Verdict: engine.Approve, Hash: ask[0].Hash, Roles: []string{"approver"}})
	if err != nil {
		t.Fatal(err)
	}
	w.until("end of run", w.ended("r_1"))
	if n := w.tools.called("gone#1"); n != 1 {
		t.Fatalf("got %d calls after approval, want 1", n)
	}
	w.until("eviction", func() bool { return w.shell.Live() == 0 })
}

func TestP32_EvictedRunGoesOnFromItsSnapshot(t *testing.T) {
	w := newWorld(t)
	if err := w.submit("r_1", `[{"id":"gone","tool":"delete"}]`); err != nil {
		t.Fatal(err)
	}
	w.until("eviction", func() bool { return w.shell.Live() == 0 })
	kept, err := engine.Restore(w.log.snaps["r_1"])
	if err != nil || kept.Seq() != w.state("r_1").Seq() {
		t.Fatalf("got %v and a snapshot that is not at the head", err)
	}
	w.log.snaps["r_1"] = []byte("damaged")
	ask := w.state("r_1").Approvals()[0]
	err = w.send("r_1", &engine.Decide{Head: w.head(), Approval: ask.ID, Verdict: engine.Reject, Reason: "no", Hash: ask.Hash, Roles: []string{"approver"}})
	if err != nil {
		t.Fatalf("a damaged snapshot kept the run from its log: %v", err)
	}
	w.until("end of run", w.ended("r_1"))
}

func TestP17_ApprovalOfAnEvictedRunExpires(t *testing.T) {
	w := newWorld(t)
	if err := w.submit("r_1", `[{"id":"gone","tool":"delete"}]`); err != nil {
		t.Fatal(err)
	}
	w.until("eviction", func() bool { return w.shell.Live() == 0 })
	w.clock.advance(86_400*time.Second + time.Second)
	w.until("end of run", w.ended("r_1"))
	if code := engine.Summarise(w.state("r_1")).Code; code != engine.ConfirmRequired {
		t.Fatalf("got code %s, want CONFIRM_REQUIRED", code)
	}
	if n := w.tools.called("gone#1"); n != 0 {
		t.Fatalf("got %d calls of an expired request, want 0", n)
	}
}

// crashed copies what is durable into a world that never saw the first process.
func crashed(t *testing.T, w *world) *world {
	t.Helper()
	after := newWorld(t)
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	for run, facts := range w.log.facts {
		after.log.facts[run] = append([]engine.Fact(nil), facts...)
	}
	return after
}

func TestP45_RestartPerformsReadsAgainAndAsksAboutEffects(t *testing.T) {
	w := newWorld(t)
	hang := make(chan struct{})
	defer close(hang)
	w.tools.tool = func(context.Context, engine.Perform) engine.AttemptDone {
		<-hang
		return engine.AttemptDone{Output: []byte(`{}`)}
	}
	steps := `[{"id":"r","tool":"read"},{"id":"i","tool":"write"},{"id":"o","tool":"once"}]`
	if err := w.submit("r_1", steps); err != nil {
		t.Fatal(err)
	}
	w.until("three attempts", func() bool { return w.log.count("r_1", "*", engine.AttemptStarted) == 3 })
	after := crashed(t, w)
	if err := after.shell.Recover([]string{"r_1"}); err != nil {
		t.Fatal(err)
	}
	after.until("results of what may run again", func() bool { return after.log.count("r_1", "*", engine.AttemptEnded) == 2 })
	after.until("the question", func() bool { return after.log.count("r_1", "o", engine.InputUnknown) == 1 })
	for _, id := range []string{"r#1", "i#1"} {
		if n := after.tools.called(id); n != 1 {
			t.Errorf("got %d calls of %s after the restart, want 1", n, id)
		}
	}
	if n := after.tools.called("o#1"); n != 0 {
		t.Errorf("got %d calls of the once effect after the restart, want 0", n)
	}
	if n := after.log.count("r_1", "*", engine.AttemptStarted); n != 3 {
		t.Errorf("got %d attempt.started after the restart, want the same 3", n)
	}
	after.until("eviction", func() bool { return after.shell.Live() == 0 })
	if err := after.send("r_1", &engine.Attest{Head: after.head(), Node: "o", Attempt: 1, Outcome: "done"}); err != nil {
		t.Fatal(err)
	}
	after.until("end of run", after.ended("r_1"))
}

func TestP7_CancelStopsReadsAtOnceAndEffectsAfterTheGrace(t *testing.T) {
	w := newWorld(t)
	w.tools.tool = func(ctx context.Context, c engine.Perform) engine.AttemptDone {
		<-ctx.Done()
		return engine.AttemptDone{Class: engine.ClassTimeout}
	}
	if err := w.submit("r_1", `[{"id":"r","tool":"read"},{"id":"o","tool":"once"}]`); err != nil {
		t.Fatal(err)
	}
	w.until("both attempts", func() bool { return w.tools.called("r#1")+w.tools.called("o#1") == 2 })
	if err := w.send("r_1", &engine.Cancel{Head: w.head()}); err != nil {
		t.Fatal(err)
	}
	w.until("end of the read", func() bool { return w.log.count("r_1", "r", engine.AttemptEnded) == 1 })
	if n, _ := w.state("r_1").Node("o"); n.State != engine.NodeRunning {
		t.Fatalf("the effect is %s before its grace is over, want running", n.State)
	}
	w.clock.advance(10*time.Second + time.Millisecond)
	w.until("end of the effect", func() bool { return w.log.count("r_1", "o", engine.AttemptEnded) == 1 })
	if n, _ := w.state("r_1").Node("o"); n.State != engine.NodeWaiting || !n.Unknown {
		t.Fatalf("the killed effect is %s, want waiting for a person's word", n.State)
	}
}

func TestP26_GoalIsRedactedBeforeTheFirstFact(t *testing.T) {
	w := newWorld(t)
	err := w.shell.Submit(context.Background(), &engine.Create{Head: w.head(), Run: "r_1", Goal: "use hunter2",
		Scopes: []string{"default"}, Mode: "plan-once"}, Creation{Run: "r_1", Owner: "user:1"})
	if err != nil {
		t.Fatal(err)
	}
	w.until("end of run", w.ended("r_1"))
	for _, f := range w.log.facts["r_1"] {
		if strings.Contains(string(f.Data), "hunter2") {
			t.Fatalf("fact %d holds the secret: %s", f.Seq, f.Data)
		}
	}
}

func TestP30_LargeOutputIsABlobBeforeItsFact(t *testing.T) {
	w := newWorld(t)
	big := []byte(`{"text":"` + strings.Repeat("x", engine.OutputBytesMax) + `"}`)
	w.tools.tool = func(context.Context, engine.Perform) engine.AttemptDone { return engine.AttemptDone{Output: big} }
	if err := w.submit("r_1", `[{"id":"a","tool":"read"}]`); err != nil {
		t.Fatal(err)
	}
	w.until("end of run", w.ended("r_1"))
	n, _ := w.state("r_1").Node("a")
	if w.log.blobs != 1 || n.Blob == nil || n.Blob.Size != int64(len(big)) || n.Output != nil {
		t.Fatalf("got %d blobs and node %+v, want one blob and nothing inline", w.log.blobs, n.Blob)
	}
}

func TestP19_PublishReachesLiveRuns(t *testing.T) {
	w := newWorld(t)
	release := make(chan struct{})
	w.tools.tool = func(context.Context, engine.Perform) engine.AttemptDone {
		<-release
		return engine.AttemptDone{Output: []byte(`{}`)}
	}
	if err := w.submit("r_1", `[{"id":"a","tool":"read"},{"id":"b","tool":"write","depends_on":["a"]}]`); err != nil {
		t.Fatal(err)
	}
	doc := w.rules.p.Document()
	doc.KillSwitches = []string{"write"}
	w.shell.Publish(compiled(t, doc), "user:1")
	w.until("the input", func() bool { return w.log.count("r_1", "", engine.InputPolicy) == 1 })
	close(release)
	w.until("end of run", w.ended("r_1"))
	if n := w.tools.called("b#1"); n != 0 {
		t.Fatalf("got %d calls of a tool switched off, want 0", n)
	}
}

func TestUnknownRunIsRefused(t *testing.T) {
	w := newWorld(t)
	var refused *engine.Refusal
	if err := w.send("r_none", &engine.Pause{Head: w.head()}); !errors.As(err, &refused) || refused.Code != "not_found" {
		t.Fatalf("got %v, want not_found", err)
	}
	if n := w.shell.Live(); n != 0 {
		t.Fatalf("got %d live runs, want 0", n)
	}
}

func TestCloseAnswersEverybodyAndStops(t *testing.T) {
	w := newWorld(t)
	w.tools.tool = func(ctx context.Context, _ engine.Perform) engine.AttemptDone {
		<-ctx.Done()
		return engine.AttemptDone{Class: engine.ClassTimeout}
	}
	if err := w.submit("r_1", `[{"id":"a","tool":"read"}]`); err != nil {
		t.Fatal(err)
	}
	w.shell.Close()
	if err := w.send("r_1", &engine.Pause{Head: w.head()}); !errors.Is(err, ErrClosed) {
		t.Fatalf("got %v, want ErrClosed", err)
	}
	if n := w.log.count("r_1", "a", engine.AttemptEnded); n != 0 {
		t.Fatal("an attempt cut off by shutdown was recorded as ended; the next start has to decide")
	}
}
