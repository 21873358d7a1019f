package main

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/engine/model/fake"
)

// indexedPolicy holds few tools, so that the index shows all of them whatever a
// question is about.
const indexedPolicy = head + "scopes: {default: {tools: [\"file.*\", \"git.*\"]}}\napprovals: {self: allowed}\n"

// indexes are the tools that each request to the planner showed.
func indexes(s *fake.Server) []string {
	var list []string
	for _, seen := range s.Seen() {
		if seen.Role == fake.Planner {
			list = append(list, regexp.MustCompile(`(?s)\\u003ctools\\u003e.*?\\u003c/tools\\u003e`).FindString(seen.Body))
		}
	}
	return list
}

// equalIndexes wants so many requests to the planner, all with one index that
// holds the tool which was switched off meanwhile.
func equalIndexes(t *testing.T, s *fake.Server, count int) {
	t.Helper()
	got := indexes(s)
	if len(got) != count || !strings.Contains(got[0], "git.status(") || len(slices.Compact(slices.Clone(got))) != 1 {
		t.Errorf("got %d indexes\n%s\nwant %d, byte for byte the same", len(got), strings.Join(got, "\n"), count)
	}
}

// TestP24_AKillSwitchChangesNoPromptOfARunUnderWay: the index of tools is that of
// the policy which the run was started with, also after a restart. A run started
// later sees the tool no more.
func TestP24_AKillSwitchChangesNoPromptOfARunUnderWay(t *testing.T) {
	t.Parallel()
	kill := func(o *caller) {
		o.want(http.StatusCreated, o.post("/api/v1/tools/git.status/kill", `{"reason":"it leaks"}`), nil)
	}
	tighten := func(o *caller) {
		narrow := strings.Replace(indexedPolicy, `"git.*"`, `git.log`, 1)
		o.want(http.StatusCreated, o.post("/api/v1/policies", publishBody(narrow, "only the log", 1)), nil)
	}
	for name, change := range map[string]func(*caller){"kill switch": kill, "tightened scope": tighten} {
		for _, restarts := range []bool{false, true} {
			t.Run(name+map[bool]string{false: " live", true: " and a restart"}[restarts], func(t *testing.T) {
				replanUnder(t, change, restarts)
			})
		}
	}
}

// replanUnder changes the policy while a run waits for a person, and has its
// reflection ask for more steps then.
func replanUnder(t *testing.T, change func(*caller), restarts bool) {
	t.Helper()
	cfg, s := modelled(t, ruled(
		fake.Rule{Role: fake.Planner, Contains: []string{"<missing>"}, Plan: []byte(`{"format":1,"goal":"g","steps":[{"id":"more","tool":"file.list","params":{}}]}`)},
		planRule("remove", `{"format":1,"goal":"g","steps":[{"id":"del","tool":"file.delete","params":{"path":"notes.txt"}}]}`),
		fake.Rule{Role: fake.Reflection, Times: 1, Replan: "see what is left"}))
	cfg = withPolicy(t, cfg, "")
	writeFile(t, cfg.Policy, indexedPolicy)
	var id, waiting string
	t.Run("before", func(sub *testing.T) {
		at := t // the world outlives this part unless a restart is wanted
		if restarts {
			at = sub
		}
		o := worldOf(at, cfg).operator()
		r := o.runToRest(`{"goal":"remove notes.txt","intent":"override"}`)
		id, waiting = r.ID, r.Waiting[0]
		change(o)
		if !restarts {
			approveAndCompare(o, s, id, waiting)
		}
	})
	if restarts {
		approveAndCompare(worldOf(t, cfg).operator(), s, id, waiting)
	}
}

func approveAndCompare(o *caller, s *fake.Server, id, waiting string) {
	o.Helper()
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+waiting, verdictOf("approve", o.hashOf(waiting), "")), nil)
	if r := o.end(id); r.PlanVersion != 2 {
		o.Fatalf("got version %d of the plan, want more steps asked for", r.PlanVersion)
	}
	equalIndexes(o.T, s, 2)
	o.runToRest(`{"goal":"remove nothing at all","intent":"observe"}`)
	if got := indexes(s); strings.Contains(got[len(got)-1], "git.status(") {
		o.Errorf("got %s, want a new run's index without the tool", got[len(got)-1])
	}
}

// TestP24_AnAnswerAskedForAgainShowsTheSameTools: the switch is thrown between a
// call that failed and its repeat.
func TestP24_AnAnswerAskedForAgainShowsTheSameTools(t *testing.T) {
	cfg, s := modelled(t, ruled(fake.Rule{Role: fake.Planner, Fault: fake.Fault500, Times: 1}))
	cfg = withPolicy(t, cfg, "")
	writeFile(t, cfg.Policy, indexedPolicy)
	o := worldOf(t, cfg).operator()
	id := o.submit(`{"goal":"list the files","intent":"observe"}`)
	for s.Calls() == 0 {
		o.get("/api/v1/runs/" + id)
	}
	o.want(http.StatusCreated, o.post("/api/v1/tools/git.status/kill", `{"reason":"it leaks"}`), nil)
	o.end(id)
	equalIndexes(t, s, 2)
}
