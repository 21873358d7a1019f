package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"sluice/policy"
)

// Prefixes make a token's id and secret known for what they are wherever they turn up.
const (
	tokenIDPrefix     = "t_"
	tokenSecretPrefix = "sluice_"
)

// Token is an API token (P42a). It acts for its user up to its ceiling and can
// never decide an approval. The principal is "token:" and the id.
type Token struct {
	ID        string
	Name      string
	Ceiling   policy.Rank
	User      int64
	CreatedAt int64 // µs UTC
	RevokedAt int64 // µs UTC, 0 while it is good
}

// AddToken makes a token. The secret is given here once and kept as a hash.
// ErrNotFound: no such user.
func (s *Store) AddToken(ctx context.Context, name string, ceiling policy.Rank, user int64) (id, secret string, err error) {
	if name == "" || len(name) > nameBytesMax || ceiling < policy.Observe || ceiling > policy.RankMax {
		return "", "", invalid("token %.80q with ceiling %d", name, ceiling)
	}
	id, err = s.newSecret(idBytes)
	if err != nil {
		return "", "", err
	}
	secret, err = s.newSecret(secretBytes)
	if err != nil {
		return "", "", err
	}
	id, secret = tokenIDPrefix+id, tokenSecretPrefix+secret
	err = s.do(ctx, func(w *writer) error {
		if _, err := queryUser(background(), w.conn, user); err != nil {
			return err
		}
		return w.exec("INSERT INTO tokens (id, name, hash, ceiling, user, created_at) VALUES (?, ?, ?, ?, ?, ?)",
			id, name, secretHash(secret), int64(ceiling), user, s.now().UnixMicro())
	})
	if err != nil {
		return "", "", fmt.Errorf("add token: %w", err)
	}
	return id, secret, nil
}

const tokenSelect = "SELECT id, name, ceiling, user, created_at, revoked_at FROM tokens "

// TokenBySecret gives a token that is good. ErrNotFound: unknown or revoked.
func (s *Store) TokenBySecret(ctx context.Context, secret string) (Token, error) {
	row := s.readers.QueryRowContext(ctx, tokenSelect+"WHERE hash = ? AND revoked_at = 0", secretHash(secret))
	token, err := scanToken(row)
	if errors.Is(err, sql.ErrNoRows) {
		return Token{}, fmt.Errorf("token: %w", ErrNotFound)
	}
	return token, err
}

// Tokens lists all tokens, the newest first.
func (s *Store) Tokens(ctx context.Context) ([]Token, error) {
	rows, err := s.readers.QueryContext(ctx, tokenSelect+"ORDER BY created_at DESC, id")
	if err != nil {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	defer func() { _ = rows.Close() }()
	tokens := []Token{}
	for rows.Next() {
		token, err := scanToken(rows)
		if err != nil {
			return nil, fmt.Errorf("list tokens: %w", err)
		}
		tokens = append(tokens, token)
	}
	return tokens, rows.Err()
}

func scanToken(row scanner) (Token, error) {
	var t Token
	err := row.Scan(&t.ID, &t.Name, &t.Ceiling, &t.User, &t.CreatedAt, &t.RevokedAt)
	return t, err
}

// RevokeToken ends a token from now on. ErrNotFound: no such token that is good.
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	return s.do(ctx, func(w *writer) error {
		result, err := w.conn.ExecContext(background(), "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at = 0",
			s.now().UnixMicro(), id)
		if err != nil {
			return fmt.Errorf("revoke token: %w", err)
		}
		if changed, err := result.RowsAffected(); err != nil || changed == 0 {
			return fmt.Errorf("token %.80q: %w", id, errors.Join(ErrNotFound, err))
		}
		return nil
	})
}
