package planner_test

import (
	"strings"
	"testing"

	"sluice/engine/planner"
)

func TestP38_ChangesOfAFileThatLeaveNoChoice(t *testing.T) {
	for goal, want := range map[string][3]string{
		`Replace "old" with "new" in a.txt`:              {`"a.txt"`, `[{"new":"new","old":"old"}]`, ""},
		`In config/app.yaml replace port 8080 by 9090.`:  {`"config/app.yaml"`, `[{"new":"9090","old":"8080"}]`, ""},
		`change 'debug' to 'info' in the file conf.toml`: {`"conf.toml"`, `[{"new":"info","old":"debug"}]`, ""},
		`Append the line "x" to notes.txt.`:              {`"notes.txt"`, "", `"x"`},
		`Add "milk" to the end of list.txt`:              {`"list.txt"`, "", `"milk"`},
	} {
		got := steps(t, goal)
		if len(got) != 1 || got[0].Tool != "file.patch" || param(got[0], "path") != want[0] || param(got[0], "edits") != want[1] || param(got[0], "append") != want[2] {
			t.Errorf("%q: got %+v, want %v", goal, got, want)
		}
	}
	p := shipped(t)
	for _, goal := range []string{`Replace all tabs in a.txt`, `Replace "a" with "b"`, `Replace "a" with "b" in a.txt and b.txt`, `Add a section to README.md`,
		`Add "x" to the top of a.txt`, `Change a.txt to be nicer`, `Replace foo with bar in a.txt`, `Replace every "a" with "b" in a.txt`, `Replace "a" with "a" in a.txt`, `Prepend "x" to a.txt`,
		`How do I replace "a" with "b" in a.txt?`, `Remind me to append "x" to a.txt`, `Do not replace "a" with "b" in a.txt`, `Replace "a" with "b" in a.txt tomorrow`,
		`Should I append "x" to a.txt?`, `I replaced "a" with "b" in a.txt`, `Replace "a" with "b" in /etc/hosts`, `Replace "a" with "b" in *.txt`, `Replace "a" with "b" on server db1 in a.txt`} {
		if got := p.Propose(goal); got.Plan != nil {
			t.Errorf("%q: got %+v, want it declined", goal, got.Plan.Steps)
		}
	}
}

func TestP38_MailsWithEverythingInThem(t *testing.T) {
	for goal, want := range map[string][3]string{
		`Send an email to ann@example.org with subject "Due" saying "Pay, please."`:            {`["ann@example.org"]`, `"Due"`, `"Pay, please."`},
		`send a mail to a@b.org, c@d.org and e@f.org with the subject Weekly report saying hi`: {`["a@b.org","c@d.org","e@f.org"]`, `"Weekly report"`, `"hi"`},
	} {
		got := steps(t, goal)
		if len(got) != 1 || got[0].Tool != "mail.send" || param(got[0], "to") != want[0] || param(got[0], "subject") != want[1] || param(got[0], "body") != want[2] || got[0].Labels["to"] != "user" {
			t.Errorf("%q: got %+v, want %v", goal, got, want)
		}
	}
	p := shipped(t)
	for _, goal := range []string{"Send an email to ana@example.org saying I am late.", `Email ann with subject "x" saying "y"`, `Send an email to ann with subject "x" saying "y"`,
		`Send an email to a@b.org with subject "x" saying "y" and then delete "z"`, `Do not send an email to a@b.org with subject x saying y`} {
		if got := p.Propose(goal); got.Plan != nil {
			t.Errorf("%q: got %+v, want it declined", goal, got.Plan.Steps)
		}
	}
}

func TestR55_ReportSaysWhatWasChangedAndSent(t *testing.T) {
	v := planner.Report(planner.ReportInput{Steps: []planner.StepResult{
		{ID: "a", Tool: "file.patch", State: "executed", Output: []byte(`{"path":"a.txt","lines":[3,9],"size_bytes":7,"sha256":"","sha256_before":""}`)},
		{ID: "b", Tool: "file.patch", State: "executed", Output: []byte(`{"path":"a.txt","lines":[],"size_bytes":7,"sha256":"","sha256_before":""}`)},
		{ID: "c", Tool: "mail.send", State: "executed", Output: []byte(`{"message_id":"x@y","accepted":["a@b.c","d@e.f"]}`)},
	}})
	if want := "Changed a.txt in 2 places.\nAppended to a.txt.\nHanded 1 email to the mail server for a@b.c, d@e.f."; v.Text != want {
		t.Errorf("got %q, want %q", v.Text, want)
	}
}

// An ending is no file: "all .tmp files" must not delete a file called ".tmp".
func TestP38_EndingsOfNamesAreNotDeleted(t *testing.T) {
	p := shipped(t)
	for _, goal := range []string{"delete all .tmp files", "Remove every .log file in logs", "get rid of any .bak files", "delete .swp files"} {
		if got := p.Propose(goal); got.Plan != nil {
			t.Errorf("%q: got %+v, want it declined", goal, got.Plan.Steps)
		}
	}
	if got := steps(t, "delete the .env file"); len(got) != 1 || param(got[0], "path") != `".env"` {
		t.Errorf("a file that is called like an ending: got %+v", got)
	}
}

func TestP38_WordsThatPointBack(t *testing.T) {
	for goal, want := range map[string]string{
		"check the disk usage and if it exceeds 80% list the files in data": "disk_usage file.list",
		"show git history of projects/api, last 5 commits":                  "git.log",
		"change the word red to blue in theme.css":                          "file.patch",
		"where is the function handleLogin defined":                         "file.search",
		"how many times does TODO occur in src":                             "file.search",
	} {
		var tools []string
		for _, s := range steps(t, goal) {
			tools = append(tools, s.Tool)
		}
		if got := strings.Join(tools, " "); got != want {
			t.Errorf("%q: got %s, want %s", goal, got, want)
		}
	}
	if got := steps(t, "check the disk usage and if it exceeds 80% list the files in data"); got[1].Guard == nil || got[1].Guard.Ref.Step != got[0].ID {
		t.Errorf("the second step stands under the number of the first: got %+v", got)
	}
	if got := shipped(t).Propose("can you explain how to delete files?"); got.Plan != nil {
		t.Errorf("a question about a way: got %+v", got.Plan.Steps)
	}
	if got := shipped(t).Propose("change the owner to bob in a.txt"); got.Plan != nil {
		t.Errorf("what is not called a word: got %+v", got.Plan.Steps)
	}
}

// What is to be done on another machine is not done on this one.
func TestP38_OtherMachinesAreNotThisOne(t *testing.T) {
	p := shipped(t)
	for _, goal := range []string{"ssh into db1 and check disk usage", "connect to web2, then delete a.txt", "log into the database server and list its processes"} {
		if got := p.Propose(goal); got.Plan != nil {
			t.Errorf("%q: got %+v, want it declined", goal, got.Plan.Steps)
		}
	}
	if got := steps(t, "ssh into db1. Check the disk usage of this machine"); len(got) != 1 || got[0].Tool != "disk_usage" {
		t.Errorf("another sentence: got %+v", got)
	}
}

// TestP38_NoTwoCommitsAreCompared: the tool for differences knows the working
// tree and the last commit; what asks for more is not answered with less.
func TestP38_NoTwoCommitsAreCompared(t *testing.T) {
	for _, goal := range []string{"show the diff between the last two commits", "compare the last two commits of projects/api",
		"show the difference between the branches of projects/web"} {
		if p := shipped(t).Propose(goal); p.Plan != nil || len(p.Unplanned) == 0 {
			t.Errorf("%q: got %+v, want it declined", goal, p.Plan)
		}
	}
	for _, goal := range []string{"compare the working tree with the last commit", "compare projects/api with its last commit",
		"what changed since the last commit in projects/web", "show the diff of projects/api"} {
		if got := steps(t, goal); len(got) != 1 || got[0].Tool != "git.diff" {
			t.Errorf("%q: got %+v, want the diff", goal, got)
		}
	}
}
