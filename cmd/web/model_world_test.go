package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sluice/engine/model/fake"
)

// modelKey is a key that must turn up nowhere.
const modelKey = "canary-key-0123456789-of-the-model"

// modelled is a configuration whose roles are a scripted model, reached over HTTP.
func modelled(t *testing.T, opt fake.Options) (config, *fake.Server) {
	t.Helper()
	cfg := testConfig(t)
	s, url := startFake(t, opt)
	cfg.Models.Both = modelFields{URL: url, Model: "demo", Key: modelKey, Timeout: "20"}
	return cfg, s
}

func startFake(t *testing.T, opt fake.Options) (*fake.Server, string) {
	t.Helper()
	s := fake.New(opt)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		h.CloseClientConnections()
		h.Close()
	})
	return s, h.URL + "/v1"
}

// modelWorld is a world over a scripted model. Its test runs beside others.
func modelWorld(t *testing.T, opt fake.Options) (*world, *fake.Server) {
	t.Helper()
	t.Parallel()
	cfg, s := modelled(t, opt)
	return worldOf(t, cfg), s
}

// ruled makes options of rules.
func ruled(rules ...fake.Rule) fake.Options { return fake.Options{Script: fake.Script{Rules: rules}} }

// planRule plans goals that hold a word.
func planRule(word, plan string) fake.Rule {
	return fake.Rule{Role: fake.Planner, Contains: []string{word}, Plan: []byte(plan)}
}

// modelRun is what these tests read of a run.
type modelRun struct {
	shape
	Fallbacks []string `json:"fallbacks"`
	Unpriced  bool     `json:"unpriced"`
	Budget    map[string]struct{ Limit, Reserved, Spent int64 }
	Verdict   *struct {
		Text, By string
		Claims   []struct {
			Text         string
			Observations []string
		}
	} `json:"verdict"`
}

func (c *caller) modelRun(id string) *modelRun {
	c.Helper()
	var r modelRun
	c.want(http.StatusOK, c.get("/api/v1/runs/"+id), &r)
	return &r
}

// facts gives every fact of a run as text.
func (c *caller) factsText(id string) string {
	c.Helper()
	return c.get("/api/v1/runs/" + id + "/facts?limit=1000").text()
}

// prompts joins what a scripted model was asked.
func prompts(s *fake.Server, role string) string {
	var b strings.Builder
	for _, seen := range s.Seen() {
		if role == "" || seen.Role == role {
			b.WriteString(seen.Body + "\n")
		}
	}
	return b.String()
}
