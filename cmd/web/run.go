package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"sluice/engine"
	"sluice/engine/exec"
	"sluice/engine/plan"
	"sluice/engine/trace"
	"sluice/handlers"
	"sluice/policy"
)

const pollServer = 100 * time.Millisecond

// runRequest is what `sluice run` asks for.
type runRequest struct {
	Goal        string             `json:"goal,omitempty"`
	Plan        json.RawMessage    `json:"plan,omitempty"`
	Intent      string             `json:"intent"`
	Mode        string             `json:"mode,omitempty"`
	Profile     string             `json:"profile,omitempty"`
	Review      string             `json:"review,omitempty"`
	Budget      map[string]int64   `json:"budget,omitempty"`
	Template    *templateRequest   `json:"template,omitempty"`
	ModeOptions engine.ModeOptions `json:"-"`
	Account     trace.Account      `json:"-"` // filled when the run has come to rest
}

// runShape is what run prints: a run in the shape of P39.
type runShape struct {
	ID        string             `json:"id"`
	Status    engine.Status      `json:"status"`
	Code      engine.Code        `json:"code"`
	Causes    []string           `json:"causes"`
	Waiting   []string           `json:"waiting"`
	Verdict   *engine.Verdict    `json:"verdict"`
	Unplanned []engine.Unplanned `json:"unplanned"`
	Review    bool               `json:"review"`
	Counts    map[string]int     `json:"counts"`
	Fallbacks []string           `json:"fallbacks"`
}

func runGoal(ctx context.Context, s streams, args []string) int {
	var cfg config
	var req runRequest
	var planFile, templateRef string
	var asJSON bool
	set := settings{}
	f := newFlags("run", `run "goal" | run --plan FILE | run --template NAME --set slot=value [--intent observe|operate|override] [--mode reflect|plan-once] [--review plan] [--budget DIMENSION=LIMIT] [--json]`)
	f.StringVar(&req.Intent, "intent", "observe", "the most this run may do: observe, operate or override")
	f.StringVar(&req.Mode, "mode", "reflect", "reflect or plan-once")
	f.StringVar(&req.Profile, "profile", "default", "limits of the run: default or bench")
	f.StringVar(&req.Review, "review", "", "plan: stop at the compiled plan until a person starts it")
	f.Func("budget", "lower a limit of the profile, such as model_calls=3; may be repeated", req.lower)
	f.StringVar(&planFile, "plan", "", "run this plan instead of planning a goal; - reads standard input")
	f.StringVar(&templateRef, "template", "", "run this template, NAME or NAME@VERSION")
	f.Var(set, "set", "slot=value of the template; may be given again")
	f.BoolVar(&asJSON, "json", false, "print the run as JSON")
	cfg.flags(f)
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	if err := oneSource(planFile, templateRef, set); err != nil {
		return failRun(s, err)
	}
	if templateRef != "" {
		req.Goal = strings.TrimSpace(strings.Join(rest, " "))
	} else if err := fillRequest(s, &req, rest, planFile); err != nil {
		return failRun(s, err)
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	var raw json.RawMessage
	var err error
	if templateRef != "" {
		raw, err = runTemplate(ctx, s, cfg, templateCall{&req, templateRef, set})
	} else {
		raw, err = performRun(ctx, s, cfg, &req)
	}
	if err != nil {
		return failRun(s, err)
	}
	return printRun(s, raw, &req.Account, asJSON)
}

// lower reads one --budget; what the limit may be is the core's to say.
func (r *runRequest) lower(text string) error {
	name, number, _ := strings.Cut(text, "=")
	limit, err := strconv.ParseInt(number, 10, 64)
	if err != nil || name == "" {
		return fmt.Errorf("write it as DIMENSION=LIMIT, such as model_calls=3, not %q", text)
	}
	if r.Budget == nil {
		r.Budget = map[string]int64{}
	}
	r.Budget[name] = limit
	return nil
}

// oneSource refuses flags of which one would go unheard.
func oneSource(planFile, templateRef string, set settings) error {
	switch {
	case templateRef != "" && planFile != "":
		return fmt.Errorf("run takes --plan or --template, not both: %w", errUsage)
	case templateRef == "" && len(set) > 0:
		return fmt.Errorf("--set fills a slot of --template NAME, and none is given: %w", errUsage)
	}
	return nil
}

func fillRequest(s streams, req *runRequest, rest []string, planFile string) error {
	req.Goal = strings.TrimSpace(strings.Join(rest, " "))
	if planFile == "" {
		if req.Goal == "" {
			return fmt.Errorf("run wants a goal in quotes, or --plan FILE: %w", errUsage)
		}
		return nil
	}
	doc, findings, err := planJSON(s, planFile)
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		return refuseFindings(findings)
	}
	req.Plan = doc
	return nil
}

// performRun uses the server that holds the data directory, or runs in this
// process when there is none (P34).
func performRun(ctx context.Context, s streams, cfg config, req *runRequest) (json.RawMessage, error) {
	server, a, err := serverOrData(ctx, s, cfg)
	if err != nil {
		return nil, err
	}
	if server != nil {
		return runThrough(ctx, server, req)
	}
	defer a.close()
	return a.runHere(ctx, req)
}

func runThrough(ctx context.Context, c *client, req *runRequest) (json.RawMessage, error) {
	var made struct {
		ID string `json:"id"`
	}
	if err := c.call(ctx, request{http.MethodPost, "/api/v1/runs", req}, &made); err != nil {
		return nil, err
	}
	for {
		var raw json.RawMessage
		if err := c.call(ctx, request{http.MethodGet, "/api/v1/runs/" + made.ID, nil}, &raw); err != nil {
			return nil, err
		}
		var shape runShape
		if err := json.Unmarshal(raw, &shape); err != nil {
			return nil, err
		}
		if atRest(shape.Status) && !clearing(shape.Counts) {
			_ = c.call(ctx, request{http.MethodGet, "/api/v1/runs/" + made.ID + "/why", nil}, &req.Account) // an older server has none
			return raw, nil
		}
		select {
		case <-time.After(pollServer):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func atRest(st engine.Status) bool {
	return st == engine.Ended || st == engine.Waiting || st == engine.Paused
}

// clearing says that an authority has still to answer: the run waits, but for a
// machine, and goes on by itself.
func clearing(counts map[string]int) bool { return counts[string(engine.NodeBlocked)] > 0 }

// runHere runs in this process and waits until the run ends or a person is needed.
func (a *app) runHere(ctx context.Context, req *runRequest) (json.RawMessage, error) {
	in, err := a.create(req)
	if err != nil {
		return nil, err
	}
	woken, stop := a.shell.Watch(in.Run)
	defer stop()
	if err := a.shell.Submit(ctx, in, exec.Creation{Run: in.Run, Owner: in.Actor}); err != nil {
		return nil, err
	}
	p, story := trace.NewProjector(in.Run), trace.NewStory()
	for {
		facts, err := execLog{a.store}.Load(ctx, in.Run, p.Seq(), 1000)
		if err != nil {
			return nil, err
		}
		for i := range facts {
			p.Apply(facts[i])
			story.Take(&engine.Row{Fact: facts[i]})
		}
		if len(facts) > 0 {
			continue
		}
		if sum := engine.Summarise(p.State()); atRest(sum.Status) && !clearing(sum.Counts) {
			req.Account = story.Account(p.State())
			return asPrinted(handlers.RunShape(sum))
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (a *app) create(req *runRequest) (*engine.Create, error) {
	rank, ok := a.policies.Current().RankOf(req.Intent)
	if !ok {
		return nil, fmt.Errorf("there is no intent %q; use observe, operate or override: %w", req.Intent, errUsage)
	}
	in := &engine.Create{Head: engine.Head{At: time.Now().UnixMicro(), Actor: "user:1"}, Run: "r_" + ulid.Make().String(),
		Goal: req.Goal, Intent: rank, Scopes: []string{"default"}, Mode: req.Mode, Profile: req.Profile, Review: req.Review,
		Budget: req.Budget}
	if in.Mode == "reflect" {
		in.ModeOptions.Checkpoints = "final"
	}
	if len(req.Plan) == 0 {
		return in, nil
	}
	doc := []byte(req.Plan)
	if json.Valid(doc) {
		doc = a.registry.Redactor().JSON(doc) // P26: before anything is compiled or stored
	}
	compiled, findings := handlers.CompilePlan(doc, plan.Env{Catalog: a.registry.Catalog(), Policy: a.policies.Current(),
		Scopes: in.Scopes, Intent: rank, Requester: in.Actor, Author: plan.Person}, req.Profile)
	if compiled == nil {
		return nil, refuseFindings(findings)
	}
	in.Plan, in.PlanDoc, in.PlanAuthor = compiled, doc, plan.Person
	in.Goal = first(in.Goal, compiled.Goal)
	return in, nil
}

func refuseFindings(findings []plan.Finding) error {
	raw, err := json.Marshal(findings)
	if err != nil {
		return err
	}
	return &refusedPlan{&engine.Refusal{Code: "invalid", Message: "the plan does not compile", Fix: "mend the findings"}, raw}
}

// failRun prints a refused plan's findings as JSON; other errors as a line.
func failRun(s streams, err error) int {
	var refused *refusedPlan
	if errors.As(err, &refused) {
		fmt.Fprintf(s.out, `{"ok":false,"hash":null,"findings":%s}`+"\n", refused.findings)
		fmt.Fprintln(s.err, "sluice: "+strings.TrimSuffix(refused.Message, ".")+"; nothing has run")
		return exitNo
	}
	return fail(s, err)
}

// printRun prints a run and gives its exit code (P36).
func printRun(s streams, raw json.RawMessage, why *trace.Account, asJSON bool) int {
	var shape runShape
	if err := json.Unmarshal(raw, &shape); err != nil {
		return fail(s, err)
	}
	if asJSON {
		fmt.Fprintf(s.out, "%s\n", raw)
	} else {
		printVerdict(s, &shape)
		if shape.Status == engine.Ended {
			printWhy(s, why)
		}
	}
	switch {
	case shape.Status != engine.Ended:
		return exitWaiting
	case shape.Code == engine.Success:
		return exitYes
	case shape.Code == engine.PartialSuccess:
		return exitPartial
	}
	return exitNo
}

// printClaims adds what the text of a verdict does not say itself: a model's
// answer may leave the figures to the claims.
func printClaims(s streams, v *engine.Verdict) {
	for i := range v.Claims {
		if text := v.Claims[i].Text; !strings.Contains(v.Text, text) {
			fmt.Fprintf(s.out, "- %s\n", handlers.Plain(text))
		}
	}
}

func printVerdict(s streams, r *runShape) {
	if r.Verdict != nil && r.Verdict.Text != "" {
		fmt.Fprintln(s.out, handlers.Plain(r.Verdict.Text))
		printClaims(s, r.Verdict)
	}
	if r.Verdict == nil {
		for _, u := range r.Unplanned {
			fmt.Fprintf(s.out, "Not planned: %q: %s\n", u.Clause, handlers.Plain(u.Why))
		}
	}
	if len(r.Fallbacks) > 0 {
		fmt.Fprintf(s.out, "The model of the %s could not be used: the built-in planner (no model) acted instead.\n", strings.Join(r.Fallbacks, " and the "))
	}
	switch {
	case r.Status == engine.Ended && len(r.Causes) > 0:
		fmt.Fprintf(s.out, "%s %s (%s)\n", r.ID, r.Code, handlers.Plain(strings.Join(r.Causes, ", ")))
	case r.Status == engine.Ended:
		fmt.Fprintf(s.out, "%s %s\n", r.ID, r.Code)
	case r.Review:
		fmt.Fprintf(s.out, "%s stands at its plan: open it in sluice serve to start it\n", r.ID)
	default:
		fmt.Fprintf(s.out, "%s waits for a person: open the approvals page of sluice serve\n", r.ID)
	}
}

// printWhy says of each step that was not done why, and what helps.
func printWhy(s streams, a *trace.Account) {
	for i := range a.Steps {
		w := &a.Steps[i]
		fmt.Fprintf(s.out, "  %s: %s\n", w.Node, handlers.Plain(strings.TrimSpace(w.Text+" "+w.Detail)))
	}
	for _, f := range a.Findings {
		fmt.Fprintf(s.out, "  %s\n", handlers.Plain(f))
	}
	for _, f := range a.Fixes {
		fmt.Fprintf(s.out, "  What you can do: %s\n", handlers.Plain(f))
	}
}

// intentRank reads an intent for commands that need no store.
func intentRank(p *policy.Policy, name string) (policy.Rank, error) {
	rank, ok := p.RankOf(name)
	if !ok {
		return 0, fmt.Errorf("there is no intent %q: %w", name, errUsage)
	}
	return rank, nil
}
