// Package store keeps the log and everything that is projected from it, in one
// SQLite file (P27-P35).
//
// # The log
//
// A fact is one row of table facts. Its id is stream number × 2^32 + seq, so
// the primary key alone keeps a stream together and in order and the hot table
// needs no second index. Every row carries a salt, the hash of salt and data,
// and the hash of its predecessor and its own columns (encode.go), so data can
// be erased and the chain still stands. Triggers make the table append-only:
// the only UPDATE sets salt and data to NULL, a DELETE is refused, and an
// INSERT must bring the next id of its stream.
//
// # Writing
//
// One goroutine with one connection writes. It drains its whole queue into one
// transaction (group commit), gives ids, salts and hashes, and calls every
// request back after the commit. A request that expects another sequence number
// than the stream has fails alone; a failed commit fails all of its requests.
// Approvals, idempotency keys and summaries that come with an append are
// projected in the same transaction (P33).
//
// # Reading
//
// A pool of read-only connections serves every reader and the verifier. Nothing
// read here decides what happens in a run: a State is only ever folded from
// facts.
//
// # Rules
//
// Rows are never rewritten and migrations only go forward. Secrets (sign-in
// links, API tokens, sessions) are kept as SHA-256 only. The package knows
// no handler and no shell.
package store
