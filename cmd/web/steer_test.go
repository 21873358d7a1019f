package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"sluice/policy"
	"sluice/store"
)

// TestP7_PauseResumeCancel by API and by form: each once, each by the owner,
// each a fact with its actor, and a cancelled run takes no verdict any more.
func TestP7_PauseResumeCancel(t *testing.T) {
	s := newScene(t)
	token := s.apiToken(2, policy.Observe)
	base := "/api/v1/runs/" + s.run
	s.owner.want(http.StatusOK, s.owner.post(base+"/pause", ""), nil)
	if p := s.owner.problemOf(http.StatusConflict, s.owner.post(base+"/pause", "")); p.Code != "conflict" {
		t.Errorf("paused twice: got %+v, want a conflict", p)
	}
	if r := s.owner.rest(s.run); r.Status != "paused" {
		t.Errorf("got %s, want paused", r.Status)
	}
	if got := s.owner.form("/runs/"+s.run+"/resume", ""); got.status != http.StatusSeeOther || got.header.Get("Location") != "/runs/"+s.run {
		t.Errorf("resumed by form: got %d to %s, want 303 to the run", got.status, got.header.Get("Location"))
	}
	s.owner.problemOf(http.StatusConflict, s.owner.post(base+"/resume", "{}"))
	token.want(http.StatusOK, token.post(base+"/cancel", `{"reason":"not needed"}`), nil)
	r := s.owner.end(s.run)
	if r.code() != "USER_CANCEL" || !s.fileIsThere() {
		t.Errorf("got %s and file there %v, want USER_CANCEL and the file", r.code(), s.fileIsThere())
	}
	s.owner.problemOf(http.StatusConflict, s.owner.post(base+"/cancel", ""))
	s.approver.problemOf(http.StatusConflict, s.approver.post(s.path(), verdictOf("approve", s.hash, "")))
	var a approvalWire
	s.approver.want(http.StatusOK, s.approver.get(s.path()), &a)
	if a.State != "voided" {
		t.Errorf("got the request %s, want voided", a.State)
	}
	actors := map[string]string{}
	for _, f := range s.owner.facts(s.run, 100) {
		actors[f.Kind] = f.Actor
	}
	if actors["input.pause"] != s.owner.user || actors["input.resume"] != s.owner.user || actors["input.cancel"] != token.user {
		t.Errorf("got actors %v, want %s and, for the cancel, %s (P25)", actors, s.owner.user, token.user)
	}
}

// TestP30_LargeOutputsAreDownloadedFromTheirRun alone, as an attachment, by who
// may see the run; the bytes are those of the hash.
func TestP30_LargeOutputsAreDownloadedFromTheirRun(t *testing.T) {
	w := newWorld(t)
	owner := w.stranger("owner", store.RoleOperator)
	other := w.stranger("other", store.RoleViewer)
	writeFile(t, filepath.Join(w.app.cfg.Workspace, "large.txt"), strings.Repeat("line\n", 40<<10))
	read := func(by *caller) (run, sha string) {
		r := by.runToRest(`{"plan":` + planOf(`{"id":"a","tool":"file.read","params":{"path":"large.txt","limit":1048576}}`) + `}`)
		for _, f := range by.facts(r.ID, 100) {
			var data struct {
				Input struct{ Blob *struct{ SHA256 string } }
			}
			if json.Unmarshal(f.Data, &data) == nil && data.Input.Blob != nil {
				sha = data.Input.Blob.SHA256
			}
		}
		return r.ID, sha
	}
	run, sha := read(owner)
	if len(sha) != 64 {
		t.Fatalf("got blob %q, want a hash", sha)
	}
	got := owner.get("/api/v1/runs/" + run + "/blobs/" + sha)
	if got.status != http.StatusOK || fmt.Sprintf("%x", sha256.Sum256(got.body)) != sha || got.header.Get("Content-Disposition") != "attachment" {
		t.Errorf("got %d, %d bytes, disposition %q, want the bytes of the hash as an attachment", got.status, len(got.body), got.header.Get("Content-Disposition"))
	}
	if !bytes.Contains(got.body, []byte(`line\nline\n`)) {
		t.Error("got something else than the file's content")
	}
	small := owner.runToRest(`{"goal":"show disk usage"}`)
	for path, c := range map[string]*caller{
		"/api/v1/runs/" + small.ID + "/blobs/" + sha:                         owner, // another run's output
		"/api/v1/runs/" + run + "/blobs/" + strings.Repeat("0", 64):          owner,
		"/api/v1/runs/" + run + "/blobs/" + strings.Repeat("%2e%2e%2f", 5):   owner,
		"/api/v1/runs/" + run + "/blobs/" + sha + "?":                        other,
		"/api/v1/runs/" + strings.Repeat("r_", 3) + "/blobs/" + sha + "?as=": owner,
	} {
		c.problemOf(http.StatusNotFound, c.get(path))
	}
	page := owner.get("/runs/" + run + "/nodes/a")
	if page.status != http.StatusOK || len(page.body) > 64<<10 || !strings.Contains(page.text(), "kept outside the log") {
		t.Errorf("the step's page: got %d and %d bytes, want a short page that says where the output is", page.status, len(page.body))
	}
}

// TestP16_IntentsAreThoseOfThePolicy: a name that the document adds is taken by
// command and API alike, and one that it lacks by neither.
func TestP16_IntentsAreThoseOfThePolicy(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.Policy = filepath.Join(t.TempDir(), "policy.yaml")
	writeFile(t, cfg.Policy, "version: 1\nintents: {observe: 0, draft: 50, operate: 100, override: 200}\nscopes: {default: {tools: [\"*\"]}}\n")
	o := worldOf(t, cfg).operator()
	if r := o.runToRest(`{"goal":"show disk usage","intent":"draft"}`); r.code() != "SUCCESS" {
		t.Errorf("draft: got %s, want SUCCESS", r.code())
	}
	write := planOf(`{"id":"a","tool":"file.write","params":{"path":"x","content":"y"}}`)
	p := o.problemOf(http.StatusUnprocessableEntity, o.post("/api/v1/runs", `{"plan":`+write+`,"intent":"draft"}`))
	if p.Rule != "C11" || !strings.Contains(p.Detail, "draft (50)") {
		t.Errorf("a write at draft: got %+v, want C11 naming the intent", p)
	}
	o.problemOf(http.StatusUnprocessableEntity, o.post("/api/v1/runs", `{"goal":"x","intent":"root"}`))
}
