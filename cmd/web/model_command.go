package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"sluice/engine/tool"
	"sluice/handlers"
	"sluice/store"
)

func modelsCommand(ctx context.Context, s streams, args []string) int {
	if len(args) == 0 || args[0] != "check" {
		if len(args) > 0 && isHelp(args[0]) {
			fmt.Fprintln(s.out, "usage: sluice models check [--json]")
			return exitYes
		}
		return fail(s, fmt.Errorf("use models check: %w", errUsage))
	}
	var cfg config
	var asJSON bool
	f := newFlags("models check", "models check [--json]")
	f.BoolVar(&asJSON, "json", false, `print {"ok","roles"}`)
	cfg.flags(f)
	rest, done, code := parse(f, s, args[1:])
	if done {
		return code
	}
	if len(rest) > 0 {
		return fail(s, fmt.Errorf("models check takes no arguments, got %q: %w", rest[0], errUsage))
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	report, err := checkModels(ctx, s, &cfg)
	if err != nil {
		return fail(s, err)
	}
	return printChecks(s, &report, asJSON)
}

// modelReport is what models check prints: ok when every role works.
type modelReport struct {
	OK    bool                  `json:"ok"`
	Roles []handlers.ModelCheck `json:"roles"`
}

// checkModels asks the server that holds the data directory, or tries from here:
// also what flags name while a server runs with other settings.
func checkModels(ctx context.Context, s streams, cfg *config) (modelReport, error) {
	var report modelReport
	if server, _ := findServer(ctx, cfg.Data); server != nil && cfg.Models == (modelFlags{}) {
		server.http.Timeout = 0 // a check takes as long as its own limits say
		err := server.call(ctx, request{http.MethodPost, "/api/v1/models/check", map[string]any{}}, &report)
		return report, err
	}
	roles, free, err := rolesHere(ctx, s, cfg)
	if err != nil {
		return report, err
	}
	defer free()
	report.OK = true
	for _, c := range roles {
		check := checkRole(ctx, &c)
		report.OK = report.OK && check.OK
		report.Roles = append(report.Roles, check)
	}
	return report, nil
}

// rolesHere works out the roles without starting anything. Where there is no
// data directory, none is made.
func rolesHere(ctx context.Context, s streams, cfg *config) ([]modelConfig, func(), error) {
	_, err := os.Stat(filepath.Join(cfg.Data, store.FileName))
	server, _ := findServer(ctx, cfg.Data)
	if errors.Is(err, fs.ErrNotExist) || server != nil {
		planner := mergeRole(cfg.sources(), plannerRole, nil)
		return []modelConfig{planner, mergeRole(cfg.sources(), executorRole, &planner)}, func() {}, nil
	}
	lock, err := store.LockDir(cfg.Data)
	if err != nil {
		return nil, nil, err
	}
	log := newLogger(*cfg, s.err)
	kept, err := store.Open(ctx, store.Options{Path: cfg.Data, Logger: log})
	if err != nil {
		return nil, nil, errors.Join(err, lock.Unlock())
	}
	free := func() { _, _ = kept.Close(), lock.Unlock() }
	m := &modelSet{store: kept, vault: newVault(cfg.Data), redact: tool.NewRedactor(nil), log: log, fixed: cfg.sources()}
	pages, err := m.readPages(ctx)
	if err != nil {
		free()
		return nil, nil, err
	}
	roles := m.merged(pages)
	return []modelConfig{roles[plannerRole], roles[executorRole]}, free, nil
}

// printChecks says per role what works; exit 1 when a role does not (P36).
func printChecks(s streams, report *modelReport, asJSON bool) int {
	code := exitYes
	if !report.OK {
		code = exitNo
	}
	if asJSON {
		if err := printJSON(s.out, report); err != nil {
			return fail(s, err)
		}
		return code
	}
	for i := range report.Roles {
		r := &report.Roles[i]
		if !r.Configured {
			fmt.Fprintf(s.out, "%-9s none: the built-in planner acts (no model)\n", r.Role)
			continue
		}
		fmt.Fprintf(s.out, "%-9s %s at %s\n", r.Role, r.Model, r.BaseURL)
		fmt.Fprintf(s.out, "          reached %s, listed %s, streams %s, structure %s, usage %s, %d ms\n", yesNo(r.Reached), r.Listed,
			yesNo(r.Streams), first(r.Structure, "none"), yesNo(r.Usage), r.LatencyMS)
		if r.Problem != "" {
			fmt.Fprintf(s.out, "          does not work: %s\n", r.Problem)
		}
	}
	return code
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
