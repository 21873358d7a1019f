package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const canary = "Canary7f3a9c-do-not-tell"

// storedAnywhere lists the files of the data directory, workspace left out,
// that hold a text, also where it is cut from a page of the database.
func storedAnywhere(t *testing.T, cfg config, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(cfg.Data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path == cfg.Workspace {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(raw, []byte(text)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestP26_ASecretIsKeptNowhere: a value of an environment variable that looks
// like a secret, in whatever people send and tools read, is in no file, log,
// page, answer or event (security.md: secret leak).
func TestP26_ASecretIsKeptNowhere(t *testing.T) {
	t.Setenv("DEPLOY_API_KEY", canary)
	cfg := testConfig(t)
	cfg.Verbose = true
	writeFile(t, filepath.Join(cfg.Workspace, "small.txt"), "key = "+canary+"\n")
	writeFile(t, filepath.Join(cfg.Workspace, "large.txt"), strings.Repeat("padding "+canary+"\n", 6000))
	w := worldOf(t, cfg)
	o := w.operator()
	steps := []string{
		`{"id":"small","tool":"file.read","params":{"path":"small.txt"}}`,
		`{"id":"large","tool":"file.read","params":{"path":"large.txt","limit":1048576}}`,
		`{"id":"search","tool":"file.search","params":{"query":"key ="}}`,
		`{"id":"env","tool":"env_list"}`,
		fmt.Sprintf(`{"id":"gone","tool":"file.read","params":{"path":"%s"}}`, canary),
		`{"id":"copy","tool":"file.write","approval":true,"params":{"path":"copy.txt"},"param_refs":{"content":{"step":"small","field":"content"}}}`,
		fmt.Sprintf(`{"id":"write","tool":"file.write","approval":true,"why":"%[1]s","params":{"path":"new.txt","content":"%[1]s"}}`, canary),
	}
	r := o.runToRest(fmt.Sprintf(`{"intent":"operate","idempotency_key":"%[1]s","plan":{"format":1,"goal":"use %[1]s","max_steps":10,"steps":[%[2]s]}}`,
		canary, strings.Join(steps, ",")))
	if len(r.Waiting) != 2 {
		t.Fatalf("got %+v, want two approvals", r)
	}
	goal := o.runToRest(`{"goal":"check disk usage and find ` + canary + ` in files"}`)
	formed := o.form("/runs", url.Values{"goal": {"show the kernel version " + canary}, "intent": {"observe"}, "key": {canary + "2"}}.Encode())
	o.rest(strings.TrimPrefix(formed.header.Get("Location"), "/runs/"))
	pages := append(everyPage(r, "large", "env", "gone", "write"), "/runs/"+r.ID+"/export", "/runs/"+goal.ID,
		"/runs/"+goal.ID+"?view=log", "/api/v1/runs", "/api/v1/approvals?state=all", "/api/v1/audit/export")
	for _, id := range []string{r.ID, goal.ID} {
		for _, part := range []string{"", "/facts", "/graph", "/plan"} {
			pages = append(pages, "/api/v1/runs/"+id+part)
		}
	}
	read := func(when string) {
		t.Helper()
		for _, path := range pages {
			if got := o.get(path); strings.Contains(got.text(), canary) {
				i := strings.Index(got.text(), canary)
				t.Errorf("%s %s: got the secret in …%s…", path, when, got.body[max(0, i-80):i])
			}
		}
	}
	read("while waiting")
	o.want(http.StatusOK, o.post("/api/v1/approvals/"+r.Waiting[0], `{"verdict":"deny","hash":"`+o.hashOf(r.Waiting[0])+`","reason":"`+canary+`"}`), nil)
	o.form("/approvals/"+r.Waiting[1]+"/decision", url.Values{"decision": {"deny"}, "hash": {o.hashOf(r.Waiting[1])}, "reason": {canary}}.Encode())
	o.end(r.ID)
	more := o.runToRest(`{"goal":"delete notes.txt","intent":"override"}`)
	o.want(http.StatusOK, o.post("/api/v1/runs/"+more.ID+"/cancel", `{"reason":"`+canary+`"}`), nil)
	o.post("/api/v1/tokens", `{"name":"`+canary+`","ceiling":"observe"}`)
	read("at the end")
	b := o.open()
	b.follow(r.ID)
	for _, n := range b.until(o.rest(r.ID).Seq) {
		if strings.Contains(asJSON(t, n), canary) {
			t.Error("got the secret over the socket")
		}
	}
	if found := storedAnywhere(t, cfg, canary); len(found) > 0 {
		t.Errorf("got the secret in %v", found)
	}
	if strings.Contains(w.logs.String(), canary) {
		t.Error("got the secret in the log of the process")
	}
	if !strings.Contains(o.get("/api/v1/runs/"+r.ID+"/facts").text(), "[redacted:DEPLOY_API_KEY]") {
		t.Error("got no mark where the secret stood")
	}
}

// TestP26_ACommandKeepsNoSecretEither: run without a server redacts its plan too.
func TestP26_ACommandKeepsNoSecretEither(t *testing.T) {
	t.Setenv("DEPLOY_API_KEY", canary)
	cfg := testConfig(t)
	file := filepath.Join(t.TempDir(), "plan.json")
	writeFile(t, file, planOf(`{"id":"a","tool":"file.read","params":{"path":"`+canary+`"}}`))
	got := sluice(t, "", "run", "--plan", file, "--json", "--data", cfg.Data)
	if got.code != exitNo || strings.Contains(got.out+got.err, canary) {
		t.Errorf("got exit code %d and %s %s, want 1 and no secret", got.code, got.out, got.err)
	}
	if found := storedAnywhere(t, cfg, canary); len(found) > 0 {
		t.Errorf("got the secret in %v", found)
	}
}
