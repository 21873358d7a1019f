package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/engine"
	"sluice/engine/model/fake"
)

// proposalFact is what the auditor reads of a proposal by a model.
type proposalFact struct {
	kind  string
	actor string
	data  struct {
		By, Requester, Outcome, Class string
		Goal                          string `json:"goal_sha256"`
		Asks                          int
		Used, Reserved                engine.Usage
	}
}

func (c *caller) proposalFacts() []proposalFact {
	c.Helper()
	var list []proposalFact
	for line := range strings.Lines(c.get("/api/v1/audit/export").text()) {
		var f wireFact
		if err := json.Unmarshal([]byte(line), &f); err != nil || !strings.HasPrefix(f.Kind, "proposal.") {
			continue
		}
		p := proposalFact{kind: f.Kind, actor: f.Actor}
		if err := json.Unmarshal(f.Data, &p.data); err != nil {
			c.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// TestP38_AProposalByAModelIsOnRecord: who asked, what was reserved before the
// call and what was used after it, whatever came of it; never the goal.
func TestP38_AProposalByAModelIsOnRecord(t *testing.T) {
	t.Parallel()
	cfg, _ := modelled(t, ruled(
		fake.Rule{Role: fake.Planner, Contains: []string{"refuse this"}, Fault: fake.FaultRefusal},
		fake.Rule{Role: fake.Planner, Contains: []string{"mute"}, Fault: fake.FaultNoUsage},
		fake.Rule{Role: fake.Planner, Times: 1, Raw: "no JSON"}))
	cfg.Models.Both.PriceIn, cfg.Models.Both.PriceOut = "1", "2"
	c := worldOf(t, cfg).operator()
	token := c.apiToken(1, 0)
	c.want(http.StatusOK, c.post("/api/v1/plans/propose", `{"goal":"check disk usage","by":"model"}`), nil)
	c.problemOf(http.StatusServiceUnavailable, token.post("/api/v1/plans/propose", `{"goal":"refuse this","by":"model"}`))
	c.want(http.StatusOK, c.post("/api/v1/plans/propose", `{"goal":"check disk usage, mute","by":"model"}`), nil)
	c.want(http.StatusOK, c.post("/api/v1/plans/propose", `{"goal":"check disk usage"}`), nil)
	got := c.proposalFacts()
	if len(got) != 6 {
		t.Fatalf("got %+v, want a start and an end of each of three", got)
	}
	for i, want := range []struct {
		asks           int
		outcome, class string
		isToken        bool
	}{{asks: 2, outcome: "plan"}, {asks: 1, outcome: "failed", class: "invalid", isToken: true}, {asks: 1, outcome: "plan"}} {
		start, end := got[2*i], got[2*i+1]
		if start.kind != "proposal.started" || end.kind != "proposal.ended" || end.data.Asks != want.asks || end.data.Outcome != want.outcome || end.data.Class != want.class {
			t.Errorf("%d: got %+v and %+v, want %+v", i, start, end, want)
		}
		if isToken := strings.HasPrefix(end.actor, "token:"); isToken != want.isToken || end.data.Requester != "user:1" || end.data.By != "model:demo" || len(end.data.Goal) != 64 {
			t.Errorf("%d: got %+v, want who asked, for whom, whom, and the goal's hash", i, end)
		}
		r, u := start.data.Reserved, end.data.Used
		if u.InputTokens <= 0 || u.InputTokens > r.InputTokens || u.OutputTokens > r.OutputTokens || u.CostMicroUSD <= 0 || u.CostMicroUSD > r.CostMicroUSD {
			t.Errorf("%d: got %+v used of %+v, want tokens and cost within what was reserved", i, u, r)
		}
		if u.Estimated != (i == 2) {
			t.Errorf("%d: got usage %+v, want an estimate marked, and only that", i, u)
		}
	}
	if text := c.get("/api/v1/audit/export").text(); strings.Contains(text, "check disk usage, mute") {
		t.Error("the goal is on record where it can not be erased")
	}
}

// TestR62_ProposalsByModelsAreLimited for each person, their tokens included; the
// built-in planner is not, and the answer says when to ask again.
func TestR62_ProposalsByModelsAreLimited(t *testing.T) {
	w, s := modelWorld(t, fake.Options{})
	c := w.operator()
	token := c.apiToken(1, 0)
	ask := func(c *caller) *answer {
		return c.post("/api/v1/plans/propose", `{"goal":"check disk usage","by":"model"}`)
	}
	for range proposalsMax - 1 {
		c.want(http.StatusOK, ask(c), nil)
	}
	c.want(http.StatusOK, ask(token), nil)
	for _, who := range []*caller{c, token} {
		a := ask(who)
		p := c.problemOf(http.StatusTooManyRequests, a)
		if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 1 || seconds > 3600 || p.Fix == "" {
			t.Errorf("%s: got Retry-After %q and %+v, want when to ask again", who.name, a.header.Get("Retry-After"), p)
		}
	}
	if s.Calls() != proposalsMax {
		t.Errorf("got %d calls, want %d", s.Calls(), proposalsMax)
	}
	c.want(http.StatusOK, ask(w.stranger("other", "operator")), nil)
	c.want(http.StatusOK, c.post("/api/v1/plans/propose", `{"goal":"check disk usage"}`), nil)
}

// TestProposalsTakeTurns: one at a time, and the hour passes.
func TestProposalsTakeTurns(t *testing.T) {
	turns, now := newTurns(), time.Unix(1_000_000, 0)
	if _, ok := turns.take("a", now); !ok {
		t.Fatal("the first was refused")
	}
	if wait, ok := turns.take("a", now); ok || wait <= 0 {
		t.Errorf("got %v, %s while one is under way, want a moment's wait", ok, wait)
	}
	turns.free("a")
	for range proposalsMax - 1 {
		now = now.Add(time.Second)
		if _, ok := turns.take("a", now); !ok {
			t.Fatal("refused below the limit")
		}
		turns.free("a")
	}
	if wait, ok := turns.take("a", now); ok || wait != proposalsWithin-(proposalsMax-1)*time.Second {
		t.Errorf("got %v, %s, want to wait for the first to be an hour ago", ok, wait)
	}
	if _, ok := turns.take("a", now.Add(proposalsWithin-(proposalsMax-1)*time.Second)); !ok {
		t.Error("refused after the wait")
	}
}
