package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sluice/engine"
	"sluice/engine/exec"
	"sluice/engine/model"
	"sluice/engine/plan"
	"sluice/engine/tool"
	"sluice/engine/trace"
	"sluice/policy"
	"sluice/policy/clearance"
	"sluice/store"
)

const (
	sealEvery   = 60 * time.Second // of activity (P36a)
	sealKeyFile = "seal.key"
	firstUser   = "Operator"
)

// app is the wired program without its HTTP side: what serve and run share.
type app struct {
	cfg      config
	lock     *store.Lock
	store    *store.Store
	policies *policies
	library  *library
	registry *tool.Registry
	planner  *builtin
	models   *modelSet
	turns    *turns
	shell    *exec.Shell
	key      ed25519.PrivateKey
	log      *slog.Logger

	sealing chan struct{} // a run ended: seal soon
	done    chan struct{}
	wait    sync.WaitGroup
}

// open locks the data directory and wires everything. Errors say what to do.
func open(ctx context.Context, cfg config, logTo io.Writer) (*app, error) {
	a := &app{turns: newTurns(), cfg: cfg, log: newLogger(cfg, logTo), sealing: make(chan struct{}, 1), done: make(chan struct{})}
	lock, err := store.LockDir(cfg.Data)
	if err != nil {
		return nil, err
	}
	a.lock = lock
	if err := a.wire(ctx); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func newLogger(cfg config, w io.Writer) *slog.Logger {
	level := slog.LevelWarn
	if cfg.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}

func (a *app) wire(ctx context.Context) error {
	var err error
	if a.store, err = store.Open(ctx, store.Options{Path: a.cfg.Data, Logger: a.log}); err != nil {
		return err
	}
	if _, err = a.store.EnsureFirstUser(ctx, firstUser); err != nil {
		return err
	}
	if a.key, err = sealKey(filepath.Join(a.cfg.Data, sealKeyFile)); err != nil {
		return err
	}
	if a.registry, err = tool.New(tool.Config{Workspace: a.cfg.Workspace, Worker: worker(), Mail: a.cfg.SMTP.mail()}); err != nil {
		return err
	}
	a.policies = &policies{store: a.store, log: a.log, tools: declared(a.registry.Catalog())}
	if err = a.policies.open(ctx, a.cfg.Policy); err != nil {
		return err
	}
	if a.planner, err = newBuiltin(a.registry.Catalog()); err != nil {
		return err
	}
	if a.library, err = openLibrary(ctx, a); err != nil {
		return err
	}
	a.planner.planner.Templates = a.library
	if a.models, err = openModels(ctx, a, &model.Tools{Catalog: a.registry.Catalog(), Search: a.planner.index}); err != nil {
		return err
	}
	past, err := a.store.Latencies(ctx)
	if err != nil {
		return err
	}
	a.shell = exec.New(exec.Config{Log: execLog{a.store},
		Tools:   tools{registry: a.registry, executor: tool.NewExecutor(a.registry), log: a.log},
		Planner: planners{a.planner, a.models}, Models: a.models.Current, Policies: a.policies, Redact: a.registry.Redactor().Text,
		Authorities: authorities{clearance.New(nil), a.registry.Redactor()}, Latency: past,
		Ended: func(run string) { a.sealSoon(); a.library.ended(run) }, Logger: a.log})
	a.wait.Add(2)
	go a.library.loop()
	go a.sealLoop()
	return a.recover(ctx)
}

func declared(catalog *plan.Catalog) []policy.Tool {
	names := catalog.Names()
	tools := make([]policy.Tool, len(names))
	for i, name := range names {
		t, _ := catalog.Lookup(name)
		tools[i] = t.Tool
	}
	return tools
}

// recover projects again what a crash left behind and lets live runs go on (P5, P33).
func (a *app) recover(ctx context.Context) error {
	stale, err := a.store.StaleRuns(ctx)
	if err != nil {
		return err
	}
	for _, run := range stale {
		if err := a.reproject(ctx, run); err != nil {
			return fmt.Errorf("project run %s: %w", run, err)
		}
	}
	live, err := a.store.LiveRuns(ctx)
	if err != nil {
		return err
	}
	return a.shell.Recover(live)
}

func (a *app) reproject(ctx context.Context, run string) error {
	p := trace.NewProjector(run)
	log := execLog{a.store}
	for {
		facts, err := log.Load(ctx, run, p.Seq(), 1000)
		if err != nil {
			return err
		}
		for i := range facts {
			p.Apply(facts[i])
		}
		if len(facts) == 0 {
			return a.store.SaveSummary(ctx, engine.Summarise(p.State()))
		}
	}
}

func (a *app) sealSoon() {
	select {
	case a.sealing <- struct{}{}:
	default:
	}
}

// sealLoop signs the heads of all streams after a run has ended and once a
// minute while anything moves; sealing what has not moved does nothing.
func (a *app) sealLoop() {
	defer a.wait.Done()
	tick := time.NewTicker(sealEvery)
	defer tick.Stop()
	for {
		select {
		case <-a.sealing:
		case <-tick.C:
		case <-a.done:
			return
		}
		if err := a.seal(context.Background()); err != nil {
			a.log.Error("seal heads", "err", err)
		}
	}
}

func (a *app) seal(ctx context.Context) error {
	_, err := a.store.Seal(ctx, a.key, time.Now().UnixMicro())
	return err
}

// close ends everything in the order that keeps what is durable true.
func (a *app) close() {
	if a.shell != nil {
		a.shell.Close()
		close(a.done)
		a.wait.Wait()
		if err := a.seal(context.Background()); err != nil {
			a.log.Error("seal heads", "err", err)
		}
	}
	for _, c := range []struct {
		what string
		end  func() error
	}{{"planner", a.closePlanner}, {"registry", a.closeRegistry}, {"store", a.closeStore}, {"lock", a.lock.Unlock}} {
		if err := c.end(); err != nil {
			a.log.Error("close "+c.what, "err", err)
		}
	}
}

func (a *app) closePlanner() error {
	if a.models != nil {
		a.models.close()
	}
	if a.planner == nil {
		return nil
	}
	return a.planner.Close()
}

func (a *app) closeRegistry() error {
	if a.registry == nil {
		return nil
	}
	return a.registry.Close()
}

func (a *app) closeStore() error {
	if a.store == nil {
		return nil
	}
	return a.store.Close()
}

// sealKey reads the key that signs seals, or makes it at first start (P36a).
func sealKey(path string) (ed25519.PrivateKey, error) {
	key, err := readSealKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return nil, fmt.Errorf("make seal key: %w", err)
	}
	if err := os.WriteFile(path, []byte(hex.EncodeToString(seed)+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("make seal key: %w", err)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// readSealKey gives fs.ErrNotExist where there is none yet.
func readSealKey(path string) (ed25519.PrivateKey, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read seal key: %w", err)
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(raw)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("read seal key: %s is not a key; restore it from a backup: %w", path, errUsage)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
