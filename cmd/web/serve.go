package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sluice/handlers"
	"sluice/store"
)

const (
	serverFile   = "server.json"
	signInWithin = 24 * time.Hour
	shutdownWait = 10 * time.Second
)

// serverInfo is DATA/server.json: how other commands reach the server (P36a).
type serverInfo struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

func serve(ctx context.Context, s streams, args []string) int {
	var cfg config
	f := newFlags("serve", "serve [--listen 127.0.0.1:8321] [--data DIR] [--workspace DIR] [--policy FILE]")
	f.StringVar(&cfg.Listen, "listen", "", "address to listen on, loopback only (SLUICE_LISTEN; default "+defaultListen+")")
	f.StringVar(&cfg.Policy, "policy", "", "policy document to publish at start (SLUICE_POLICY)")
	cfg.flags(f)
	rest, done, code := parse(f, s, args)
	if done {
		return code
	}
	if len(rest) > 0 {
		return fail(s, fmt.Errorf("serve takes no arguments, got %q: %w", rest[0], errUsage))
	}
	if err := cfg.settle(); err != nil {
		return fail(s, err)
	}
	if err := checkListen(cfg.Listen); err != nil {
		return fail(s, err)
	}
	if err := serveUntil(ctx, s, cfg); err != nil {
		return fail(s, err)
	}
	return exitYes
}

// serveUntil serves until ctx ends or the server fails.
func serveUntil(ctx context.Context, s streams, cfg config) error {
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; name another address with --listen", cfg.Listen, err)
	}
	defer listener.Close()
	a, err := open(ctx, cfg, s.err)
	if err != nil {
		if errors.Is(err, store.ErrLocked) {
			return fmt.Errorf("%w: another sluice uses %s", err, cfg.Data)
		}
		return err
	}
	defer a.close()
	info, err := a.announce(ctx, listener.Addr().String())
	if err != nil {
		return err
	}
	defer os.Remove(filepath.Join(cfg.Data, serverFile))
	link, err := a.store.CreateSignIn(ctx, 1, signInWithin)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "Open %s/signin?token=%s\n", info.URL, link)
	fmt.Fprintf(s.err, "Data in %s, workspace %s. The link signs in once; stop with Ctrl+C.\n", cfg.Data, cfg.Workspace)
	return a.serveHTTP(ctx, listener, info.Token)
}

// announce writes server.json, readable by its owner alone.
func (a *app) announce(_ context.Context, address string) (serverInfo, error) {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return serverInfo{}, fmt.Errorf("make local token: %w", err)
	}
	info := serverInfo{URL: "http://" + address, Token: "local_" + hex.EncodeToString(secret)}
	raw, err := json.Marshal(info)
	if err != nil {
		return info, err
	}
	path := filepath.Join(a.cfg.Data, serverFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return info, fmt.Errorf("write %s: %w", serverFile, err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return info, fmt.Errorf("write %s: %w", serverFile, err)
	}
	return info, nil
}

func (a *app) proposer() proposer {
	return proposer{planners{a.planner, a.models}, a.policies, a.store, a.turns}
}

// pages is the HTTP side over this program; local is the token of server.json.
func (a *app) pages(local string) (*handlers.Server, error) {
	return handlers.New(handlers.Config{
		Engine: running{a.shell, a.store}, Log: pageLog{a.store}, Accounts: accounts{a.store},
		Audit: audit{a.store, a.seal}, Planner: a.proposer(), Rules: rules{a.registry.Catalog(), a.policies},
		Drafts: drafts{a.store}, Templates: a.library, Policies: a.versions(), Models: modelPages{a.models}, Redact: a.registry.Redactor(),
		Sessions: a.store.Sessions(), LocalSecret: local, Logger: a.log, Program: program(), DataDir: dataDir(a.cfg.Data)})
}

// program and dataDir are what a person pastes to reach this very log.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return "sluice"
	}
	return path
}

func dataDir(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

func (a *app) serveHTTP(ctx context.Context, listener net.Listener, local string) error {
	h, err := a.pages(local)
	if err != nil {
		return err
	}
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := &http.Server{Handler: h.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: handlers.HeaderBytesMax, BaseContext: func(net.Listener) context.Context { return base }}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	cancel() // streams and sockets end, so that Shutdown need not wait for them
	h.Close()
	stop, free := context.WithTimeout(context.Background(), shutdownWait)
	defer free()
	if err := server.Shutdown(stop); err != nil {
		return fmt.Errorf("stop server: %w", err)
	}
	return nil
}
