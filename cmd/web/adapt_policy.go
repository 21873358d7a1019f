package main

import (
	"context"
	"errors"
	"fmt"
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
)

// policies knows the policy in force and, by hash, every one that was (P29).
type policies struct {
	store   *store.Store
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
// the configuration is published when it is another one than that in force.
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
		loaded, err := p.ByHash(ctx, active.Hash)
		if err == nil {
			p.current.Store(loaded)
		}
		return err
	}
	if doc == nil {
		d := policy.Default()
		doc, text, reason = &d, document.Marshal(d), "first start"
	}
	compiled, err := policy.Compile(*doc)
	if err != nil {
		return fmt.Errorf("compile policy: %w: %w", err, errUsage)
	}
	if issues := policy.CheckAgainst(*doc, p.tools); len(issues) > 0 {
		return fmt.Errorf("check policy: %s: %s: %w", issues[0].Pointer, issues[0].Message, errUsage)
	}
	p.known.Store(compiled.Hash(), compiled)
	p.current.Store(compiled)
	if compiled.Hash() == active.Hash {
		return nil
	}
	_, err = p.store.PublishPolicy(ctx, store.Publication{Hash: compiled.Hash(), Canonical: compiled.Canonical(), Text: text,
		Base: active.Version, Reason: reason, Actor: "system", At: time.Now().UnixMicro()})
	return err
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
