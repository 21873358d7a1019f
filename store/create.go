package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// create registers a new run and its idempotency key in the transaction of the
// run's first facts (P33).
func (w *writer) create(m *RunMeta) (refused, failure error) {
	if m.IdempotencyKey != "" {
		known, err := queryKey(background(), w.conn, m.Owner, m.IdempotencyKey)
		switch {
		case err == nil && known.BodyHash == m.BodyHash:
			return &ExistsError{Run: known.Run}, nil
		case err == nil:
			return fmt.Errorf("idempotency key was used with another body: %w", ErrConflict), nil
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
		if err := w.exec("INSERT INTO idempotency (owner, key, run, body_hash) VALUES (?, ?, ?, ?)",
			m.Owner, m.IdempotencyKey, m.Run, m.BodyHash); err != nil {
			return nil, err
		}
	}
	w.changed = true
	return nil, w.exec("INSERT INTO runs ("+runColumns+") VALUES (?, ?, 0, 'planning', '', '', 0, ?, 0, x'7b7d') ON CONFLICT (id) DO NOTHING",
		m.Run, m.Owner, w.store.now().UnixMicro())
}

// KeyedRun is what an idempotency key has made.
type KeyedRun struct {
	Run      string
	BodyHash string // of the request that made it
}

// ExistingRun finds the run that an owner's idempotency key has made,
// ErrNotFound when it has made none.
func (s *Store) ExistingRun(ctx context.Context, owner, key string) (KeyedRun, error) {
	return queryKey(ctx, s.readers, owner, key)
}

func queryKey(ctx context.Context, db queryRower, owner, key string) (KeyedRun, error) {
	var k KeyedRun
	row := db.QueryRowContext(ctx, "SELECT run, body_hash FROM idempotency WHERE owner = ? AND key = ?", owner, key)
	err := row.Scan(&k.Run, &k.BodyHash)
	if errors.Is(err, sql.ErrNoRows) {
		return k, fmt.Errorf("idempotency key: %w", ErrNotFound)
	}
	return k, err
}
