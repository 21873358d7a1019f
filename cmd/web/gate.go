package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
	"sluice/policy/gatecheck"
)

func gateCommand(_ context.Context, s streams, args []string) int {
	if len(args) == 0 || args[0] != "check" {
		if len(args) > 0 && isHelp(args[0]) {
			fmt.Fprintln(s.out, "usage: sluice gate check FILE|- [--policy FILE] [--intent observe] [--scope default]")
			return exitYes
		}
		return fail(s, fmt.Errorf("use gate check FILE, or - for standard input: %w", errUsage))
	}
	var policyFile, intent, scopes string
	f := newFlags("gate check", "gate check FILE|- [--policy FILE] [--intent observe] [--scope default]")
	f.StringVar(&policyFile, "policy", "", "policy document (default: that of a first start)")
	f.StringVar(&intent, "intent", "observe", "intent of calls that name none")
	f.StringVar(&scopes, "scope", "default", "scopes of calls that name none, separated by commas")
	f.Bool("json", true, "print JSON lines (always)")
	rest, done, code := parse(f, s, args[1:])
	if done {
		return code
	}
	if len(rest) > 1 {
		return fail(s, fmt.Errorf("gate check wants one file: %w", errUsage))
	}
	path := "-"
	if len(rest) == 1 {
		path = rest[0]
	}
	bad, err := gateCheck(s, path, gateFlags{policyFile, intent, scopes})
	switch {
	case err != nil:
		return fail(s, err)
	case bad > 0:
		return exitUsage
	}
	return exitYes
}

type gateFlags struct{ policy, intent, scopes string }

// gateCheck decides the calls of a file without a store (P37).
func gateCheck(s streams, path string, g gateFlags) (int, error) {
	doc, _, err := chosenDocument(g.policy)
	if err != nil {
		return 0, err
	}
	if doc == nil {
		d := policy.Default()
		doc = &d
	}
	p, err := policy.Compile(*doc)
	if err != nil {
		return 0, fmt.Errorf("compile policy: %w: %w", err, errUsage)
	}
	rank, err := intentRank(p, g.intent)
	if err != nil {
		return 0, err
	}
	in, closeIn, err := openInput(s, path)
	if err != nil {
		return 0, err
	}
	defer closeIn()
	registry, free, err := offline()
	if err != nil {
		return 0, err
	}
	defer free()
	return gatecheck.Run(in, s.out, gatecheck.Options{Policy: p, Intent: rank, Scopes: scopeList(g.scopes),
		Canonical: plan.Canonical, Tool: func(name string) (policy.Tool, bool) {
			t, ok := registry.Catalog().Lookup(name)
			if !ok {
				return policy.Tool{}, false
			}
			return t.Tool, true
		}})
}

// scopeList splits a flag; empty entries are no scopes.
func scopeList(flag string) []string {
	return strings.FieldsFunc(flag, func(r rune) bool { return r == ',' || r == ' ' })
}

func openInput(s streams, path string) (io.Reader, func(), error) {
	if path == "-" {
		return s.in, func() {}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read input: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, nil, fmt.Errorf("read input: %s is a folder: %w", path, errUsage)
	}
	return f, func() { _ = f.Close() }, nil
}
