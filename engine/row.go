package engine

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
