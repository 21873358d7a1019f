package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
)

// Limits of what is kept beside the facts.
const (
	BlobBytesMax     = 64 << 20 // one blob (P30)
	ContentBytesMax  = 16 << 20 // one pinned document (P29)
	SnapshotBytesMax = 256 << 20
)

// PutBlob keeps a large output of a run and returns its SHA-256 in hex. It is
// durable when PutBlob returns, so a fact may cite it (P30). The same bytes are
// kept once, linked to every run that has them.
func (s *Store) PutBlob(ctx context.Context, run string, data []byte) (sha string, err error) {
	if !isRunID(run) || len(data) > BlobBytesMax {
		return "", invalid("blob of %d bytes for run %.80q, at most %d are allowed", len(data), run, BlobBytesMax)
	}
	sum := sha256.Sum256(data)
	sha = hex.EncodeToString(sum[:])
	return sha, s.do(ctx, func(w *writer) error {
		w.check.written += int64(len(data))
		if err := w.exec("INSERT INTO blobs (sha256, data) VALUES (?, ?) ON CONFLICT DO NOTHING", sha, notNull(data)); err != nil {
			return err
		}
		return w.exec("INSERT INTO run_blobs (run, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING", run, sha)
	})
}

// Blob gives a blob's bytes, ErrNotFound when there is none. Bytes that no
// longer have their hash are an error, never given out.
func (s *Store) Blob(ctx context.Context, sha string) ([]byte, error) {
	var data []byte
	err := s.readers.QueryRowContext(ctx, "SELECT data FROM blobs WHERE sha256 = ?", sha).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("blob %.80q: %w", sha, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("read blob %s: its bytes have another hash", sha)
	}
	return data, nil
}

// BlobRuns lists the runs that have a blob; whoever may see one of them may see it.
func (s *Store) BlobRuns(ctx context.Context, sha string) ([]string, error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT run FROM run_blobs WHERE sha256 = ? ORDER BY run", sha)
	if err != nil {
		return nil, fmt.Errorf("list runs of blob: %w", err)
	}
	defer func() { _ = rows.Close() }()
	runs := []string{}
	for rows.Next() {
		var run string
		if err := rows.Scan(&run); err != nil {
			return nil, fmt.Errorf("list runs of blob: %w", err)
		}
		runs = append(runs, run)
	}
	return runs, rows.Err()
}

// PutContent keeps a document that runs pin by hash: a policy, tool
// declarations, a profile (P29). The hash is the caller's (it is taken over a
// canonical form); other bytes under a known hash are ErrConflict. What a
// person wrote does not belong here: erasing a run leaves contents alone.
func (s *Store) PutContent(ctx context.Context, hash, kind string, data []byte) error {
	if hash == "" || len(hash) > keyBytesMax || len(kind) > kindBytesMax || len(data) > ContentBytesMax {
		return invalid("content %.80q of kind %.80q with %d bytes", hash, kind, len(data))
	}
	return s.do(ctx, func(w *writer) error {
		if err := w.exec("INSERT INTO contents (hash, kind, data) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", hash, kind, notNull(data)); err != nil {
			return err
		}
		var same bool
		row := w.conn.QueryRowContext(background(), "SELECT kind = ? AND data = ? FROM contents WHERE hash = ?", kind, notNull(data), hash)
		if err := row.Scan(&same); err != nil {
			return err
		}
		if !same {
			return fmt.Errorf("content %s has other bytes: %w", hash, ErrConflict)
		}
		return nil
	})
}

// Content gives a pinned document, ErrNotFound when there is none.
func (s *Store) Content(ctx context.Context, hash string) (kind string, data []byte, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT kind, data FROM contents WHERE hash = ?", hash).Scan(&kind, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil, fmt.Errorf("content %.80q: %w", hash, ErrNotFound)
	}
	if err != nil {
		return "", nil, fmt.Errorf("read content: %w", err)
	}
	return kind, data, nil
}

// Snapshot is a run's folded state (P32). It is disposable: a reader that does
// not know Version folds from the first fact.
type Snapshot struct {
	Run     string
	Seq     int64 // of the last fact in it
	Version int   // of its binary form
	Data    []byte
}

// SaveSnapshot replaces the snapshot of a run unless a newer one is there.
func (s *Store) SaveSnapshot(ctx context.Context, snap Snapshot) error {
	if !isRunID(snap.Run) || len(snap.Data) > SnapshotBytesMax || snap.Seq < 1 {
		return invalid("snapshot of run %.80q at %d with %d bytes", snap.Run, snap.Seq, len(snap.Data))
	}
	return s.do(ctx, func(w *writer) error {
		w.check.written += int64(len(snap.Data))
		return w.exec("INSERT INTO snapshots (run, seq, version, data) SELECT ?, ?, ?, ? "+
			"WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = ? AND erased = 1) "+
			"ON CONFLICT (run) DO UPDATE SET seq = excluded.seq, version = excluded.version, data = excluded.data "+
			"WHERE excluded.seq >= snapshots.seq",
			snap.Run, snap.Seq, snap.Version, notNull(snap.Data), snap.Run)
	})
}

// Snapshot gives the newest snapshot of a run, ErrNotFound when there is none.
func (s *Store) Snapshot(ctx context.Context, run string) (Snapshot, error) {
	snap := Snapshot{Run: run}
	row := s.readers.QueryRowContext(ctx, "SELECT seq, version, data FROM snapshots WHERE run = ?", run)
	err := row.Scan(&snap.Seq, &snap.Version, &snap.Data)
	if errors.Is(err, sql.ErrNoRows) {
		return snap, fmt.Errorf("snapshot of %.80q: %w", run, ErrNotFound)
	}
	return snap, err
}

// notNull keeps empty bytes from being stored as NULL.
func notNull(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
