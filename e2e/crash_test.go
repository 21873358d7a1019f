//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// crashPlan reads, writes, and reads what it wrote: everything in it may be
// performed again, so no kill may make it wait for a person (P45).
const crashPlan = `{"format": 1, "goal": "write and read back", "max_steps": 10, "steps": [
	{"id": "one", "tool": "file.write", "params": {"path": "one.txt", "content": "alpha"}},
	{"id": "two", "tool": "file.write", "params": {"path": "two.txt", "content": "beta"}},
	{"id": "back", "tool": "file.read", "params": {}, "param_refs": {"path": {"step": "one", "field": "path"}}},
	{"id": "find", "tool": "file.search", "params": {"query": "alpha"}, "depends_on": ["one", "two"]}]}`

// deletePlan has the one effect that must never happen twice.
const deletePlan = `{"format": 1, "goal": "delete a file", "max_steps": 3, "steps": [
	{"id": "gone", "tool": "file.delete", "params": {"path": "notes.txt"}}]}`

func submission(plan, intent string) map[string]any {
	return map[string]any{"plan": json.RawMessage(plan), "intent": intent, "idempotency_key": "the-one"}
}

// resume brings a killed server back without kill points, on the same data.
func (s *server) resume() {
	s.t.Helper()
	s.env = nil
	s.start()
}

// verify has the log checked by the command that users have (P36a).
func verify(t *testing.T, s *server) {
	t.Helper()
	command(t, s.binary, "", "audit", "verify", "--data", s.data, "--json").wantCode(t, 0)
}

// TestP45_KilledAnywhereTheLogIsTheSame kills the process before and after the
// commit of sampled facts, and after each effect; CRASH_EVERY=1 takes every fact.
func TestP45_KilledAnywhereTheLogIsTheSame(t *testing.T) {
	binary := must(t, faulty)
	calm := serveWith(t, binary, t.TempDir())
	api := calm.api("operate")
	id := api.submit(submission(crashPlan, "operate"))
	if r := api.until(id, "ended"); r.Code != "SUCCESS" {
		t.Fatalf("uninterrupted: got code %s and causes %v, want SUCCESS", r.Code, r.Causes)
	}
	facts := api.facts(id)
	want := perNode(t, api, id)
	for _, point := range killPoints(facts) {
		t.Run(strings.NewReplacer(":", "_", "@", "_").Replace(point), func(t *testing.T) {
			s := serveWith(t, binary, t.TempDir())
			api := s.api("operate")
			s.stop()
			s.env = []string{"SLUICE_KILL=" + point}
			s.start()
			api.tryPost("/runs", submission(crashPlan, "operate"))
			s.died()
			s.resume()
			// The answer may have died with the server: the key makes asking again safe.
			id := api.submit(submission(crashPlan, "operate"))
			if r := api.until(id, "ended", "waiting"); r.Code != "SUCCESS" {
				t.Fatalf("got status %s, code %s, causes %v, want SUCCESS", r.Status, r.Code, r.Causes)
			}
			got := perNode(t, api, id)
			for node, lines := range want {
				wantLines(t, node, got[node], lines)
			}
			s.stop()
			verify(t, s)
		})
	}
}

// wantLines shows the facts that differ, not those that are alike.
func wantLines(t *testing.T, node string, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("node %s: got %d facts, want %d", node, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("node %s:\ngot  %s\nwant %s", node, got[i], want[i])
		}
	}
}

// killPoints are the places of engine/exec's kill points for a run of these facts.
func killPoints(facts []fact) []string {
	every, err := strconv.Atoi(os.Getenv("CRASH_EVERY"))
	if err != nil || every < 1 {
		every = max(1, len(facts)/4)
	}
	points := []string{"performed:one@0", "performed:back@0"}
	for i := 0; i < len(facts); i += every {
		points = append(points, fmt.Sprintf("append@%d", facts[i].Seq), fmt.Sprintf("commit@%d", facts[i].Seq))
	}
	return points
}

// tryPost sends a request to a server that may die while it answers.
func (c client) tryPost(path string, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.base+path, strings.NewReader(string(text)))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	if response, err := http.DefaultClient.Do(request); err == nil {
		response.Body.Close()
	}
}

// perNode is each node's log without what may differ between two runs: times,
// salts, hashes, and ids that derive from the run's own.
func perNode(t *testing.T, api client, id string) map[string][]string {
	t.Helper()
	var page struct {
		Facts []struct {
			Kind    string `json:"kind"`
			Node    string `json:"node"`
			Attempt int    `json:"attempt"`
			Data    any    `json:"data"`
		} `json:"facts"`
	}
	api.want(http.StatusOK, http.MethodGet, "/runs/"+id+"/facts", nil, &page)
	out := map[string][]string{}
	for _, f := range page.Facts {
		if f.Node == "" {
			continue // order between independent nodes is free, so facts about the run may stand elsewhere
		}
		text, err := json.Marshal(timeless(f.Data))
		if err != nil {
			t.Fatal(err)
		}
		out[f.Node] = append(out[f.Node], fmt.Sprintf("%s %d %s", f.Kind, f.Attempt, text))
	}
	return out
}

var (
	derived = regexp.MustCompile(`\b[raok]_[0-9A-Za-z]+\b`)
	timed   = regexp.MustCompile(`(_at|^at|modified|hash|^key|nonce|_ms|_us)$`)
)

func timeless(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range x {
			if !timed.MatchString(k) {
				out[k] = timeless(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, inner := range x {
			out[i] = timeless(inner)
		}
		return out
	case string:
		return derived.ReplaceAllString(x, "ID")
	}
	return v
}

// TestP5_T18_T19_AnUnknownEffectWaitsAndHappensOnce kills around a deletion: sent
// or not, nobody knows, so a person says; it is never sent again by itself.
func TestP5_T18_T19_AnUnknownEffectWaitsAndHappensOnce(t *testing.T) {
	cases := []struct {
		name, point string
		left        bool // the file, when the server comes back
	}{
		{"performed, result lost", "performed:gone@0", false},
		{"started, not performed", "commit@started", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := serveWith(t, must(t, faulty), t.TempDir())
			notes := filepath.Join(s.data, "workspace", "notes.txt")
			writeFile(t, notes, "once")
			api := s.api("override")
			id := api.submit(submission(deletePlan, "override"))
			waiting := api.until(id, "waiting").Waiting
			// The verdict, the attempt's start and nothing else follow in one Step.
			point := strings.Replace(c.point, "started", strconv.FormatInt(api.until(id, "waiting").Seq+1, 10), 1)
			s.stop()
			s.env = []string{"SLUICE_KILL=" + point}
			s.start()
			_, _, _ = s.person().try("/api/v1/approvals/"+waiting[0], api.verdict(waiting[0], "approve")) // it may die before it answers
			s.died()
			s.resume()
			r := api.until(id, "waiting", "ended")
			if r.Status != "waiting" {
				t.Fatalf("got status %s and code %s, want it to wait for a person", r.Status, r.Code)
			}
			if _, err := os.Stat(notes); errors.Is(err, fs.ErrNotExist) == c.left {
				t.Errorf("file left: got %v, want %v", err == nil, c.left)
			}
			writeFile(t, notes, "a second deletion would take this")
			body := map[string]any{"attempt": 1, "outcome": "done", "note": "looked"}
			if code, text := s.person().post("/api/v1/runs/"+id+"/nodes/gone/outcome", body); code != http.StatusOK {
				t.Fatalf("attest: got %d %s, want 200", code, text)
			}
			if r := api.until(id, "ended"); r.Code != "SUCCESS" {
				t.Errorf("attested done: got code %s and causes %v, want SUCCESS", r.Code, r.Causes)
			}
			if _, err := os.Stat(notes); err != nil {
				t.Errorf("got %v, want no second deletion", err)
			}
			s.stop()
			verify(t, s)
		})
	}
}

// TestR53_P45_KillNineWhileReadingLosesNothing kills the shipped binary at
// whatever moment a run of reads has reached.
func TestR53_P45_KillNineWhileReadingLosesNothing(t *testing.T) {
	s := serve(t)
	api := s.api("observe")
	id := api.submit(map[string]any{"goal": mainGoal, "intent": "observe"})
	s.kill()
	s.resume()
	if r := api.until(id, "ended", "waiting"); r.Code != "SUCCESS" {
		t.Errorf("got status %s, code %s, causes %v, want SUCCESS", r.Status, r.Code, r.Causes)
	}
	s.stop()
	verify(t, s)
}
