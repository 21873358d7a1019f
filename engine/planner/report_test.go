package planner_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sluice/engine/planner"
)

// executed is a step that ended well.
func executed(tool, output string) planner.StepResult {
	id := strings.ReplaceAll(tool, ".", "_")
	return planner.StepResult{ID: id, Tool: tool, State: "executed", Output: []byte(output), Observation: "o_" + id}
}

// outputs are verified outputs of the shipped tools and the sentence of each.
var outputs = []struct{ tool, output, want string }{
	{"sysinfo", `{"hostname":"box","os":"linux","platform":"debian","platform_version":"13","kernel_version":"6.1.0","arch":"x86_64","uptime_seconds":266400,
		"boot_time":"2026-01-01T00:00:00Z","cpu_count":2,"cpu_model":"x","load_1":0.5,"load_5":1,"load_15":1,
		"memory":{"total_bytes":4294967296,"used_bytes":1,"free_bytes":1,"available_bytes":1073741824,"used_percent":75},
		"swap":{"total_bytes":0,"used_bytes":0,"free_bytes":0}}`,
		"box: Linux kernel 6.1.0 (x86_64), debian 13, up 3 days 2 hours, 2 CPUs, load 0.50, 1.0 GiB of 4.0 GiB memory available."},
	{"disk_usage", `{"mounts":[{"path":"/","device":"a","type":"ext4","total_bytes":100,"used_bytes":81,"free_bytes":2147483648,"used_percent":81,"inodes_used_percent":null},
		{"path":"/home","device":"b","type":"ext4","total_bytes":100,"used_bytes":1,"free_bytes":1,"used_percent":12.5,"inodes_used_percent":1}],
		"max_used_percent":81,"fullest":"/","unreadable":[]}`, "2 file systems; the fullest is / at 81 %, 2.0 GiB free."},
	{"disk_usage", `{"mounts":[],"max_used_percent":0,"fullest":null,"unreadable":["/x"]}`, "No file system could be measured."},
	{"net_info", `{"ports":[{"protocol":"tcp","address":"0.0.0.0","port":22,"pid":1,"process":"sshd"},{"protocol":"tcp6","address":"::","port":22,"pid":1,"process":"sshd"},
		{"protocol":"tcp","address":"127.0.0.1","port":8080,"pid":null,"process":null}],
		"interfaces":[{"name":"lo","up":true,"loopback":true,"mtu":1,"mac":"","addresses":["127.0.0.1/8"]}],"truncated":false}`,
		"2 listening ports: 22 (sshd), 8080; 1 network interface: lo 127.0.0.1/8."},
	{"process_list", `{"processes":[{"pid":7,"name":"init","user":"root","cpu_percent":1.25,"memory_bytes":2048}],"total":61,"truncated":true}`,
		"61 processes; first: init (7, 2.0 KiB, CPU 1.2 %)."},
	{"process_list", `{"processes":[],"total":0,"truncated":false}`, "No such process is running."},
	{"env_list", `{"variables":[],"total":61,"suspect_count":2,"suspects":[{"name":"AWS_SECRET_ACCESS_KEY","kind":"aws_key"},{"name":"TOKEN","kind":"generic_secret"}],"truncated":false}`,
		"2 of 61 environment variables look like secrets: AWS_SECRET_ACCESS_KEY (aws_key), TOKEN (generic_secret)."},
	{"env_list", `{"variables":[],"total":1,"suspect_count":0,"suspects":[],"truncated":false}`, "None of 1 environment variable looks like a secret."},
	{"git.find", `{"path":".","repositories":[],"paths":["a","b","c"],"count":3,"truncated":false}`, "Found 3 git repositories under the workspace: a, b, c."},
	{"git.find", `{"path":"x","repositories":[],"paths":[],"count":0,"truncated":false}`, "Found no git repositories under x."},
	{"git.status", `{"repositories":[{"path":"a","branch":"main","clean":true,"changed_count":0,"problem":null},{"path":"b","branch":null,"clean":false,"changed_count":2,"problem":null},
		{"path":"c","branch":null,"clean":null,"changed_count":0,"problem":"unavailable"}],"dirty":["b"],"clean":["a"]}`,
		"a is clean (branch main), b has 2 uncommitted changes, c could not be read."},
	{"git.log", `{"path":"a","commits":[{"hash":"0123456789","author":"Ana","date":"2026-01-01T00:00:00Z","subject":"Start"}],"truncated":false}`,
		"1 commit in a:\n  01234567 2026-01-01T00:00:00Z Ana: Start"},
	{"git.diff", `{"path":"a","files":[{"path":"x.go","added":1,"removed":0}],"changed_count":1,"diff":"","truncated":false}`, "1 file in a differs from the last commit: x.go."},
	{"file.read", `{"path":"n.txt","size_bytes":12,"encoding":"utf-8","content":"one\ntwo\n","truncated":false}`, "n.txt (12 bytes):\n  one\n  two"},
	{"file.read", `{"path":"n.bin","size_bytes":1,"encoding":"base64","content":"AA==","truncated":false}`, "n.bin (1 byte) is no text."},
	{"file.list", `{"path":"docs","entries":[{"name":"a","path":"docs/a","kind":"file","size_bytes":1536,"modified":""},{"name":"d","path":"docs/d","kind":"directory","size_bytes":0,"modified":""}],"total":12,"truncated":true}`,
		"12 entries in docs: docs/a (1.5 KiB), docs/d and 10 more."},
	{"file.search", `{"query":"foo","path":".","matches":[{"path":"a","line":3,"text":" foo  bar"}],"files":["a"],"files_searched":2,"files_skipped":0,"truncated":false}`,
		"\"foo\": 1 line in 1 file of the workspace.\n  a:3: foo bar"},
	{"file.write", `{"path":"a","size_bytes":5,"sha256":""}`, "Wrote 5 bytes to a."},
	{"file.delete", `{"path":"a","size_bytes":5,"sha256":null,"deleted":true}`, "Deleted a (5 bytes)."},
	{"shop.stock", `{"shelf":1}`, `shop_stock (shop.stock): {"shelf":1}`},
}

func TestR55_EachSentenceIsAClaimWithItsObservation(t *testing.T) {
	for _, o := range outputs {
		step := executed(o.tool, o.output)
		got := planner.Report(planner.ReportInput{Goal: "g", Steps: []planner.StepResult{step}})
		if got.Text != o.want || got.By != planner.By {
			t.Errorf("%s: got %q by %s, want %q", o.tool, got.Text, got.By, o.want)
		}
		if len(got.Claims) != 1 || got.Claims[0].Text != o.want || !slices.Equal(got.Claims[0].Observations, []string{step.Observation}) {
			t.Errorf("%s: claims %+v, want the sentence with %s", o.tool, got.Claims, step.Observation)
		}
	}
}

func TestR55_WhatIsNotVerifiedIsNoClaim(t *testing.T) {
	steps := []planner.StepResult{
		executed("file.delete", `{"path":"a","size_bytes":5,"sha256":null,"deleted":true}`),
		{ID: "b", Tool: "file.delete", State: "failed", Failure: "not_found", Observation: "o_b", Output: []byte(`{"path":"b","size_bytes":5,"deleted":true}`)},
		{ID: "c", Tool: "file.read", State: "skipped", Observation: "o_c"},
		{ID: "d", Tool: "file.read", State: "cancelled"},
	}
	got := planner.Report(planner.ReportInput{Steps: steps, Unplanned: []planner.Unplanned{{Clause: "book a flight", Why: "no tool here does this"}}})
	if len(got.Claims) != 1 || got.Claims[0].Observations[0] != "o_file_delete" {
		t.Errorf("claims %+v, want the one verified", got.Claims)
	}
	want := "Deleted a (5 bytes).\nNot done: b (file.delete), what it names was not found.\nSkipped: c (file.read), its condition did not hold.\n" +
		"Not done: d (file.read).\nNot planned: \"book a flight\": no tool here does this."
	if got.Text != want {
		t.Errorf("got\n%s\nwant\n%s", got.Text, want)
	}
	if got := planner.Report(planner.ReportInput{}); got.Text == "" || got.Claims == nil || len(got.Claims) != 0 {
		t.Errorf("got %+v for nothing", got)
	}
}

func TestP24_ADenialReadsLikeAnUnavailableTool(t *testing.T) {
	var texts []string
	for _, failure := range []string{"unavailable", "denied", "permission", "rejected", "expired", "", "timeout"} {
		got := planner.Report(planner.ReportInput{Steps: []planner.StepResult{{ID: "x", Tool: "file.delete", State: "failed", Failure: failure}}})
		texts = append(texts, got.Text)
	}
	if distinct := slices.Compact(texts); len(distinct) != 1 {
		t.Errorf("got %q, want one text", distinct)
	}
}

func TestReport_SurvivesAnyOutput(t *testing.T) {
	for _, o := range outputs {
		for _, output := range []string{`null`, `{}`, `[]`, `"x"`, `{"total":"many"}`, ``, `{`, `{"ports":null}`, strings.Repeat("y", 5000)} {
			got := planner.Report(planner.ReportInput{Steps: []planner.StepResult{executed(o.tool, output)}})
			if !strings.Contains(got.Text, o.tool) || len(got.Text) > 400 {
				t.Errorf("%s with %.20q: got %q", o.tool, output, got.Text)
			}
		}
	}
	long, _ := json.Marshal(map[string]any{"b": strings.Repeat("z", 500), "a": 1})
	got := planner.Report(planner.ReportInput{Steps: []planner.StepResult{executed("shop.stock", string(long))}})
	if got.Text != "shop_stock (shop.stock): a result of 2 fields with a, b" {
		t.Errorf("got %q", got.Text)
	}
}
