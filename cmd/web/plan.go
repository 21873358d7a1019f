package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	f := newFlags("plan propose", `plan propose "goal"`)
	f.Bool("json", true, "print JSON (always)")
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	goal := strings.TrimSpace(strings.Join(rest, " "))
	if goal == "" || len(goal) > engine.GoalBytesMax {
		return fail(s, fmt.Errorf("plan propose wants a goal of at most 8 KiB: %w", errUsage))
	}
	registry, free, err := offline()
	if err != nil {
		return fail(s, err)
	}
	defer free()
	b, err := newBuiltin(registry.Catalog())
	if err != nil {
		return fail(s, err)
	}
	defer b.Close()
	out, err := proposer{b}.Propose(ctx, goal)
	if err != nil {
		return fail(s, err)
	}
	if err := printJSON(s.out, handlers.ProposalShape(out)); err != nil {
		return fail(s, err)
	}
	if out.Plan == nil && out.Answer == "" {
		return exitNo
	}
	return exitYes
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
