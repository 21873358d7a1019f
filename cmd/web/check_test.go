package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/engine/plan"
	"sluice/policy"
)

// checked is the answer of plan check (P38).
type checked struct {
	OK       bool           `json:"ok"`
	Hash     *string        `json:"hash"`
	Findings []plan.Finding `json:"findings"`
}

// checkPlan runs plan check on a text.
func checkPlan(t *testing.T, code int, text string, flags ...string) checked {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.json")
	writeFile(t, file, text)
	var c checked
	sluice(t, "", append([]string{"plan", "check", file}, flags...)...).wantCode(t, code).read(t, &c)
	return c
}

// TestP38_PlanCheckNamesRuleStepAndPointer for every malformed plan, and a hash for a good one.
func TestP38_PlanCheckNamesRuleStepAndPointer(t *testing.T) {
	t.Parallel()
	for _, b := range badPlans() {
		if len(b.plan) > 1<<20 {
			continue // by the API; the document limit comes below
		}
		c := checkPlan(t, exitNo, b.plan)
		if c.OK || c.Hash != nil || len(c.Findings) == 0 {
			t.Errorf("%s: got %+v, want findings and no hash", b.name, c)
			continue
		}
		f := c.Findings[0]
		if f.Rule == "" || f.Severity != "error" || f.Message == "" || f.Fix == "" || !strings.HasPrefix(f.Pointer, b.pointer) || b.step != "" && f.Step != b.step {
			t.Errorf("%s: got %+v, want rule, message, fix, step %q and a pointer at %q", b.name, f, b.step, b.pointer)
		}
	}
	good := planOf(`{"id":"a","tool":"sysinfo"}`)
	fromFile := checkPlan(t, exitYes, good)
	var fromInput checked
	sluice(t, good, "plan", "check", "-").wantCode(t, exitYes).read(t, &fromInput)
	if !fromFile.OK || fromFile.Hash == nil || !strings.HasPrefix(*fromFile.Hash, "sha256:") || *fromInput.Hash != *fromFile.Hash || len(fromFile.Findings) != 0 {
		t.Errorf("got %+v and %+v, want the same hash and no findings", fromFile, fromInput)
	}
	if c := checkPlan(t, exitNo, strings.Repeat(" ", 4<<20)+good); c.Findings[0].Rule != "P14" || !strings.Contains(c.Findings[0].Message, "larger than 4194304 bytes (4 MiB)") {
		t.Errorf("above 4 MiB: got %+v, want P14 naming the limit", c.Findings)
	}
}

// TestP38_WarningsAloneAreNoRefusal: exit code 0, and the findings are told.
func TestP38_WarningsAloneAreNoRefusal(t *testing.T) {
	t.Parallel()
	steps := []string{`{"id":"s0","tool":"file.read","params":{"path":"f0"}}`}
	for i := 1; i < 9; i++ {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","tool":"file.read","params":{"path":"f%d"},"depends_on":["s%d"]}`, i, i, i-1))
	}
	c := checkPlan(t, exitYes, planOf(steps...))
	if !c.OK || c.Hash == nil || len(c.Findings) == 0 || plan.Refused(c.Findings) {
		t.Errorf("a chain without data: got %+v, want ok, a hash and warnings (R13)", c)
	}
}

// TestP38_PolicyAddsItsFindings, and only when it is named.
func TestP38_PolicyAddsItsFindings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	writeFile(t, file, "version: 1\nintents: {observe: 0, operate: 100, override: 200}\nscopes: {default: {tools: [sysinfo]}, files: {tools: [\"file.*\"]}}\n")
	text := planOf(`{"id":"a","tool":"file.delete","params":{"path":"x"}}`)
	if c := checkPlan(t, exitYes, text); !c.OK {
		t.Errorf("without a policy: got %+v, want ok", c)
	}
	c := checkPlan(t, exitNo, text, "--policy", file)
	if len(c.Findings) == 0 || c.Findings[0].Rule != "C06" || c.Findings[0].Step != "a" {
		t.Errorf("out of scope: got %+v, want C06 about a", c)
	}
	if c := checkPlan(t, exitNo, text, "--policy", file, "--scope", "default,files"); slices.ContainsFunc(rules38(c), func(r string) bool { return r == "C06" }) {
		t.Errorf("in scope, at observe: got %+v, want no C06", c)
	}
	if c := checkPlan(t, exitYes, text, "--policy", file, "--scope", "files", "--intent", "override"); !c.OK {
		t.Errorf("in scope, at override: got %+v, want ok", c)
	}
	writeFile(t, file, "version: 1\ncolour: red\n")
	if got := sluice(t, text, "plan", "check", "-", "--policy", file); got.code != exitUsage || !strings.Contains(got.err, "line 2") {
		t.Errorf("bad policy: got exit code %d, %s, want 2 naming the line", got.code, got.err)
	}
}

func rules38(c checked) []string {
	list := make([]string, len(c.Findings))
	for i := range c.Findings {
		list[i] = c.Findings[i].Rule
	}
	return list
}

// TestP38_ProposePrintsPlanAnswerOrWhyNot, exactly.
func TestP38_ProposePrintsPlanAnswerOrWhyNot(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		goal string
		code int
		want string
	}{
		{"show disk usage", exitYes, `{"plan":{"format":1,"goal":"show disk usage","steps":[{"id":"disk_usage","tool":"disk_usage"}]},"answer":null,"unplanned":[],"by":"builtin"}`},
		{"delete notes.txt", exitYes, `{"plan":{"format":1,"goal":"delete notes.txt","steps":[{"id":"delete_notes_txt","tool":"file.delete","params":{"path":"notes.txt"}}]},"answer":null,"unplanned":[],"by":"builtin"}`},
		{"sing me a song", exitNo, `{"plan":null,"answer":null,"unplanned":[{"clause":"sing me a song","why":"no tool here does this"}],"by":"builtin"}`},
	} {
		var got, want struct {
			Plan      map[string]any
			Answer    *string
			Unplanned []map[string]string
			By        string
		}
		sluice(t, "", "plan", "propose", tc.goal).wantCode(t, tc.code).read(t, &got)
		if err := json.Unmarshal([]byte(tc.want), &want); err != nil {
			t.Fatal(err)
		}
		delete(got.Plan, "max_steps")
		if asJSON(t, got) != asJSON(t, want) {
			t.Errorf("%s: got %s, want %s", tc.goal, asJSON(t, got), asJSON(t, want))
		}
	}
	var hello struct {
		Plan   *struct{}
		Answer string
	}
	sluice(t, "", "plan", "propose", "how are you").wantCode(t, exitYes).read(t, &hello)
	if hello.Plan != nil || !strings.Contains(hello.Answer, "disk_usage") {
		t.Errorf("got %+v, want a direct answer that says what can be asked", hello)
	}
}

// TestP38_WhatIsProposedCompiles, and the API proposes the same.
func TestP38_WhatIsProposedCompiles(t *testing.T) {
	o := newWorld(t).operator()
	for _, goal := range []string{"show disk usage", "read notes.txt and list processes", "delete notes.txt", "how are you", "sing me a song"} {
		printed := sluice(t, "", "plan", "propose", goal)
		if got := o.post("/api/v1/plans/propose", `{"goal":`+asJSON(t, goal)+`}`).text(); got != printed.out {
			t.Errorf("%s: got from the API %s, want %s", goal, got, printed.out)
		}
		var p struct{ Plan json.RawMessage }
		if err := json.Unmarshal([]byte(printed.out), &p); err != nil {
			t.Fatal(err)
		}
		if string(p.Plan) != "null" {
			checkPlan(t, exitYes, string(p.Plan))
		}
	}
	if len(o.allRuns()) != 0 {
		t.Error("a proposal ran")
	}
}

// decided is a line of gate check (P37).
type decided struct {
	ID         *string           `json:"id"`
	Decision   string            `json:"decision"`
	Impact     *int              `json:"impact"`
	ImpactName string            `json:"impact_name"`
	Limit      *int              `json:"limit"`
	Stage      *string           `json:"stage"`
	Rules      []string          `json:"rules"`
	Reasons    []string          `json:"reasons"`
	Asks       []json.RawMessage `json:"asks"`
	Policy     string            `json:"policy"`
}

// TestP37_GateCheckDecidesLineByLine, in order, with every member of the shape;
// a bad line is a denial and exit code 2, and the lines after it count.
func TestP37_GateCheckDecidesLineByLine(t *testing.T) {
	t.Parallel()
	p, err := policy.Compile(policy.Default())
	if err != nil {
		t.Fatal(err)
	}
	lines := []struct{ in, decision, stage string }{
		{`{"id":"1","tool":"sysinfo","params":{},"intent":"observe","scopes":["default"]}`, "allow", "null"},
		{`{"id":"2","tool":"file.delete","params":{"path":"a"},"intent":"operate","scopes":["default"],"labels":{"/path":["user"]}}`, "deny", "impact"},
		{`{"id":"3","tool":"file.delete","params":{"path":"a"},"intent":"override","scopes":["default"]}`, "ask", "null"},
		{`not json`, "deny", "input"},
		{`{"id":"5","tool":"sysinfo","params":{},"intent":"observe","scopes":["nobody"]}`, "deny", "scope"},
		{`{"id":"6","tool":"file.write","params":{"path":"a","content":"b"}}`, "deny", "impact"},
		{`{"id":"7","tool":"sysinfo","params":{},"colour":1}`, "deny", "input"},
	}
	var input strings.Builder
	for _, l := range lines {
		input.WriteString(l.in + "\n")
	}
	got := sluice(t, input.String(), "gate", "check", "-").wantCode(t, exitUsage)
	answers := strings.Split(strings.TrimSpace(got.out), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("got %d answers, want %d: %s", len(answers), len(lines), got.out)
	}
	for i, l := range lines {
		var d decided
		if err := json.Unmarshal([]byte(answers[i]), &d); err != nil {
			t.Fatalf("line %d: %s: %v", i+1, answers[i], err)
		}
		stage := "null"
		if d.Stage != nil {
			stage = *d.Stage
		}
		if d.Decision != l.decision || stage != l.stage || d.Policy != p.Hash() {
			t.Errorf("line %d: got %s at %s under %s, want %s at %s under %s", i+1, d.Decision, stage, d.Policy, l.decision, l.stage, p.Hash())
		}
		if d.Impact == nil || d.ImpactName == "" || d.Limit == nil || d.Rules == nil || d.Reasons == nil || d.Asks == nil || l.decision == "deny" && len(d.Reasons) == 0 {
			t.Errorf("line %d: got %s, want every member, and reasons with a denial", i+1, answers[i])
		}
	}
	file := filepath.Join(t.TempDir(), "calls.jsonl")
	writeFile(t, file, lines[5].in+"\n"+lines[0].in)
	raised := sluice(t, "", "gate", "check", file, "--intent", "operate").wantCode(t, exitYes)
	if strings.Count(raised.out, `"decision":"allow"`) != 2 {
		t.Errorf("at operate: got %s, want both allowed", raised.out)
	}
	if none := sluice(t, "", "gate", "check", file, "--scope", "other").wantCode(t, exitYes); strings.Count(none.out, `"stage":"scope"`) != 1 {
		t.Errorf("in scope other: got %s, want the call without scopes of its own denied", none.out)
	}
	if empty := sluice(t, "", "gate", "check", "-").wantCode(t, exitYes); empty.out != "" {
		t.Errorf("no lines: got %q, want nothing", empty.out)
	}
}
