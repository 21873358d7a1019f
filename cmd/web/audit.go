package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sluice/policy"
	"sluice/store"
)

const sealBytesMax = 1 << 30 // an export with its seals

func auditCommand(ctx context.Context, s streams, args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "verify":
			return auditVerify(ctx, s, args[1:])
		case "export":
			return auditExport(ctx, s, args[1:])
		}
		if isHelp(args[0]) {
			fmt.Fprintln(s.out, "usage: sluice audit verify [--seal FILE] [--json] | sluice audit export [--out FILE]")
			return exitYes
		}
	}
	return fail(s, fmt.Errorf("use audit verify or audit export: %w", errUsage))
}

func auditVerify(ctx context.Context, s streams, args []string) int {
	var cfg config
	var sealFile string
	var asJSON bool
	f := newFlags("audit verify", "audit verify [--seal FILE] [--json] [--data DIR]")
	f.StringVar(&sealFile, "seal", "", "an export kept elsewhere: shows what was cut off or rewritten since")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	cfg.storeFlags(f)
	if _, done, code := parse(f, s, args); done {
		return code
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	report, err := verifyLog(ctx, cfg, sealFile)
	if err != nil {
		return fail(s, err)
	}
	if asJSON {
		err = printJSON(s.out, report)
	} else {
		err = printReport(s.out, &report)
	}
	if err != nil {
		return fail(s, err)
	}
	if !report.OK {
		return exitNo
	}
	return exitYes
}

// verifyLog opens the store for reading: it works beside a running server (P34).
func verifyLog(ctx context.Context, cfg config, sealFile string) (store.Report, error) {
	var options store.VerifyOptions
	if sealFile != "" {
		raw, err := readLimited(sealFile, sealBytesMax)
		if err != nil {
			return store.Report{}, fmt.Errorf("read seals: %w", err)
		}
		options.Seal = raw
	}
	key, err := readSealKey(filepath.Join(cfg.Data, sealKeyFile))
	if err == nil {
		options.PublicKey = key.Public().(ed25519.PublicKey)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return store.Report{}, err
	}
	st, err := openReadOnly(ctx, cfg)
	if store.IsDamaged(err) {
		return store.Report{Streams: []store.StreamReport{{Stream: "database", Status: store.StatusBroken, Reason: err.Error()}}}, nil
	}
	if err != nil {
		return store.Report{}, err
	}
	defer st.Close()
	return st.Verify(ctx, options)
}

func openReadOnly(ctx context.Context, cfg config) (*store.Store, error) {
	if _, err := os.Stat(filepath.Join(cfg.Data, store.FileName)); err != nil {
		return nil, fmt.Errorf("open log: %w; name the data directory with --data", err)
	}
	return store.Open(ctx, store.Options{Path: cfg.Data, ReadOnly: true})
}

func printReport(w io.Writer, r *store.Report) error {
	for _, st := range r.Streams {
		line := fmt.Sprintf("%-9s %s at %d", st.Status, st.Stream, st.Seq)
		if st.Reason != "" {
			line += ": " + st.Reason
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	word := "the log verifies"
	if !r.OK {
		word = "the log does NOT verify"
	}
	_, err := fmt.Fprintln(w, word)
	return err
}

func auditExport(ctx context.Context, s streams, args []string) int {
	var cfg config
	var out string
	f := newFlags("audit export", "audit export [--out FILE] [--data DIR]")
	f.StringVar(&out, "out", "", "file to write; standard output when absent")
	cfg.storeFlags(f)
	if _, done, code := parse(f, s, args); done {
		return code
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	st, err := openReadOnly(ctx, cfg)
	if err != nil {
		return fail(s, err)
	}
	defer st.Close()
	if out == "" {
		if err := st.WriteExport(ctx, s.out); err != nil {
			return fail(s, err)
		}
		return exitYes
	}
	if err := exportTo(ctx, st, out); err != nil {
		return fail(s, err)
	}
	return exitYes
}

// exportTo writes beside the target first: a failed export leaves no half file.
func exportTo(ctx context.Context, st *store.Store, path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".sluice-export-*")
	if err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	defer os.Remove(f.Name())
	if err := errors.Join(st.WriteExport(ctx, f), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return os.Rename(f.Name(), path)
}

func eraseRun(ctx context.Context, s streams, args []string) int {
	var cfg config
	var reason string
	f := newFlags("erase", "erase RUN --reason TEXT [--data DIR]")
	f.StringVar(&reason, "reason", "", "why, kept in the log")
	cfg.storeFlags(f)
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	if len(rest) != 1 || reason == "" {
		return fail(s, fmt.Errorf("erase wants one run and --reason: %w", errUsage))
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	already, err := eraseWhere(ctx, s, cfg, store.Erasure{Run: rest[0], Reason: reason})
	switch {
	case err != nil:
		return fail(s, err)
	case already:
		fmt.Fprintf(s.out, "%s was already erased\n", rest[0])
	default:
		fmt.Fprintf(s.out, "%s erased\n", rest[0])
	}
	return exitYes
}

// eraseWhere erases through the server, or here when there is none. already says
// that there was nothing left to take away.
func eraseWhere(ctx context.Context, s streams, cfg config, e store.Erasure) (already bool, err error) {
	server, _ := findServer(ctx, cfg.Data)
	if server != nil {
		var done struct {
			Already bool `json:"already"`
		}
		err := server.call(ctx, request{http.MethodPost, "/api/v1/runs/" + e.Run + "/erase", map[string]string{"reason": e.Reason}}, &done)
		return done.Already, err
	}
	a, err := open(ctx, cfg, s.err)
	if err != nil {
		return false, err
	}
	defer a.close()
	if run, err := a.store.Run(ctx, e.Run); err == nil { // otherwise Erase says what is wrong
		already = run.Erased
	}
	e.Actor, e.At = "user:1", time.Now().UnixMicro()
	return already, refusal(a.store.Erase(ctx, e))
}

func tokenCommand(ctx context.Context, s streams, args []string) int {
	if len(args) == 0 || args[0] != "add" {
		if len(args) > 0 && isHelp(args[0]) {
			fmt.Fprintln(s.out, "usage: sluice token add --name NAME --ceiling observe|operate|override [--json]")
			return exitYes
		}
		return fail(s, fmt.Errorf("use token add --name NAME --ceiling observe: %w", errUsage))
	}
	var cfg config
	var name, ceiling string
	var asJSON bool
	f := newFlags("token add", "token add --name NAME --ceiling observe|operate|override [--json]")
	f.StringVar(&name, "name", "", "who will use it")
	f.StringVar(&ceiling, "ceiling", "observe", "highest intent it may submit with")
	f.BoolVar(&asJSON, "json", false, `print {"id","token"}`)
	cfg.storeFlags(f)
	rest, done, code := parse(f, s, args[1:])
	if done {
		return code
	}
	if name == "" || len(rest) > 0 {
		return fail(s, fmt.Errorf("token add wants --name: %w", errUsage))
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	made, err := addToken(ctx, s, cfg, tokenRequest{name, ceiling})
	if err != nil {
		return fail(s, err)
	}
	if asJSON {
		return printMade(s, made)
	}
	fmt.Fprintf(s.out, "%s\nThis is token %s. It is shown this once.\n", made.Token, made.ID)
	return exitYes
}

// madeToken is what token add prints (P42a).
type madeToken struct {
	ID    string `json:"id"`
	Token string `json:"token"`
}

// tokenRequest is POST /api/v1/tokens.
type tokenRequest struct {
	Name    string `json:"name"`
	Ceiling string `json:"ceiling"`
}

func printMade(s streams, made madeToken) int {
	if err := printJSON(s.out, made); err != nil {
		return fail(s, err)
	}
	return exitYes
}

func addToken(ctx context.Context, s streams, cfg config, t tokenRequest) (madeToken, error) {
	var made madeToken
	server, _ := findServer(ctx, cfg.Data)
	if server != nil {
		err := server.call(ctx, request{http.MethodPost, "/api/v1/tokens", t}, &made)
		return made, err
	}
	a, err := open(ctx, cfg, s.err)
	if err != nil {
		return made, err
	}
	defer a.close()
	rank, err := intentRank(a.policies.Current(), t.Ceiling)
	if err != nil {
		return made, err
	}
	return makeToken(ctx, a.store, t.Name, tokenGrant{min(rank, policy.RankMax), 1})
}
