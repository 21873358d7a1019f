package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/engine"
)

// PolicyPublished is the kind of the fact that makes a document the next
// version of the policy, on the stream admin.
const PolicyPublished = engine.Kind("policy.published")

// Kinds of contents that policies have.
const (
	contentPolicy     = "policy"      // the canonical document, by its hash
	contentPolicyText = "policy-text" // the YAML as a person wrote it, by the hash of its bytes
)

// PolicyTextBytesMax bounds the YAML that is kept with a version.
const PolicyTextBytesMax = 256 << 10

// PolicyVersion is one published version: 1, 2, 3 … the newest is in force.
type PolicyVersion struct {
	Version int
	Seq     int64  // of its fact in admin
	Hash    string // of the canonical document, "sha256:…"
	Text    string // content hash of the YAML, "" for a document without one
	At      int64  // µs UTC
	Actor   string // principal
	Reason  string
	Base    int // the version it was made from, 0 for the first
}

// Publication asks for a document to become the next version.
type Publication struct {
	Hash      string
	Canonical []byte
	Text      []byte // YAML, nil for none
	Base      int    // the newest version the caller knows; another one there is a conflict
	Reason    string
	Actor     string
	At        int64
}

// PolicyConflictError says which version came in between.
type PolicyConflictError struct{ Newest PolicyVersion }

// Error names the version.
func (e *PolicyConflictError) Error() string {
	return fmt.Sprintf("version %d of the policy was published meanwhile by %s", e.Newest.Version, e.Newest.Actor)
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *PolicyConflictError) Is(target error) bool { return target == ErrConflict }

// publishedData is the data of a policy.published fact. Policy is what facts of
// before there were versions call the hash.
type publishedData struct {
	Version int    `json:"version"`
	Hash    string `json:"hash"`
	Text    string `json:"text,omitempty"`
	Reason  string `json:"reason"`
	Base    int    `json:"base"`
	By      string `json:"by"`
	Policy  string `json:"policy,omitempty"`
}

// PublishPolicy stores the document and then, in one transaction, the fact and
// the row of the next version. ErrConflict as *PolicyConflictError: the newest
// version is not the base.
func (s *Store) PublishPolicy(ctx context.Context, p Publication) (PolicyVersion, error) {
	if len(p.Reason) > reasonBytesMax || len(p.Text) > PolicyTextBytesMax {
		return PolicyVersion{}, invalid("policy with a reason of %d bytes and a text of %d", len(p.Reason), len(p.Text))
	}
	if err := s.PutContent(ctx, p.Hash, contentPolicy, p.Canonical); err != nil {
		return PolicyVersion{}, fmt.Errorf("publish policy: %w", err)
	}
	v := PolicyVersion{Hash: p.Hash, At: p.At, Actor: p.Actor, Reason: p.Reason, Base: p.Base}
	if p.Text != nil {
		sum := sha256.Sum256(p.Text)
		v.Text = "sha256:" + hex.EncodeToString(sum[:])
		if v.Text == v.Hash { // the canonical bytes themselves: they are kept already
			v.Text = ""
		} else if err := s.PutContent(ctx, v.Text, contentPolicyText, p.Text); err != nil {
			return PolicyVersion{}, fmt.Errorf("publish policy: %w", err)
		}
	}
	err := s.do(ctx, func(w *writer) error { return w.publishPolicy(&v) })
	if err != nil {
		return PolicyVersion{}, fmt.Errorf("publish policy: %w", err)
	}
	return v, nil
}

func (w *writer) publishPolicy(v *PolicyVersion) error {
	newest, err := newestPolicy(background(), w.conn)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if newest.Version != v.Base {
		return &PolicyConflictError{newest}
	}
	admin, err := w.head(Admin)
	if err != nil {
		return err
	}
	v.Version, v.Seq = newest.Version+1, admin.seq+1
	fact, err := v.fact()
	if err != nil {
		return err
	}
	if err := w.savePolicy(v); err != nil {
		return err
	}
	facts := []engine.Fact{fact}
	kept, err := w.store.salter.salt(facts)
	if err != nil {
		return err
	}
	return w.chain(Admin, admin, facts, kept)
}

func (v *PolicyVersion) fact() (engine.Fact, error) {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(publishedData{Version: v.Version, Hash: v.Hash, Text: v.Text, Reason: v.Reason, Base: v.Base, By: v.Actor})
	if err != nil {
		return engine.Fact{}, err
	}
	fact := engine.Fact{At: v.At, Kind: PolicyPublished, Actor: v.Actor, Data: bytes.TrimSpace(data.Bytes())}
	return fact, checkFact(&fact)
}

// policyOf reads a version out of its fact; before is the version before it,
// for facts that do not number themselves.
func policyOf(row *engine.Row, before int) (PolicyVersion, error) {
	var d publishedData
	if err := json.Unmarshal(row.Data, &d); err != nil {
		return PolicyVersion{}, err
	}
	if d.Version == 0 {
		d.Version, d.Base, d.Hash = before+1, before, d.Policy
	}
	return PolicyVersion{Version: d.Version, Seq: row.Seq, Hash: d.Hash, Text: d.Text, At: row.At, Actor: row.Actor, Reason: d.Reason, Base: d.Base}, nil
}

const policyColumns = "version, seq, hash, text, at, actor, reason, base"

func (w *writer) savePolicy(v *PolicyVersion) error {
	w.changed = true
	return w.exec("INSERT INTO policies ("+policyColumns+") VALUES (?,?,?,?,?,?,?,?)",
		v.Version, v.Seq, v.Hash, v.Text, v.At, v.Actor, v.Reason, v.Base)
}

func scanPolicy(row interface{ Scan(...any) error }) (PolicyVersion, error) {
	var v PolicyVersion
	err := row.Scan(&v.Version, &v.Seq, &v.Hash, &v.Text, &v.At, &v.Actor, &v.Reason, &v.Base)
	if errors.Is(err, sql.ErrNoRows) {
		return v, fmt.Errorf("policy version: %w", ErrNotFound)
	}
	return v, err
}

func newestPolicy(ctx context.Context, db queryRower) (PolicyVersion, error) {
	return scanPolicy(db.QueryRowContext(ctx, "SELECT "+policyColumns+" FROM policies ORDER BY version DESC LIMIT 1"))
}

// ActivePolicy gives the newest version, ErrNotFound before the first.
func (s *Store) ActivePolicy(ctx context.Context) (PolicyVersion, error) {
	return newestPolicy(ctx, s.readers)
}

// Policy gives one version, ErrNotFound when there is none.
func (s *Store) Policy(ctx context.Context, version int) (PolicyVersion, error) {
	return scanPolicy(s.readers.QueryRowContext(ctx, "SELECT "+policyColumns+" FROM policies WHERE version = ?", version))
}

// PolicyOf gives the newest version that had a hash at a time, or the first one
// after it; ErrNotFound when no version ever had it.
func (s *Store) PolicyOf(ctx context.Context, hash string, at int64) (PolicyVersion, error) {
	v, err := scanPolicy(s.readers.QueryRowContext(ctx, "SELECT "+policyColumns+" FROM policies WHERE hash = ? AND at <= ? ORDER BY version DESC LIMIT 1", hash, at))
	if errors.Is(err, ErrNotFound) {
		return scanPolicy(s.readers.QueryRowContext(ctx, "SELECT "+policyColumns+" FROM policies WHERE hash = ? ORDER BY version LIMIT 1", hash))
	}
	return v, err
}

// Policies lists versions before one (0 = from the newest), newest first.
func (s *Store) Policies(ctx context.Context, before, limit int) ([]PolicyVersion, error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT "+policyColumns+" FROM policies WHERE ? = 0 OR version < ? ORDER BY version DESC LIMIT ?",
		before, before, listLimit(limit))
	if err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	defer func() { _ = rows.Close() }()
	page := []PolicyVersion{}
	for rows.Next() {
		v, err := scanPolicy(rows)
		if err != nil {
			return nil, fmt.Errorf("list policies: %w", err)
		}
		page = append(page, v)
	}
	return page, rows.Err()
}
