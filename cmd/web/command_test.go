package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

// sluice runs a command in this process, as a shell would; one that goes on and
// on is stopped.
func sluice(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), restWithin)
	defer cancel()
	var out, err bytes.Buffer
	code := dispatch(ctx, streams{strings.NewReader(stdin), &out, &err}, args)
	return result{code, out.String(), err.String()}
}

// wantCode fails unless the command ended with the exit code (P36).
func (r result) wantCode(t *testing.T, want int) result {
	t.Helper()
	if r.code != want {
		t.Fatalf("got exit code %d, want %d\nstdout: %.600s\nstderr: %.600s", r.code, want, r.out, r.err)
	}
	return r
}

// read decodes the command's output, which must be one JSON value on one line.
func (r result) read(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), into); err != nil || strings.Count(r.out, "\n") != 1 {
		t.Fatalf("got output %.600s, want one line of JSON: %v", r.out, err)
	}
}

// TestP36_EveryCommandHasHelp on its output, with exit code 0.
func TestP36_EveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	names := [][]string{{}, {"plan", "check"}, {"plan", "propose"}, {"gate", "check"}, {"audit", "verify"}, {"audit", "export"}, {"token", "add"}}
	for _, c := range commands() {
		names = append(names, []string{c.name})
	}
	for _, name := range names {
		for _, flag := range []string{"--help", "-h"} {
			got := sluice(t, "", append(name, flag)...).wantCode(t, exitYes)
			if !strings.Contains(got.out, "sluice") || got.err != "" {
				t.Errorf("%v %s: got output %.100q and errors %.100q, want help as output", name, flag, got.out, got.err)
			}
		}
	}
	all := sluice(t, "", "help").wantCode(t, exitYes).out
	for _, c := range commands() {
		if !strings.Contains(all, "\n  "+c.name) {
			t.Errorf("help does not list %s", c.name)
		}
	}
}

// TestP36_MisuseIsCodeTwo: unknown commands, flags and missing arguments, said on stderr.
func TestP36_MisuseIsCodeTwo(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, args := range [][]string{
		{"rnu"}, {"run"}, {"run", "--colour"}, {"run", "x", "--intent"}, {"run", "x", "--intent", "root", "--data", data},
		{"run", "--plan", data + "/none.json"}, {"run", "--plan", data}, {"plan"}, {"plan", "chekc", "x"}, {"plan", "check"}, {"plan", "check", "a", "b"},
		{"plan", "check", data + "/none.json"}, {"plan", "check", data}, {"plan", "propose"}, {"plan", "propose", strings.Repeat("x", 9<<10)},
		{"gate"}, {"gate", "check", "a", "b"}, {"gate", "check", data + "/none"}, {"gate", "check", data}, {"gate", "check", "-", "--intent", "root"},
		{"gate", "check", "-", "--policy", data + "/none"}, {"audit"}, {"audit", "prove"}, {"audit", "verify", "--data", data + "/none"},
		{"audit", "export", "--data", data + "/none"}, {"erase", "--data", data}, {"erase", "r_x", "--data", data}, {"erase", "--reason", "x"},
		{"token"}, {"token", "remove"}, {"token", "add"}, {"token", "add", "--name", "x", "--ceiling", "root", "--data", data}, {"serve", "now"}, {"--colour"},
	} {
		got := sluice(t, "", args...)
		if got.code != exitUsage || got.err == "" || got.out != "" {
			t.Errorf("%v: got exit code %d, output %.80q, errors %.80q, want 2 and a word on stderr", args, got.code, got.out, got.err)
		}
	}
}

// TestP36_RunSaysByItsCodeHowItEnded, in this process and through a server.
func TestP36_RunSaysByItsCodeHowItEnded(t *testing.T) {
	t.Parallel()
	for _, through := range []bool{false, true} {
		cfg := testConfig(t)
		if through {
			startServe(t, cfg.Data)
		}
		for _, tc := range []struct {
			args   []string
			code   int
			status string
			ended  string
		}{
			{[]string{"show disk usage"}, exitYes, "ended", "SUCCESS"},
			{[]string{"sing me a song"}, exitNo, "ended", "IMPOSSIBLE"},
			{[]string{"delete notes.txt", "--intent", "operate"}, exitNo, "ended", "PERMISSION_DENIED"},
			{[]string{"show disk usage and sing me a song"}, exitPartial, "ended", "PARTIAL_SUCCESS"},
			{[]string{"delete notes.txt", "--intent", "override"}, exitWaiting, "waiting", ""},
			{[]string{"show disk usage", "--mode", "plan-once"}, exitYes, "ended", "SUCCESS"},
		} {
			got := sluice(t, "", append(append([]string{"run"}, tc.args...), "--json", "--data", cfg.Data)...)
			var r shape
			got.wantCode(t, tc.code).read(t, &r)
			if r.Status != tc.status || r.code() != tc.ended || r.Requester != "user:1" || !strings.HasPrefix(r.ID, "r_") {
				t.Errorf("through %v, %v: got %s %s by %s, want %s %s by user:1", through, tc.args, r.Status, r.code(), r.Requester, tc.status, tc.ended)
			}
		}
		for _, bad := range [][]string{{"x", "--mode", "swarm"}, {"x", "--profile", "huge"}, {strings.Repeat("x", 9<<10)}, {"x", "--intent", "root"}} {
			if got := sluice(t, "", append(append([]string{"run"}, bad...), "--data", cfg.Data)...); got.code != exitUsage {
				t.Errorf("through %v, %.40v: got exit code %d, want 2: %s", through, bad, got.code, got.err)
			}
		}
	}
}

// TestP36_RunTakesAPlan: from a file, from standard input, as YAML; one that
// does not compile prints its findings, and nothing runs.
func TestP36_RunTakesAPlan(t *testing.T) {
	t.Parallel()
	for _, through := range []bool{false, true} {
		cfg := testConfig(t)
		if through {
			startServe(t, cfg.Data)
		}
		dir := t.TempDir()
		good := planOf(`{"id":"a","tool":"sysinfo"}`)
		writeFile(t, dir+"/p.json", good)
		writeFile(t, dir+"/p.yaml", "format: 1\ngoal: test\nmax_steps: 2\nsteps:\n  - {id: a, tool: sysinfo}\n")
		writeFile(t, dir+"/bad.json", planOf(`{"id":"a","tool":"nothing"}`))
		for _, plan := range []string{dir + "/p.json", dir + "/p.yaml", "-"} {
			var r shape
			sluice(t, good, "run", "--plan", plan, "--json", "--data", cfg.Data).wantCode(t, exitYes).read(t, &r)
			if r.Goal != "test" || r.Counts["executed"] != 1 {
				t.Errorf("through %v, %s: got %+v, want the plan's goal and one step", through, plan, r)
			}
		}
		var report struct {
			OK       bool
			Findings []struct{ Rule, Step, Pointer string }
		}
		sluice(t, "", "run", "--plan", dir+"/bad.json", "--json", "--data", cfg.Data).wantCode(t, exitNo).read(t, &report)
		if report.OK || len(report.Findings) == 0 || report.Findings[0].Step != "a" || report.Findings[0].Pointer != "/steps/0/tool" {
			t.Errorf("through %v: got %+v, want the finding about the tool", through, report)
		}
	}
}

// TestP36_RunPrintsTheShapeOfTheAPI, byte for byte.
func TestP36_RunPrintsTheShapeOfTheAPI(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	printed := sluice(t, "", "run", `show disk usage <b> & "more"`, "--json", "--data", cfg.Data)
	var r shape
	printed.read(t, &r)
	o := worldOf(t, cfg).operator()
	if got := o.get("/api/v1/runs/" + r.ID).text(); got != printed.out {
		t.Errorf("got from the API\n%s\nwant what run printed\n%s", got, printed.out)
	}
}

// TestP36_RunForPeople prints the answer and the code, or where to go.
func TestP36_RunForPeople(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	done := sluice(t, "", "run", "show disk usage", "--data", cfg.Data).wantCode(t, exitYes)
	if !strings.Contains(done.out, "SUCCESS") || strings.HasPrefix(done.out, "{") {
		t.Errorf("got %.200s, want the verdict and SUCCESS", done.out)
	}
	waits := sluice(t, "", "run", "delete notes.txt", "--intent", "override", "--data", cfg.Data).wantCode(t, exitWaiting)
	if !strings.Contains(waits.out, "waits for a person") {
		t.Errorf("got %.200s, want where to decide", waits.out)
	}
	lost := sluice(t, "", "run", "sing me a song", "--data", cfg.Data).wantCode(t, exitNo)
	if !strings.Contains(lost.out, "sing me a song") || !strings.Contains(lost.out, "IMPOSSIBLE") {
		t.Errorf("got %.200s, want what was not planned", lost.out)
	}
}

// answering is a data directory whose server gives one answer to everything
// but the list of runs.
func answering(t *testing.T, status int, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"runs":[]}`)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	data := t.TempDir()
	writeFile(t, filepath.Join(data, serverFile), `{"url":"`+server.URL+`","token":"x"}`)
	return data
}

// TestP36_AServersRefusalBecomesTheExitCode: denied is 4, unavailable 3,
// invalid 2, conflict and not found 1.
func TestP36_AServersRefusalBecomesTheExitCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{"denied": exitDenied, "unavailable": exitUnavailable, "internal": exitUnavailable,
		"invalid": exitUsage, "conflict": exitNo, "not_found": exitNo} {
		data := answering(t, 400, `{"code":"`+code+`","detail":"no","fix":"nothing"}`)
		for _, args := range [][]string{{"run", "x"}, {"erase", "r_x", "--reason", "x"}, {"token", "add", "--name", "x"}} {
			if got := sluice(t, "", append(args, "--data", data)...); got.code != want || !strings.Contains(got.err, "no") {
				t.Errorf("%s, %s: got exit code %d, want %d: %s", args[0], code, got.code, want, got.err)
			}
		}
	}
	if got := sluice(t, "", "run", "x", "--data", answering(t, 502, "<html>bad gateway")); got.code != exitUnavailable {
		t.Errorf("no problem: got exit code %d, want 3", got.code)
	}
}

// TestP36_ARunThatIsInterruptedGoesOnLater: a command that is stopped leaves no
// lock and no lie; the run is found by whoever opens the data next.
func TestP36_ARunThatIsInterruptedGoesOnLater(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := dispatch(ctx, streams{strings.NewReader(""), &out, &errs}, []string{"run", "show disk usage", "--data", cfg.Data}); code == exitYes {
		t.Errorf("got exit code 0 from a stopped command: %s", out.String())
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, serverFile)); !os.IsNotExist(err) {
		t.Errorf("got %v, want no server announced", err)
	}
	o := worldOf(t, cfg).operator()
	for _, id := range o.allRuns() {
		if r := o.rest(id); r.code() != "SUCCESS" {
			t.Errorf("got %s %s, want the run to go on to SUCCESS", r.Status, r.code())
		}
	}
}

// P36: what is wrong with a call is said without the mark by which it is known.
func TestP36_VersionAndComplaints(t *testing.T) {
	t.Parallel()
	version := sluice(t, "", "version").wantCode(t, exitYes).out
	if got := sluice(t, "", "--version").wantCode(t, exitYes).out; got != version || !strings.HasPrefix(got, "sluice ") {
		t.Errorf("got %q, want %q", got, version)
	}
	for _, args := range [][]string{{"audit"}, {"plan"}, {"plan", "check"}, {"gate"}, {"run"}, {"erase"}, {"token", "add"}, {"serve", "x"}} {
		got := sluice(t, "", args...).wantCode(t, exitUsage)
		if strings.HasSuffix(strings.TrimSpace(got.err), "usage") || !strings.HasPrefix(got.err, "sluice: ") {
			t.Errorf("%v: got %q, want a sentence", args, got.err)
		}
	}
}
