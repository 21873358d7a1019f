package templates

import "encoding/json"

// The samples fill every part of every page once, with the words of a real run.

const sampleNow = int64(1_795_270_360_000_000) // 2026-11-21T14:12:40Z

const (
	sec    = micros
	sample = "r_01KB7Q3MZ6T2V9XH4N8C5D0EFG"
)

func shellOf(title, section string) Shell {
	return Shell{
		Title: title, Section: section, User: "Ada Osei", Waiting: 2, Now: sampleNow,
		Assets: Assets{CSS: "/static/app.css", Live: "/static/live.js", Icon: "/static/icon.svg"},
	}
}

func sampleNeeds() []Need {
	return []Need{
		{ID: "a_1", Title: "Delete notes.txt from the workspace", Tool: "file.delete", Goal: "Check this host, then delete notes.txt", By: "you", ExpiresAt: sampleNow + 842*sec},
		{ID: "a_2", Title: "Overwrite 2 config files", Tool: "file.write", Goal: "Tidy the nginx configuration", By: "Jonas Weber", ExpiresAt: sampleNow + 6*3600*sec},
		{ID: "a_3", Title: "Say whether old.log was deleted", Tool: "file.delete", Goal: "Clean up after the migration", By: "you", Question: true},
	}
}

func sampleRuns() []RunRow {
	ago := func(s int64) int64 { return sampleNow - s*sec }
	return []RunRow{
		{ID: sample, Goal: "Check disk usage, list open ports, find git repositories, report the kernel version and check the environment for leaked secrets", Status: "running", Waiting: 1, Intent: "override", Steps: 8, CreatedAt: ago(13)},
		{ID: "r_2", Goal: "List the processes that listen on a port", Status: "waiting", Waiting: 1, Intent: "operate", Steps: 3, CreatedAt: ago(68)},
		{ID: "r_3", Goal: "What kernel is this host running?", Status: "ended", Code: "SUCCESS", Intent: "observe", Steps: 1, CreatedAt: ago(720), EndedAt: ago(720) + 41_000},
		{ID: "r_4", Goal: "Find repositories with uncommitted changes and mail the owners", Status: "ended", Code: "PARTIAL_SUCCESS", Intent: "operate", Steps: 24, Failed: 2, CreatedAt: ago(4000), EndedAt: ago(3729)},
		{ID: "r_5", Goal: "Delete notes.txt", Status: "ended", Code: "PERMISSION_DENIED", Intent: "operate", Steps: 1, CreatedAt: ago(11_000), EndedAt: ago(10_998)},
		{ID: "r_6", Goal: "Search the workspace for TODO", Status: "ended", Code: "USER_CANCEL", Intent: "observe", Steps: 9, CreatedAt: ago(90_000), EndedAt: ago(89_980)},
		{ID: "r_7", Goal: "Check the disk", Status: "paused", Intent: "observe", Steps: 2, CreatedAt: ago(300)},
	}
}

func sampleHome() Home {
	return Home{Shell: shellOf("Home", "home"), Intent: "override", Key: "k_1", Needs: sampleNeeds(), Runs: sampleRuns(),
		Goal: "Check disk usage, list open ports, find git repositories, report the kernel version and check the environment for leaked secrets. Delete notes.txt when done."}
}

func sampleRunsPage() Runs {
	return Runs{Shell: shellOf("Runs", "runs"), Rows: sampleRuns(), Next: "/runs?cursor=x", Filters: []Filter{
		{Label: "All", URL: "/runs", On: true}, {Label: "Needs you", URL: "/runs?status=waiting", Count: 2},
		{Label: "Running", URL: "/runs?status=running"}, {Label: "Succeeded", URL: "/runs?code=SUCCESS"}, {Label: "Not succeeded", URL: "/runs?code=other"},
	}}
}

// wireNode is a NodeView of the socket, as the boot JSON carries it.
type wireNode struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Tool     string    `json:"tool"`
	X        int       `json:"x"`
	Y        int       `json:"y"`
	State    string    `json:"state"`
	Attempt  int       `json:"attempt"`
	Note     string    `json:"note"`
	V        int       `json:"v"`
	Join     string    `json:"join"`
	Started  int64     `json:"started"`
	Ended    int64     `json:"ended"`
	Expires  int64     `json:"expires,omitempty"`
	Deps     []wireDep `json:"deps"`
	Approval string    `json:"approval,omitempty"`
}

type wireDep struct {
	From  string `json:"from"`
	Data  bool   `json:"data"`
	Field string `json:"field,omitempty"`
}

func sampleNodes() []wireNode {
	type is struct{ id, tool, state, note string }
	type at struct{ col, row int }
	node := func(is is, at at, us int64, deps ...wireDep) wireNode {
		n := wireNode{ID: is.id, Kind: "tool", Tool: is.tool, X: at.col * 248, Y: at.row * 92, State: is.state, Attempt: 1, Note: is.note,
			V: 1, Join: "all_of", Deps: deps}
		if us > 0 {
			n.Started, n.Ended = sampleNow-13*sec, sampleNow-13*sec+us
		}
		return n
	}
	data := func(from string) wireDep { return wireDep{From: from, Data: true, Field: "rows"} }
	order := func(from string) wireDep { return wireDep{From: from} }
	plan := node(is{"kernel.plan", "", "executed", "8 steps"}, at{0, 0}, 4_000)
	plan.Kind = "planner"
	reflect := node(is{"kernel.reflect", "", "pending", ""}, at{4, 3}, 0, order("report"), order("verify_gone"))
	reflect.Kind = "reflection"
	port := node(is{"port_owners", "process_list", "running", "4 of 14"}, at{2, 2}, 0, data("open_ports"))
	port.Started = sampleNow - 12*sec
	del := node(is{"delete_notes", "file.delete", "waiting_human", ""}, at{2, 6}, 0, data("workspace"))
	del.Expires, del.Approval = sampleNow+1787*sec, "a_1"
	added := node(is{"inodes_2", "disk_usage", "ready", ""}, at{2, 0}, 0, order("inodes"))
	added.V = 3
	from := order("kernel.plan")
	list := []wireNode{
		plan,
		node(is{"inodes", "shell", "failed", "df -i"}, at{1, 0}, 200_000, from), added,
		node(is{"disk_usage", "disk_usage", "executed", "4 mounts"}, at{1, 1}, 400_000, from),
		node(is{"open_ports", "net_info", "executed", "14 open"}, at{1, 2}, 300_000, from), port,
		node(is{"repositories", "git.find", "executed", "23 repos"}, at{1, 3}, 3_100_000, from),
		node(is{"repo_status", "git.status", "executed", "5 changed"}, at{2, 3}, 900_000, data("repositories")),
		node(is{"kernel", "sysinfo", "executed", "Linux 6.1"}, at{1, 4}, 200_000, from),
		node(is{"kernel_news", "web.fetch", "skipped", "guard false"}, at{2, 4}, 0, data("kernel")),
		node(is{"environment", "env_list", "executed", "61 names"}, at{1, 5}, 100_000, from),
		node(is{"secret_scan", "compute", "failed_retryable", "try 2 of 3"}, at{2, 5}, 800_000, data("environment")),
		node(is{"workspace", "file.list", "executed", "9 files"}, at{1, 6}, 200_000, from), del,
		node(is{"report", "compute", "pending", "2 of 6 in"}, at{3, 3}, 0, data("disk_usage"), data("port_owners"), data("repo_status"), data("kernel"), data("secret_scan"), order("inodes_2")),
		node(is{"verify_gone", "file.list", "pending", "next"}, at{3, 6}, 0, order("delete_notes")),
		node(is{"mail_report", "mail.send", "cancelled", "upstream"}, at{4, 5}, 0, data("secret_scan")),
		node(is{"rate", "http.request", "blocked", "rate limit"}, at{4, 1}, 0, data("disk_usage")),
		reflect,
	}
	return list
}

func sampleBoot() json.RawMessage {
	counts := map[string]int{}
	for _, n := range sampleNodes() {
		if n.Kind == "tool" {
			counts[n.State]++
		}
	}
	raw, err := json.Marshal(map[string]any{"run": sample, "seq": 214, "view": map[string]any{
		"run": map[string]any{"id": sample, "goal": "Check", "status": "running", "code": "", "counts": counts, "version": 3, "seq": 214,
			"created": sampleNow - 13*sec, "ended": 0, "waiting": []string{"a_1"}},
		"nodes": sampleNodes(),
	}})
	if err != nil {
		panic(err)
	}
	return raw
}

func sampleRun(view string) Run {
	s := shellOf("Check disk usage", "runs")
	s.Run, s.Seq = sample, 214
	if view == "graph" {
		s.Assets.GraphCSS, s.Assets.Graph = "/static/graph.css", "/static/graph.js"
	}
	goal := sampleRuns()[0].Goal
	r := Run{Shell: s, View: view, Boot: sampleBoot(), Head: RunHead{
		ID: sample, Goal: goal, Status: "running", CreatedAt: sampleNow - 13*sec, Mode: "reflect, final", Version: 3, CanAct: true,
		Waiting: []Waiting{{ID: "a_1", Node: "delete_notes", Mine: true}},
		Counts:  map[string]int{"executed": 7, "running": 1, "waiting_human": 1, "failed_retryable": 1, "failed": 1, "skipped": 1, "pending": 4},
		Budget:  []Spend{{Name: "Calls", Used: 31, Limit: 1000}, {Name: "Effects", Used: 1, Limit: 20}, {Name: "Time", Used: 13, Limit: 3600, Unit: "s"}},
	}, Overview: Overview{Goal: goal, Requester: Person{Name: "Ada Osei", You: true}, Intent: "override", Mode: "reflect, final", Planner: "builtin",
		Policy: "sha256:4f1c2a9b0d7e63aa", Version: 3, CreatedAt: sampleNow - 13*sec}}
	for _, n := range sampleNodes() {
		step := Step{ID: n.ID, Kind: n.Kind, Tool: n.Tool, State: n.State, Attempt: n.Attempt, Note: n.Note, Started: n.Started, Ended: n.Ended, Approval: n.Approval, Mine: true}
		for _, d := range n.Deps {
			step.After = append(step.After, d.From)
		}
		r.Steps = append(r.Steps, step)
	}
	return r
}

func sampleRunWithNode(view string) Run {
	r := sampleRun(view)
	n := sampleNode()
	r.NodeID, r.Node = n.ID, &n
	return r
}

func sampleNode() Node {
	return Node{
		Run: sample, ID: "delete_notes", Kind: "tool", Tool: "file.delete", State: "waiting_human", Position: "step 9 of 12",
		Call: &CallOut{ID: "a_1", Title: "Delete notes.txt from the workspace?", Text: "Cannot be undone.", ExpiresAt: sampleNow + 1787*sec, Mine: true},
		Params: []Param{
			{Name: "path", Value: "notes.txt", Source: "workspace.entries.3.name", Ref: true, Step: "workspace", Labels: []string{"untrusted"}},
			{Name: "force", Value: "false", Source: "plan literal", Labels: []string{"user"}},
		},
		Facts: []Pair{{"Effect", "once, no automatic retry"}, {"Impact", "override (200)"}, {"Join", "all of"}, {"Timeout", "30 s"}, {"Retries", "0"}},
		Gate: []Gate{
			{"Scope", "allow", "file.* in scope default"}, {"Impact", "allow", "200, within override (200)"},
			{"Clearance", "none", "not configured"}, {"Approval", "ask", "rule A1, 0 of 1 given"},
		},
		Attempts: []Attempt{{N: 1, State: "Waiting for you", Text: "asked for approval", Started: sampleNow - 5*sec, Seq: 58}},
		Raw:      "{\n  \"id\": \"delete_notes\"\n}",
		Why:      "The goal names this file.", Predicate: "workspace.count gt 0",
	}
}

func sampleVerdict() *Verdict {
	return &Verdict{Code: "PARTIAL_SUCCESS", By: "builtin", Causes: []string{"rejected"},
		Text: "Five of six parts are verified. The file was not deleted because Ada Osei denied delete_notes: “Keep it until Monday.”",
		Claims: []Claim{
			{Title: "Disk usage", Text: "4 mounts. The fullest is /var at 81 %, 62.4 of 77.0 GB.", Cites: []Cite{{1, "o_1", "disk_usage"}}},
			{Title: "Open ports", Text: "14 ports are listening; 13 belong to known services.", Cites: []Cite{{2, "o_2", "open_ports"}, {3, "o_3", "port_owners"}}},
			{Title: "Git repositories", Text: "23 repositories, 5 with uncommitted changes.", Cites: []Cite{{4, "o_4", "repositories"}}},
			{Title: "Kernel version", Text: "Linux 6.1.0-28-amd64, Debian 12.", Cites: []Cite{{5, "o_5", "kernel"}}},
		},
		Unplanned: []Unplanned{{Clause: "mail the report", Why: "No tool sends mail."}},
		Foot:      []string{"12 steps", "3 plan versions", "1 side effect"}, Linked: "4 of 4 claims linked to verified outputs"}
}

func sampleEnded(view string) Run {
	r := sampleRun(view)
	r.Head.Status, r.Head.Code, r.Head.EndedAt, r.Head.Waiting = "ended", "PARTIAL_SUCCESS", sampleNow, nil
	r.Verdict = sampleVerdict()
	return r
}

func sampleLog() Run {
	r := sampleEnded("log")
	hash := "9ac41f0b7d20c3e58a6614fd0e2b97c8135aa7d4e9f0b16c28d3470e5f9b71e0"
	row := func(seq int64, kind, node, says, actor string) FactRow {
		return FactRow{Seq: seq, At: sampleNow - (400-seq)*120_000, Kind: kind, Node: node, Attempt: 1, Version: 3, Cause: seq, Actor: actor, Summary: says,
			Data: "{\n  \"state\": \"executed\",\n  \"reserved\": {\"tool_calls\": 1}\n}", Hash: hash}
	}
	rows := []FactRow{
		row(1, "run.created", "", "Check disk usage and more, at override", "user:1"),
		row(2, "version.added", "", "plan 1, 8 steps by the built-in planner", "system"),
		row(3, "attempt.started", "disk_usage", "attempt 1, gate allowed it, 1 call reserved", "system"),
		row(4, "attempt.ended", "disk_usage", "executed: 4 mounts", "tool:disk_usage"),
		row(5, "attempt.ended", "inodes", "failed, permanent: exit status 1", "tool:shell"),
		row(6, "approval.requested", "delete_notes", "rule A1 asks one approver", "system"),
		row(7, "approval.decided", "delete_notes", "approved by Ada Osei", "user:1"),
		row(8, "run.ended", "", "PARTIAL_SUCCESS", "system"),
	}
	rows[4].Erased, rows[4].Data = true, ""
	rows[3].Attempt = 2
	r.Log = &Log{Rows: rows, Export: "/runs/" + sample + "/export", Next: "/runs/" + sample + "?view=log&after=8",
		Proof: Proof{Status: "ok", Facts: 391, Head: hash, SealedAt: sampleNow - 60*sec}}
	return r
}

func samplePacket() Packet {
	return Packet{
		ID: "a_1", Hash: "sha256:77", Key: "k_2", State: StateOpen, Title: "Delete notes.txt from the workspace", Tool: "file.delete",
		Impact: 200, ImpactName: "override", ExpiresAt: sampleNow + 842*sec, OnExpiry: "then denied, nothing is deleted",
		Requester: Person{Name: "Jonas Weber"}, Run: sample, Goal: "Check this host, then delete notes.txt", Node: "delete_notes", Place: "plan v1, 4 of 6 steps done",
		Dag: Dag{
			Before: []DagNode{{"workspace", "file.list", "executed", true}, {"letter", "compute", "executed", true}},
			Self:   DagNode{"delete_notes", "file.delete", "waiting_human", false},
			After:  []DagNode{{"verify_gone", "file.list", "pending", false}},
		},
		Args: []Param{
			{Name: "path", Value: "notes.txt", Source: "workspace.entries.3.name", Ref: true, Step: "workspace", Labels: []string{"untrusted"}, Flag: "first time"},
			{Name: "force", Value: "false", Source: "plan literal", Labels: []string{"user"}},
		},
		Preview: &Preview{Caption: "notes.txt, 412 bytes", Aside: "changed 20 Nov 2026", Note: "First 3 of 12 lines.", Lines: []PreviewLine{
			{"del", "Call the bank about the invoice"}, {"del", "Renew the certificate of staging"}, {"del", "Ask Mara for the list"},
		}},
		Why:     []string{"Rule A1 asks one approver per call at override impact.", "0 of 20 side effects used in this run."},
		Flags:   []Flag{{"Untrusted in a sink.", "path was read from the workspace listing."}, {"First time.", "This file was never deleted before."}},
		History: "Approved 4 times before, last by Mara Lindqvist on 14 Nov. Never denied.", IfApprove: "deletes exactly this, once. A change asks again.",
		IfDeny: "ends this step. Jonas sees the reason, no model does.", Position: "1 of 3",
	}
}

func sampleApprovals(p *Packet) Approvals {
	v := Approvals{Shell: shellOf("Approvals", "approvals"), Tab: "mine", Packet: p,
		Rows: []InboxRow{
			{ID: "a_1", Title: "Delete notes.txt from the workspace", Detail: "Check this host, Jonas Weber", Tool: "file.delete", State: StateOpen, ExpiresAt: sampleNow + 842*sec, On: p != nil},
			{ID: "a_2", Title: "Overwrite 2 config files", Detail: "nginx tuning, you", Tool: "file.write", State: StateOpen, ExpiresAt: sampleNow + 1787*sec},
			{ID: "a_3", Title: "Was old.log deleted?", Detail: "Outcome unknown since 12:04:03", Tool: "file.delete", State: StateOpen, Question: true},
		},
		Others: []InboxRow{{ID: "a_4", Title: "Delete the release folder", Detail: "needs 1 more of 2", Tool: "file.delete", State: StateCounted, ExpiresAt: sampleNow + 5*3600*sec}},
	}
	return v
}

func sampleQuestion() Packet {
	p := samplePacket()
	p.Question, p.Title, p.ExpiresAt, p.OnExpiry, p.Preview = true, "Was notes.txt deleted?", 0, "The run waits until somebody answers.", nil
	p.Why = []string{"The process ended while the call was under way, and it may not be repeated on its own."}
	p.IfApprove, p.IfDeny = "records that it happened and goes on.", "lets the step ask again."
	return p
}

func sampleDecided() Packet {
	p := samplePacket()
	p.State = StateDenied
	p.Late, p.Dag.Self.State = "You were 4 s late. Your answer was not used.", "failed"
	p.Decision = &Decision{Result: StateDenied, Who: Person{Name: "Mara Lindqvist"}, At: sampleNow - 4*sec, Reason: "Keep it until Monday."}
	return p
}
