package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// settingBytesMax bounds a setting's value.
const settingBytesMax = 64 << 10

// Setting is one value people chose for the installation. What of it is secret
// comes here encrypted.
type Setting struct {
	Name      string
	Value     []byte
	ChangedAt int64  // µs UTC
	ChangedBy string // principal (P25)
}

// Setting gives a setting. ErrNotFound: nobody set it.
func (s *Store) Setting(ctx context.Context, name string) (Setting, error) {
	found := Setting{Name: name}
	row := s.readers.QueryRowContext(ctx, "SELECT value, changed_at, changed_by FROM settings WHERE name = ?", name)
	err := row.Scan(&found.Value, &found.ChangedAt, &found.ChangedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return Setting{}, fmt.Errorf("setting %.80q: %w", name, ErrNotFound)
	}
	if err != nil {
		return Setting{}, fmt.Errorf("read setting: %w", err)
	}
	return found, nil
}

// SaveSetting sets a value; an empty one takes the setting away. The time is now.
func (s *Store) SaveSetting(ctx context.Context, v Setting) error {
	if v.Name == "" || len(v.Name) > nameBytesMax || len(v.Value) > settingBytesMax || v.ChangedBy == "" {
		return invalid("setting %.80q of %d bytes", v.Name, len(v.Value))
	}
	err := s.do(ctx, func(w *writer) error {
		if len(v.Value) == 0 {
			return w.exec("DELETE FROM settings WHERE name = ?", v.Name)
		}
		return w.exec("INSERT OR REPLACE INTO settings (name, value, changed_at, changed_by) VALUES (?, ?, ?, ?)",
			v.Name, v.Value, s.now().UnixMicro(), v.ChangedBy)
	})
	if err != nil {
		return fmt.Errorf("save setting: %w", err)
	}
	return nil
}
