package store

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"sluice/engine"
)

const (
	hashBytes = sha256.Size
	saltBytes = 16
)

// chained is everything a row's hash stands on.
type chained struct {
	prev     []byte // hash of the row before, 32 zero bytes for the first
	stream   string
	run      string
	seq      int64
	v        int64
	fact     *engine.Fact // Seq is not read: seq wins
	cause    int64
	dataHash []byte
}

// hasher computes the two hashes of P27. It belongs to one goroutine and
// allocates nothing per row.
type hasher struct {
	sum hash.Hash
	buf []byte
}

func newHasher() *hasher { return &hasher{sum: sha256.New(), buf: make([]byte, 0, 512)} }

// data appends SHA-256(salt ‖ data) to dst.
func (h *hasher) data(dst, salt, data []byte) []byte {
	h.sum.Reset()
	h.sum.Write(salt)
	h.sum.Write(data)
	return h.sum.Sum(dst)
}

// row appends the row's hash to dst: SHA-256 over prev_hash (32 bytes) and then,
// each as a 4-byte big-endian length and its bytes, in this order:
//
//	stream, seq, v, run, at, kind, cause, plan_version, node, attempt, actor, data_hash
//
// Integers are 8 bytes, big-endian, two's complement; strings are UTF-8 as
// stored. TestP27_HashVector holds a vector.
func (h *hasher) row(dst []byte, c *chained) []byte {
	f := c.fact
	b := append(h.buf[:0], c.prev...)
	b = appendText(b, c.stream)
	b = appendInt(b, c.seq)
	b = appendInt(b, c.v)
	b = appendText(b, c.run)
	b = appendInt(b, f.At)
	b = appendText(b, string(f.Kind))
	b = appendInt(b, c.cause)
	b = appendInt(b, int64(f.Version))
	b = appendText(b, f.Node)
	b = appendInt(b, int64(f.Attempt))
	b = appendText(b, f.Actor)
	b = appendBytes(b, c.dataHash)
	h.buf = b
	h.sum.Reset()
	h.sum.Write(b)
	return h.sum.Sum(dst)
}

func appendText(b []byte, s string) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

func appendBytes(b, s []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

func appendInt(b []byte, n int64) []byte {
	b = binary.BigEndian.AppendUint32(b, 8)
	return binary.BigEndian.AppendUint64(b, uint64(n))
}

// cutField takes the first length-prefixed field off b.
func cutField(b []byte) (field, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	size := int64(binary.BigEndian.Uint32(b))
	if int64(len(b))-4 < size {
		return nil, nil, false
	}
	return b[4 : 4+size], b[4+size:], true
}

func decodeInt(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }
