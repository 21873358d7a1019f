package engine

import (
	"encoding/hex"
	"time"
)

// Row is a Fact as stored and as sent (P27, P40), with what the writer gave it.
type Row struct {
	Fact
	ID       int64  // stream number × 2^32 + seq
	Stream   string // "run/r_…" or "admin"
	Run      string // "r_…", "" in admin
	Salt     []byte // nil when erased
	DataHash []byte // 32 bytes
	PrevHash []byte // 32 bytes, zero for the first row
	Hash     []byte // 32 bytes
	Erased   bool
}

// AppendJSON appends the row as it is on the wire and in exports (P40): the
// columns of P27 with hashes and salt in hex, `at` in RFC 3339 with
// microseconds, and data inline. An erased row has null salt and data.
func (r *Row) AppendJSON(b []byte) []byte {
	e := enc{b: b}
	e.open("", '{')
	e.int("id", r.ID)
	e.str("stream", r.Stream)
	e.int("seq", r.Seq)
	e.int("v", int64(FormatVersion))
	e.str("run", r.Run)
	e.str("at", WireTime(r.At))
	e.str("kind", string(r.Kind))
	e.int("cause", r.Cause)
	e.int("plan_version", int64(r.Version))
	e.str("node", r.Node)
	e.int("attempt", int64(r.Attempt))
	e.str("actor", r.Actor)
	if r.Erased {
		e.raw("data", nil)
		e.raw("salt", nil)
	} else {
		e.raw("data", r.Data)
		e.str("salt", hex.EncodeToString(r.Salt))
	}
	e.str("data_hash", hex.EncodeToString(r.DataHash))
	e.str("prev_hash", hex.EncodeToString(r.PrevHash))
	e.str("hash", hex.EncodeToString(r.Hash))
	e.boolOpt("erased", r.Erased)
	e.close('}')
	return e.b
}

// FormatVersion is the format of a stream's rows, a property of the stream (P27).
const FormatVersion = 1

// WireTime writes µs UTC as RFC 3339 with microseconds.
func WireTime(us int64) string {
	return time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05.000000Z")
}
