package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/engine"
	"sluice/policy"
	"sluice/store"
)

// Kinds of facts about the installation, on the stream admin (design §7).
const (
	tokenAdded = engine.Kind("token.added")
	signedIn   = engine.Kind("signed.in")
)

// deed is something done to the installation.
type deed struct {
	kind  engine.Kind
	actor string
	data  map[string]any
}

// record adds a fact about the installation: who did what, for the auditor.
func record(ctx context.Context, s *store.Store, d deed) error {
	raw, err := json.Marshal(d.data)
	if err != nil {
		return err
	}
	fact := engine.Fact{At: time.Now().UnixMicro(), Kind: d.kind, Actor: d.actor, Data: raw}
	if err := s.AppendNext(ctx, store.Admin, []engine.Fact{fact}); err != nil {
		return fmt.Errorf("record %s: %w", d.kind, err)
	}
	return nil
}

// tokenGrant is whom a token acts for, and up to which intent.
type tokenGrant struct {
	ceiling policy.Rank
	user    int64
}

// makeToken makes a token and puts it on record; the secret is in neither.
func makeToken(ctx context.Context, s *store.Store, name string, g tokenGrant) (madeToken, error) {
	var made madeToken
	var err error
	if made.ID, made.Token, err = s.AddToken(ctx, name, g.ceiling, g.user); err != nil {
		return madeToken{}, err
	}
	actor := fmt.Sprintf("user:%d", g.user)
	return made, record(ctx, s, deed{tokenAdded, actor, map[string]any{"id": made.ID, "name": name, "ceiling": int(g.ceiling), "user": actor}})
}
