package main

import (
	"net"
	"slices"
	"strings"
	"testing"

	"sluice/engine/model/fake"
)

// TestModelFaults…: nine faults in each role. Whatever a model does, the run
// ends: by the built-in planner, with a mark, after the repeats of the core. A
// fault in one role leaves the other alone. All runs go on side by side.
func TestModelFaultsEndWithTheBuiltInPlannerAndAMark(t *testing.T) {
	t.Parallel()
	faults := []string{fake.FaultDown, fake.Fault429, fake.Fault500, fake.FaultStallMid, fake.FaultTruncated,
		fake.FaultJSON, fake.FaultSSE, fake.FaultSchema, fake.FaultHuge}
	type flight struct {
		role, fault, run string
		caller           *caller
		server           *fake.Server
	}
	var flights []flight
	for _, role := range []string{fake.Planner, fake.Reflection} {
		for _, fault := range faults {
			cfg, s := modelled(t, ruled(fake.Rule{Role: role, Fault: fault}))
			cfg.Models.Both.Timeout = "1"
			c := worldOf(t, cfg).operator()
			flights = append(flights, flight{role, fault, c.submit(`{"goal":"check disk usage","intent":"observe"}`), c, s})
		}
	}
	for _, f := range flights {
		t.Run(f.role+" "+f.fault, func(t *testing.T) {
			c := f.caller
			r := c.modelRun(c.end(f.run).ID)
			wantRole := map[string]string{fake.Planner: "planner", fake.Reflection: "executor"}[f.role]
			if r.code() != "SUCCESS" || !slices.Equal(r.Fallbacks, []string{wantRole}) || r.Counts["executed"] != 1 {
				t.Errorf("got %s with fall backs %v and counts %v, want SUCCESS without the %s model", r.code(), r.Fallbacks, r.Counts, wantRole)
			}
			if calls := f.server.Calls(); calls < 2 || calls > 8 {
				t.Errorf("got %d calls, want some repeats and no more", calls)
			}
			if r.Verdict == nil || (r.Verdict.By == "builtin") != (f.role == fake.Reflection) {
				t.Errorf("got verdict %+v, want it by who answered", r.Verdict)
			}
			page := c.get("/runs/" + r.ID).text()
			if !strings.Contains(page, "data-fallback") || !strings.Contains(page, "built-in planner (no model)") {
				t.Error("the page does not say that the built-in planner acted")
			}
		})
	}
}

// TestModelOfAClosedPortIsReplaced: nothing listens.
func TestModelOfAClosedPortIsReplaced(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	cfg := testConfig(t)
	cfg.Models.Both = modelFields{URL: "http://" + l.Addr().String() + "/v1", Model: "demo"}
	c := worldOf(t, cfg).operator()
	r := c.modelRun(c.runToRest(`{"goal":"check disk usage","intent":"observe"}`).ID)
	if r.code() != "SUCCESS" || !slices.Equal(r.Fallbacks, []string{"planner", "executor"}) && !slices.Equal(r.Fallbacks, []string{"executor", "planner"}) {
		t.Errorf("got %s with fall backs %v, want SUCCESS by the built-in planner", r.code(), r.Fallbacks)
	}
}

// TestModelFaultsThatPassAreRetried: one failure, then an answer.
func TestModelFaultsThatPassAreRetried(t *testing.T) {
	for _, fault := range []string{fake.Fault429, fake.Fault500, fake.FaultTruncated, fake.FaultJSON, fake.FaultSchema} {
		t.Run(fault, func(t *testing.T) {
			w, s := modelWorld(t, ruled(fake.Rule{Role: fake.Planner, Fault: fault, Times: 1}))
			c := w.operator()
			r := c.modelRun(c.runToRest(`{"goal":"check disk usage","intent":"observe"}`).ID)
			if r.code() != "SUCCESS" || len(r.Fallbacks) > 0 || s.Calls() != 3 || r.Budget["retries"].Spent != 1 {
				t.Errorf("got %s, fall backs %v, %d calls, %d retries, want SUCCESS by the model in three calls with one retry",
					r.code(), r.Fallbacks, s.Calls(), r.Budget["retries"].Spent)
			}
		})
	}
}
