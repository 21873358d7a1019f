package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const sessionBytesMax = 64 << 10

// Sessions keeps web sessions in the form the scs session manager wants. The
// cookie's token is kept as a hash: who reads the database gains no session.
type Sessions struct{ store *Store }

// Sessions gives the session store.
func (s *Store) Sessions() *Sessions { return &Sessions{store: s} }

// FindCtx gives the data of a session that has not expired.
func (s *Sessions) FindCtx(ctx context.Context, token string) (data []byte, found bool, err error) {
	row := s.store.readers.QueryRowContext(ctx, "SELECT data FROM sessions WHERE hash = ? AND expires_at > ?",
		secretHash(token), s.store.now().UnixMicro())
	err = row.Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("find session: %w", err)
	}
	return data, true, nil
}

// CommitCtx adds or replaces a session and sweeps those that have expired.
func (s *Sessions) CommitCtx(ctx context.Context, token string, data []byte, expiry time.Time) error {
	if len(data) > sessionBytesMax {
		return invalid("session of %d bytes, at most %d are allowed", len(data), sessionBytesMax)
	}
	return s.store.do(ctx, func(w *writer) error {
		if err := w.exec("DELETE FROM sessions WHERE expires_at <= ?", s.store.now().UnixMicro()); err != nil {
			return err
		}
		return w.exec("INSERT OR REPLACE INTO sessions (hash, data, expires_at) VALUES (?, ?, ?)",
			secretHash(token), notNull(data), expiry.UnixMicro())
	})
}

// DeleteCtx ends a session; an unknown one is no error.
func (s *Sessions) DeleteCtx(ctx context.Context, token string) error {
	return s.store.do(ctx, func(w *writer) error {
		return w.exec("DELETE FROM sessions WHERE hash = ?", secretHash(token))
	})
}

// Find is FindCtx without a context.
func (s *Sessions) Find(token string) (data []byte, found bool, err error) {
	return s.FindCtx(background(), token)
}

// Commit is CommitCtx without a context.
func (s *Sessions) Commit(token string, data []byte, expiry time.Time) error {
	return s.CommitCtx(background(), token, data, expiry)
}

// Delete is DeleteCtx without a context.
func (s *Sessions) Delete(token string) error { return s.DeleteCtx(background(), token) }
