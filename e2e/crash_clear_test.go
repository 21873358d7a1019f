//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// slowPolicy asks one authority about every file, and no person.
const slowPolicy = `version: 1
scopes: {default: {tools: ["*"]}}
clearance: [{id: C1, when: {tools: ["file.*"]}, url: "%s/clear", timeout_s: 30}]
approvals: {self: allowed, rules: []}
`

// authority says yes to everything; while held it says nothing.
type authority struct {
	url    string
	mu     sync.Mutex
	nonces []string
	hold   chan struct{} // nil: answers at once
}

func newAuthority(t *testing.T) *authority {
	a := &authority{}
	server := httptest.NewServer(http.HandlerFunc(a.answer))
	t.Cleanup(server.Close)
	a.url = server.URL
	return a
}

func (a *authority) answer(w http.ResponseWriter, r *http.Request) {
	var q struct{ Nonce string }
	_ = json.NewDecoder(r.Body).Decode(&q)
	a.mu.Lock()
	a.nonces = append(a.nonces, q.Nonce)
	hold := a.hold
	a.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-r.Context().Done(): // who asked is gone
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"allow": true, "reason": "fine", "nonce": q.Nonce})
}

// setHold makes the authority keep silent, or answer everybody who waits.
func (a *authority) setHold(silent bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hold != nil {
		close(a.hold)
		a.hold = nil
	}
	if silent {
		a.hold = make(chan struct{})
	}
}

func (a *authority) asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.nonces)
}

// governed serves under the policy that asks the authority.
func (a *authority) governed(t *testing.T) *server {
	t.Helper()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	writeFile(t, policy, fmt.Sprintf(slowPolicy, a.url))
	return serveWith(t, must(t, faulty), t.TempDir(), "SLUICE_POLICY="+policy)
}

const putPlan = `{"format":1,"goal":"write once cleared","steps":[{"id":"put","tool":"file.write","params":{"path":"put.txt","content":"x"}}]}`

const putNode = "put"

// appendPlan has an effect that would show if it happened twice.
const appendPlan = `{"format":1,"goal":"append once cleared","steps":[{"id":"more","tool":"file.patch","params":{"path":"notes.txt","append":"more\n"}}]}`

var milliseconds = regexp.MustCompile(` in \d+ ms`)

// withoutLatency leaves out how fast the authority was, which two runs differ in.
func withoutLatency(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = milliseconds.ReplaceAllString(line, "")
	}
	return out
}

// TestP45_KilledAroundAClearanceTheLogIsTheSame kills before and after the commit
// of the question, of its answer and of the effect: a clearance is asked again and
// nobody has to wait.
func TestP45_KilledAroundAClearanceTheLogIsTheSame(t *testing.T) {
	a := newAuthority(t)
	calm := a.governed(t)
	api := calm.api("operate")
	id := api.submit(submission(putPlan, "operate"))
	if r := api.until(id, "ended"); r.Code != "SUCCESS" {
		t.Fatalf("uninterrupted: got code %s and causes %v, want SUCCESS", r.Code, r.Causes)
	}
	want := perNode(t, api, id)[putNode]
	points := []string{"performed:put@0"}
	for _, f := range api.facts(id) {
		if strings.HasPrefix(f.Kind, "clearance.") {
			points = append(points, fmt.Sprintf("append@%d", f.Seq), fmt.Sprintf("commit@%d", f.Seq))
		}
	}
	if len(points) != 5 {
		t.Fatalf("got the points %v, want a question and an answer", points)
	}
	for _, point := range points {
		t.Run(strings.NewReplacer(":", "_", "@", "_").Replace(point), func(t *testing.T) {
			s := a.governed(t)
			api := s.api("operate")
			s.stop()
			s.env = []string{"SLUICE_KILL=" + point}
			s.start()
			api.tryPost("/runs", submission(putPlan, "operate"))
			s.died()
			s.resume()
			id := api.submit(submission(putPlan, "operate"))
			if r := api.until(id, "ended"); r.Code != "SUCCESS" {
				t.Fatalf("got code %s, causes %v, want SUCCESS", r.Code, r.Causes)
			}
			wantLines(t, putNode, withoutLatency(perNode(t, api, id)[putNode]), withoutLatency(want))
			s.stop()
			verify(t, s)
		})
	}
}

// TestP45_KilledWhileAnAuthorityIsSilentItIsAskedAfresh: the answer to the lost
// question is worth nothing, the next question has its own nonce, and an
// effect that never began happens once and asks nobody what became of it.
func TestP45_KilledWhileAnAuthorityIsSilentItIsAskedAfresh(t *testing.T) {
	a := newAuthority(t)
	s := a.governed(t)
	notes := filepath.Join(s.data, "workspace", "notes.txt")
	writeFile(t, notes, "once\n")
	api := s.api("operate")
	a.setHold(true)
	id := api.submit(submission(appendPlan, "operate"))
	awaitAsked(t, a, 1)
	if r := api.until(id, "waiting"); len(r.Waiting) != 0 {
		t.Errorf("got %v waiting for people, want an authority alone", r.Waiting)
	}
	s.kill()
	s.resume()
	awaitAsked(t, a, 2)
	if text, err := os.ReadFile(notes); err != nil || string(text) != "once\n" {
		t.Errorf("got %q, %v, want nothing done before it is cleared", text, err)
	}
	a.setHold(false)
	if r := api.until(id, "ended"); r.Code != "SUCCESS" {
		t.Fatalf("got code %s and causes %v, want SUCCESS", r.Code, r.Causes)
	}
	if text, err := os.ReadFile(notes); err != nil || string(text) != "once\nmore\n" {
		t.Errorf("got %q, %v, want the effect once", text, err)
	}
	if nonces := a.asked(); len(nonces) != 2 || nonces[0] == nonces[1] || nonces[1] == "" {
		t.Errorf("got the nonces %q, want two that differ", nonces)
	}
	kinds := map[string]int{}
	for _, f := range api.facts(id) {
		kinds[f.Kind]++
	}
	if kinds["clearance.requested"] != 1 || kinds["clearance.answered"] != 1 || kinds["input.outcome_unknown"] != 0 {
		t.Errorf("got %v, want one question and one answer on record", kinds)
	}
	s.stop()
	verify(t, s)
}

func awaitAsked(t *testing.T, a *authority, count int) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); len(a.asked()) < count; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("got %d questions, want %d", len(a.asked()), count)
		}
	}
}
