package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"sluice/engine"
)

// Limits of one read of facts.
const (
	factsReadMax      = 10_000
	factsReadBytesMax = 64 << 20 // of data; at least one fact is always given
)

// StreamHead is where a stream stands.
type StreamHead struct {
	Stream string
	Seq    int64
	Hash   []byte // 32 bytes, of the last fact
}

const factSelect = "SELECT id, at, kind, cause, plan_version, node, attempt, actor, data, salt, data_hash, hash FROM facts "

// Facts gives a stream's facts behind `after`, in order, at most limit of them
// (0 or beyond factsReadMax = factsReadMax) and fewer when they are large: read
// on from the last until nothing comes. An unknown stream has no facts.
func (s *Store) Facts(ctx context.Context, stream string, after int64, limit int) ([]engine.Row, error) {
	if after < 0 {
		return nil, invalid("facts after %d", after)
	}
	if limit <= 0 || limit > factsReadMax {
		limit = factsReadMax
	}
	number, _, err := streamNumber(ctx, s.readers, stream)
	if err != nil || number == 0 || after >= streamSeqMax {
		return []engine.Row{}, err
	}
	// The row before the first gives its prev_hash.
	rows, err := s.readers.QueryContext(ctx, factSelect+"WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?",
		number<<streamShift|after, number<<streamShift|streamSeqMax, int64(limit)+1)
	if err != nil {
		return nil, fmt.Errorf("read facts of %s: %w", stream, err)
	}
	defer func() { _ = rows.Close() }()
	page, err := readPage(rows, stream, after, limit)
	if err != nil {
		return nil, fmt.Errorf("read facts of %s: %w", stream, err)
	}
	return page, nil
}

func readPage(rows *sql.Rows, stream string, after int64, limit int) ([]engine.Row, error) {
	page, prev, bytes := []engine.Row{}, make([]byte, hashBytes), 0
	for rows.Next() && len(page) < limit && bytes <= factsReadBytesMax {
		row := engine.Row{Stream: stream, Run: RunOf(stream), PrevHash: prev}
		if err := scanFact(rows, &row); err != nil {
			return nil, err
		}
		prev = row.Hash
		if row.Seq == after {
			continue
		}
		page = append(page, row)
		bytes += len(row.Data)
	}
	return page, rows.Err()
}

func scanFact(rows *sql.Rows, r *engine.Row) error {
	var kind string
	err := rows.Scan(&r.ID, &r.At, &kind, &r.Cause, &r.Version, &r.Node, &r.Attempt, &r.Actor, &r.Data, &r.Salt, &r.DataHash, &r.Hash)
	r.Kind = engine.Kind(kind)
	r.Seq = r.ID & streamSeqMax
	r.Erased = r.Data == nil
	return err
}

// Head gives the seq and hash of a stream's last fact; 0 and 32 zero bytes for
// an unknown stream.
func (s *Store) Head(ctx context.Context, stream string) (seq int64, hash []byte, err error) {
	number, _, err := streamNumber(ctx, s.readers, stream)
	if err != nil || number == 0 {
		return 0, make([]byte, hashBytes), err
	}
	row := s.readers.QueryRowContext(ctx, "SELECT id & 4294967295, hash FROM facts WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1",
		number<<streamShift, number<<streamShift|streamSeqMax)
	err = row.Scan(&seq, &hash)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, make([]byte, hashBytes), nil
	}
	if err != nil {
		return 0, nil, fmt.Errorf("read head of %s: %w", stream, err)
	}
	return seq, hash, nil
}

// Streams gives the heads of all streams, in the order the streams were made.
func (s *Store) Streams(ctx context.Context) ([]StreamHead, error) {
	rows, err := s.readers.QueryContext(ctx, `SELECT s.name, f.id & 4294967295, f.hash FROM streams s JOIN facts f
		ON f.id = (SELECT max(id) FROM facts WHERE id BETWEEN s.number << 32 AND (s.number << 32 | 4294967295)) ORDER BY s.number`)
	if err != nil {
		return nil, fmt.Errorf("list streams: %w", err)
	}
	defer func() { _ = rows.Close() }()
	heads := []StreamHead{}
	for rows.Next() {
		var h StreamHead
		if err := rows.Scan(&h.Stream, &h.Seq, &h.Hash); err != nil {
			return nil, fmt.Errorf("list streams: %w", err)
		}
		heads = append(heads, h)
	}
	return heads, rows.Err()
}

func streamNumber(ctx context.Context, db queryRower, stream string) (number, v int64, err error) {
	row := db.QueryRowContext(ctx, "SELECT number, v FROM streams WHERE name = ?", stream)
	err = row.Scan(&number, &v)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("find stream %s: %w", stream, err)
	}
	return number, v, nil
}
