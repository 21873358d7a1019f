package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/engine/model/fake"
	"sluice/handlers"
)

const envCanary = "canary-of-the-environment-9876543210"

// TestP26_KeysOfModelsTurnUpNowhere: one key is set on the page, one by flag, and
// a secret stands in the environment. The model echoes them, a file holds them, a
// goal repeats them. Neither the data directory, the log, pages, frames, exports
// nor prompts hold any.
func TestP26_KeysOfModelsTurnUpNowhere(t *testing.T) {
	t.Setenv("CANARY_TOKEN", envCanary)
	const pageKey = "canary-key-set-on-the-page-13579"
	echo := "I saw " + modelKey + " and " + pageKey + " and " + envCanary
	cfg, s := modelled(t, ruled(
		planRule("notes", `{"format":1,"goal":"`+echo+`","steps":[{"id":"notes","tool":"file.read","params":{"path":"notes.txt"}}]}`),
		fake.Rule{Role: fake.Planner, Answer: echo}, fake.Rule{Role: fake.Reflection, Answer: echo}))
	cfg.Models.Planner, cfg.Models.Both = cfg.Models.Both, modelFields{}
	writeFile(t, filepath.Join(cfg.Workspace, "notes.txt"), echo)
	w := worldOf(t, cfg)
	c := w.operator()
	pageServer, url := startFake(t, ruled(fake.Rule{Answer: echo}))
	c.want(http.StatusOK, c.putModel("executor", `{"base_url":"`+url+`","model":"demo","key":"`+pageKey+`"}`), nil)

	a := c.runToRest(`{"goal":"say what notes hold, ` + modelKey + `","intent":"observe"}`)
	b := c.runToRest(`{"goal":"just answer ` + pageKey + `","intent":"observe"}`)
	if a.code() != "SUCCESS" || b.code() != "SUCCESS" {
		t.Fatalf("got %s and %s, want both runs to succeed", a.code(), b.code())
	}
	if auth := pageServer.Seen(); len(auth) == 0 || auth[0].Auth != "Bearer "+pageKey {
		t.Fatalf("got %+v, want the key of the page sent where it belongs", auth)
	}
	if s.Calls() == 0 {
		t.Fatal("the model of the planner was not asked")
	}
	for _, path := range []string{"/settings", "/api/v1/models", "/api/v1/audit/export"} {
		c.want(http.StatusOK, c.get(path), nil)
	}
	texts := map[string]string{"log": w.logs.String(), "prompts": prompts(s, "") + prompts(pageServer, ""),
		"settings": c.get("/settings").text(), "settings api": c.get("/api/v1/models").text(), "settings wrong": c.putModel("executor", `{"key":"`+pageKey+`","price_in":-1}`).text(),
		"test": c.form("/settings/models/executor/test", "").text(), "audit": c.get("/api/v1/audit/export").text()}
	for _, id := range []string{a.ID, b.ID} {
		for _, path := range []string{"/runs/" + id, "/runs/" + id + "?view=log", "/runs/" + id + "?node=kernel.plan", "/runs/" + id + "/export",
			"/api/v1/runs/" + id, "/api/v1/runs/" + id + "/facts?limit=1000", "/api/v1/runs/" + id + "/graph", "/api/v1/runs/" + id + "/plan"} {
			got := c.get(path)
			if got.status != http.StatusOK && path != "/api/v1/runs/"+b.ID+"/plan" { // an answer has no plan
				t.Errorf("%s: got %d, so nothing was looked at", path, got.status)
			}
			texts[path] = got.text()
		}
	}
	for _, r := range []*shape{a, b} {
		texts["frames of "+r.ID] = c.framesText(r)
	}
	for place, text := range texts {
		for _, secret := range []string{modelKey, pageKey, envCanary} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds %s", place, secret)
			}
		}
	}
	checkFiles(t, cfg, modelKey, pageKey, envCanary)
}

// checkFiles looks for secrets in every file of the data directory but the
// workspace, where the test itself put them.
func checkFiles(t *testing.T, cfg config, secrets ...string) {
	t.Helper()
	read := 0
	err := filepath.WalkDir(cfg.Data, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a log file of the database that was there a moment ago
		}
		if err != nil {
			return err
		}
		if d.IsDir() && path == cfg.Workspace {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		for _, secret := range secrets {
			if bytes.Contains(raw, []byte(secret)) || bytes.Contains(raw, []byte(base64.StdEncoding.EncodeToString([]byte(secret)))) {
				t.Errorf("%s holds %s", path, secret)
			}
		}
		return nil
	})
	if err != nil || read == 0 {
		t.Fatalf("looked at %d files: %v", read, err)
	}
}

func (c *caller) putModel(role, body string) *answer {
	c.Helper()
	r := c.request(http.MethodPut, "/api/v1/models/"+role, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return c.do(r)
}

// TestKeysBelongToTheirHost: a key goes to the host it was given for, whoever
// changes the address afterwards, on the page or in the database.
func TestKeysBelongToTheirHost(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	w := worldOf(t, cfg)
	c := w.operator()
	_, first := startFake(t, fake.Options{})
	var leaked string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked += r.Header.Get("Authorization") }))
	defer thief.Close()
	c.want(http.StatusOK, c.putModel("planner", `{"base_url":"`+first+`","model":"demo","key":"`+modelKey+`"}`), nil)
	if page := c.get("/settings").text(); !strings.Contains(page, "set; type a new one") {
		t.Error("the page does not say that a key is set")
	}
	c.want(http.StatusOK, c.putModel("planner", `{"base_url":"`+thief.URL+`/v1"}`), nil)
	c.want(http.StatusOK, c.post("/api/v1/models/check", `{"role":"planner"}`), nil)
	if leaked != "" {
		t.Errorf("the new host got %q, want no key", leaked)
	}
	c.want(http.StatusOK, c.putModel("planner", `{"base_url":"`+first+`"}`), nil)
	c.want(http.StatusOK, c.putModel("executor", `{"key":"`+modelKey+`"}`), nil)
	c.want(http.StatusOK, c.putModel("planner", `{"base_url":"`+thief.URL+`/v1"}`), nil)
	c.want(http.StatusOK, c.post("/api/v1/models/check", `{"role":"executor"}`), nil)
	if leaked != "" {
		t.Errorf("the planner's new host got %q, want no key of the executor's", leaked)
	}
	info, err := os.Stat(filepath.Join(cfg.Data, vaultFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want %s readable by its owner alone", info, err, vaultFile)
	}
	v := newVault(cfg.Data)
	sealed, err := v.seal("planner", "https://one.example/v1", modelKey)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := v.open("planner", "https://one.example/other", sealed); err != nil || key != modelKey {
		t.Errorf("same host: got %q, %v, want the key", key, err)
	}
	for _, moved := range [][2]string{{"planner", "https://two.example/v1"}, {"executor", "https://one.example/v1"}, {"planner", "http://one.example/v1"}} {
		if _, err := v.open(moved[0], moved[1], sealed); err == nil {
			t.Errorf("%v: the key opened for another place", moved)
		}
	}
}

// TestSettingsAreForAdmins: nobody else sees or changes them, and tokens do not.
func TestSettingsAreForAdmins(t *testing.T) {
	w := newWorld(t)
	for _, c := range []*caller{w.stranger("operator", "operator", "approver", "auditor"), w.apiToken(1, 200)} {
		for path, got := range map[string]*answer{"page": c.get("/settings"), "api": c.get("/api/v1/models"),
			"save": c.putModel("planner", `{"model":"x"}`), "check": c.post("/api/v1/models/check", "{}"),
			"form": c.form("/settings/models/planner", "model=x"), "test": c.form("/settings/models/planner/test", "")} {
			if got.status != http.StatusForbidden {
				t.Errorf("%s: %s: got %d, want 403", c.name, path, got.status)
			}
		}
		if strings.Contains(c.get("/").text(), `href="/settings"`) {
			t.Errorf("%s: home leads to the settings", c.name)
		}
	}
}

// framesText is every frame of a run as its live page gets them, from its start.
func (c *caller) framesText(r *shape) string {
	c.Helper()
	b := c.open()
	defer b.conn.Close()
	b.follow(r.ID)
	var text strings.Builder
	for {
		_ = b.conn.SetReadDeadline(time.Now().Add(messageWithin))
		_, raw, err := b.conn.ReadMessage()
		if err != nil {
			c.Fatal(err)
		}
		text.Write(raw)
		var n struct{ Seq int64 }
		if json.Unmarshal(raw, &n) == nil && n.Seq >= r.Seq {
			return text.String()
		}
	}
}

// TestAKeyOfThePageStaysWithAnAddressOfAFlag: where the address is set by a flag,
// the key of the page belongs to that host; another flag sends it nowhere else.
func TestAKeyOfThePageStaysWithAnAddressOfAFlag(t *testing.T) {
	t.Parallel()
	server, url := startFake(t, fake.Options{Key: modelKey})
	thief, other := startFake(t, fake.Options{})
	data := t.TempDir()
	at := func(url string, do func(m modelPages)) {
		cfg := config{Data: data, Workspace: filepath.Join(data, "workspace"), Listen: "127.0.0.1:0"}
		cfg.Models.Planner = modelFields{URL: url, Model: "demo"}
		a, err := open(t.Context(), cfg, &safeBuffer{})
		if err != nil {
			t.Fatal(err)
		}
		defer a.close()
		do(modelPages{a.models})
	}
	works := func(m modelPages, role string, want bool) {
		t.Helper()
		if got, err := m.CheckRole(t.Context(), role); err != nil || got.OK != want {
			t.Errorf("%s: got %+v, %v, want it to work: %v", role, got, err, want)
		}
	}
	key := modelKey
	at(url, func(m modelPages) {
		for _, role := range modelRoles {
			if err := m.SaveRole(t.Context(), "user:1", handlers.ModelChange{Role: role, Key: &key}); err != nil {
				t.Fatal(err)
			}
			works(m, role, true)
		}
	})
	at(other, func(m modelPages) {
		for i, role := range modelRoles {
			works(m, role, true) // the other host wants none, and gets none
			if r := m.Roles(t.Context())[i]; !strings.Contains(r.Problem, "another host") || r.Key.Set {
				t.Errorf("%s: got %+v, want it said that the key stays behind", role, r)
			}
		}
		for _, seen := range thief.Seen() {
			if strings.Contains(seen.Auth, modelKey) {
				t.Fatal("the other host got the key")
			}
		}
		works(m, plannerRole, true)
	})
	at(strings.TrimSuffix(url, "/v1")+"/v1/", func(m modelPages) { works(m, plannerRole, true) })
	if server.Calls() == 0 || thief.Calls() == 0 {
		t.Error("nothing was asked")
	}
}

// TestP26_AServerThatRepeatsTheKeyTellsNobody: in an error before or within its
// answer, to a run, a proposal, a test of the settings or the command line.
func TestP26_AServerThatRepeatsTheKeyTellsNobody(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{fake.Fault401, fake.Fault403, fake.Fault500, fake.Fault429Long, fake.FaultError} {
		cfg, s := modelled(t, fake.Options{Fault: fault})
		w := worldOf(t, cfg)
		c := w.operator()
		texts := map[string]string{"proposal": c.post("/api/v1/plans/propose", `{"goal":"check disk usage","by":"model"}`).text(),
			"check": c.post("/api/v1/models/check", "{}").text(), "test": c.form("/settings/models/planner/test", "").text(), "settings": c.get("/settings").text(),
			"audit": c.get("/api/v1/audit/export").text(), "log": w.logs.String()}
		keyFile := filepath.Join(t.TempDir(), "key")
		writeFile(t, keyFile, modelKey)
		for _, flags := range [][]string{{"models", "check"}, {"models", "check", "--json"}, {"plan", "propose", "--by", "model", "check disk usage"}} {
			got := sluice(t, "", slices.Insert(flags, len(flags)-map[bool]int{true: 1}[flags[0] == "plan"], "--data", t.TempDir(), "--model-url", cfg.Models.Both.URL, "--model-name", "demo", "--model-key-file", keyFile)...)
			if got.code == 0 {
				t.Errorf("%s: %v: got success", fault, flags)
			}
			texts[strings.Join(flags, " ")] = got.out + got.err
		}
		for place, text := range texts {
			if strings.Contains(text, modelKey) || strings.Contains(text, modelKey[:16]) {
				t.Errorf("%s: %s holds the key: %s", fault, place, text)
			}
		}
		if len(s.Seen()) == 0 || s.Seen()[0].Auth != "Bearer "+modelKey {
			t.Errorf("%s: the server did not get the key, so this shows nothing", fault)
		}
	}
}
