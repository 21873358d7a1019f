package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine"
	"sluice/engine/model"
	"sluice/engine/model/fake"
)

const modelLatency = 200 * time.Millisecond

// twoCalls takes the time of two calls with nothing around them, on the same box at
// the same moment.
func twoCalls(b *testing.B, c *model.Client) time.Duration {
	b.Helper()
	started := time.Now()
	for _, system := range []string{"plan", `give a "ruling"`} {
		r := model.Request{Messages: []model.Message{{Role: model.System, Text: system}, {Role: model.User, Text: "<goal>\n\"list all\"\n</goal>"}}}
		if _, err := c.Call(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(started)
}

// BenchmarkModelRun is a run with a model of 200 ms a call and eight parallel
// tools that do next to nothing: two calls, and little besides them. It prints the
// wall time as a ratio to the two calls and the slowest tool, and the calls.
func BenchmarkModelRun(b *testing.B) {
	const tools = 8
	var steps []string
	for i := range tools {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","tool":"file.list","params":{"path":"f%d"}}`, i, i))
	}
	server := fake.New(fake.Options{Latency: modelLatency, Script: fake.Script{Rules: []fake.Rule{
		{Role: fake.Planner, Plan: []byte(`{"format":1,"goal":"g","steps":[` + strings.Join(steps, ",") + `]}`)}, {Role: fake.Reflection, Answer: "done"}}}})
	h := httptest.NewServer(server)
	defer h.Close()
	defer server.Close()
	data := b.TempDir()
	cfg := config{Data: data, Workspace: filepath.Join(data, "workspace"), Listen: "127.0.0.1:0"}
	cfg.Models.Both = modelFields{URL: h.URL + "/v1", Model: "demo"}
	for i := range tools {
		if err := os.MkdirAll(filepath.Join(cfg.Workspace, fmt.Sprintf("f%d", i)), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	a, err := open(b.Context(), cfg, &safeBuffer{})
	if err != nil {
		b.Fatal(err)
	}
	defer a.close()
	var wall, slowest, bare time.Duration
	client := model.NewClient(model.Endpoint{BaseURL: h.URL + "/v1", Model: "demo"})
	defer client.Close()
	for b.Loop() {
		bare += twoCalls(b, client)
		started := time.Now()
		raw, err := a.runHere(b.Context(), &runRequest{Goal: "list all", Intent: "observe", Mode: "reflect", Profile: "default",
			ModeOptions: engine.ModeOptions{Checkpoints: "final"}})
		if err != nil || !strings.Contains(string(raw), `"SUCCESS"`) {
			b.Fatalf("got %s, %v, want SUCCESS", raw, err)
		}
		wall += time.Since(started)
		slowest += slowestTool(b, a, string(raw))
	}
	b.ReportMetric(float64(server.Calls())/float64(b.N)-2, "calls/run")
	b.ReportMetric(float64(wall)/float64(bare+slowest), "wall/bare")
	b.ReportMetric(float64(wall)/float64(2*modelLatency*time.Duration(b.N)+slowest), "wall/limit")
}

// slowestTool reads from the log how long the slowest attempt of a tool took.
func slowestTool(b *testing.B, a *app, run string) time.Duration {
	b.Helper()
	var shape struct{ ID string }
	if err := json.Unmarshal([]byte(run), &shape); err != nil {
		b.Fatal(err)
	}
	facts, err := execLog{a.store}.Load(b.Context(), shape.ID, 0, 1_000)
	if err != nil {
		b.Fatal(err)
	}
	var slowest time.Duration
	for _, f := range facts {
		var data struct {
			Input struct {
				StartedAt int64 `json:"started_at"`
				EndedAt   int64 `json:"ended_at"`
			} `json:"input"`
		}
		if f.Kind == engine.AttemptEnded && json.Unmarshal(f.Data, &data) == nil && !strings.HasPrefix(f.Node, "kernel.") {
			slowest = max(slowest, time.Duration(data.Input.EndedAt-data.Input.StartedAt)*time.Microsecond)
		}
	}
	return slowest
}
