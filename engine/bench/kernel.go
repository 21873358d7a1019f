package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"sluice/engine"
	"sluice/engine/exec"
	"sluice/engine/plan"
	"sluice/engine/tool"
	"sluice/policy"
	"sluice/store"
)

const (
	noop  = "noop"
	sleep = "sleep20"
	// Work is what one step of the makespan plan takes.
	Work = 20 * time.Millisecond
)

// kernel is the real thing: core, gate, grants, executor, shell and store.
type kernel struct {
	store    *store.Store
	registry *tool.Registry
	executor *tool.Executor
	policy   *policy.Policy
	shell    *exec.Shell
	ended    chan string // runs whose last fact is durable
}

func newKernel(dir string) (*kernel, error) {
	k := &kernel{ended: make(chan string, 1)}
	var err error
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if k.store, err = store.Open(context.Background(), store.Options{Path: dir, Logger: log}); err != nil {
		return nil, err
	}
	sleeper := tool.Scripted(sleep, plan.Tool{Tool: policy.Tool{Effect: policy.Read, Impact: policy.Observe},
		Summary: "Sleeps.", Input: json.RawMessage(`{"type":"object"}`), Output: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, tool.Request) ([]byte, error) {
			time.Sleep(Work)
			return []byte(`{}`), nil
		})
	none := func() []string { return nil }
	if k.registry, err = tool.New(tool.Config{Workspace: dir + "/workspace", Env: none, Extra: []tool.Extra{tool.NoOp(noop), sleeper}}); err != nil {
		return nil, err
	}
	doc := policy.Default()
	doc.Scopes["default"] = policy.Scope{Tools: []string{noop, sleep}}
	if k.policy, err = policy.Compile(doc); err != nil {
		return nil, err
	}
	k.executor = tool.NewExecutor(k.registry)
	k.shell = exec.New(exec.Config{Log: k, Tools: k, Planner: k, Policies: k, Logger: log,
		Ended: func(run string) { k.ended <- run }})
	return k, nil
}

func (k *kernel) close() error {
	k.shell.Close()
	if err := k.registry.Close(); err != nil {
		return err
	}
	return k.store.Close()
}

// Append and the methods after it implement exec.Log.
func (k *kernel) Append(a exec.Append, done func(error)) {
	in := store.Append{Stream: store.StreamOf(a.Run), Expected: a.Expected, Facts: a.Facts, Summary: a.Summary}
	if c := a.Create; c != nil {
		in.Create = &store.RunMeta{Run: c.Run, Owner: c.Owner}
	}
	k.store.Append(in, done)
}

func (k *kernel) Load(context.Context, string, int64, int) ([]engine.Fact, error) { return nil, nil }

func (k *kernel) Snapshot(context.Context, string) ([]byte, error) { return nil, nil }

func (k *kernel) SaveSnapshot(ctx context.Context, run string, seq int64, data []byte) error {
	return k.store.SaveSnapshot(ctx, store.Snapshot{Run: run, Seq: seq, Version: engine.SnapshotVersion, Data: data})
}

func (k *kernel) PutBlob(ctx context.Context, run string, data []byte) (string, error) {
	return k.store.PutBlob(ctx, run, data)
}

// Perform and Catalog implement exec.Tools.
func (k *kernel) Perform(ctx context.Context, c engine.Perform) engine.AttemptDone {
	out := k.executor.Perform(ctx, tool.Job{Grant: c.Grant, Call: c.Call, Params: c.Params, Timeout: c.Timeout})
	return engine.AttemptDone{Output: out.Output, Class: engine.Class(out.Class), StartedAt: out.Started.UnixMicro(), EndedAt: out.Ended.UnixMicro()}
}

func (k *kernel) Catalog() *plan.Catalog { return k.registry.Catalog() }

// Name, Propose and Conclude implement exec.Planner: plans come ready made here.
func (k *kernel) Name() string { return "none" }

func (k *kernel) Propose(context.Context, engine.Propose, func([]byte)) (engine.Planned, error) {
	return engine.Planned{By: "builtin"}, nil
}

func (k *kernel) Conclude(context.Context, engine.Conclude) (engine.Concluded, error) {
	return engine.Concluded{Ruling: "conclude", Verdict: engine.Verdict{By: "builtin"}}, nil
}

// Current and ByHash implement exec.Policies.
func (k *kernel) Current() *policy.Policy { return k.policy }

func (k *kernel) ByHash(context.Context, string) (*policy.Policy, error) { return k.policy, nil }

// compile is what a cached plan does not pay again (P32).
func (k *kernel) compile(doc []byte) (*plan.Compiled, error) {
	c, findings := plan.Check(doc, plan.Env{Catalog: k.Catalog(), Policy: k.policy, Scopes: []string{"default"},
		Requester: "user:1", Author: plan.Person})
	if c == nil {
		return nil, fmt.Errorf("compile shape: %v", findings[0])
	}
	return c, nil
}

// rest lets the kernel put away what it keeps after a run's end and clears the
// heap, so that no program is measured with another's work in its time.
func (k *kernel) rest() {
	for k.shell.Live() > 0 {
		time.Sleep(time.Millisecond)
	}
	runtime.GC()
}

// run submits one shape and waits for its durable end.
func (k *kernel) run(number int, c *plan.Compiled, doc []byte) (time.Duration, error) {
	id := fmt.Sprintf("r_%026d", number)
	started := time.Now()
	err := k.shell.Submit(context.Background(), &engine.Create{Head: engine.Head{At: started.UnixMicro(), Actor: "user:1"},
		Run: id, Goal: "bench", Scopes: []string{"default"}, Mode: "plan-once", Profile: "bench", Plan: c, PlanDoc: doc,
		PlanAuthor: plan.Person}, exec.Creation{Run: id, Owner: "user:1"})
	if err != nil {
		return 0, err
	}
	if ended := <-k.ended; ended != id {
		return 0, fmt.Errorf("run %s ended instead of %s", ended, id)
	}
	return time.Since(started), nil
}
