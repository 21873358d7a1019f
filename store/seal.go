package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// Seal is one signature over the heads of all streams (P36a). A chain alone
// shows no cut tail and no rewritten whole; a seal kept elsewhere does.
//
// Heads lists the streams that moved since the seal before, so that sealing
// often costs little; Root covers the heads of all streams, moved or not. Prev
// chains the seals. Signed are, behind the words "sluice seal 1", each as a
// 4-byte big-endian length and its bytes: n, at, prev, SHA-256 of the encoded
// heads, root. The heads are encoded, sorted by stream, as stream, seq, hash;
// the root is SHA-256 of that encoding of all heads. prev is SHA-256 of what
// the seal before signed, followed by its signature; 32 zero bytes before the
// first.
type Seal struct {
	N     int64 // from 1
	At    int64 // µs UTC
	Prev  []byte
	Heads []StreamHead
	Root  []byte
	Key   ed25519.PublicKey
	Sig   []byte
}

const sealWords = "sluice seal 1"

func encodeHeads(heads []StreamHead) []byte {
	var b []byte
	for _, h := range heads {
		b = appendText(b, h.Stream)
		b = appendInt(b, h.Seq)
		b = appendBytes(b, h.Hash)
	}
	return b
}

func sortHeads(heads []StreamHead) {
	slices.SortFunc(heads, func(a, b StreamHead) int { return cmp.Compare(a.Stream, b.Stream) })
}

func rootOf(heads map[string]StreamHead) []byte {
	all := make([]StreamHead, 0, len(heads))
	for _, h := range heads {
		all = append(all, h)
	}
	sortHeads(all)
	sum := sha256.Sum256(encodeHeads(all))
	return sum[:]
}

func (s *Seal) signed() []byte {
	heads := sha256.Sum256(encodeHeads(s.Heads))
	b := []byte(sealWords)
	b = appendInt(b, s.N)
	b = appendInt(b, s.At)
	b = appendBytes(b, s.Prev)
	b = appendBytes(b, heads[:])
	return appendBytes(b, s.Root)
}

// link is what the next seal's Prev holds.
func (s *Seal) link() []byte {
	sum := sha256.Sum256(append(s.signed(), s.Sig...))
	return sum[:]
}

// isSigned checks the signature under a key.
func (s *Seal) isSigned(key ed25519.PublicKey) bool {
	return len(key) == ed25519.PublicKeySize && bytes.Equal(key, s.Key) && ed25519.Verify(key, s.signed(), s.Sig)
}

// Seal signs the heads of all streams at time at (µs UTC) and keeps the seal.
// It gives nil without error when nothing has moved since the newest seal.
func (s *Store) Seal(ctx context.Context, key ed25519.PrivateKey, at int64) (*Seal, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, invalid("seal key of %d bytes", len(key))
	}
	if s.readOnly {
		return nil, ErrReadOnly
	}
	s.sealing.Lock()
	defer s.sealing.Unlock()
	moved := s.dirty.take()
	seal, err := s.seal(ctx, key, at, moved)
	if err != nil {
		s.dirty.giveBack(moved)
		return nil, fmt.Errorf("seal heads: %w", err)
	}
	return seal, nil
}

func (s *Store) seal(ctx context.Context, key ed25519.PrivateKey, at int64, moved map[string]StreamHead) (*Seal, error) {
	if s.sealed == nil {
		if err := s.loadSealed(ctx); err != nil {
			return nil, err
		}
		heads, err := s.Streams(ctx)
		if err != nil {
			return nil, err
		}
		moved = make(map[string]StreamHead, len(heads))
		for _, h := range heads {
			moved[h.Stream] = h
		}
	}
	seal := &Seal{N: 1, At: at, Prev: make([]byte, hashBytes), Key: key.Public().(ed25519.PublicKey)}
	if last := s.sealed.last; last != nil {
		seal.N, seal.Prev = last.N+1, last.link()
	}
	all := s.sealed.heads
	for stream, h := range moved {
		if known, found := all[stream]; !found || known.Seq < h.Seq {
			seal.Heads = append(seal.Heads, h)
		}
	}
	if len(seal.Heads) == 0 {
		return nil, nil
	}
	sortHeads(seal.Heads)
	next := s.sealed.with(seal)
	seal.Root = rootOf(next.heads)
	seal.Sig = ed25519.Sign(key, seal.signed())
	if err := s.keepSeal(ctx, seal); err != nil {
		s.sealed = nil
		return nil, err
	}
	s.sealed = next
	return seal, nil
}

func (s *Store) keepSeal(ctx context.Context, seal *Seal) error {
	return s.do(ctx, func(w *writer) error {
		return w.exec("INSERT INTO seals (n, at, prev, heads, root, key, sig) VALUES (?, ?, ?, ?, ?, ?, ?)",
			seal.N, seal.At, seal.Prev, encodeHeads(seal.Heads), seal.Root, []byte(seal.Key), seal.Sig)
	})
}

// sealedHeads is what the seals so far say together.
type sealedHeads struct {
	last  *Seal
	heads map[string]StreamHead
}

// with adds a seal's heads; the map is shared with the receiver, which is
// replaced by the result.
func (h *sealedHeads) with(seal *Seal) *sealedHeads {
	for _, head := range seal.Heads {
		h.heads[head.Stream] = head
	}
	return &sealedHeads{last: seal, heads: h.heads}
}

func (s *Store) loadSealed(ctx context.Context) error {
	seals, err := s.Seals(ctx)
	if err != nil {
		return err
	}
	all := &sealedHeads{heads: make(map[string]StreamHead)}
	for i := range seals {
		all = all.with(&seals[i])
	}
	s.sealed = all
	return nil
}

// Seals gives all seals in order.
func (s *Store) Seals(ctx context.Context) ([]Seal, error) { return querySeals(ctx, s.readers) }

func querySeals(ctx context.Context, db querier) ([]Seal, error) {
	rows, err := db.QueryContext(ctx, "SELECT n, at, prev, heads, root, key, sig FROM seals ORDER BY n")
	if err != nil {
		return nil, fmt.Errorf("read seals: %w", err)
	}
	defer func() { _ = rows.Close() }()
	seals := []Seal{}
	for rows.Next() {
		var seal Seal
		var heads, key []byte
		if err := rows.Scan(&seal.N, &seal.At, &seal.Prev, &heads, &seal.Root, &key, &seal.Sig); err != nil {
			return nil, fmt.Errorf("read seals: %w", err)
		}
		seal.Key = key
		if seal.Heads, err = decodeHeads(heads); err != nil {
			return nil, fmt.Errorf("read seal %d: %w", seal.N, err)
		}
		seals = append(seals, seal)
	}
	return seals, rows.Err()
}

var errHeads = errors.New("heads are damaged")

func decodeHeads(b []byte) ([]StreamHead, error) {
	heads := []StreamHead{}
	for len(b) > 0 {
		var stream, seq, hash []byte
		isWhole := true
		for _, field := range []*[]byte{&stream, &seq, &hash} {
			var ok bool
			*field, b, ok = cutField(b)
			isWhole = isWhole && ok
		}
		if !isWhole || len(seq) != 8 || len(hash) != hashBytes {
			return nil, errHeads
		}
		heads = append(heads, StreamHead{Stream: string(stream), Seq: decodeInt(seq), Hash: hash})
	}
	return heads, nil
}
