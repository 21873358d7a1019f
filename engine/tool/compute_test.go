package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/engine/compute"
	"sluice/engine/plan"
	"sluice/policy"
)

// TestMain lets the test program be what it is started as by compute: a worker.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ComputeWorker {
		if err := WorkCompute(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func computeCall(code, input string) string {
	return `{"code":` + quote(code) + `,"input":` + input + `}`
}

func TestCompute_FiltersRowsExactly(t *testing.T) {
	w := newWorld(t, nil)
	var got struct {
		Value json.RawMessage
		Log   []string
	}
	w.want("compute", computeCall("def main(input):\n  print(len(input))\n  return [r['id'] for r in input if days_between(r['due'], '2026-01-10') > 0]",
		`[{"id":"a","due":"2026-01-02"},{"id":"b","due":"2026-02-02"}]`), &got)
	if string(got.Value) != `["a"]` || strings.Join(got.Log, "|") != "2" {
		t.Errorf("got %s and log %q", got.Value, got.Log)
	}
	w.want("compute", `{"code":"1.50 + 9007199254740990"}`, &got)
	w.want("compute", `{"code":"input"}`, &got)
	if string(got.Value) != "null" {
		t.Errorf("got %s for no input, want null", got.Value)
	}
}

func TestP41_ComputeErrorsNameTheLine(t *testing.T) {
	w := newWorld(t, nil)
	out := w.refuse("compute", `{"code":"def main(input):\n  return input.nothing\n"}`, Invalid)
	if !strings.Contains(out.Detail, "line 2, column 15") {
		t.Errorf("got %q, want line and column", out.Detail)
	}
	w.refuse("compute", `{"code":""}`, Invalid)
	w.refuse("compute", `{"input":1}`, Invalid)
	w.refuse("compute", `{"code":`+quote("1"+strings.Repeat(" ", compute.CodeBytesMax))+`}`, Invalid)
}

// Security, resource exhaustion: programs that would take all memory end alone.
func TestP14_ComputeEndsWhatTakesAllMemory(t *testing.T) {
	w := newWorld(t, nil)
	for _, code := range []string{
		"def main(input):\n  a = 'x'\n  for i in range(60):\n    a = a + a\n  return len(a)",
		"def main(input):\n  a = [0]\n  for i in range(60):\n    a = a * 64\n  return len(a)",
		"def main(input):\n  a = 'aaaaaaaa'\n  for i in range(60):\n    a = a.replace('a', a)\n  return len(a)",
		"def main(input):\n  a = 'ab'\n  for i in range(60):\n    a = a.join([a] * 9)\n  return len(a)",
	} {
		if out := w.refuse("compute", `{"code":`+quote(code)+`}`, Invalid); !strings.Contains(out.Detail, "MiB of memory") && !strings.Contains(out.Detail, "excessive") {
			t.Errorf("%q: got %q, want the limit on memory", code, out.Detail)
		}
	}
}

// Security, resource exhaustion: operations that the language cannot interrupt
// end with the attempt, and nothing goes on behind it.
func TestP7_ComputeEndsWhatNothingInterrupts(t *testing.T) {
	w := newWorld(t, nil)
	for _, code := range []string{
		"def main(input):\n  a = 1\n  for i in range(60):\n    a = (a, a)\n  return {a: 1}",
		"def main(input):\n  a = 7\n  for i in range(40):\n    a = a * a\n  return str(a)",
	} {
		job := w.job("compute", `{"code":`+quote(code)+`}`)
		job.Timeout = 300 * time.Millisecond
		if out := w.executor.Perform(context.Background(), job); out.Class != Timeout {
			t.Errorf("%q: got %q %s, want timeout", code, out.Class, out.Detail)
		}
	}
}

func TestP24_ComputeWithoutAWorkerIsUnavailable(t *testing.T) {
	if _, err := (&host{}).compute(context.Background(), Request{Params: []byte(`{"code":"1"}`)}); err == nil || err.Error() != errUnavailable().Error() {
		t.Errorf("got %v, want unavailable", err)
	}
}

// The program sees nothing of where it runs.
func TestP26_ComputeHasNoWayOut(t *testing.T) {
	w := newWorld(t, []string{"PATH=" + os.Getenv("PATH"), "API_TOKEN=very-secret-value"})
	for _, code := range []string{"open('/etc/passwd')", "__import__('os')", "load('//x', 'y')", "time.now()", "os.environ", "json.decode('1')"} {
		w.refuse("compute", `{"code":`+quote(code)+`}`, Invalid)
	}
}

func computePlan(t *testing.T, refs string) []plan.Finding {
	t.Helper()
	w := newWorld(t, nil)
	doc := `{"format":1,"goal":"g","max_steps":5,"steps":[
		{"id":"a","tool":"file.read","params":{"path":"x"}},
		{"id":"b","tool":"compute","params":{"code":"[{'to': 'x'}]"}},` + refs + `]}`
	parsed, found := plan.Parse([]byte(doc))
	if len(found) > 0 {
		t.Fatal(found)
	}
	_, found = plan.Compile(parsed, plan.Env{Catalog: w.registry.Catalog(), Policy: w.policy, Intent: policy.Override, Scopes: []string{"default"}, Author: plan.Person})
	return found
}

// C10: the code of a program is written in the plan and never comes from a step;
// what the value holds is known at run time only, so any field of it compiles.
func TestC10_NoReferenceReachesTheCode(t *testing.T) {
	for name, c := range map[string]struct{ step, rule, pointer string }{
		"code":          {`{"id":"c","tool":"compute","params":{"input":1},"param_refs":{"code":{"step":"a","field":"content"}}}`, "C10", "/steps/2/param_refs/code"},
		"code template": {`{"id":"c","tool":"compute","param_refs":{"code":{"step":"a","field":"content","template":"x = {{value}}"}}}`, "C10", "/steps/2/param_refs/code"},
		"input":         {`{"id":"c","tool":"compute","params":{"code":"input"},"param_refs":{"input":{"step":"b","field":"value.0.to"}}}`, "", ""},
		"any type":      {`{"id":"c","tool":"file.read","param_refs":{"path":{"step":"b","field":"value.0.to"}}}`, "", ""},
		"no field":      {`{"id":"c","tool":"file.read","param_refs":{"path":{"step":"b","field":"result"}}}`, "C10", "/steps/2/param_refs/path/field"},
	} {
		found := computePlan(t, c.step)
		if c.rule == "" && len(found) > 0 {
			t.Errorf("%s: got %v, want no finding", name, found)
		}
		if c.rule != "" && (len(found) != 1 || found[0].Rule != c.rule || found[0].Pointer != c.pointer) {
			t.Errorf("%s: got %v, want %s at %s", name, found, c.rule, c.pointer)
		}
	}
}
