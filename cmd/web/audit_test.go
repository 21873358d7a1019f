package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/store"
)

// report is the answer of audit verify (P36a).
type report struct {
	OK      bool `json:"ok"`
	Streams []struct {
		Stream string `json:"stream"`
		Status string `json:"status"`
		Seq    int64  `json:"seq"`
		Reason string `json:"reason"`
	} `json:"streams"`
}

// status gives a stream's status, "" when it is not in the report.
func (r *report) status(stream string) string {
	for _, s := range r.Streams {
		if s.Stream == stream {
			return s.Status
		}
	}
	return ""
}

func verify(t *testing.T, code int, flags ...string) *report {
	t.Helper()
	var r report
	sluice(t, "", append([]string{"audit", "verify", "--json"}, flags...)...).wantCode(t, code).read(t, &r)
	return &r
}

// ranOnce is a data directory with one run in it.
func ranOnce(t *testing.T) (cfg config, run string) {
	t.Helper()
	cfg = testConfig(t)
	var r shape
	sluice(t, "", "run", "read notes.txt and show disk usage", "--json", "--data", cfg.Data).wantCode(t, exitYes).read(t, &r)
	return cfg, r.ID
}

// damage changes the database behind the program's back.
func damage(t *testing.T, cfg config, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(cfg.Data, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		t.Fatal(err)
	}
	var drop []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		drop = append(drop, "DROP TRIGGER "+name)
	}
	for _, statement := range append(drop, statements...) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

const ofRun = "((SELECT number FROM streams WHERE name LIKE 'run/%') << 32)"

// TestP36a_VerifyTellsWhatWasDone to a log, by exit code and by stream; the
// export kept elsewhere shows what the chain alone cannot.
func TestP36a_VerifyTellsWhatWasDone(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, statement string
		withSeal        bool
		want            string
	}{
		{"untouched", "", false, "ok"},
		{"untouched, against its export", "", true, "ok"},
		{"a flipped byte", "UPDATE facts SET data = CAST(replace(CAST(data AS TEXT), 'disk', 'dusk') AS BLOB) WHERE id = " + ofRun + " + 1", false, "broken"},
		{"a deleted row", "DELETE FROM facts WHERE id = " + ofRun + " + 3", false, "broken"},
		{"a dropped tail", "DELETE FROM facts WHERE id > " + ofRun + " + 4", true, "truncated"},
		{"a deleted stream", "DELETE FROM facts WHERE id > " + ofRun + "; DELETE FROM streams WHERE name LIKE 'run/%'", true, "missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, run := ranOnce(t)
			export := filepath.Join(t.TempDir(), "export.ndjson")
			sluice(t, "", "audit", "export", "--out", export, "--data", cfg.Data).wantCode(t, exitYes)
			flags := []string{"--data", cfg.Data}
			if tc.withSeal {
				flags = append(flags, "--seal", export)
			}
			code := exitNo
			if tc.want == "ok" {
				code = exitYes
			} else {
				damage(t, cfg, tc.statement)
			}
			r := verify(t, code, flags...)
			if got := r.status("run/" + run); got != tc.want || r.OK != (code == exitYes) || r.status("admin") != "ok" {
				t.Errorf("got %+v, want the run's stream %s and the other ok", r, tc.want)
			}
			people := sluice(t, "", append([]string{"audit", "verify"}, flags...)...).wantCode(t, code)
			if !strings.Contains(people.out, tc.want) || !strings.Contains(people.out, run) {
				t.Errorf("for people: got %s, want the stream and %s", people.out, tc.want)
			}
		})
	}
}

// TestP36a_ExportIsFactsThenSeals, one JSON object a line, to a file or to the output.
func TestP36a_ExportIsFactsThenSeals(t *testing.T) {
	t.Parallel()
	cfg, run := ranOnce(t)
	out := sluice(t, "", "audit", "export", "--data", cfg.Data).wantCode(t, exitYes).out
	file := filepath.Join(t.TempDir(), "e.ndjson")
	if printed := sluice(t, "", "audit", "export", "--out", file, "--data", cfg.Data).wantCode(t, exitYes); printed.out != "" {
		t.Errorf("to a file: got output %.100q, want none", printed.out)
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != out {
		t.Errorf("got a file of %d bytes and %v, want the %d bytes of the output", len(raw), err, len(out))
	}
	facts, seals, afterSeal := 0, 0, false
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var fact wireFact
		if err := json.Unmarshal([]byte(line), &fact); err != nil {
			t.Fatalf("%.100s: %v", line, err)
		}
		if fact.Kind == "" {
			seals, afterSeal = seals+1, true
			continue
		}
		facts++
		if afterSeal {
			t.Error("a fact comes after a seal")
		}
		if fact.Run != "" && fact.Run != run || fact.Hash == "" {
			t.Errorf("got fact %.200s", line)
		}
	}
	if facts < 8 || seals == 0 {
		t.Errorf("got %d facts and %d seals, want the run, the policy and a seal", facts, seals)
	}
	if got := sluice(t, "", "audit", "export", "--out", file+"/no/such/folder", "--data", cfg.Data); got.code == exitYes {
		t.Error("to nowhere: got exit code 0")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".sluice-export-*")); err != nil || len(left) > 0 {
		t.Errorf("got %v left over", left)
	}
	if got := sluice(t, "", "audit", "verify", "--seal", file+".none", "--data", cfg.Data); got.code != exitUsage {
		t.Errorf("no seal file: got exit code %d, want 2", got.code)
	}
}

// TestP27_EraseLeavesTheChainAndNoContent, without a server and through one.
func TestP27_EraseLeavesTheChainAndNoContent(t *testing.T) {
	t.Parallel()
	for _, through := range []bool{false, true} {
		cfg := testConfig(t)
		writeFile(t, filepath.Join(cfg.Workspace, "notes.txt"), "the-content-to-forget")
		var stop func() result
		if through {
			stop = startServe(t, cfg.Data).stop
		}
		var r, waiting shape
		sluice(t, "", "run", "read notes.txt", "--json", "--data", cfg.Data).wantCode(t, exitYes).read(t, &r)
		sluice(t, "", "run", "delete notes.txt", "--intent", "override", "--json", "--data", cfg.Data).wantCode(t, exitWaiting).read(t, &waiting)
		if got := sluice(t, "", "erase", waiting.ID, "--reason", "asked", "--data", cfg.Data); got.code != exitNo {
			t.Errorf("through %v, a live run: got exit code %d, want 1: %s", through, got.code, got.err)
		}
		if got := sluice(t, "", "erase", "r_00000000000000000000000000", "--reason", "asked", "--data", cfg.Data); got.code != exitNo {
			t.Errorf("through %v, no run: got exit code %d, want 1: %s", through, got.code, got.err)
		}
		if stored := storedAnywhere(t, cfg, "the-content-to-forget"); len(stored) == 0 {
			t.Fatal("the content is not stored before it is erased")
		}
		for _, want := range []string{r.ID + " erased\n", r.ID + " was already erased\n"} {
			if got := sluice(t, "", "erase", r.ID, "--reason", "asked by its owner", "--data", cfg.Data).wantCode(t, exitYes); got.out != want {
				t.Errorf("through %v: got %q, want %q", through, got.out, want)
			}
		}
		if through {
			stop()
		}
		if stored := storedAnywhere(t, cfg, "the-content-to-forget"); len(stored) > 0 {
			t.Errorf("through %v: got the content in %v", through, stored)
		}
		if got := verify(t, exitYes, "--data", cfg.Data); got.status("run/"+r.ID) != "erased" || got.status("run/"+waiting.ID) != "ok" {
			t.Errorf("through %v: got %+v, want one stream erased and the others ok", through, got)
		}
		erasedPages(t, cfg, r.ID)
	}
}

// erasedPages checks that pages and API show an erased run as what it is.
func erasedPages(t *testing.T, cfg config, run string) {
	t.Helper()
	o := worldOf(t, cfg).operator()
	for _, path := range []string{"/runs", "/runs/" + run, "/runs/" + run + "?view=log", "/runs/" + run + "?view=list", "/api/v1/runs/" + run, "/api/v1/runs/" + run + "/facts", "/"} {
		got := o.get(path)
		if got.status != http.StatusOK || strings.Contains(got.text(), "read notes.txt") {
			t.Errorf("%s: got %d, want the erased run without its goal", path, got.status)
		}
	}
	for _, path := range []string{"/", "/runs", "/runs/" + run, "/api/v1/runs", "/api/v1/runs/" + run} {
		if got := o.get(path); !strings.Contains(got.text(), "(erased)") {
			t.Errorf("%s: the erased run is not shown as erased", path)
		}
	}
	facts := o.facts(run, 100)
	if !slices.ContainsFunc(facts, func(f wireFact) bool { return string(f.Data) == "null" }) {
		t.Errorf("got %d facts, want their data erased", len(facts))
	}
}

// TestP42a_TokenAddWorksBothWays, and what it makes is good for the API.
func TestP42a_TokenAddWorksBothWays(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	var offline, online madeToken
	sluice(t, "", "token", "add", "--name", "one", "--ceiling", "observe", "--json", "--data", cfg.Data).wantCode(t, exitYes).read(t, &offline)
	s := startServe(t, cfg.Data)
	sluice(t, "", "token", "add", "--name", "two", "--ceiling", "operate", "--json", "--data", cfg.Data).wantCode(t, exitYes).read(t, &online)
	for _, tc := range []struct {
		token  madeToken
		intent string
		status int
	}{{offline, "observe", 202}, {offline, "operate", 403}, {online, "operate", 202}, {online, "override", 403}} {
		r, err := http.NewRequest(http.MethodPost, s.info.URL+"/api/v1/runs", strings.NewReader(`{"goal":"show disk usage","intent":"`+tc.intent+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+tc.token.Token)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tc.status {
			t.Errorf("%s at %s: got %d, want %d", tc.token.ID, tc.intent, resp.StatusCode, tc.status)
		}
	}
	people := sluice(t, "", "token", "add", "--name", "three", "--data", cfg.Data).wantCode(t, exitYes)
	if !strings.HasPrefix(people.out, "sluice_") || !strings.Contains(people.out, "once") {
		t.Errorf("for people: got %q, want the token and that it is shown once", people.out)
	}
	s.stop()
	if found := storedAnywhere(t, cfg, online.Token); len(found) > 0 {
		t.Errorf("got the token in %v, want only its hash", found)
	}
}
