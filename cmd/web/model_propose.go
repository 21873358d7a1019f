package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/handlers"
)

// Bounds on plans that a model proposes outside of a run, where no budget of a
// run holds: for each person, tokens included.
const (
	asksMax         = 3 // of a model for one proposal: once, and twice with the error last (V20)
	proposalsMax    = 20
	proposalsWithin = time.Hour
)

// Facts about such a proposal on the stream admin: before the model is asked,
// with what is reserved, and after it, with what was used.
const (
	proposalStarted = engine.Kind("proposal.started")
	proposalEnded   = engine.Kind("proposal.ended")
)

// turns counts whose proposals models made lately.
type turns struct {
	mu   sync.Mutex
	past map[string][]time.Time // by user, oldest first
	busy map[string]bool
}

func newTurns() *turns { return &turns{past: map[string][]time.Time{}, busy: map[string]bool{}} }

// take gives a person the turn, or says after how long to ask again.
func (t *turns) take(owner string, now time.Time) (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	past := t.past[owner]
	for len(past) > 0 && now.Sub(past[0]) >= proposalsWithin {
		past = past[1:]
	}
	t.past[owner] = past
	switch {
	case t.busy[owner]:
		return time.Second, false
	case len(past) >= proposalsMax:
		return proposalsWithin - now.Sub(past[0]), false
	}
	t.past[owner], t.busy[owner] = append(past, now), true
	return 0, true
}

func (t *turns) free(owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.busy, owner)
}

// proposing is one proposal by a model on its way.
type proposing struct {
	who   handlers.ProposalRequest
	info  engine.ModelInfo
	asks  int
	used  engine.Usage
	class engine.Class
}

// proposeByModel asks for a plan that runs nothing (P38): limited for each
// person, and on record before and after.
func (p proposer) proposeByModel(ctx context.Context, r handlers.ProposalRequest) (handlers.Proposal, error) {
	info := p.models.Current().Planner
	if info.Name == "" || p.models.caller(plannerRole, info.By) == nil {
		return handlers.Proposal{}, &engine.Refusal{Code: "unavailable", Message: "there is no planner model",
			Fix: "set one up under Settings, or ask the built-in planner"}
	}
	wait, ok := p.turns.take(r.Owner, time.Now())
	if !ok {
		return handlers.Proposal{}, tooMany(wait)
	}
	defer p.turns.free(r.Owner)
	w := &proposing{who: r, info: info}
	if err := record(ctx, p.store, deed{proposalStarted, r.Actor, w.facts(map[string]any{"reserved": w.reserve()})}); err != nil {
		return handlers.Proposal{}, err
	}
	out, err := p.ask(ctx, w)
	outcome := "plan"
	switch {
	case err != nil:
		outcome = "failed"
	case out.Plan == nil && out.Answer != "":
		outcome = "answer"
	case out.Plan == nil:
		outcome = "none"
	}
	ended := w.facts(map[string]any{"outcome": outcome, "asks": w.asks, "used": w.used, "unpriced": w.info.PriceIn < 0 || w.info.PriceOut < 0})
	if w.class != engine.ClassNone {
		ended["class"] = string(w.class)
	}
	// What was used is on record also when whoever asked is gone.
	if failed := record(context.WithoutCancel(ctx), p.store, deed{proposalEnded, r.Actor, ended}); failed != nil {
		return handlers.Proposal{}, failed
	}
	return out, err
}

func tooMany(wait time.Duration) *handlers.Problem {
	seconds := int64((wait + time.Second - 1) / time.Second)
	return &handlers.Problem{Type: "about:blank", Title: http.StatusText(http.StatusTooManyRequests), Status: http.StatusTooManyRequests, Code: "unavailable",
		Detail:     fmt.Sprintf("a model proposes one plan at a time for each person, and %d an hour", proposalsMax),
		Fix:        fmt.Sprintf("ask again in %d seconds, ask the built-in planner, or start a run, which has a budget of its own", seconds),
		RetryAfter: seconds}
}

// facts says what a proposal is about. The goal itself could not be erased here.
func (w *proposing) facts(more map[string]any) map[string]any {
	sum := sha256.Sum256([]byte(w.who.Goal))
	more["by"], more["requester"], more["goal_sha256"] = w.info.By, w.who.Owner, hex.EncodeToString(sum[:])
	return more
}

// reserve is what all asks together may use (R62).
func (w *proposing) reserve() engine.Usage {
	in := w.info.Overhead + int64(len(w.who.Goal))
	return w.info.Priced(engine.Usage{InputTokens: asksMax * (in + w.info.MaxOutput), OutputTokens: asksMax * w.info.MaxOutput})
}

func (w *proposing) use(u engine.Usage) {
	priced := w.info.Priced(u)
	w.asks++
	w.used.InputTokens += priced.InputTokens
	w.used.OutputTokens += priced.OutputTokens
	w.used.CostMicroUSD += priced.CostMicroUSD
	w.used.Estimated = w.used.Estimated || u.Estimated
}

// ask asks the model. What does not compile goes back to it; what a policy would
// say never does (P12).
func (p proposer) ask(ctx context.Context, w *proposing) (handlers.Proposal, error) {
	c := engine.Propose{By: w.info.By, Goal: w.who.Goal, MaxOutput: w.info.MaxOutput,
		Tools: engine.VisibleTools(p.planner.Catalog, p.policies.Current(), []string{"default"})}
	for range asksMax {
		got := p.models.ask.Propose(ctx, p.models.caller(plannerRole, w.info.By), c, nil)
		w.use(got.Usage)
		if w.class = got.Class; got.Class != engine.ClassNone {
			return handlers.Proposal{}, &engine.Refusal{Code: "unavailable", Message: got.Detail, Fix: "try again, or ask the built-in planner"}
		}
		problem := got.Problem
		if problem == "" {
			problem = p.compileProblem(got.Plan)
		}
		if problem == "" {
			return handlers.Proposal{Plan: got.Plan, Answer: got.Answer, Unplanned: []engine.Unplanned{}, By: w.info.By, Author: plan.Model}, nil
		}
		c.Again = append(c.Again, engine.Again{Output: got.Raw, Error: problem})
	}
	return handlers.Proposal{Unplanned: []engine.Unplanned{{Clause: w.who.Goal,
		Why: fmt.Sprintf("the model's plan could not be used after %d attempts", asksMax)}}, By: w.info.By, Author: plan.Model}, nil
}

// compileProblem says what keeps a plan from compiling, without a word of policy.
func (p proposer) compileProblem(proposed *plan.Plan) string {
	if proposed == nil {
		return ""
	}
	compiled, findings := plan.Compile(proposed, plan.Env{Catalog: p.planner.Catalog, Author: plan.Model})
	if compiled != nil {
		return ""
	}
	return engine.Wrong(findings)
}
