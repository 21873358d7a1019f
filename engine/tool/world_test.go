package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// world is a registry over a temporary workspace with a gate that allows what
// the tests ask for. Every grant in it comes from policy.Authorise.
type world struct {
	t        *testing.T
	dir      string
	registry *Registry
	executor *Executor
	policy   *policy.Policy
	attempt  int
}

// newWorld gives a world whose tools see env; nil means PATH alone.
func newWorld(t *testing.T, env []string, extra ...Extra) *world {
	t.Helper()
	if env == nil {
		env = []string{"PATH=" + os.Getenv("PATH")}
	}
	return worldOf(t, Config{Env: func() []string { return env }, Extra: extra})
}

// worldOf gives a world of a configuration, whose workspace it chooses.
func worldOf(t *testing.T, config Config) *world {
	t.Helper()
	dir := t.TempDir()
	config.Workspace, config.Worker = dir, []string{os.Args[0], ComputeWorker}
	registry, err := New(config)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	t.Cleanup(func() {
		if err := registry.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	document := policy.Default()
	scope := document.Scopes["default"]
	scope.Tools = append(scope.Tools, "test.*", "mail.send")
	document.Scopes["default"] = scope
	compiled, err := policy.Compile(document)
	if err != nil {
		t.Fatalf("Compile policy: %v", err)
	}
	return &world{t: t, dir: dir, registry: registry, executor: NewExecutor(registry), policy: compiled}
}

// call describes one new attempt with the parameters of a JSON object.
func (w *world) call(tool, params string) policy.Call {
	w.t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(params), &members); err != nil {
		w.t.Fatalf("parameters %s: %v", params, err)
	}
	w.attempt++
	c := policy.Call{
		Run: "r_1", Node: "n", Attempt: w.attempt, Known: true, Intent: policy.Override,
		Scopes: []string{"default"}, Requester: "user:1", Key: fmt.Sprintf("key-%d", w.attempt), At: 1,
	}
	if declared, found := w.registry.Catalog().Lookup(tool); found {
		c.Tool = declared.Tool
	} else {
		c.Tool = policy.Tool{Name: tool, Effect: policy.Read}
	}
	for name, value := range members {
		canonical, err := plan.Canonical(value)
		if err != nil {
			w.t.Fatalf("canonicalise %s: %v", value, err)
		}
		c.Params = append(c.Params, policy.Param{Name: name, Value: canonical, Labels: []policy.Label{policy.LabelUser}})
	}
	sortParams(c.Params)
	return c
}

func sortParams(params []policy.Param) {
	for i := range params {
		for j := i; j > 0 && params[j].Name < params[j-1].Name; j-- {
			params[j], params[j-1] = params[j-1], params[j]
		}
	}
}

// grant asks the gate, and a person where the gate wants one.
func (w *world) grant(c policy.Call) policy.Grant {
	w.t.Helper()
	g, d := policy.Authorise(w.policy, w.policy, c)
	if d.Outcome == policy.Ask {
		const expires = 1 << 40
		c.Held = []policy.Approval{{ID: "a_1", Hash: policy.Binding(c, expires), ExpiresAt: expires, Approvers: []string{"user:1"}}}
		g, d = policy.Authorise(w.policy, w.policy, c)
	}
	if d.Outcome != policy.Allow {
		w.t.Fatalf("Authorise %s: got %s (%v), want allow", c.Tool.Name, d.Outcome, d.Reasons)
	}
	return g
}

func (w *world) job(tool, params string) Job {
	w.t.Helper()
	c := w.call(tool, params)
	return Job{Grant: w.grant(c), Call: c, Params: plan.Splice(c.Params), Timeout: time.Minute}
}

func (w *world) perform(tool, params string) Outcome {
	w.t.Helper()
	return w.executor.Perform(context.Background(), w.job(tool, params))
}

// want performs a call that must succeed and satisfy the tool's own schemas.
func (w *world) want(tool, params string, into any) Outcome {
	w.t.Helper()
	if err := w.registry.Catalog().CheckParams(tool, []byte(params)); err != nil {
		w.t.Errorf("%s: parameters %s: %v", tool, params, err)
	}
	out := w.perform(tool, params)
	if out.Class != OK {
		w.t.Fatalf("%s %s: got failure %q (%s), want an output", tool, params, out.Class, out.Detail)
	}
	if err := w.registry.Catalog().CheckOutput(tool, nil, out.Output); err != nil {
		w.t.Errorf("%s: output misses its own schema: %v\n%s", tool, err, out.Output)
	}
	if err := json.Unmarshal(out.Output, into); err != nil {
		w.t.Fatalf("%s: read output: %v", tool, err)
	}
	return out
}

// refuse performs a call that must fail with a class, before any effect.
func (w *world) refuse(tool, params string, class FailureClass) Outcome {
	w.t.Helper()
	out := w.perform(tool, params)
	if out.Class != class || !out.BeforeSend || out.Output != nil {
		w.t.Errorf("%s %.200s: got class %q, before send %v, output %.100s; want class %q before send",
			tool, params, out.Class, out.BeforeSend, out.Output, class)
	}
	if strings.Contains(out.Detail, w.dir) {
		w.t.Errorf("%s: detail shows where the workspace lies: %s", tool, out.Detail)
	}
	return out
}

// write puts a file into the workspace.
func (w *world) write(path, content string) {
	w.t.Helper()
	full := filepath.Join(w.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(path string) string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(w.dir, path))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(content)
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

// scripted declares a tool for a test; its schemas accept everything.
func scripted(name string, effect policy.Effect, fn Func) Extra {
	impact := policy.Observe
	if effect != policy.Read {
		impact = policy.Operate
	}
	return Scripted(name, plan.Tool{
		Tool: policy.Tool{Effect: effect, Impact: impact}, Summary: "Follows a script.",
		Input: json.RawMessage(`{"type":"object"}`), Output: json.RawMessage(`{}`),
	}, fn)
}
