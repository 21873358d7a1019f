package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"sluice/handlers"
)

const policyUsage = "usage: sluice policy check FILE|- [--json] | sluice policy dry-run FILE|- [--json] [--limit N] [--cursor CURSOR] [--data DIR]"

func policyCommand(ctx context.Context, s streams, args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "check":
			return policyCheck(ctx, s, args[1:])
		case "dry-run":
			return policyDryRun(ctx, s, args[1:])
		}
		if isHelp(args[0]) {
			fmt.Fprintln(s.out, policyUsage)
			return exitYes
		}
	}
	return fail(s, fmt.Errorf("use policy check FILE or policy dry-run FILE: %w", errUsage))
}

// readPolicyText reads the one file that the command was given.
func readPolicyText(s streams, rest []string) (string, error) {
	if len(rest) != 1 {
		return "", fmt.Errorf("name one policy file, or - for standard input: %w", errUsage)
	}
	in, closeIn, err := openInput(s, rest[0])
	if err != nil {
		return "", err
	}
	defer closeIn()
	raw, err := readUpTo(in, rest[0], policyBytesMax)
	if err != nil {
		return "", fmt.Errorf("read policy: %w", err)
	}
	return string(raw), nil
}

func policyCheck(_ context.Context, s streams, args []string) int {
	var asJSON bool
	f := newFlags("policy check", "policy check FILE|- [--json]")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	text, err := readPolicyText(s, rest)
	if err != nil {
		return fail(s, err)
	}
	registry, free, err := offline()
	if err != nil {
		return fail(s, err)
	}
	defer free()
	_, report := handlers.CheckPolicy(text, registry.Catalog())
	if asJSON {
		err = printJSON(s.out, report)
	} else {
		printPolicyReport(s.out, rest[0], &report)
	}
	switch {
	case err != nil:
		return fail(s, err)
	case !report.OK:
		return exitNo
	}
	return exitYes
}

func printPolicyReport(w io.Writer, file string, r *handlers.PolicyReport) {
	for _, i := range r.Issues {
		fmt.Fprintf(w, "%s:%d:%d: %s\n", file, i.Line, i.Col, i.Message)
	}
	for _, text := range r.Warnings {
		fmt.Fprintln(w, "warning: "+text)
	}
	if r.Hash != nil {
		fmt.Fprintln(w, *r.Hash)
	}
}

func policyDryRun(ctx context.Context, s streams, args []string) int {
	var cfg config
	var asJSON bool
	var page handlers.CallPage
	f := newFlags("policy dry-run", "policy dry-run FILE|- [--json] [--limit N] [--cursor CURSOR] [--data DIR]")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	f.IntVar(&page.Limit, "limit", handlers.PageMax, "how many changed calls to list, at most "+strconv.Itoa(handlers.PageMax))
	f.StringVar(&page.Cursor, "cursor", "", "go on behind a report: its next")
	cfg.storeFlags(f)
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	text, err := readPolicyText(s, rest)
	if err != nil {
		return fail(s, err)
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	if page.Limit < 1 || page.Limit > handlers.PageMax {
		return fail(s, fmt.Errorf("--limit is 1 to %d: %w", handlers.PageMax, errUsage))
	}
	report, err := tryPolicy(ctx, s, cfg, draftTry{text, page})
	if err != nil {
		return fail(s, err)
	}
	if asJSON {
		err = printJSON(s.out, report)
	} else {
		printTrial(s.out, &report)
	}
	if err != nil {
		return fail(s, err)
	}
	return exitYes
}

// draftTry is a text to try, and which of the changed calls to list.
type draftTry struct {
	text string
	page handlers.CallPage
}

// tryPolicy asks the running server, or opens the data itself when there is none.
func tryPolicy(ctx context.Context, s streams, cfg config, t draftTry) (handlers.TrialReport, error) {
	var report handlers.TrialReport
	server, a, err := serverOrData(ctx, s, cfg)
	if err != nil {
		return report, err
	}
	if server != nil {
		err := server.call(ctx, request{http.MethodPost, "/api/v1/policies/dry-run", map[string]any{"yaml": t.text, "cursor": t.page.Cursor, "limit": t.page.Limit}}, &report)
		return report, err
	}
	defer a.close()
	draft, check := handlers.CheckPolicy(t.text, a.registry.Catalog())
	if draft == nil {
		first := check.Issues[0]
		return report, fmt.Errorf("read policy: line %d, column %d: %s: %w", first.Line, first.Col, first.Message, errUsage)
	}
	trial, err := a.versions().Try(ctx, draft, t.page)
	if err != nil {
		return report, err
	}
	return handlers.ReportTrial(draft.Hash(), &trial, func(string) bool { return true }), nil
}

func printTrial(w io.Writer, r *handlers.TrialReport) {
	fmt.Fprintf(w, "%d recorded calls\n", r.Calls)
	for i := range r.Changes {
		c := &r.Changes[i]
		from, to := c.Words()
		fmt.Fprintf(w, "%6d  %s -> %s (%s)\n", c.Count, from, to, c.Direction)
	}
	fmt.Fprintf(w, "%6d  unchanged\n", r.Unchanged)
	if r.Reasked > 0 {
		fmt.Fprintf(w, "%6d  of these ask other people or authorities than now\n", r.Reasked)
	}
	if r.Erased > 0 {
		fmt.Fprintf(w, "%6d  erased, not tried\n", r.Erased)
	}
	if r.Left > 0 {
		fmt.Fprintf(w, "%6d  older, not tried\n", r.Left)
	}
	for i := range r.List {
		c := &r.List[i]
		from, to := c.Words()
		fmt.Fprintf(w, "%s  %-5s -> %-5s  %s %s  %s %s\n", c.At, from, to, c.Tool, c.What, c.Run, c.Node)
	}
	if r.Next != "" {
		fmt.Fprintln(w, "There are more: --cursor "+r.Next+" lists them.")
	}
}
