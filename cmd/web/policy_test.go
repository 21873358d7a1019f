package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/handlers"
	"sluice/policy"
	"sluice/policy/document"
	"sluice/store"
)

// wireVersion is a version as the API gives it.
type wireVersion struct {
	Version  int             `json:"version"`
	Hash     string          `json:"hash"`
	By       string          `json:"by"`
	Reason   string          `json:"reason"`
	Base     int             `json:"base"`
	YAML     string          `json:"yaml"`
	Document json.RawMessage `json:"document"`
}

func publishBody(yaml, reason string, base int) string {
	raw, _ := json.Marshal(map[string]any{"yaml": yaml, "reason": reason, "base": base})
	return string(raw)
}

func yamlBody(yaml string) string {
	raw, _ := json.Marshal(map[string]string{"yaml": yaml})
	return string(raw)
}

// active gives the version in force.
func (c *caller) active() wireVersion {
	c.Helper()
	var list struct{ Policies []wireVersion }
	c.want(http.StatusOK, c.get("/api/v1/policies?limit=1"), &list)
	var v wireVersion
	c.want(http.StatusOK, c.get("/api/v1/policies/"+itoa(list.Policies[0].Version)), &v)
	return v
}

func itoa(n int) string { raw, _ := json.Marshal(n); return string(raw) }

func TestP20_PoliciesAreVersioned(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	first := o.active()
	if first.Version != 1 || first.By != "system" || first.Reason != "first start" || first.Hash == "" || !strings.HasPrefix(first.YAML, "version: 1") {
		t.Fatalf("got %+v, want version 1 of the first start with its YAML", first)
	}
	strict := "# mine\n" + strings.Replace(first.YAML, "kill_switches: []", "kill_switches: [git.log]", 1)
	var second wireVersion
	o.want(http.StatusCreated, o.post("/api/v1/policies", publishBody(strict, "git is closed", 1)), &second)
	if second.Version != 2 || second.By != "user:1" || second.Base != 1 {
		t.Errorf("got %+v, want version 2 by user:1 from 1", second)
	}
	if got := o.active(); got.YAML != strict || got.Reason != "git is closed" {
		t.Errorf("got %q %q, want the text as written", got.YAML, got.Reason)
	}
	if got := o.get("/api/v1/policies/2?format=yaml"); got.text() != strict || got.header.Get("Content-Type") != "application/yaml" {
		t.Errorf("got %s %q, want the YAML alone", got.header.Get("Content-Type"), got.body)
	}
	late := o.problemOf(http.StatusConflict, o.post("/api/v1/policies", publishBody(first.YAML, "again", 1)))
	if late.Who != "user:1" || late.When == "" || late.Code != "conflict" {
		t.Errorf("got %+v, want who published meanwhile and when", late)
	}
	var third wireVersion
	o.want(http.StatusCreated, o.post("/api/v1/policies/1/revert", `{"reason":"too strict"}`), &third)
	if got := o.active(); third.Version != 3 || got.Hash != first.Hash || got.YAML != first.YAML {
		t.Errorf("got %+v, want version 3 with the document of version 1", third)
	}
	o.problemOf(http.StatusConflict, o.post("/api/v1/policies/1/revert", `{"reason":"again"}`))
	o.problemOf(http.StatusNotFound, o.get("/api/v1/policies/9"))
	o.problemOf(http.StatusNotFound, o.get("/api/v1/policies/x"))
	report, err := w.app.store.Verify(t.Context(), store.VerifyOptions{})
	if err != nil || !report.OK {
		t.Errorf("got %+v %v, want the log and the versions to agree", report, err)
	}
}

func TestP20_OnlyOwnersInPersonPublish(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	v := o.active()
	owner, viewer := w.stranger("owner", store.RolePolicyOwner), w.stranger("reader", store.RoleOperator, store.RoleApprover)
	local := &caller{world: w, name: "local token", token: localSecret}
	for _, c := range []*caller{viewer, w.apiToken(1, policy.Override), local} {
		c.problemOf(http.StatusForbidden, c.post("/api/v1/policies", publishBody(v.YAML+"# more\n", "why", 1)))
		for _, path := range []string{"/api/v1/policies/1/revert", "/api/v1/tools/git.log/kill", "/api/v1/tools/git.log/revive"} {
			c.problemOf(http.StatusForbidden, c.post(path, `{"reason":"why"}`))
		}
	}
	viewer.problemOf(http.StatusForbidden, viewer.post("/api/v1/policies/dry-run", yamlBody(v.YAML)))
	for name, body := range map[string]string{"no reason": publishBody(v.YAML, " ", 1), "long reason": publishBody(v.YAML, strings.Repeat("x", 4097), 1),
		"no base": publishBody(v.YAML, "why", 0), "bad": publishBody("version: 1\nscopes: [\n", "why", 1), "unknown key": publishBody("version: 1\nrules: []\n", "why", 1)} {
		if p := owner.problemOf(http.StatusUnprocessableEntity, owner.post("/api/v1/policies", body)); p.Fix == "" || name == "unknown key" && (len(p.Issues) != 1 || p.Issues[0].Line != 2) {
			t.Errorf("%s: got %+v, want what to do, and the issue with its line", name, p)
		}
	}
	owner.want(http.StatusCreated, owner.post("/api/v1/policies", publishBody(strings.Replace(v.YAML, "kill_switches: []", "kill_switches: [git.log]", 1), strings.Repeat("x", 4096), 1)), nil)
}

func TestP20_ADraftIsTriedOnWhatWasCalled(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	run := o.runToRest(`{"goal":"Show the kernel version","intent":"observe"}`)
	v := o.active()
	draft := strings.Replace(v.YAML, "    - id: A1\n", "    - id: S\n      when: {tools: [sysinfo]}\n    - id: A1\n", 1)
	var got handlers.TrialReport
	o.want(http.StatusOK, o.post("/api/v1/policies/dry-run", yamlBody(draft)), &got)
	if len(got.List) == 0 || got.List[0].From != policy.Allow || got.List[0].To != policy.Ask || got.List[0].Run != run.ID || got.List[0].Tool != "sysinfo" {
		t.Fatalf("got %+v, want the call of the run to turn from allow to ask", got)
	}
	if want := "/runs/" + run.ID + "?node=" + got.List[0].Node; got.List[0].URL != want || got.Rules["S"] != len(got.List) {
		t.Errorf("got %q and rules %v, want a link to the node and the rule counted", got.List[0].URL, got.Rules)
	}
	owner := w.stranger("owner", store.RolePolicyOwner)
	var others handlers.TrialReport
	owner.want(http.StatusOK, owner.post("/api/v1/policies/dry-run", yamlBody(draft)), &others)
	if len(others.List) == 0 || others.List[0].URL != "" {
		t.Errorf("got %+v, want no link to a run that this person may not see", others.List)
	}
	file := filepath.Join(t.TempDir(), "draft.yaml")
	writeFile(t, file, draft)
	var report handlers.PolicyReport
	sluice(t, "", "policy", "check", file, "--json").wantCode(t, exitYes).read(t, &report)
	if !report.OK || report.Hash == nil {
		t.Errorf("got %+v, want ok and a hash", report)
	}
	if got := sluice(t, "version: 1\nscopes: {a: {tool: [x]}}\n", "policy", "check", "-").wantCode(t, exitNo); !strings.Contains(got.out, "-:2:14: ") {
		t.Errorf("got %q, want line and column", got.out)
	}
	if got := sluice(t, "version: 1\n", "policy", "check", "-", "--json").wantCode(t, exitYes); !strings.Contains(got.out, "lets no tool run") {
		t.Errorf("got %q, want the warning", got.out)
	}
}

func TestP37_PolicyDryRunOnTheCommandLine(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	t.Run("before", func(t *testing.T) {
		o := worldOf(t, cfg).operator()
		o.runToRest(`{"goal":"Show the kernel version","intent":"observe"}`)
	})
	d := policy.Default()
	d.KillSwitches = []string{"sysinfo"}
	got := sluice(t, string(document.Marshal(d)), "policy", "dry-run", "-", "--json", "--data", cfg.Data).wantCode(t, exitYes)
	var report handlers.TrialReport
	got.read(t, &report)
	if report.Calls == 0 || len(report.Changes) != 1 || report.Changes[0].To != policy.Deny ||
		report.Changes[0].Direction != policy.Tighter || report.List[0].What == "" {
		t.Errorf("got %+v, want the recorded call denied", report)
	}
	sluice(t, string(document.Marshal(d)), "policy", "dry-run", "-", "--limit", "0", "--data", cfg.Data).wantCode(t, exitUsage)
	sluice(t, string(document.Marshal(d)), "policy", "dry-run", "-", "--cursor", "nonsense", "--data", cfg.Data).wantCode(t, exitUsage)
	text := sluice(t, string(document.Marshal(d)), "policy", "dry-run", "-", "--data", cfg.Data).wantCode(t, exitYes)
	if !strings.Contains(text.out, "allow -> deny") {
		t.Errorf("got %q, want the change in words", text.out)
	}
}

// TestP19_PublishingMeetsRunsUnderWay: what is published while a run waits acts
// at its next dispatch when it is stricter, and not at all when it is looser.
func TestP19_PublishingMeetsRunsUnderWay(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	waits := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	hash := o.hashOf(waits.Waiting[0])
	var killed wireVersion
	o.want(http.StatusCreated, o.post("/api/v1/tools/file.delete/kill", `{"reason":"an accident"}`), &killed)
	o.problemOf(http.StatusConflict, o.post("/api/v1/tools/file.delete/kill", `{"reason":"again"}`))
	o.problemOf(http.StatusNotFound, o.post("/api/v1/tools/no.such/kill", `{"reason":"x"}`))
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+waits.Waiting[0], verdictOf("approve", hash, "")), nil)
	if r := o.end(waits.ID); r.code() != "PERMISSION_DENIED" {
		t.Errorf("got %s, want the approved call denied by the switch", r.code())
	}
	if _, err := os.Stat(filepath.Join(w.app.cfg.Workspace, "notes.txt")); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	o.want(http.StatusCreated, o.post("/api/v1/tools/file.delete/revive", `{"reason":"over"}`), nil)
	o.problemOf(http.StatusConflict, o.post("/api/v1/tools/file.delete/revive", `{"reason":"again"}`))
	if got := o.active(); got.Version != 3 || strings.Contains(got.YAML, "[file.delete]") {
		t.Errorf("got %+v, want version 3 without the switch", got)
	}

	writeFile(t, filepath.Join(w.app.cfg.Workspace, "more.txt"), "more\n")
	asks := o.runToRest(`{"goal":"delete both","intent":"override","plan":{"format":1,"goal":"delete both","steps":[
		{"id":"one","tool":"file.delete","params":{"path":"notes.txt"}},
		{"id":"two","tool":"file.delete","params":{"path":"more.txt"},"depends_on":["one"]}]}}`)
	v := o.active()
	loose := v.YAML[:strings.Index(v.YAML, "approvals:")] + "approvals: {self: denied, rules: []}\nkill_switches: []\n"
	o.want(http.StatusCreated, o.post("/api/v1/policies", publishBody(loose, "nothing asks", v.Version)), nil)
	if r := o.rest(asks.ID); r.Status != "waiting" {
		t.Errorf("got %s, want the run to go on waiting under a looser policy", r.Status)
	}
	first := asks.Waiting[0]
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+first, verdictOf("approve", o.hashOf(first), "")), nil)
	next := o.rest(asks.ID)
	if next.Status != "waiting" || len(next.Waiting) != 1 || next.Waiting[0] == first {
		t.Errorf("got %s waiting for %v, want the next call to ask as well: it was started under the stricter policy", next.Status, next.Waiting)
	}
	writeFile(t, filepath.Join(w.app.cfg.Workspace, "notes.txt"), "again\n")
	if fresh := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`); fresh.code() != "SUCCESS" {
		t.Errorf("got %s, want a new run under the new policy to ask nobody", fresh.code())
	}
}

func TestP19_APatternIsRevivedInThePolicyOnly(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	v := o.active()
	o.want(http.StatusCreated, o.post("/api/v1/policies", publishBody(strings.Replace(v.YAML, "kill_switches: []", `kill_switches: ["file.*"]`, 1), "stop files", 1)), nil)
	p := o.problemOf(http.StatusConflict, o.post("/api/v1/tools/file.read/revive", `{"reason":"one of them"}`))
	if !strings.Contains(p.Detail, "file.*") {
		t.Errorf("got %q, want the pattern named", p.Detail)
	}
}
