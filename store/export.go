package store

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"sluice/engine"
)

// timeForm is RFC 3339 in UTC with microseconds (P27, P40).
const timeForm = "2006-01-02T15:04:05.000000Z"

// FormatTime gives the wire form of a time in µs UTC.
func FormatTime(at int64) string { return time.UnixMicro(at).UTC().Format(timeForm) }

// AppendWire appends a fact in its wire form (P40): the columns of P27 as one
// JSON object on one line, hashes and salt in hex, data inline as stored. Salt
// and data of an erased fact are null.
func AppendWire(dst []byte, r *engine.Row) []byte {
	dst = fmt.Appendf(dst, `{"id":%d,"stream":%s,"seq":%d,"v":%d,"run":%s,"at":"%s","kind":%s,"cause":%d,"plan_version":%d,`,
		r.ID, quote(r.Stream), r.Seq, FormatV, quote(r.Run), FormatTime(r.At), quote(string(r.Kind)), r.Cause, r.Version)
	dst = fmt.Appendf(dst, `"node":%s,"attempt":%d,"actor":%s,"data":`, quote(r.Node), r.Attempt, quote(r.Actor))
	switch {
	case r.Data == nil:
		dst = append(dst, "null"...)
	case json.Valid(r.Data) && bytes.IndexByte(r.Data, '\n') < 0:
		dst = append(dst, r.Data...)
	default: // damaged: shown as it is, so that an export never breaks its own form
		dst = append(dst, quote(string(r.Data))...)
	}
	dst = append(dst, `,"salt":`...)
	if r.Salt == nil {
		dst = append(dst, "null"...)
	} else {
		dst = fmt.Appendf(dst, `"%x"`, r.Salt)
	}
	return fmt.Appendf(dst, `,"data_hash":"%x","prev_hash":"%x","hash":"%x"}`, r.DataHash, r.PrevHash, r.Hash)
}

func quote(text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // a string always marshals
		return []byte(`""`)
	}
	return quoted
}

// wireHead is a stream's head in a seal line.
type wireHead struct {
	Stream string `json:"stream"`
	Seq    int64  `json:"seq"`
	Hash   string `json:"hash"`
}

// wireSeal is a seal's line in an export. All is set on the newest one only,
// which then says by itself where every stream stood.
type wireSeal struct {
	N     int64      `json:"seal"`
	At    string     `json:"at"`
	Prev  string     `json:"prev"`
	Heads []wireHead `json:"heads"`
	All   []wireHead `json:"all,omitempty"`
	Root  string     `json:"root"`
	Key   string     `json:"key"`
	Sig   string     `json:"sig"`
}

func toWireHeads(heads []StreamHead) []wireHead {
	wire := make([]wireHead, len(heads))
	for i, h := range heads {
		wire[i] = wireHead{Stream: h.Stream, Seq: h.Seq, Hash: hex.EncodeToString(h.Hash)}
	}
	return wire
}

func toWireSeal(s *Seal) wireSeal {
	return wireSeal{N: s.N, At: FormatTime(s.At), Prev: hex.EncodeToString(s.Prev), Heads: toWireHeads(s.Heads),
		Root: hex.EncodeToString(s.Root), Key: hex.EncodeToString(s.Key), Sig: hex.EncodeToString(s.Sig)}
}

// WriteExport writes all facts and then all seals as NDJSON, from one moment of
// the log (P36a). It can be kept elsewhere and handed to Verify later.
func (s *Store) WriteExport(ctx context.Context, out io.Writer) error {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("export log: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	buffered := bufio.NewWriter(out)
	if err := exportFacts(ctx, tx, buffered); err != nil {
		return fmt.Errorf("export facts: %w", err)
	}
	if err := exportSeals(ctx, tx, buffered); err != nil {
		return fmt.Errorf("export seals: %w", err)
	}
	return buffered.Flush()
}

func exportFacts(ctx context.Context, db querier, out *bufio.Writer) error {
	names, err := streamNames(ctx, db)
	if err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, factSelect+"ORDER BY id")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var line, prev []byte
	number := int64(-1)
	for rows.Next() {
		var row engine.Row
		if err := scanFact(rows, &row); err != nil {
			return err
		}
		if row.ID>>streamShift != number {
			number, prev = row.ID>>streamShift, make([]byte, hashBytes)
		}
		row.Stream, row.PrevHash = names[number], prev
		row.Run = RunOf(row.Stream)
		prev = row.Hash
		line = append(AppendWire(line[:0], &row), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return rows.Err()
}

func exportSeals(ctx context.Context, db querier, out *bufio.Writer) error {
	seals, err := querySeals(ctx, db)
	if err != nil {
		return err
	}
	all := &sealedHeads{heads: make(map[string]StreamHead)}
	encoder := json.NewEncoder(out)
	for i := range seals {
		all = all.with(&seals[i])
		wire := toWireSeal(&seals[i])
		if i == len(seals)-1 {
			heads := make([]StreamHead, 0, len(all.heads))
			for _, h := range all.heads {
				heads = append(heads, h)
			}
			sortHeads(heads)
			wire.All = toWireHeads(heads)
		}
		if err := encoder.Encode(wire); err != nil {
			return err
		}
	}
	return nil
}

func streamNames(ctx context.Context, db querier) (map[int64]string, error) {
	rows, err := db.QueryContext(ctx, "SELECT number, name FROM streams")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	names := make(map[int64]string)
	for rows.Next() {
		var number int64
		var name string
		if err := rows.Scan(&number, &name); err != nil {
			return nil, err
		}
		names[number] = name
	}
	return names, rows.Err()
}
