package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"sluice/engine"
)

// Kinds of the facts about templates, on the stream admin.
const (
	TemplateSaved       = engine.Kind("template.saved")
	TemplateQuarantined = engine.Kind("template.quarantined")
)

const contentTemplate = "template"

// Limits on templates.
const (
	TemplateNamesMax     = 500
	TemplateBytesMax     = 1 << 20
	templateTitleBytes   = 1_000
	templateOriginBytes  = 200
	templateReasonsBytes = 1_000
)

// TemplateVersion is one version of a template: 1, 2, 3 … of its name.
type TemplateVersion struct {
	Name          string
	Version       int
	Seq           int64  // of the fact that saved it
	Hash          string // of the document, "sha256:…"
	Title         string
	Owner         string // principal, "system" for shipped ones
	Origin        string // "run:r_…", "draft:d_…", "file" or "shipped"
	Actor         string
	At            int64  // µs UTC
	Quarantine    string // why it is not offered, "" when it is
	QuarantinedBy string
	QuarantinedAt int64
}

// Ref names a version as runs do.
func (t *TemplateVersion) Ref() string { return fmt.Sprintf("%s@%d", t.Name, t.Version) }

// templateData is the data of both kinds of facts.
type templateData struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Hash    string `json:"hash,omitempty"`
	Title   string `json:"title,omitempty"`
	Owner   string `json:"owner,omitempty"`
	From    string `json:"from,omitempty"`
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by"`
}

// SaveTemplate stores the document and then, in one transaction, the fact and
// the row of the next version of v's name; doc is the canonical document of
// v.Hash. ErrInvalid: one name more than TemplateNamesMax.
func (s *Store) SaveTemplate(ctx context.Context, v TemplateVersion, doc []byte) (TemplateVersion, error) {
	if v.Name == "" || len(v.Name) > keyBytesMax || len(v.Title) > templateTitleBytes || len(v.Origin) > templateOriginBytes || len(doc) > TemplateBytesMax {
		return v, invalid("template %.80q with a document of %d bytes", v.Name, len(doc))
	}
	if err := s.PutContent(ctx, v.Hash, contentTemplate, doc); err != nil {
		return v, fmt.Errorf("save template: %w", err)
	}
	if err := s.do(ctx, func(w *writer) error { return w.saveTemplate(&v) }); err != nil {
		return v, fmt.Errorf("save template: %w", err)
	}
	return v, nil
}

func (w *writer) saveTemplate(v *TemplateVersion) error {
	row := w.conn.QueryRowContext(background(), "SELECT coalesce(max(version), 0) FROM templates WHERE name = ?", v.Name)
	if err := row.Scan(&v.Version); err != nil {
		return err
	}
	if v.Version == 0 {
		var names int
		if err := w.conn.QueryRowContext(background(), "SELECT count(DISTINCT name) FROM templates").Scan(&names); err != nil {
			return err
		}
		if names >= TemplateNamesMax {
			return invalid("there are %d templates, at most %d are kept", names, TemplateNamesMax)
		}
	}
	v.Version++
	seq, err := w.recordAdmin(engine.Fact{At: v.At, Kind: TemplateSaved, Actor: v.Actor},
		templateData{Name: v.Name, Version: v.Version, Hash: v.Hash, Title: v.Title, Owner: v.Owner, From: v.Origin, By: v.Actor})
	if err != nil {
		return err
	}
	v.Seq = seq
	return w.exec("INSERT INTO templates ("+templateColumns+") VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
		v.Name, v.Version, v.Seq, v.Hash, v.Title, v.Owner, v.Origin, v.Actor, v.At, "", "", 0)
}

// QuarantineTemplate says of one version why it is not offered any more. One
// that is quarantined already stays as it is.
func (s *Store) QuarantineTemplate(ctx context.Context, v TemplateVersion) error {
	if v.Quarantine == "" || len(v.Quarantine) > templateReasonsBytes {
		return invalid("quarantine with a reason of %d bytes", len(v.Quarantine))
	}
	err := s.do(ctx, func(w *writer) error {
		var known string
		row := w.conn.QueryRowContext(background(), "SELECT quarantine FROM templates WHERE name = ? AND version = ?", v.Name, v.Version)
		if err := row.Scan(&known); err != nil || known != "" {
			return notFoundRow(err)
		}
		_, err := w.recordAdmin(engine.Fact{At: v.QuarantinedAt, Kind: TemplateQuarantined, Actor: v.QuarantinedBy},
			templateData{Name: v.Name, Version: v.Version, Reason: v.Quarantine, By: v.QuarantinedBy})
		if err != nil {
			return err
		}
		return w.exec("UPDATE templates SET quarantine = ?, quarantined_by = ?, quarantined_at = ? WHERE name = ? AND version = ?",
			v.Quarantine, v.QuarantinedBy, v.QuarantinedAt, v.Name, v.Version)
	})
	if err != nil {
		return fmt.Errorf("quarantine template: %w", err)
	}
	return nil
}

func notFoundRow(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

const templateColumns = "name, version, seq, hash, title, owner, origin, actor, at, quarantine, quarantined_by, quarantined_at"

func scanTemplate(row scanner) (TemplateVersion, error) {
	var v TemplateVersion
	err := row.Scan(&v.Name, &v.Version, &v.Seq, &v.Hash, &v.Title, &v.Owner, &v.Origin, &v.Actor, &v.At,
		&v.Quarantine, &v.QuarantinedBy, &v.QuarantinedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return v, fmt.Errorf("template: %w", ErrNotFound)
	}
	return v, err
}

// Template gives one version of a template, the newest for 0.
func (s *Store) Template(ctx context.Context, name string, version int) (TemplateVersion, error) {
	return scanTemplate(s.readers.QueryRowContext(ctx, "SELECT "+templateColumns+
		" FROM templates WHERE name = ? AND (? = 0 OR version = ?) ORDER BY version DESC LIMIT 1", name, version, version))
}

// Templates lists the newest version of every template by name, or all versions
// of one name, the newest first.
func (s *Store) Templates(ctx context.Context, name string) ([]TemplateVersion, error) {
	query := "SELECT " + templateColumns + " FROM templates t WHERE version = (SELECT max(version) FROM templates WHERE name = t.name) ORDER BY name"
	var args []any
	if name != "" {
		query, args = "SELECT "+templateColumns+" FROM templates WHERE name = ? ORDER BY version DESC LIMIT 200", []any{name}
	}
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("list templates: %w", err)
	}
	defer func() { _ = rows.Close() }()
	list := []TemplateVersion{}
	for rows.Next() {
		v, err := scanTemplate(rows)
		if err != nil {
			return nil, fmt.Errorf("list templates: %w", err)
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// TemplateRuns lists the newest runs of one version ("name@2").
func (s *Store) TemplateRuns(ctx context.Context, ref string, limit int) ([]engine.Summary, error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT "+runColumns+", erased FROM runs "+
		"WHERE json_extract(CAST(summary AS TEXT), '$.template') = ? ORDER BY created_at DESC LIMIT ?", ref, listLimit(limit))
	if err != nil {
		return nil, fmt.Errorf("list runs of template: %w", err)
	}
	defer func() { _ = rows.Close() }()
	list := []engine.Summary{}
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, fmt.Errorf("list runs of template: %w", err)
		}
		list = append(list, r.Summary)
	}
	return list, rows.Err()
}
