package store

import (
	"context"
	"fmt"
)

// VerifyStream checks the chain of one stream and the seals that name it: what
// a page about one run shows. The whole log is Verify's.
func (s *Store) VerifyStream(ctx context.Context, stream string) (StreamReport, error) {
	v := &verification{db: s.readers, streams: make(map[string]*streamCheck), erasures: make(map[string]int64)}
	c := v.stream(stream)
	var number int64
	row := s.readers.QueryRowContext(ctx, "SELECT number, v FROM streams WHERE name = ?", stream)
	if err := row.Scan(&number, &c.v); err != nil {
		return StreamReport{}, fmt.Errorf("verify stream %.80q: %w", stream, ErrNotFound)
	}
	c.isPresent = true
	seals, err := s.Seals(ctx)
	if err != nil {
		return StreamReport{}, err
	}
	for i := range seals {
		for _, h := range seals[i].Heads {
			if h.Stream == stream {
				v.expect(stream, h.Seq, expectation{hash: h.Hash, by: fmt.Sprintf("seal %d", seals[i].N)})
			}
		}
	}
	rows, err := s.readers.QueryContext(ctx, factSelect+"WHERE id BETWEEN ? AND ? ORDER BY id", number<<streamShift, number<<streamShift|streamSeqMax)
	if err != nil {
		return StreamReport{}, fmt.Errorf("verify stream: %w", err)
	}
	defer func() { _ = rows.Close() }()
	hashes := newHasher()
	for rows.Next() {
		var raw rawRow
		if err := raw.scan(rows); err != nil {
			return StreamReport{}, fmt.Errorf("verify stream: %w", err)
		}
		v.row(c, &raw, hashes)
	}
	// The record on the stream itself is enough here; Verify wants admin's too.
	return c.conclude(map[string]int64{RunOf(stream): c.through}), rows.Err()
}

// SealedAt is the time, µs UTC, of the newest seal that covers a fact of a
// stream; 0 when none does.
func (s *Store) SealedAt(ctx context.Context, stream string, seq int64) (int64, error) {
	seals, err := s.Seals(ctx)
	if err != nil {
		return 0, err
	}
	for i := len(seals) - 1; i >= 0; i-- {
		for _, h := range seals[i].Heads {
			if h.Stream == stream && h.Seq >= seq {
				return seals[i].At, nil
			}
		}
	}
	return 0, nil
}
