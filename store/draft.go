package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// Limits on drafts.
const (
	DraftNameMax     = 120      // characters
	DraftBytesMax    = 4 << 20  // of the document (P14)
	DraftViewMax     = 1 << 20  // bytes of what the editor keeps beside it
	DraftBaseMax     = 64 << 10 // bytes
	DraftsOwnerMax   = 200      // drafts of one owner
	draftIDPrefix    = "d_"
	draftPrincipal   = 200 // bytes of owner and actor
	draftListColumns = "id, kind, owner, name, '', '', base, revision, updated_by, created_at, updated_at"
	draftColumns     = "id, kind, owner, name, doc, view, base, revision, updated_by, created_at, updated_at"
)

// DraftKind says what a draft is of.
type DraftKind string

// The closed set of kinds.
const (
	PlanDraft   DraftKind = "plan"
	PolicyDraft DraftKind = "policy"
)

// Draft is unfinished work of one person. Doc is kept as written, readable or
// not: a draft is where a document may be wrong.
type Draft struct {
	ID        string
	Kind      DraftKind
	Owner     string // principal (P25)
	Name      string
	Doc       string
	View      string // what the editor keeps beside the document
	Base      string // what it was made from, free text
	Revision  int64  // 1 when made, one more with each save
	UpdatedBy string // principal
	CreatedAt int64  // µs UTC
	UpdatedAt int64  // µs UTC
}

// DraftConflict says that a draft was saved or deleted by somebody else since
// the revision that the caller knows. Nothing was written.
type DraftConflict struct {
	ID       string
	Expected int64
	Current  int64
	Who      string
	At       int64 // µs UTC
}

// Error names both revisions.
func (e *DraftConflict) Error() string {
	return fmt.Sprintf("draft %s is at revision %d, not %d", e.ID, e.Current, e.Expected)
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *DraftConflict) Is(target error) bool { return target == ErrConflict }

func (d *Draft) check() error {
	switch {
	case d.Kind != PlanDraft && d.Kind != PolicyDraft:
		return invalid("draft of kind %.80q", d.Kind)
	case d.Owner == "" || len(d.Owner) > draftPrincipal || d.UpdatedBy == "" || len(d.UpdatedBy) > draftPrincipal:
		return invalid("draft of %.80q by %.80q", d.Owner, d.UpdatedBy)
	case strings.TrimSpace(d.Name) == "" || utf8.RuneCountInString(d.Name) > DraftNameMax:
		return invalid("a draft's name has 1 to %d characters", DraftNameMax)
	case len(d.Doc) > DraftBytesMax:
		return invalid("draft of %d bytes, at most %d are allowed", len(d.Doc), DraftBytesMax)
	case len(d.View) > DraftViewMax:
		return invalid("view of %d bytes, at most %d are allowed", len(d.View), DraftViewMax)
	case len(d.Base) > DraftBaseMax:
		return invalid("base of %d bytes, at most %d are allowed", len(d.Base), DraftBaseMax)
	}
	return nil
}

// AddDraft makes a draft and gives it back with id, revision 1 and times.
func (s *Store) AddDraft(ctx context.Context, d Draft) (Draft, error) {
	if err := d.check(); err != nil {
		return Draft{}, err
	}
	id, err := ulid.New(ulid.Timestamp(s.now()), s.random)
	if err != nil {
		return Draft{}, fmt.Errorf("draw draft id: %w", err)
	}
	d.ID, d.Revision = draftIDPrefix+id.String(), 1
	d.CreatedAt = s.now().UnixMicro()
	d.UpdatedAt = d.CreatedAt
	err = s.do(ctx, func(w *writer) error {
		var n int
		if err := w.conn.QueryRowContext(background(), "SELECT count(*) FROM drafts WHERE owner = ?", d.Owner).Scan(&n); err != nil {
			return err
		}
		if n >= DraftsOwnerMax {
			return invalid("%d drafts are kept already, at most %d are allowed: delete one", n, DraftsOwnerMax)
		}
		return w.exec("INSERT INTO drafts ("+draftColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			d.ID, string(d.Kind), d.Owner, d.Name, d.Doc, d.View, d.Base, d.Revision, d.UpdatedBy, d.CreatedAt, d.UpdatedAt)
	})
	if err != nil {
		return Draft{}, fmt.Errorf("add draft: %w", err)
	}
	return d, nil
}

// SaveDraft replaces name, document, view and base of the draft that has d's
// id, owner and revision, and gives it back with the next revision.
// ErrNotFound: the owner has no such draft; *DraftConflict: it moved on.
func (s *Store) SaveDraft(ctx context.Context, d Draft) (Draft, error) {
	if err := d.check(); err != nil {
		return Draft{}, err
	}
	err := s.do(ctx, func(w *writer) error {
		known, err := heldDraft(w.conn, d)
		if err != nil {
			return err
		}
		d.Kind, d.CreatedAt, d.Revision, d.UpdatedAt = known.Kind, known.CreatedAt, known.Revision+1, s.now().UnixMicro()
		return w.exec("UPDATE drafts SET name = ?, doc = ?, view = ?, base = ?, revision = ?, updated_by = ?, updated_at = ? WHERE id = ?",
			d.Name, d.Doc, d.View, d.Base, d.Revision, d.UpdatedBy, d.UpdatedAt, d.ID)
	})
	if err != nil {
		return Draft{}, fmt.Errorf("save draft: %w", err)
	}
	return d, nil
}

// DeleteDraft deletes the draft that has d's id, owner and revision; revision 0
// deletes whatever is there.
func (s *Store) DeleteDraft(ctx context.Context, d Draft) error {
	return s.do(ctx, func(w *writer) error {
		if _, err := heldDraft(w.conn, d); err != nil {
			return fmt.Errorf("delete draft: %w", err)
		}
		return w.exec("DELETE FROM drafts WHERE id = ?", d.ID)
	})
}

// heldDraft is the row that a caller wants to change, when it still is what the
// caller knows.
func heldDraft(db queryRower, d Draft) (Draft, error) {
	known, err := scanDraft(db.QueryRowContext(background(), "SELECT "+draftListColumns+" FROM drafts WHERE id = ? AND owner = ?", d.ID, d.Owner))
	if err != nil {
		return known, draftError(d.ID, err)
	}
	if d.Revision != 0 && d.Revision != known.Revision {
		return known, &DraftConflict{ID: d.ID, Expected: d.Revision, Current: known.Revision, Who: known.UpdatedBy, At: known.UpdatedAt}
	}
	return known, nil
}

// Draft gives one draft of an owner, ErrNotFound when there is none.
func (s *Store) Draft(ctx context.Context, owner, id string) (Draft, error) {
	d, err := scanDraft(s.readers.QueryRowContext(ctx, "SELECT "+draftColumns+" FROM drafts WHERE id = ? AND owner = ?", id, owner))
	return d, draftError(id, err)
}

// Drafts lists an owner's drafts of a kind, or of both when it is "": without
// document and view, the one saved last first. DraftsOwnerMax bounds the list.
func (s *Store) Drafts(ctx context.Context, owner string, kind DraftKind) ([]Draft, error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT "+draftListColumns+
		" FROM drafts WHERE owner = ?1 AND (?2 = '' OR kind = ?2) ORDER BY updated_at DESC, id DESC", owner, string(kind))
	if err != nil {
		return nil, fmt.Errorf("list drafts: %w", err)
	}
	defer func() { _ = rows.Close() }()
	drafts := []Draft{}
	for rows.Next() {
		d, err := scanDraft(rows)
		if err != nil {
			return nil, fmt.Errorf("list drafts: %w", err)
		}
		drafts = append(drafts, d)
	}
	return drafts, rows.Err()
}

func scanDraft(row scanner) (Draft, error) {
	var d Draft
	var kind string
	err := row.Scan(&d.ID, &kind, &d.Owner, &d.Name, &d.Doc, &d.View, &d.Base, &d.Revision, &d.UpdatedBy, &d.CreatedAt, &d.UpdatedAt)
	d.Kind = DraftKind(kind)
	return d, err
}

func draftError(id string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("draft %.80q: %w", id, ErrNotFound)
	}
	return err
}
