//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const clearedPolicy = `version: 1
scopes: {default: {tools: ["*"]}}
tools: {file.delete: {impact: override}}
clearance: [{id: C1, when: {tools: ["file.delete", "file.write"]}, url: "%s/clear", timeout_s: 2}]
approvals: {self: allowed}
`

// clearing serves with an authority that allows deletions and nothing else.
func clearing(t *testing.T) *server {
	t.Helper()
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Tool, Nonce string }
		_ = json.NewDecoder(r.Body).Decode(&q)
		reason := "Files are written on weekdays only"
		if q.Tool == "file.delete" {
			reason = "The file is older than the retention period"
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"allow": q.Tool == "file.delete", "reason": reason, "nonce": q.Nonce})
	}))
	t.Cleanup(authority.Close)
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	writeFile(t, policy, fmt.Sprintf(clearedPolicy, authority.URL))
	s := serveWith(t, must(t, shipped), t.TempDir(), "SLUICE_POLICY="+policy)
	writeFile(t, filepath.Join(s.data, "workspace", "old.txt"), "old\n")
	return s
}

const clearedPlan = `{"format":1,"goal":"Delete the old file","steps":[
	{"id":"old","tool":"file.delete","params":{"path":"old.txt"}},
	{"id":"note","tool":"file.write","params":{"path":"note.txt","content":"gone"}}]}`

// TestR47_PeopleSeeWhoClearedACall: packet, inspector and log, in both themes
// and all widths.
func TestR47_PeopleSeeWhoClearedACall(t *testing.T) {
	s := clearing(t)
	api := s.api("override")
	run := api.submit(submission(clearedPlan, "override"))
	state := api.until(run, "waiting")
	for limit := time.Now().Add(time.Minute); len(state.Waiting) == 0 && time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
		state = api.until(run, "waiting")
	}
	if len(state.Waiting) != 1 {
		t.Fatalf("got %+v, want one approval after the clearance", state)
	}
	p := open(t, desktop)
	p.signIn(s)
	pages := map[string][2]string{
		"packet":  {"/approvals/" + state.Waiting[0], "Cleared by C1"},
		"cleared": {"/runs/" + run + "?view=list&node=old", "cleared by C1"},
		"denied":  {"/runs/" + run + "?view=list&node=note", "denied by C1"},
		"log":     {"/runs/" + run + "?view=log", "Clearance denied by C1"},
	}
	for name, page := range pages {
		for _, v := range append(views, pictureViews()...) {
			t.Run(fmt.Sprintf("%s %d %s", name, v.width, v.scheme), func(t *testing.T) {
				p.look(v)
				p.visit(s.url(page[0]))
				p.ready()
				p.says(page[1])
				for _, found := range p.axe() {
					t.Errorf("%s (%s):\n  %s", found.ID, found.Help, strings.Join(found.Where, "\n  "))
				}
				if wide := script[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("the page is %d px wider than the window", wide)
				}
				p.shot(fmt.Sprintf("clearance-%s-%d-%s", name, v.width, v.scheme))
			})
		}
	}
}
