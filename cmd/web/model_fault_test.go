package main

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/engine/model/fake"
)

// ends says how a run with a faulty model in both roles ends.
type ends struct {
	fell   string // why the built-in planner acts; "" when the models' answers count
	detail string // part of what the facts say of the failure
	calls  int    // of each role; 0: not counted
}

// faultEnds is every fault. What comes right is used; what can be repeated is,
// twice; then the built-in planner acts.
func faultEnds() map[string]ends {
	const down, answers = "unavailable", "answers"
	return map[string]ends{
		fake.FaultDown:      {down, "broke", 3},
		fake.FaultStall:     {down, "silent", 3},
		fake.Fault401:       {down, "does not accept the key", 3},
		fake.Fault403:       {down, "does not accept the key", 3},
		fake.Fault404:       {down, "does not know the model", 3},
		fake.Fault429:       {down, "slow down (429)", 3},
		fake.Fault429Date:   {down, "slow down (429)", 3},
		fake.Fault429Long:   {down, "retry_after_ms\":86400000", 1}, // a day is too long to wait, and to ask again
		fake.Fault500:       {down, "failed by itself", 3},
		fake.Fault502:       {down, "failed by itself", 3},
		fake.Fault503:       {down, "failed by itself", 3},
		fake.FaultRedirect:  {down, "redirects", 3},
		fake.FaultPage:      {down, "web page", 3},
		fake.FaultWhole:     {},
		fake.FaultStallMid:  {down, "the model server ", 3},
		fake.FaultTruncated: {down, "broke off", 3},
		fake.FaultCutRune:   {down, "broke off", 3},
		fake.FaultChunk:     {down, "not of its protocol", 3},
		fake.FaultError:     {down, "reported an error", 3},
		fake.FaultSSE:       {down, "not of its protocol", 3},
		fake.FaultDrip:      {down, "longer than its timeout", 3},
		fake.FaultHuge:      {down, "the answer of the model server is", 1},
		fake.FaultNoChoices: {down, "broke off", 3},
		fake.FaultFilter:    {down, "content filter", 1},
		fake.FaultRefusal:   {down, "refused", 1},
		fake.FaultLength:    {answers, "cut off at its limit", 3},
		fake.FaultJSON:      {answers, "not valid JSON", 3},
		fake.FaultSchema:    {answers, "has not the form", 3},
		fake.FaultProse:     {answers, "not valid JSON", 3},
		fake.FaultTwice:     {answers, "duplicate", 3},
		fake.FaultEmpty:     {answers, "is empty", 3},
		fake.FaultFence:     {},
		fake.FaultNoUsage:   {detail: `"estimated":true`},
		fake.FaultNegUsage:  {detail: `"estimated":true`},
		fake.FaultBigUsage:  {detail: `"estimated":true`},
	}
}

// flight is a run on its way.
type flight struct {
	run    string
	caller *caller
	server *fake.Server
}

func fly(t *testing.T, opt fake.Options) flight {
	t.Helper()
	cfg, s := modelled(t, opt)
	cfg.Models.Both.Timeout = "1"
	c := worldOf(t, cfg).operator()
	return flight{c.submit(`{"goal":"check disk usage","intent":"observe"}`), c, s}
}

// TestR62_…: whatever models do, the run ends with the goal met, by the built-in
// planner and with a mark where a model was of no use. Every reservation is
// settled, and nothing that a server said of the key is kept. All runs go on side
// by side.
func TestR62_ModelFaultsEndWithTheBuiltInPlannerAndAMark(t *testing.T) {
	t.Parallel()
	want := faultEnds()
	flights := map[string]flight{}
	for _, fault := range fake.Faults() {
		if _, known := want[fault]; !known {
			t.Fatalf("nothing says how %s ends", fault)
		}
		flights[fault] = fly(t, ruled(fake.Rule{Role: fake.Planner, Fault: fault}, fake.Rule{Role: fake.Reflection, Fault: fault}))
	}
	for fault, f := range flights {
		t.Run(fault, func(t *testing.T) {
			c, want := f.caller, want[fault]
			r := c.modelRun(c.end(f.run).ID)
			if r.code() != "SUCCESS" || r.Counts["executed"] != 1 {
				t.Errorf("got %s and counts %v, want SUCCESS", r.code(), r.Counts)
			}
			if isFallen := slices.Equal(r.Fallbacks, []string{"executor", "planner"}); isFallen != (want.fell != "") || !isFallen && len(r.Fallbacks) > 0 {
				t.Errorf("got fall backs %v, want for %q", r.Fallbacks, want.fell)
			}
			if calls := f.server.Calls(); want.calls > 0 && calls != 2*want.calls {
				t.Errorf("got %d calls, want %d", calls, 2*want.calls)
			}
			for name, b := range r.Budget {
				if b.Reserved != 0 || b.Spent < 0 || b.Spent > b.Limit {
					t.Errorf("%s: got %+v, want it settled", name, b)
				}
			}
			facts := c.factsText(r.ID)
			if !strings.Contains(facts, want.detail) || want.fell != "" && !strings.Contains(facts, `"fallback":"`+want.fell+`"`) {
				t.Errorf("got facts %s\nwant %q and why the built-in planner acts", facts, want.detail)
			}
			page := c.get("/runs/" + r.ID).text()
			if isMarked := strings.Contains(page, "data-fallback") && strings.Contains(page, "built-in planner (no model)"); isMarked != (want.fell != "") {
				t.Errorf("the page says that the built-in planner acted: %v", isMarked)
			}
			if want.detail == `"estimated":true` && !strings.Contains(c.get("/runs/"+r.ID+"?node=kernel.plan").text(), "in part estimated") {
				t.Error("the page of the planner does not say that its usage is estimated")
			}
			for place, text := range map[string]string{"facts": facts, "page": page, "log": c.logs.String()} {
				if strings.Contains(text, modelKey) {
					t.Errorf("the key is in the %s", place)
				}
			}
		})
	}
}

// TestModelFaultsOfOneRoleLeaveTheOtherAlone.
func TestModelFaultsOfOneRoleLeaveTheOtherAlone(t *testing.T) {
	t.Parallel()
	for role, fell := range map[string]string{fake.Planner: "planner", fake.Reflection: "executor"} {
		f := fly(t, ruled(fake.Rule{Role: role, Fault: fake.FaultFilter}))
		r := f.caller.modelRun(f.caller.end(f.run).ID)
		if r.code() != "SUCCESS" || !slices.Equal(r.Fallbacks, []string{fell}) || r.Verdict == nil || (r.Verdict.By == "builtin") != (role == fake.Reflection) {
			t.Errorf("%s: got %s, fall backs %v and verdict %+v, want the other role by its model", role, r.code(), r.Fallbacks, r.Verdict)
		}
	}
}

// TestP7_CancelEndsACallOfAModelAtOnce: whatever the server does meanwhile, and
// between two calls too.
func TestP7_CancelEndsACallOfAModelAtOnce(t *testing.T) {
	t.Parallel()
	flights := map[string]flight{}
	for _, role := range []string{fake.Planner, fake.Reflection} {
		for _, fault := range []string{fake.FaultStall, fake.FaultStallMid, fake.FaultDrip, fake.Fault503} {
			cfg, s := modelled(t, ruled(fake.Rule{Role: role, Fault: fault}))
			cfg.Models.Both.Timeout = "600"
			c := worldOf(t, cfg).operator()
			flights[role+" "+fault] = flight{c.submit(`{"goal":"check disk usage","intent":"observe"}`), c, s}
		}
	}
	for name, f := range flights {
		t.Run(name, func(t *testing.T) {
			c, role := f.caller, strings.Fields(name)[0]
			asked := func() bool {
				return slices.ContainsFunc(f.server.Seen(), func(s fake.Seen) bool { return s.Role == role })
			}
			for !asked() {
				time.Sleep(time.Millisecond)
			}
			c.want(http.StatusOK, c.post("/api/v1/runs/"+f.run+"/cancel", `{"reason":"enough"}`), nil)
			r := c.modelRun(c.end(f.run).ID)
			if r.code() != "USER_CANCEL" {
				t.Errorf("got %s, want USER_CANCEL", r.code())
			}
			for dimension, b := range r.Budget {
				if b.Reserved != 0 {
					t.Errorf("%s: got %+v, want nothing reserved", dimension, b)
				}
			}
		})
	}
}

// TestR61_TheClockEndsACallOfAModel: a model that says nothing does not outlast
// the run's time.
func TestR61_TheClockEndsACallOfAModel(t *testing.T) {
	t.Parallel()
	for role, code := range map[string]string{fake.Planner: "TIMEOUT", fake.Reflection: "TIMEOUT"} {
		cfg, _ := modelled(t, ruled(fake.Rule{Role: role, Fault: fake.FaultStall}))
		cfg.Models.Both.Timeout = "600"
		c := worldOf(t, cfg).operator()
		r := c.modelRun(c.end(c.submit(`{"goal":"check disk usage","intent":"observe","budget":{"wall_clock_ms":1500}}`)).ID)
		if r.code() != code || r.Budget["model_calls"].Reserved != 0 {
			t.Errorf("%s: got %s with %+v, want %s and nothing reserved", role, r.code(), r.Budget["model_calls"], code)
		}
	}
}

// TestModelThatIsNotThereIsReplaced: nothing listens, or there is no such host.
func TestModelThatIsNotThereIsReplaced(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for host, detail := range map[string]string{l.Addr().String(): `"class":"unavailable"`, "no-such-host.invalid": `"fallback":"unavailable"`} {
		cfg := testConfig(t)
		cfg.Models.Both = modelFields{URL: "http://" + host + "/v1", Model: "demo", Timeout: "2"}
		c := worldOf(t, cfg).operator()
		r := c.modelRun(c.runToRest(`{"goal":"check disk usage","intent":"observe"}`).ID)
		if r.code() != "SUCCESS" || !slices.Equal(r.Fallbacks, []string{"executor", "planner"}) || !strings.Contains(c.factsText(r.ID), detail) {
			t.Errorf("%s: got %s with fall backs %v, want SUCCESS by the built-in planner and %q in the facts", host, r.code(), r.Fallbacks, detail)
		}
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
