package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/plan/yamlform"
	"sluice/engine/tool"
	"sluice/handlers"
	"sluice/policy"
)

func planCommand(ctx context.Context, s streams, args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "check":
			return planCheck(ctx, s, args[1:])
		case "propose":
			return planPropose(ctx, s, args[1:])
		}
		if isHelp(args[0]) {
			fmt.Fprintln(s.out, "usage: sluice plan check FILE|- [--policy FILE] | sluice plan propose \"goal\"")
			return exitYes
		}
	}
	return fail(s, fmt.Errorf("use plan check FILE or plan propose \"goal\": %w", errUsage))
}

// readPlan reads a plan document, "-" being standard input. What is too large is
// handed on cut, so that the finding names the limit.
func readPlan(s streams, path string) ([]byte, error) {
	in, closeIn, err := openInput(s, path)
	if err != nil {
		return nil, err
	}
	defer closeIn()
	raw, err := readUpTo(in, path, plan.DocumentBytesMax)
	if len(raw) > plan.DocumentBytesMax {
		return raw, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return raw, nil
}

// isYAML goes by the file's name.
func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}

// planJSON gives a plan file as JSON; what is wrong with its YAML comes as findings.
func planJSON(s streams, path string) ([]byte, []plan.Finding, error) {
	raw, err := readPlan(s, path)
	if err != nil || !isYAML(path) {
		return raw, nil, err
	}
	doc, findings := yamlform.ToJSON(raw)
	return doc, findings, nil
}

// offline gives the tool declarations without a data directory.
func offline() (*tool.Registry, func(), error) {
	dir, err := os.MkdirTemp("", "sluice-offline-")
	if err != nil {
		return nil, nil, err
	}
	registry, err := tool.New(tool.Config{Workspace: dir})
	if err != nil {
		return nil, nil, err
	}
	return registry, func() { _ = registry.Close(); _ = os.RemoveAll(dir) }, nil
}

func planCheck(_ context.Context, s streams, args []string) int {
	var policyFile, intent, scopes string
	f := newFlags("plan check", "plan check FILE|- [--policy FILE] [--intent observe] [--scope default]")
	f.StringVar(&policyFile, "policy", "", "policy document: adds its findings")
	f.StringVar(&intent, "intent", "observe", "intent the findings of the policy assume")
	f.StringVar(&scopes, "scope", "default", "scopes, separated by commas")
	f.Bool("json", true, "print JSON (always)")
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	if len(rest) != 1 {
		return fail(s, fmt.Errorf("plan check wants one file: %w", errUsage))
	}
	doc, findings, err := planJSON(s, rest[0])
	if err != nil {
		return fail(s, err)
	}
	env := plan.Env{Scopes: scopeList(scopes), Author: plan.Person, Requester: "user:1"}
	if err := policyFindings(&env, policyFile, intent); err != nil {
		return fail(s, err)
	}
	registry, free, err := offline()
	if err != nil {
		return fail(s, err)
	}
	defer free()
	env.Catalog = registry.Catalog()
	var compiled *plan.Compiled
	if len(findings) == 0 {
		compiled, findings = handlers.CompilePlan(doc, env, "bench")
	}
	report := handlers.CheckReport(compiled, findings)
	if err := printJSON(s.out, report); err != nil {
		return fail(s, err)
	}
	if !report.OK {
		return exitNo
	}
	return exitYes
}

func policyFindings(env *plan.Env, file, intent string) error {
	doc, _, err := chosenDocument(file)
	if err != nil || doc == nil {
		return err
	}
	if env.Policy, err = policy.Compile(*doc); err != nil {
		return fmt.Errorf("compile policy: %w: %w", err, errUsage)
	}
	env.Intent, err = intentRank(env.Policy, intent)
	return err
}

func planPropose(ctx context.Context, s streams, args []string) int {
	var cfg config
	var by string
	f := newFlags("plan propose", `plan propose "goal" [--by builtin|model]`)
	f.Bool("json", true, "print JSON (always)")
	f.StringVar(&by, "by", "builtin", "who plans: builtin (no model), or the planner model that is set up")
	cfg.flags(f)
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	goal := strings.TrimSpace(strings.Join(rest, " "))
	if goal == "" || len(goal) > engine.GoalBytesMax {
		return fail(s, fmt.Errorf("plan propose wants a goal of at most 8 KiB: %w", errUsage))
	}
	var shape proposed
	var err error
	switch by {
	case "builtin":
		shape, err = proposeOffline(goal)
	case "model":
		shape, err = proposeSetUp(ctx, s, &cfg, goal)
	default:
		err = fmt.Errorf("--by is builtin or model, not %q: %w", by, errUsage)
	}
	if err != nil {
		return fail(s, err)
	}
	if err := printJSON(s.out, shape.raw); err != nil {
		return fail(s, err)
	}
	if shape.isEmpty {
		return exitNo
	}
	return exitYes
}

// proposed is a proposal as it is printed (P38).
type proposed struct {
	raw     json.RawMessage
	isEmpty bool // neither plan nor answer
}

func shapeOf(out handlers.Proposal, err error) (proposed, error) {
	if err != nil {
		return proposed{}, err
	}
	raw, err := asPrinted(handlers.ProposalShape(out))
	return proposed{raw, out.Plan == nil && out.Answer == ""}, err
}

// proposeOffline needs no data directory.
func proposeOffline(goal string) (proposed, error) {
	registry, free, err := offline()
	if err != nil {
		return proposed{}, err
	}
	defer free()
	b, err := newBuiltin(registry.Catalog())
	if err != nil {
		return proposed{}, err
	}
	defer b.Close()
	return shapeOf(b.proposal(goal), nil)
}

// proposeSetUp asks the planner model, through the server when there is one.
func proposeSetUp(ctx context.Context, s streams, cfg *config, goal string) (proposed, error) {
	if err := cfg.settle(); err != nil {
		return proposed{}, err
	}
	if server, _ := findServer(ctx, cfg.Data); server != nil {
		server.http.Timeout = 0 // it takes as long as the model's own limits say
		var raw json.RawMessage
		body := map[string]string{"goal": goal, "by": "model"}
		if err := server.call(ctx, request{http.MethodPost, "/api/v1/plans/propose", body}, &raw); err != nil {
			return proposed{}, err
		}
		var shape struct{ Plan, Answer any }
		err := json.Unmarshal(raw, &shape)
		return proposed{raw, shape.Plan == nil && shape.Answer == nil}, err
	}
	a, err := open(ctx, *cfg, s.err)
	if err != nil {
		return proposed{}, err
	}
	defer a.close()
	return shapeOf(a.proposer().Propose(ctx, handlers.ProposalRequest{Goal: goal, By: "model", Owner: "user:1", Actor: "user:1"}))
}

// asPrinted is what printJSON and the API write of a value, without the line's end.
func asPrinted(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	err := printJSON(&b, v)
	return bytes.TrimSpace(b.Bytes()), err
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
