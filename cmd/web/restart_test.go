package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/engine"
	"sluice/store"
)

// TestP19_AStricterPolicyMeetsAWaitingRun: what was asked under one policy is
// decided again under the one in force when it is dispatched, so an approval
// given after a kill switch leads to a denied step, not to a deletion.
func TestP19_AStricterPolicyMeetsAWaitingRun(t *testing.T) {
	t.Parallel()
	const ask = "approvals: {self: allowed, rules: [{id: A1, when: {impact_at_least: override}, per: call, roles: [approver], expires_s: 600}]}\n"
	cases := map[string]string{
		"kill switch":    ask + "kill_switches: [\"file.delete\"]\n",
		"cap":            ask,
		"second opinion": strings.Replace(ask, "roles: [approver]", "quorum: 2, roles: [approver]", 1),
	}
	for name, tail := range cases {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig(t)
			var run, approval, hash string
			t.Run("before", func(t *testing.T) {
				o := worldOf(t, withPolicy(t, cfg, ask)).operator()
				r := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
				run, approval = r.ID, r.Waiting[0]
				hash = o.hashOf(approval)
			})
			next := withPolicy(t, cfg, tail)
			if name == "cap" {
				writeFile(t, next.Policy, strings.Replace(policyHead, `{tools: ["*"]}`, `{tools: ["*"], caps: {"file.*": operate}}`, 1)+tail)
			}
			w := worldOf(t, next)
			o := w.operator()
			o.want(http.StatusOK, o.post("/api/v1/approvals/"+approval, verdictOf("approve", hash, "")), nil)
			r := o.rest(run)
			if _, err := os.Stat(filepath.Join(cfg.Workspace, "notes.txt")); err != nil {
				t.Errorf("the file is gone: %v", err)
			}
			if name == "second opinion" {
				if r.Status != "waiting" || slices.Contains(r.Waiting, approval) {
					t.Errorf("got %s waiting for %v, want another approval asked", r.Status, r.Waiting)
				}
				return
			}
			if r.code() != "PERMISSION_DENIED" || !slices.Contains(r.Causes, "gate") {
				t.Errorf("got %s %v, want PERMISSION_DENIED by the gate", r.code(), r.Causes)
			}
		})
	}
}

// TestP19_ALooserPolicyDoesNotLoosenARun: a run keeps asking as its pinned
// policy says.
func TestP19_ALooserPolicyDoesNotLoosenARun(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	const strict = "approvals: {self: denied, rules: [{id: A1, when: {impact_at_least: override}, per: call, roles: [approver], expires_s: 600}]}\n"
	var run, approval string
	t.Run("before", func(t *testing.T) {
		o := worldOf(t, withPolicy(t, cfg, strict)).operator()
		r := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
		run, approval = r.ID, r.Waiting[0]
	})
	w := worldOf(t, withPolicy(t, cfg, "approvals: {self: allowed, rules: []}\n"))
	o := w.operator()
	o.problemOf(http.StatusForbidden, o.post("/api/v1/approvals/"+approval, verdictOf("approve", o.hashOf(approval), "")))
	if r := o.rest(run); r.Status != "waiting" {
		t.Errorf("got %s, want the old run waiting as before", r.Status)
	}
	if r := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`); r.code() != "SUCCESS" {
		t.Errorf("new run: got %s %s, want SUCCESS without a question", r.Status, r.code())
	}
}

// TestP16_ThePolicyInForceOutlivesARestart without the flag, and a broken one
// never comes into force.
func TestP16_ThePolicyInForceOutlivesARestart(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	named := withPolicy(t, cfg, "kill_switches: [sysinfo]\n")
	hash := ""
	t.Run("named", func(t *testing.T) { hash = worldOf(t, named).app.policies.Current().Hash() })
	t.Run("not named", func(t *testing.T) {
		w := worldOf(t, cfg)
		if got := w.app.policies.Current().Hash(); got != hash {
			t.Errorf("got policy %s, want %s", got, hash)
		}
	})
	for _, bad := range []string{"version: 2\n", policyHead + "colour: red\n", policyHead + "approvals: {self: maybe}\n", "\x00", policyHead + "kill_switches: [\"a?\"]\n"} {
		writeFile(t, named.Policy, bad)
		if a, err := open(t.Context(), named, io.Discard); err == nil {
			a.close()
			t.Errorf("policy %.60q: got no error", bad)
		} else if code := exitCode(err); code != exitUsage {
			t.Errorf("policy %.60q: got exit code %d, want %d: %v", bad, code, exitUsage, err)
		}
	}
}

// prefix copies the first facts of a run into a data directory of its own, as
// if the process had died right after they were durable.
func prefix(t *testing.T, from *world, run string, facts []engine.Fact) config {
	t.Helper()
	cfg := config{Data: t.TempDir(), Workspace: from.app.cfg.Workspace}
	st, err := store.Open(t.Context(), store.Options{Path: cfg.Data})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	current := from.app.policies.Current()
	if err := st.PutContent(t.Context(), current.Hash(), "policy", current.Canonical()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	st.Append(store.Append{Stream: store.StreamOf(run), Facts: facts, Create: &store.RunMeta{Run: run, Owner: "user:1"}},
		func(err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return cfg
}

// story is what must be the same of a run however often it was interrupted:
// per node the kinds, attempts and where they led (P45).
func story(facts []engine.Fact) map[string]string {
	lines := map[string]string{}
	for i := range facts {
		f := &facts[i]
		if f.Kind != engine.InputPolicy {
			lines[f.Node] += string(f.Kind) + "/" + string(rune('0'+f.Attempt)) + " "
		}
	}
	return lines
}

// TestP45_ARunGoesOnFromEveryStepOfItsLog: the process dies after any commit;
// at the next start the run ends as it would have, with the same story.
func TestP45_ARunGoesOnFromEveryStepOfItsLog(t *testing.T) {
	from := newWorld(t)
	o := from.operator()
	r := o.runToRest(`{"plan":` + planOf(`{"id":"a","tool":"sysinfo"}`, `{"id":"b","tool":"file.read","params":{"path":"notes.txt"}}`,
		`{"id":"c","tool":"file.search","params":{},"param_refs":{"query":{"step":"b","field":"path"}}}`, `{"id":"d","tool":"disk_usage","depends_on":["a","c"]}`) + `}`)
	whole, err := execLog{from.app.store}.Load(t.Context(), r.ID, 0, 1000)
	if err != nil || r.code() != "SUCCESS" {
		t.Fatalf("got %s and %v, want SUCCESS", r.code(), err)
	}
	want := story(whole)
	points := 0
	for cut := 1; cut < len(whole); cut++ {
		if whole[cut].Cause == whole[cut-1].Cause {
			continue // a Step's facts are never split (P28)
		}
		points++
		a, err := open(t.Context(), prefix(t, from, r.ID, whole[:cut]), io.Discard)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		again := waitEnd(t, a, r.ID)
		if got := story(again); !equalStories(got, want) {
			t.Errorf("cut at %d: got %v, want %v", cut, got, want)
		}
		report, err := a.store.Verify(t.Context(), store.VerifyOptions{})
		if err != nil || !report.OK {
			t.Errorf("cut at %d: the log does not verify: %+v %v", cut, report, err)
		}
		a.close()
	}
	if points < 4 {
		t.Errorf("got %d points, want at least 4", points)
	}
}

func equalStories(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for node, line := range a {
		if b[node] != line {
			return false
		}
	}
	return true
}

// waitEnd gives a run's facts once it has ended.
func waitEnd(t *testing.T, a *app, run string) []engine.Fact {
	t.Helper()
	woken, stop := a.shell.Watch(run)
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), restWithin)
	defer cancel()
	for {
		facts, err := execLog{a.store}.Load(ctx, run, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(facts) > 0 && facts[len(facts)-1].Kind == engine.RunEnded {
			return facts
		}
		select {
		case <-woken:
		case <-ctx.Done():
			t.Fatalf("the run did not end: %d facts", len(facts))
		}
	}
}

// TestP5_AnEffectOfUnknownOutcomeWaitsForAPerson: the process dies while a
// deletion is under way; it is never tried again by itself, and a person's word
// settles it.
func TestP5_AnEffectOfUnknownOutcomeWaitsForAPerson(t *testing.T) {
	t.Parallel()
	for _, tc := range []attested{{"done", "SUCCESS", 1}, {"not_done", "IMPOSSIBLE", 2}, {"abort", "USER_CANCEL", 1}} {
		t.Run(tc.outcome, func(t *testing.T) { attestOutcome(t, tc) })
	}
}

// attested is a person's word and what follows; "not done" is tried again, and
// finds no file, because it was deleted in truth.
type attested struct {
	outcome, code string
	attempts      int
}

func attestOutcome(t *testing.T, tc attested) {
	from := newWorld(t)
	o := from.operator()
	r := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+r.Waiting[0], verdictOf("approve", o.hashOf(r.Waiting[0]), "")), nil)
	o.end(r.ID)
	whole, err := execLog{from.app.store}.Load(t.Context(), r.ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	started := slices.IndexFunc(whole, func(f engine.Fact) bool { return f.Kind == engine.AttemptStarted && f.Node != engine.PlannerNode })
	w := worldOf(t, prefix(t, from, r.ID, whole[:started+1]))
	o = w.operator()
	waiting := o.rest(r.ID)
	if waiting.Status != "waiting" {
		t.Fatalf("got %s, want waiting for a person", waiting.Status)
	}
	node := whole[started].Node
	question := "q." + r.ID + "." + node + ".1"
	other := w.stranger("other", store.RoleViewer)
	if got := other.get("/approvals/" + question).status; got != http.StatusNotFound {
		t.Errorf("a stranger: got %d, want 404", got)
	}
	page := o.get("/approvals/" + question)
	if page.status != http.StatusOK || !strings.Contains(page.text(), "Was this done?") || !strings.Contains(page.text(), "process death") {
		t.Errorf("got %d, want a page that asks and says why", page.status)
	}
	for _, path := range []string{"/", "/approvals", "/runs/" + r.ID} {
		if !strings.Contains(o.get(path).text(), question) {
			t.Errorf("%s does not lead to the question", path)
		}
	}
	path := "/api/v1/runs/" + r.ID + "/nodes/" + node + "/outcome"
	o.problemOf(http.StatusUnprocessableEntity, o.post(path, `{"attempt":1,"outcome":"perhaps"}`))
	o.problemOf(http.StatusConflict, o.post(path, `{"attempt":2,"outcome":"done"}`))
	o.problemOf(http.StatusNotFound, o.post("/api/v1/runs/"+r.ID+"/nodes/nothing/outcome", `{"attempt":1,"outcome":"done"}`))
	got := o.form("/approvals/"+question+"/outcome", "outcome="+tc.outcome+"&note=I+looked")
	if got.status != http.StatusSeeOther {
		t.Fatalf("got %d, want 303: %.300s", got.status, got.body)
	}
	o.problemOf(http.StatusConflict, o.post(path, `{"attempt":1,"outcome":"done"}`))
	end := o.rest(r.ID)
	facts := o.facts(r.ID, 100)
	attempts, by := 0, ""
	for _, f := range facts {
		if f.Kind == "attempt.started" && f.Node == node {
			attempts++
		}
		if f.Kind == "outcome.attested" {
			by = f.Actor
		}
	}
	if end.Status != "ended" || end.code() != tc.code || attempts != tc.attempts || by != "user:1" {
		t.Errorf("got %s %s %v with %d attempts, attested by %q, want %s with %d attempts, by user:1",
			end.Status, end.code(), end.Causes, attempts, by, tc.code, tc.attempts)
	}
}

// TestP45_ACopyOfTheDataMidRunGoesOn: the files as a crash would leave them,
// with attempts in flight, open again and lead to the same end.
func TestP45_ACopyOfTheDataMidRunGoesOn(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	run := o.submit(widePlan(300))
	woken, stop := w.app.shell.Watch(run)
	defer stop()
	for seq := int64(0); seq < 60; {
		var err error
		if seq, _, err = w.app.store.Head(t.Context(), store.StreamOf(run)); err != nil {
			t.Fatal(err)
		}
		if seq < 60 {
			<-woken
		}
	}
	cfg := config{Data: t.TempDir(), Workspace: w.app.cfg.Workspace}
	for _, name := range []string{store.FileName, store.FileName + "-wal", sealKeyFile} { // the database before its log: nothing is checkpointed meanwhile
		raw, err := os.ReadFile(filepath.Join(w.app.cfg.Data, name))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(cfg.Data, name), string(raw))
	}
	again, err := open(t.Context(), cfg, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	facts := waitEnd(t, again, run)
	done := map[string]int{}
	for _, f := range facts {
		if f.Kind == engine.AttemptEnded && strings.HasPrefix(f.Node, "s") {
			done[f.Node]++
		}
	}
	if len(done) != 300 {
		t.Errorf("got %d steps ended, want 300", len(done))
	}
	report, err := again.store.Verify(t.Context(), store.VerifyOptions{})
	if err != nil || !report.OK {
		t.Errorf("the copy does not verify: %+v %v", report, err)
	}
	if r := o.end(run); r.code() != "SUCCESS" {
		t.Errorf("the original: got %s, want SUCCESS", r.code())
	}
}
