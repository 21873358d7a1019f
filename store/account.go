package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

const nameBytesMax = 200

// Role is what a person may do (P35).
type Role string

// The closed set of roles.
const (
	RoleViewer      Role = "viewer"
	RoleOperator    Role = "operator"
	RoleApprover    Role = "approver"
	RolePolicyOwner Role = "policy_owner"
	RoleAuditor     Role = "auditor"
	RoleAdmin       Role = "admin"
)

// AllRoles is what the first user has (P35).
func AllRoles() []Role {
	return []Role{RoleViewer, RoleOperator, RoleApprover, RolePolicyOwner, RoleAuditor, RoleAdmin}
}

// User is a person. The principal is "user:" and the id (P25).
type User struct {
	ID        int64
	Name      string
	Roles     []Role
	CreatedAt int64 // µs UTC
}

// EnsureFirstUser gives user 1, who is made with all roles when there is nobody.
func (s *Store) EnsureFirstUser(ctx context.Context, name string) (User, error) {
	if name == "" || len(name) > nameBytesMax {
		return User{}, invalid("user name of %d bytes", len(name))
	}
	roles, err := json.Marshal(AllRoles())
	if err != nil {
		return User{}, err
	}
	var user User
	err = s.do(ctx, func(w *writer) error {
		if err := w.exec("INSERT INTO users (id, name, roles, created_at) SELECT 1, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM users)",
			name, string(roles), s.now().UnixMicro()); err != nil {
			return err
		}
		user, err = queryUser(background(), w.conn, 1)
		return err
	})
	if err != nil {
		return User{}, fmt.Errorf("make first user: %w", err)
	}
	return user, nil
}

// AddUser makes another user. ErrConflict: the name is taken.
func (s *Store) AddUser(ctx context.Context, name string, roles []Role) (User, error) {
	if name == "" || len(name) > nameBytesMax {
		return User{}, invalid("user name of %d bytes", len(name))
	}
	for _, role := range roles {
		if !slices.Contains(AllRoles(), role) {
			return User{}, invalid("role %.80q", role)
		}
	}
	encoded, err := json.Marshal(roles)
	if err != nil {
		return User{}, err
	}
	var user User
	err = s.do(ctx, func(w *writer) error {
		var id int64
		row := w.conn.QueryRowContext(background(), "INSERT INTO users (name, roles, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING id",
			name, string(encoded), s.now().UnixMicro())
		if err := row.Scan(&id); errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("user name %.80q is taken: %w", name, ErrConflict)
		} else if err != nil {
			return err
		}
		user, err = queryUser(background(), w.conn, id)
		return err
	})
	if err != nil {
		return User{}, fmt.Errorf("add user: %w", err)
	}
	return user, nil
}

// User gives a user by id, ErrNotFound when there is none.
func (s *Store) User(ctx context.Context, id int64) (User, error) {
	return queryUser(ctx, s.readers, id)
}

// Users gives everybody, in the order of their ids.
func (s *Store) Users(ctx context.Context) ([]User, error) {
	ids, err := s.userIDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	list := make([]User, len(ids))
	for i, id := range ids {
		if list[i], err = s.User(ctx, id); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s *Store) userIDs(ctx context.Context) ([]int64, error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT id FROM users ORDER BY id")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func queryUser(ctx context.Context, db queryRower, id int64) (User, error) {
	user := User{ID: id}
	var roles string
	row := db.QueryRowContext(ctx, "SELECT name, roles, created_at FROM users WHERE id = ?", id)
	err := row.Scan(&user.Name, &roles, &user.CreatedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return User{}, fmt.Errorf("user %d: %w", id, ErrNotFound)
	}
	if err != nil {
		return User{}, fmt.Errorf("read user: %w", err)
	}
	if err := json.Unmarshal([]byte(roles), &user.Roles); err != nil {
		return User{}, fmt.Errorf("read roles of user %d: %w", id, err)
	}
	return user, nil
}

// CreateSignIn makes a link secret that signs a user in once, until validFor is
// over. Only its hash is kept.
func (s *Store) CreateSignIn(ctx context.Context, user int64, validFor time.Duration) (secret string, err error) {
	secret, err = s.newSecret(secretBytes)
	if err != nil {
		return "", err
	}
	now := s.now()
	err = s.do(ctx, func(w *writer) error {
		if err := w.exec("DELETE FROM signins WHERE expires_at <= ?", now.UnixMicro()); err != nil {
			return err
		}
		if _, err := queryUser(background(), w.conn, user); err != nil {
			return err
		}
		return w.exec("INSERT INTO signins (hash, user, expires_at) VALUES (?, ?, ?)",
			secretHash(secret), user, now.Add(validFor).UnixMicro())
	})
	if err != nil {
		return "", fmt.Errorf("make sign-in link: %w", err)
	}
	return secret, nil
}

// UseSignIn gives the user of a sign-in secret and spends it in the same
// transaction: of two who use it at once, one gets ErrNotFound, as everyone does
// with a spent, expired or unknown secret.
func (s *Store) UseSignIn(ctx context.Context, secret string) (User, error) {
	var user User
	err := s.do(ctx, func(w *writer) error {
		var id, expires int64
		row := w.conn.QueryRowContext(background(), "DELETE FROM signins WHERE hash = ? RETURNING user, expires_at", secretHash(secret))
		err := row.Scan(&id, &expires)
		if errors.Is(err, sql.ErrNoRows) || err == nil && expires <= s.now().UnixMicro() {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		user, err = queryUser(background(), w.conn, id)
		return err
	})
	if err != nil {
		return User{}, fmt.Errorf("use sign-in link: %w", err)
	}
	return user, nil
}
