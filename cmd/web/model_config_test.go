package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine/model/fake"
)

// TestP42_ModelsTakeTheStrongestSource: flag, environment, file, page, each for
// the role before both; what is not set of the executor is the planner's.
func TestP42_ModelsTakeTheStrongestSource(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sluice.yaml")
	writeFile(t, file, `data: `+dir+`
models:
  both: {base_url: "http://file/v1", model: file-both, key: key-of-the-file, max_output: 1000}
  planner: {model: file-planner, price_in: 0.15, price_out: 0.6}
`)
	writeFile(t, filepath.Join(dir, "key"), "key-from-a-file-1\n")
	settled := func(c config) (planner, executor modelConfig) {
		t.Helper()
		c.file = file
		if err := c.settle(); err != nil {
			t.Fatal(err)
		}
		planner = mergeRole(c.sources(), plannerRole, nil)
		return planner, mergeRole(c.sources(), executorRole, &planner)
	}
	planner, executor := settled(config{})
	if planner.endpoint.Model != "file-planner" || executor.endpoint.Model != "file-both" || planner.endpoint.Key != "key-of-the-file" ||
		planner.output != 1000 || planner.priceIn != 150_000 || planner.priceOut != 600_000 || executor.priceIn != unpriced {
		t.Errorf("file: got %+v and %+v", planner, executor)
	}
	t.Setenv("SLUICE_MODEL_NAME", "env-both")
	t.Setenv("SLUICE_EXECUTOR_URL", "http://env/v1")
	planner, executor = settled(config{})
	if planner.endpoint.Model != "env-both" || executor.endpoint.BaseURL != "http://env/v1" || executor.from["base_url"] != "environment" {
		t.Errorf("environment: got %+v and %+v, want it to beat the file", planner, executor)
	}
	planner, executor = settled(config{Models: modelFlags{Planner: modelFields{Model: "flag-planner", KeyFile: filepath.Join(dir, "key"), Timeout: "7"}}})
	if planner.endpoint.Model != "flag-planner" || planner.endpoint.Key != "key-from-a-file-1" || planner.endpoint.Timeout != 7*time.Second ||
		executor.endpoint.Model != "env-both" || planner.from["model"] != "flag" {
		t.Errorf("flag: got %+v and %+v, want it to beat all", planner, executor)
	}
	alone := mergeRole([]source{{"flag", &modelFlags{}}}, executorRole, &planner)
	if alone.endpoint.Model != "flag-planner" || alone.endpoint.Key != planner.endpoint.Key || !alone.usable() {
		t.Errorf("executor: got %+v, want the planner's where nothing is set", alone)
	}
	page := modelFlags{Planner: modelFields{URL: "http://page/v1", Model: "m"}}
	if got := mergeRole([]source{{"environment", &modelFlags{Planner: modelFields{Key: "key-of-the-machine"}}}, {"page", &page}}, plannerRole, nil); got.endpoint.Key != "" {
		t.Errorf("got the machine's key for an address of the page")
	}
	machine := source{"environment", &modelFlags{Both: modelFields{Key: "key-of-the-machine"}}}
	planner = mergeRole([]source{machine, {"page", &page}}, plannerRole, nil)
	if got := mergeRole([]source{machine, {"page", &page}}, executorRole, &planner); got.endpoint.BaseURL != "http://page/v1" || got.endpoint.Key != "" {
		t.Errorf("got %q with key %q for the executor, want the planner's address of the page without the machine's key", got.endpoint.BaseURL, got.endpoint.Key)
	}
	for _, bad := range []modelFields{{URL: "http://x/v1"}, {URL: "gopher://x", Model: "m"}, {URL: "http://x", Model: "m", Key: "short"},
		{URL: "http://x", Model: "m", Timeout: "0"}, {URL: "http://x", Model: "m", PriceIn: "-1"}, {URL: "http://x", Model: "m", MaxOutput: "lots"},
		{URL: "http://x", Model: "m", MaxOutput: "60001"}, {URL: "http://x", Model: "m", MaxOutput: "16000", PriceIn: "15", PriceOut: "75"}} {
		if got := mergeRole([]source{{"flag", &modelFlags{Planner: bad}}}, plannerRole, nil); got.problem == "" {
			t.Errorf("%+v: got it accepted", bad)
		}
	}
	var errs bytes.Buffer
	args := []string{"run", "x", "--data", t.TempDir(), "--planner-url", "gopher://x", "--planner-model", "m"}
	if code := dispatch(t.Context(), streams{strings.NewReader(""), &errs, &errs}, args); code != exitUsage || !strings.Contains(errs.String(), "base URL") {
		t.Errorf("wrong flag: got %d %q, want usage and what is wrong", code, errs.String())
	}
}

// TestP36_ModelsCheckSaysPerRoleWhatWorks, with a server and without one.
func TestP36_ModelsCheckSaysPerRoleWhatWorks(t *testing.T) {
	w, _ := modelWorld(t, fake.Options{})
	c := w.operator()
	var report modelReport
	c.want(http.StatusOK, c.post("/api/v1/models/check", "{}"), &report)
	if !report.OK || len(report.Roles) != 2 || !report.Roles[0].Streams || report.Roles[0].Structure != "json_schema" {
		t.Errorf("got %+v, want both roles to work", report)
	}
	_, url := startFake(t, fake.Options{NoSchema: true})
	var out, errs bytes.Buffer
	run := func(args ...string) int {
		out.Reset()
		return dispatch(t.Context(), streams{strings.NewReader(""), &out, &errs}, append([]string{"models", "check", "--data", t.TempDir()}, args...))
	}
	if code := run("--json", "--planner-url", url, "--planner-model", "demo"); code != exitYes {
		t.Errorf("got %d %s, want 0", code, out.String())
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || report.Roles[1].Structure != "prompt" {
		t.Errorf("got %s, %v, want the executor as the planner, by prompt", out.String(), err)
	}
	if code := run("--planner-url", url, "--planner-model", "other"); code != exitNo || !strings.Contains(out.String(), "does not know the model") {
		t.Errorf("unknown model: got %d %s, want 1 and why", code, out.String())
	}
	if code := run(); code != exitNo || !strings.Contains(out.String(), "built-in planner acts (no model)") {
		t.Errorf("none set: got %d %s, want 1 and who acts", code, out.String())
	}
	if code := run("more"); code != exitUsage {
		t.Errorf("an argument: got %d, want 2", code)
	}
}

// TestP38_AModelProposesWithoutRunning: what can not be used goes back with the
// error last, twice at most; nothing of the policy is said.
func TestP38_AModelProposesWithoutRunning(t *testing.T) {
	w, s := modelWorld(t, ruled(
		fake.Rule{Role: fake.Planner, Contains: []string{"never right"}, Raw: `{"answer":null,"plan":{"format":1,"goal":"g","steps":[{"id":"a","tool":"no.such.tool"}]}}`},
		fake.Rule{Role: fake.Planner, Times: 1, Raw: `{"answer":null,"plan":{"format":1,"goal":"g","steps":[{"id":"a","tool":"no.such.tool"}]}}`},
		fake.Rule{Role: fake.Planner, Plan: []byte(`{"format":1,"goal":"g","steps":[{"id":"a","tool":"file.delete","params":{"path":"x"}}]}`)}))
	c := w.operator()
	var got struct {
		By   string
		Plan *struct{ Steps []struct{ Tool string } }
	}
	c.want(http.StatusOK, c.post("/api/v1/plans/propose", `{"goal":"remove x","by":"model"}`), &got)
	if got.By != "model:demo" || got.Plan == nil || got.Plan.Steps[0].Tool != "file.delete" || s.Calls() != 2 {
		t.Errorf("got %+v in %d calls, want the second answer", got, s.Calls())
	}
	seen := s.Seen()
	if last := seen[len(seen)-1].Body; !strings.Contains(last, "no.such.tool") || strings.Contains(last, "C06") || strings.Contains(last, "C08") {
		t.Errorf("got %s, want the error of the compiler and nothing of the policy", last)
	}
	c.want(http.StatusOK, c.post("/api/v1/plans/propose", `{"goal":"check disk usage"}`), &got)
	if got.By != "builtin" || s.Calls() != 2 {
		t.Errorf("got %+v, want the built-in planner unless asked otherwise", got)
	}
	c.problemOf(http.StatusUnprocessableEntity, c.post("/api/v1/plans/propose", `{"goal":"x","by":"oracle"}`))
}
