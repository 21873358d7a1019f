package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"sluice/policy"
	"sluice/policy/document"
	"sluice/store"
)

const (
	policyBytesMax = 256 << 10
	versionsPage   = 100
	systemActor    = "system" // who publishes what the configuration says
	firstStart     = "first start"
)

// policies knows the policy in force and, by hash, every one that was (P29).
type policies struct {
	store   *store.Store
	log     *slog.Logger
	tools   []policy.Tool // what a document's lowerings are checked against
	current atomic.Pointer[policy.Policy]
	known   sync.Map // hash → *policy.Policy

	publishing sync.Mutex // one publication after the other
}

func (p *policies) Current() *policy.Policy { return p.current.Load() }

func (p *policies) ByHash(ctx context.Context, hash string) (*policy.Policy, error) {
	if got, ok := p.known.Load(hash); ok {
		return got.(*policy.Policy), nil
	}
	_, canonical, err := p.store.Content(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("load policy %s: %w", hash, err)
	}
	loaded, err := policy.Load(canonical)
	if err != nil {
		return nil, fmt.Errorf("load policy %s: %w", hash, err)
	}
	p.known.Store(hash, loaded)
	return loaded, nil
}

// open finds the policy in force: the newest version, or version 1 from the
// configured document, or from the default, at first start. A document named in
// the configuration is published when it has changed since it was last published
// from there: a restart takes back nothing that people published on top of it, a
// kill switch least of all.
func (p *policies) open(ctx context.Context, path string) error {
	doc, text, err := chosenDocument(path)
	if err != nil {
		return err
	}
	active, err := p.store.ActivePolicy(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	reason := "from " + filepath.Base(path)
	if doc == nil && active.Version > 0 {
		return p.restore(ctx, active.Hash)
	}
	if doc == nil {
		d := policy.Default()
		doc, text, reason = &d, document.Marshal(d), firstStart
	}
	compiled, err := policy.Compile(*doc)
	if err != nil {
		return fmt.Errorf("compile policy: %w: %w", err, errUsage)
	}
	if issues := policy.CheckAgainst(*doc, p.tools); len(issues) > 0 {
		return fmt.Errorf("check policy: %s: %s: %w", issues[0].Pointer, issues[0].Message, errUsage)
	}
	p.known.Store(compiled.Hash(), compiled)
	isOld, err := p.isConfigured(ctx, compiled.Hash())
	if err != nil {
		return err
	}
	if isOld {
		if compiled.Hash() != active.Hash {
			p.log.Warn("the policy file has not changed since it was published; what was published later stays in force",
				"file", path, "version", active.Version, "by", active.Actor)
		}
		return p.restore(ctx, active.Hash)
	}
	p.current.Store(compiled)
	if compiled.Hash() == active.Hash {
		return nil
	}
	_, err = p.store.PublishPolicy(ctx, store.Publication{Hash: compiled.Hash(), Canonical: compiled.Canonical(), Text: text,
		Base: active.Version, Reason: reason, Actor: systemActor, At: time.Now().UnixMicro()})
	return err
}

// restore makes the version in force the current one.
func (p *policies) restore(ctx context.Context, hash string) error {
	loaded, err := p.ByHash(ctx, hash)
	if err == nil {
		p.current.Store(loaded)
	}
	return err
}

// isConfigured says whether the newest version that came from the configuration
// is this document.
func (p *policies) isConfigured(ctx context.Context, hash string) (bool, error) {
	for before := 0; ; {
		page, err := p.store.Policies(ctx, before, versionsPage)
		if err != nil || len(page) == 0 {
			return false, err
		}
		for _, v := range page {
			if v.Actor == systemActor && v.Reason != firstStart {
				return v.Hash == hash, nil
			}
		}
		before = page[len(page)-1].Version
	}
}

// chosenDocument reads the document the operator named, nil when none, and
// gives its text as well.
func chosenDocument(path string) (*policy.Document, []byte, error) {
	if path == "" {
		return nil, nil, nil
	}
	raw, err := readLimited(path, policyBytesMax)
	if err != nil {
		return nil, nil, fmt.Errorf("read policy: %w", err)
	}
	doc, problems := document.Parse(raw)
	if len(problems) > 0 {
		first := problems[0]
		return nil, nil, fmt.Errorf("read policy %s: line %d, column %d: %s: %w", path, first.Line, first.Col, first.Message, errUsage)
	}
	return &doc, raw, nil
}
