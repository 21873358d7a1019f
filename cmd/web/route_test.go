package main

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver of the store, to read the file beside it

	"sluice/handlers"
	"sluice/policy"
	"sluice/store"
)

// scene is a run of a plain owner that waits for an approval, and everybody
// who may and may not see it.
type scene struct {
	*world
	run, approval, hash                   string
	owner, other, approver, auditor, root *caller
}

func newScene(t *testing.T) *scene {
	t.Helper()
	w := newWorld(t)
	s := &scene{world: w,
		owner: w.stranger("owner", store.RoleOperator), other: w.stranger("other", store.RoleViewer),
		approver: w.stranger("approver", store.RoleApprover), auditor: w.stranger("auditor", store.RoleAuditor),
		root: w.operator()}
	r := s.owner.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	if r.Status != "waiting" || len(r.Waiting) != 1 {
		t.Fatalf("got %+v, want a run that waits for one approval", r)
	}
	s.run, s.approval = r.ID, r.Waiting[0]
	s.hash = s.approver.hashOf(s.approval)
	return s
}

// hashOf is the binding a packet shows.
func (c *caller) hashOf(approval string) string {
	c.Helper()
	var a struct{ Hash string }
	c.want(http.StatusOK, c.get("/api/v1/approvals/"+approval), &a)
	return a.Hash
}

// aboutRun says whether a route names a run, an approval or a question.
func aboutRun(path string) bool {
	return strings.Contains(path, ":id") || strings.Contains(path, ":approval")
}

// runRoutes are the routes about one run, with their parameters filled in.
func (s *scene) runRoutes() []handlers.Route {
	s.Helper()
	var list []handlers.Route
	question := "q." + s.run + ".s1.1"
	for _, r := range s.http.Routes() {
		if !aboutRun(r.Path) || r.Method != http.MethodGet && r.Method != http.MethodPost {
			continue
		}
		base := strings.NewReplacer(":id", s.run, ":node", s.node(), ":sha", strings.Repeat("a", 64)).Replace(r.Path)
		for _, id := range []string{s.approval, question} {
			list = append(list, handlers.Route{Method: r.Method, Path: strings.ReplaceAll(base, ":approval", id)})
			if !strings.Contains(base, ":approval") {
				break
			}
		}
	}
	if len(list) < 20 {
		s.Fatalf("got %d routes about a run, want at least 20: %v", len(list), list)
	}
	return list
}

// node is the waiting step's id.
func (s *scene) node() string {
	a, err := s.app.store.Approval(s.Context(), s.approval)
	if err != nil {
		s.Fatal(err)
	}
	return a.Node
}

// bodyFor is a body that the route takes, so that only permission can refuse.
func (s *scene) bodyFor(path string) string {
	switch {
	case strings.HasSuffix(path, "/erase"):
		return `{"reason":"test"}`
	case strings.HasSuffix(path, "/outcome"):
		return `{"attempt":1,"outcome":"done"}`
	case strings.HasSuffix(path, "/approvals/"+s.approval):
		return `{"verdict":"approve","hash":"` + s.hash + `"}`
	}
	return `{}`
}

// call sends a request that only permission can refuse.
func (s *scene) call(c *caller, r handlers.Route) *answer {
	s.Helper()
	switch {
	case r.Method == http.MethodGet:
		return c.get(r.Path)
	case strings.HasPrefix(r.Path, "/api/"):
		return c.post(r.Path, s.bodyFor(r.Path))
	}
	return c.form(r.Path, "decision=approve&hash="+s.hash+"&outcome=done&reason=test")
}

// content gives a hash of each table but sessions, links, seals, and what is
// derived from facts in its own time.
func (w *world) content() string {
	w.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.app.cfg.Data, store.FileName)+"?mode=ro")
	if err != nil {
		w.Fatal(err)
	}
	defer db.Close()
	var all strings.Builder
	for _, table := range w.tables(db) {
		sum := sha256.New()
		w.hashTable(db, table, func(row string) { fmt.Fprintln(sum, row) })
		fmt.Fprintf(&all, "%s %.6x ", table, sum.Sum(nil))
	}
	return all.String()
}

func (w *world) tables(db *sql.DB) []string {
	w.Helper()
	rows, err := db.Query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('sessions','signins','seals','snapshots','calls','call_cursors') ORDER BY name")
	if err != nil {
		w.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			w.Fatal(err)
		}
		names = append(names, name)
	}
	if len(names) < 6 {
		w.Fatalf("got tables %v, want facts, runs, approvals and more", names)
	}
	return names
}

func (w *world) hashTable(db *sql.DB, table string, each func(string)) {
	w.Helper()
	rows, err := db.Query("SELECT * FROM " + table + " ORDER BY 1")
	if err != nil {
		w.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		w.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			w.Fatal(err)
		}
		each(fmt.Sprint(values...))
	}
}

// TestP35_NobodySeesAnotherPersonsRun goes through every route about a run as
// somebody who is not signed in and as somebody who may not see the run.
func TestP35_NobodySeesAnotherPersonsRun(t *testing.T) {
	s := newScene(t)
	others := []*caller{s.other, s.apiToken(3, policy.Override)}
	before := s.content()
	for _, r := range s.runRoutes() {
		nobody := s.call(s.nobody(), r)
		isPage := r.Method == http.MethodGet && !strings.HasPrefix(r.Path, "/api/")
		if isPage && (nobody.status != http.StatusSeeOther || nobody.header.Get("Location") != "/signin") {
			t.Errorf("%s %s as nobody: got %d, want 303 to the sign-in page", r.Method, r.Path, nobody.status)
		}
		if !isPage && nobody.status != http.StatusUnauthorized {
			t.Errorf("%s %s as nobody: got %d, want 401", r.Method, r.Path, nobody.status)
		}
		for i, c := range others {
			got := s.call(c, r)
			refusedToken := i == 1 && r.Method == http.MethodPost && got.status == http.StatusForbidden
			if got.status != http.StatusNotFound && !refusedToken {
				t.Errorf("%s %s as %s: got %d, want 404", r.Method, r.Path, c.name, got.status)
			}
			if strings.Contains(got.text(), "notes.txt") {
				t.Errorf("%s %s as %s: the answer names the file", r.Method, r.Path, c.name)
			}
		}
	}
	if after := s.content(); after != before {
		t.Errorf("a refused request changed what is stored:\n%s\n%s", before, after)
	}
}

// TestP35_ListsShowOnlyWhatMayBeSeen: lists and the home page leak nothing either.
func TestP35_ListsShowOnlyWhatMayBeSeen(t *testing.T) {
	s := newScene(t)
	for _, path := range []string{"/", "/runs", "/approvals", "/approvals?tab=all", "/api/v1/runs", "/api/v1/approvals", "/api/v1/approvals?run=" + s.run} {
		if text := s.other.get(path).text(); strings.Contains(text, s.run) || strings.Contains(text, s.approval) || strings.Contains(text, "notes.txt") {
			t.Errorf("%s shows a stranger the run", path)
		}
		if text := s.owner.get(path).text(); !strings.Contains(text, s.run) && !strings.Contains(text, s.approval) {
			t.Errorf("%s does not show the owner the run", path)
		}
	}
	for path, status := range map[string]int{"/api/v1/audit/verify": 403, "/api/v1/audit/export": 403} {
		if got := s.other.get(path).status; got != status {
			t.Errorf("%s as other: got %d, want %d", path, got, status)
		}
		if got := s.auditor.get(path).status; got != http.StatusOK {
			t.Errorf("%s as auditor: got %d, want 200", path, got)
		}
	}
}

// TestP35_WhoMaySeeMayRead: owner, approver, auditor and admin read every page
// of the run; an auditor and an approver steer nothing that is not theirs.
func TestP35_WhoMaySeeMayRead(t *testing.T) {
	s := newScene(t)
	token := s.apiToken(2, policy.Observe)
	before := s.content()
	for _, r := range s.runRoutes() {
		if r.Method != http.MethodGet || strings.Contains(r.Path, "/blobs/") || strings.Contains(r.Path, "/q.") {
			continue
		}
		for _, c := range []*caller{s.owner, s.approver, s.auditor, s.root, token} {
			if got := c.get(r.Path); got.status != http.StatusOK {
				t.Errorf("GET %s as %s: got %d, want 200: %.200s", r.Path, c.name, got.status, got.body)
			}
		}
	}
	if after := s.content(); after != before {
		t.Errorf("a GET changed what is stored:\n%s\n%s", before, after)
	}
	for _, action := range []string{"/cancel", "/pause", "/resume", "/erase"} {
		r := handlers.Route{Method: http.MethodPost, Path: "/api/v1/runs/" + s.run + action}
		for _, c := range []*caller{s.approver, s.auditor} {
			s.problemAt(c, r, http.StatusForbidden)
		}
	}
	if after := s.content(); after != before {
		t.Errorf("a refused request changed what is stored:\n%s\n%s", before, after)
	}
}

func (s *scene) problemAt(c *caller, r handlers.Route, status int) *handlers.Problem {
	s.Helper()
	return c.problemOf(status, s.call(c, r))
}

// TestP23_TokensNeverDecide: no token, not even the server's own, decides or
// says what happened (P36a, P42a), by API or by form.
func TestP23_TokensNeverDecide(t *testing.T) {
	s := newScene(t)
	local := &caller{world: s.world, name: "local token", token: localSecret}
	tokens := []*caller{s.apiToken(1, policy.Override), s.apiToken(2, policy.Override), local}
	before := s.content()
	for _, c := range tokens {
		for _, path := range []string{"/api/v1/approvals/" + s.approval, "/api/v1/runs/" + s.run + "/nodes/" + s.node() + "/outcome",
			"/approvals/" + s.approval + "/decision", "/approvals/q." + s.run + "." + s.node() + ".1/outcome"} {
			if got := s.call(c, handlers.Route{Method: http.MethodPost, Path: path}); got.status != http.StatusForbidden {
				t.Errorf("POST %s as %s: got %d, want 403: %.200s", path, c.name, got.status, got.body)
			}
		}
	}
	if after := s.content(); after != before {
		t.Errorf("a token changed what is stored:\n%s\n%s", before, after)
	}
}

// TestP42a_TokensStayBelowTheirCeiling: a token submits within its ceiling,
// reads and cancels, and makes no other token.
func TestP42a_TokensStayBelowTheirCeiling(t *testing.T) {
	w := newWorld(t)
	token := w.apiToken(1, policy.Operate)
	token.problemOf(http.StatusForbidden, token.post("/api/v1/runs", `{"goal":"delete notes.txt","intent":"override"}`))
	r := token.runToRest(`{"goal":"show disk usage","intent":"operate"}`)
	if r.code() != "SUCCESS" || r.Requester != "user:1" {
		t.Errorf("got %s of %s, want SUCCESS of user:1", r.code(), r.Requester)
	}
	token.problemOf(http.StatusForbidden, token.post("/api/v1/tokens", `{"name":"more","ceiling":"override"}`))
	token.problemOf(http.StatusConflict, token.post("/api/v1/runs/"+r.ID+"/cancel", ``))
	unknown := &caller{world: w, name: "unknown token", token: "sluice_nothing"}
	unknown.problemOf(http.StatusUnauthorized, unknown.get("/api/v1/runs"))
	if got := w.nobody().get("/healthz"); got.status != http.StatusOK {
		t.Errorf("/healthz as nobody: got %d, want 200", got.status)
	}
}

// TestP35_NoRouteIsOpenByMistake: every route that is not about one run wants
// somebody too, but for the few that let people in.
func TestP35_NoRouteIsOpenByMistake(t *testing.T) {
	w := newWorld(t)
	open := map[string]bool{"/healthz": true, "/readyz": true, "/signin": true, "/signout": true, "/preferences": true, "/static/*": true}
	seen := 0
	for _, r := range w.http.Routes() {
		if open[r.Path] || aboutRun(r.Path) || r.Method != http.MethodGet && r.Method != http.MethodPost {
			continue
		}
		seen++
		got := w.nobody().send(r.Method, strings.ReplaceAll(r.Path, "*", "x"), strings.NewReader("{}"))
		toSignIn := got.status == http.StatusSeeOther && got.header.Get("Location") == "/signin"
		if got.status != http.StatusUnauthorized && !toSignIn {
			t.Errorf("%s %s as nobody: got %d, want 401 or the sign-in page", r.Method, r.Path, got.status)
		}
	}
	if seen < 10 {
		t.Errorf("got %d routes, want at least 10", seen)
	}
}
