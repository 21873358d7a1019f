package planner_test

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/engine/plan"
	"sluice/engine/planner"
	"sluice/policy"
)

// steps proposes a plan and gives its steps.
func steps(t *testing.T, goal string) []plan.Step {
	t.Helper()
	p := shipped(t)
	proposal := p.Propose(goal)
	checkProposal(t, p.Catalog, goal, proposal)
	if proposal.Plan == nil {
		t.Fatalf("%q: no plan, unplanned %v", goal, proposal.Unplanned)
	}
	if proposal.Plan.Goal != goal || proposal.Plan.Format != plan.Format {
		t.Errorf("%q: the plan has goal %q, format %d", goal, proposal.Plan.Goal, proposal.Plan.Format)
	}
	return proposal.Plan.Steps
}

func param(s plan.Step, name string) string { return string(s.Params[name]) }

func TestP38_FiveIndependentSteps(t *testing.T) {
	got := steps(t, "Check disk usage, list open ports, find git repos under the workspace, show the kernel version, and check environment variables for leaked secrets")
	want := []string{"disk_usage", "net_info", "git.find", "sysinfo", "env_list"}
	id := regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)
	if len(got) != len(want) {
		t.Fatalf("got %d steps, want %d", len(got), len(want))
	}
	for i, s := range got {
		if s.Tool != want[i] || len(s.DependsOn)+len(s.Refs) > 0 || s.Guard != nil || !id.MatchString(s.ID) {
			t.Errorf("step %d is %+v, want an independent %s", i, s, want[i])
		}
	}
}

func TestP20_LabelsSayWhereALiteralComesFrom(t *testing.T) {
	got := steps(t, "delete notes.txt")
	if len(got) != 1 || got[0].Tool != "file.delete" || param(got[0], "path") != `"notes.txt"` || got[0].Labels["path"] != "user" {
		t.Errorf("got %+v, want file.delete of notes.txt, labelled user", got)
	}
	got = steps(t, "List the biggest files in data")
	if got[0].Labels["path"] != "user" || got[0].Labels["sort"] != "constant" {
		t.Errorf("labels %v, want the folder from the user and the order a constant", got[0].Labels)
	}
	p := shipped(t)
	for _, row := range readGoals(t, "testdata/goals.tsv") {
		proposal := p.Propose(row.goal)
		if proposal.Plan == nil {
			continue
		}
		for _, s := range proposal.Plan.Steps {
			for name, raw := range s.Params {
				var text string
				isText := json.Unmarshal(raw, &text) == nil
				if s.Labels[name] != string(policy.LabelUser) && s.Labels[name] != string(policy.LabelConstant) {
					t.Errorf("%q: %s.%s has label %q", row.goal, s.ID, name, s.Labels[name])
				}
				if isText && s.Labels[name] == "user" && !strings.Contains(row.goal, strings.TrimSuffix(text, "/")) && !strings.Contains(text, "/") {
					t.Errorf("%q: %s.%s is %q, which the goal does not say", row.goal, s.ID, name, text)
				}
			}
		}
		if row.expected == "decline" {
			t.Errorf("%q has a plan", row.goal)
		}
	}
}

func TestP9_DependentClausesBecomeReferences(t *testing.T) {
	got := steps(t, "Create a file report.md with the disk usage of this machine in it.")
	ref := got[1].Refs["content"]
	if ref.Step != got[0].ID || ref.Field != "" || strings.Count(ref.Template, "{{value}}") != 1 || param(got[1], "path") != `"report.md"` {
		t.Errorf("got %+v, want content from %s", got[1], got[0].ID)
	}
	got = steps(t, "Find all git repositories under projects and tell me which have uncommitted changes.")
	if want := (plan.Ref{Step: got[0].ID, Field: "paths"}); got[1].Refs["paths"] != want || param(got[0], "path") != `"projects"` {
		t.Errorf("got %+v, want all paths of %s", got, got[0].ID)
	}
	got = steps(t, "First list the files in inbox, then read the newest one.")
	if want := (plan.Ref{Step: got[0].ID, Field: "entries.0.path"}); got[1].Refs["path"] != want || param(got[0], "sort") != `"modified"` || param(got[0], "kind") != `"file"` {
		t.Errorf("got %+v, want the first of the newest files", got)
	}
	got = steps(t, "Delete the newest file in tmp.")
	if got[1].Tool != "file.delete" || got[1].Refs["path"].Field != "entries.0.path" || got[1].Refs["path"].Step != got[0].ID {
		t.Errorf("got %+v", got)
	}
	got = steps(t, "Copy a.txt to b.txt")
	if got[1].Refs["content"] != (plan.Ref{Step: got[0].ID, Field: "content"}) || got[0].Contract == nil || param(got[1], "path") != `"b.txt"` {
		t.Errorf("got %+v, want a whole reading, then a writing", got)
	}
	if err := shipped(t).Catalog.CheckOutput("file.read", got[0].Contract.Schema, []byte(`{"path":"a.txt","content":"x","encoding":"utf-8","truncated":true}`)); err == nil {
		t.Error("half a file passes the contract of a copy")
	}
}

func TestP9_OrderIsKeptWhereItIsAskedFor(t *testing.T) {
	got := steps(t, "Read old.txt and then delete it.")
	if param(got[1], "path") != `"old.txt"` || !slices.Equal(got[1].DependsOn, []string{got[0].ID}) {
		t.Errorf("got %+v, want the deletion after the reading", got)
	}
	got = steps(t, "Read a.txt and b.txt, then list docs")
	if !slices.Equal(got[2].DependsOn, []string{got[0].ID, got[1].ID}) {
		t.Errorf("got %+v, want the listing after both", got[2])
	}
	got = steps(t, "Before deleting a.txt, list docs.")
	if len(got) != 2 || got[0].Tool != "file.list" || !slices.Equal(got[1].DependsOn, []string{got[0].ID}) {
		t.Errorf("got %+v, want the listing first", got)
	}
	got = steps(t, `Write "x" to a.txt and read a.txt`)
	if len(got) != 2 || !slices.Equal(got[1].DependsOn, []string{got[0].ID}) {
		t.Errorf("got %+v, want the reading after the writing", got)
	}
	got = steps(t, `Read a.txt, write "x" to a.txt, read a.txt`)
	if len(got) != 3 || got[2].Why == "" || !slices.Equal(got[1].DependsOn, []string{got[0].ID}) {
		t.Errorf("got %+v, want two readings and a reason for the second", got)
	}
}

func TestC17_TheSameCallIsPlannedOnceOrSaysWhy(t *testing.T) {
	for goal, want := range map[string]int{
		"Show the uptime and the kernel version.": 1, "delete a.txt, then delete a.txt": 1, "List the processes. If the load is above 2, list the processes.": 2,
		"If the load is above 2, list the processes, otherwise list the processes": 3, "Read a.txt, read a.txt and read a.txt": 1,
		`Write "x" to a.txt, delete a.txt and write "x" to a.txt`: 3, "list the biggest files in data, list the files in data": 2,
	} {
		if got := steps(t, goal); len(got) != want {
			t.Errorf("%q: got %+v, want %d steps", goal, got, want)
		}
	}
}

func TestP9_ConditionsBecomeGuards(t *testing.T) {
	cases := []struct {
		goal, tool, field, op, value string
	}{
		{"If disk usage is above 80 percent, list the biggest files in data.", "disk_usage", "max_used_percent", "gt", "80"},
		{"List the biggest files in data if disk usage is above 80 percent.", "disk_usage", "max_used_percent", "gt", "80"},
		{"If less than 10 % of the disk is free, list the processes", "disk_usage", "max_used_percent", "gt", "90"},
		{"If memory usage is at least 90 percent, list the open ports.", "sysinfo", "memory.used_percent", "ge", "90"},
		{"Unless disk usage is below 50 percent, list the processes", "disk_usage", "max_used_percent", "ge", "50"},
		{"List the open ports if there are more than 200 processes", "process_list", "total", "gt", "200"},
		{"If there are secrets in the environment, list the processes", "env_list", "suspect_count", "gt", "0"},
		{"If projects/web has uncommitted changes, list the processes", "git.status", "dirty.0", "exists", ""},
		{`If logs/app.log contains "panic", list the processes`, "file.search", "matches.0", "exists", ""},
		{"Only if the load is above 2 list the processes", "sysinfo", "load_1", "gt", "2"},
		{"When the disk is more than 95 % full, delete tmp/cache.dat.", "disk_usage", "max_used_percent", "gt", "95"},
	}
	for _, c := range cases {
		got := steps(t, c.goal)
		if len(got) != 2 || got[0].Tool != c.tool || got[0].Guard != nil || got[1].Guard == nil {
			t.Errorf("%q: got %+v", c.goal, got)
			continue
		}
		if g := got[1].Guard; g.Ref.Step != got[0].ID || g.Ref.Field != c.field || g.Op != c.op || string(g.Value) != c.value {
			t.Errorf("%q: got guard %+v, want %s %s %s", c.goal, g, c.field, c.op, c.value)
		}
	}
	got := steps(t, "If disk usage is over 90 percent, list the biggest files in data, otherwise show the open ports.")
	if len(got) != 3 || got[1].Guard.Op != "gt" || got[2].Guard == nil || got[2].Guard.Op != "le" {
		t.Errorf("got %+v, want the second branch under the opposite guard", got)
	}
	got = steps(t, "List the processes if the load is over 4, and show the open ports.")
	if len(got) != 3 || got[1].Guard == nil || got[2].Guard != nil {
		t.Errorf("got %+v, want only the first under the guard", got)
	}
}

func TestP38_NothingIsDoneUnderAConditionThatCannotBeChecked(t *testing.T) {
	for _, goal := range []string{
		"Delete a.txt if it is empty.", "If it rains, delete notes.txt.", "If notes.txt is older than a week, delete it.", "delete a.txt unless Bob needs it",
		"If disk usage is above 80 percent and memory is above 50 percent, delete a.txt.", "Delete notes.txt when I say so.",
		"If the disk is full delete tmp/a.log", "Once the build is done, delete a.txt", "Provided that nobody objects, delete a.txt",
		"In case the backup fails, delete a.txt", "As long as it is safe, delete a.txt", "Delete a.txt only if b.txt exists.",
	} {
		proposal := shipped(t).Propose(goal)
		if slices.Contains(toolsOf(proposal), "file.delete") || len(proposal.Unplanned) == 0 {
			t.Errorf("%q: got %v, unplanned %v", goal, toolsOf(proposal), proposal.Unplanned)
		}
	}
}

func TestP38_ItIsNeverAFileThatWasToBeLeftAlone(t *testing.T) {
	for _, goal := range []string{
		"Read a.txt. Do not touch b.txt. Then delete it.", "Don't delete a.txt. Delete it.", "Delete it.", "Read a.txt and b.txt but keep c.txt, then delete it.",
		"Keep b.txt and delete the other one.", "List docs and delete it.",
	} {
		if got := toolsOf(shipped(t).Propose(goal)); slices.Contains(got, "file.delete") {
			t.Errorf("%q: got %v, want no deletion", goal, got)
		}
	}
}

func TestP38_ActsNeedVerbAndTarget(t *testing.T) {
	for _, goal := range []string{
		"Delete all files.", "Delete everything in tmp", "delete *.tmp", "Delete the second line of notes.txt.", "Remove notes.txt from the list of favourites.",
		"Delete the folder docs", "delete docs/", "Delete my account.", "Delete /etc/hosts", "Delete ../up.txt", "Remove the background from photo.png",
		"Find all tmp files and delete them", "Delete the branch feature/login.", "Write a poem to poem.txt", "Save it to a.txt", "Append x to a.txt",
		"Write hello", "Save the disk usage", "Write to a.txt", "rm -rf data", "run rm -r data", "run rm a.txt && rm b.txt", "I deleted a.txt yesterday.",
		"a.txt was deleted", "The deleted file is a.txt", "How do I delete a.txt?", "Should I delete a.txt?", "Is it safe to delete a.txt?", "Why was a.txt deleted?",
		"who deleted a.txt", "Move a.txt to b.txt", "Can a.txt be deleted?", "Read how to delete a.txt", "Tell me how to delete a.txt", "What happens if I delete a.txt?",
		"Remind me to delete a.txt", "Ask Bob to delete a.txt", "Delete a.txt tomorrow", "Delete a.txt every day", "Pretend to delete a.txt", "I would never delete a.txt",
		"Create a branch called a.txt", "Delete a.txt on the server db1", "Delete a.txt from Dropbox", "Undelete a.txt", "Say: delete a.txt", "Translate: delete a.txt",
	} {
		p := shipped(t)
		proposal := p.Propose(goal)
		for _, name := range toolsOf(proposal) {
			if declared, _ := p.Catalog.Lookup(name); declared.Effect != policy.Read {
				t.Errorf("%q: got %v, want no step that changes something", goal, toolsOf(proposal))
			}
		}
	}
}

func TestP38_InstructionsInDataAreNotFollowed(t *testing.T) {
	for _, goal := range []string{"Read inbox/mail.txt and do what it says.", "Read tasks.txt, then do what is written there."} {
		got := shipped(t).Propose(goal)
		if !slices.Equal(toolsOf(got), []string{"file.read"}) || len(got.Unplanned) != 1 {
			t.Errorf("%q: got %v, unplanned %v", goal, toolsOf(got), got.Unplanned)
		}
	}
}

func TestP14_LimitsOfAGoal(t *testing.T) {
	p := shipped(t)
	long := "show the uptime " + strings.Repeat("x", planner.GoalBytesMax)
	many := strings.Repeat("show the uptime. ", planner.ClausesMax+1)
	for _, goal := range []string{long, many, "", "   \n", "show \xff", "show\x00"} {
		got := p.Propose(goal)
		if got.Plan != nil || got.Answer != "" || len(got.Unplanned) != 1 || got.Unplanned[0].Why == "" {
			t.Errorf("goal of %d bytes: got %+v", len(goal), got)
		}
	}
	if got := p.Propose(many[:len(many)-len("show the uptime. ")]); got.Plan == nil || len(got.Plan.Steps) != 1 {
		t.Errorf("a goal of %d clauses: got %+v", planner.ClausesMax, got)
	}
}

func TestP39_DirectAnswers(t *testing.T) {
	p := shipped(t)
	for _, goal := range []string{"hello", "Hi there!", "thanks a lot", "What can you do?", "help", "Good morning, Sluice.", "bye"} {
		if got := p.Propose(goal); got.Plan != nil || got.Answer == "" || len(got.Unplanned) != 0 {
			t.Errorf("%q: got %+v, want an answer", goal, got)
		}
	}
	if got := p.Propose("What can you do?").Answer; !strings.Contains(got, "disk_usage") || !strings.Contains(got, "without a model") {
		t.Errorf("got %q, want the tools and who speaks", got)
	}
	if got := p.Propose("Hello! Show the uptime. Thanks!"); !slices.Equal(toolsOf(got), []string{"sysinfo"}) || len(got.Unplanned) != 0 || got.Answer != "" {
		t.Errorf("got %+v, want the uptime alone", got)
	}
}

func TestP38_SomeClausesUnplanned(t *testing.T) {
	got := shipped(t).Propose("Show the uptime and book a flight to Rome.")
	if !slices.Equal(toolsOf(got), []string{"sysinfo"}) || len(got.Unplanned) != 1 || !strings.Contains(got.Unplanned[0].Clause, "book a flight to Rome") {
		t.Errorf("got %+v", got)
	}
	encoded, err := json.Marshal(shipped(t).Propose("Book a flight."))
	if err != nil {
		t.Fatal(err)
	}
	var wire map[string]any
	if err := json.Unmarshal(encoded, &wire); err != nil || !slices.Equal(slices.Sorted(maps.Keys(wire)), []string{"answer", "by", "plan", "unplanned"}) || wire["answer"] != nil || wire["plan"] != nil {
		t.Errorf("on the wire %s, want the shape of P38", encoded)
	}
}

func TestR48_OnlyToolsOfTheCatalogueAreNamed(t *testing.T) {
	catalog, err := plan.NewCatalog([]plan.Tool{
		{Tool: policy.Tool{Name: "sysinfo", Effect: policy.Read}, Summary: "System."},
		{Tool: policy.Tool{Name: "shop.stock", Effect: policy.Read}, Summary: "Stock of the shop by shelf."},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &planner.Planner{Catalog: catalog}
	for _, row := range readGoals(t, "testdata/goals.tsv") {
		for _, name := range toolsOf(p.Propose(row.goal)) {
			if name != "sysinfo" {
				t.Errorf("%q: planned %s", row.goal, name)
			}
		}
	}
	if got := p.Propose("delete notes.txt"); len(got.Unplanned) != 1 || !strings.Contains(got.Unplanned[0].Why, "file.delete") {
		t.Errorf("got %+v, want the missing tool named", got)
	}
	if got := toolsOf(p.Propose("Show the stock of the shop.")); !slices.Equal(got, []string{"shop.stock"}) {
		t.Errorf("got %v, want the tool whose declaration has every word", got)
	}
	if got := toolsOf(p.Propose("Show the stock of the market.")); len(got) != 0 {
		t.Errorf("got %v for a word that the declaration lacks", got)
	}
}

// deadIndex is an index that fails.
type deadIndex struct{}

func (deadIndex) Search([]string, int) ([]planner.Hit, error) { return nil, errors.New("dead") }

// blindIndex knows one tool.
type blindIndex string

func (x blindIndex) Search([]string, int) ([]planner.Hit, error) {
	return []planner.Hit{{Tool: string(x)}}, nil
}

func TestP38_TheIndexProposesAndTheRulesDecide(t *testing.T) {
	p := shipped(t)
	dead := &planner.Planner{Index: deadIndex{}, Catalog: p.Catalog}
	for _, row := range readGoals(t, "testdata/goals.tsv") {
		if got, want := toolsOf(dead.Propose(row.goal)), toolsOf(p.Propose(row.goal)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v without an index, want %v", row.goal, got, want)
		}
	}
	blind := &planner.Planner{Index: blindIndex("file.delete"), Catalog: p.Catalog}
	if got := blind.Propose("Show the kernel version."); got.Plan != nil {
		t.Errorf("got %v, which the index did not offer", toolsOf(got))
	}
	if got := blind.Propose("Delete my account."); got.Plan != nil {
		t.Errorf("got %v: a hit of the index is no reason", toolsOf(got))
	}
}
