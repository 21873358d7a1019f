package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

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

// open finds the policy in force: the newest published, or the default at
// first start. A document named in the configuration is published when it is
// another one.
func (p *policies) open(ctx context.Context, path string) error {
	doc, err := chosenDocument(path)
	if err != nil {
		return err
	}
	last, err := p.published(ctx)
	if err != nil {
		return err
	}
	if doc == nil && last != "" {
		loaded, err := p.ByHash(ctx, last)
		if err == nil {
			p.current.Store(loaded)
		}
		return err
	}
	if doc == nil {
		d := policy.Default()
		doc = &d
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
	if compiled.Hash() == last {
		return nil
	}
	return p.publish(ctx, compiled)
}

// chosenDocument reads the document the operator named, nil when none.
func chosenDocument(path string) (*policy.Document, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := readLimited(path, policyBytesMax)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	doc, problems := document.Parse(raw)
	if len(problems) > 0 {
		first := problems[0]
		return nil, fmt.Errorf("read policy %s: line %d, column %d: %s: %w", path, first.Line, first.Col, first.Message, errUsage)
	}
	return &doc, nil
}

// published is the hash of the newest policy on record, "" before the first.
func (p *policies) published(ctx context.Context) (string, error) {
	hash := ""
	for after := int64(0); ; {
		rows, err := p.store.Facts(ctx, store.Admin, after, 1000)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
		for i := range rows {
			after = rows[i].Seq
			var data struct {
				Policy string `json:"policy"`
			}
			if rows[i].Kind == policyPublished && json.Unmarshal(rows[i].Data, &data) == nil {
				hash = data.Policy
			}
		}
		if len(rows) == 0 {
			return hash, nil
		}
	}
}

// publish stores the document before the fact that names it.
func (p *policies) publish(ctx context.Context, c *policy.Policy) error {
	if err := p.store.PutContent(ctx, c.Hash(), "policy", c.Canonical()); err != nil {
		return err
	}
	return record(ctx, p.store, deed{policyPublished, "system", map[string]any{"policy": c.Hash()}})
}
