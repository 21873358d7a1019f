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

	"sluice/engine"
)

// appendLine appends a fact as it is on the wire (P40). Data that is damaged
// goes as a string, so that an export never breaks its own form.
func appendLine(dst []byte, r *engine.Row) []byte {
	isWhole := json.Valid(r.Data) && bytes.IndexByte(r.Data, '\n') < 0
	if !r.Erased && !isWhole {
		shown := *r
		if quoted, err := json.Marshal(string(r.Data)); err == nil {
			shown.Data = quoted
		}
		r = &shown
	}
	return append(r.AppendJSON(dst), '\n')
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
	return wireSeal{N: s.N, At: engine.WireTime(s.At), Prev: hex.EncodeToString(s.Prev), Heads: toWireHeads(s.Heads),
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
		line = appendLine(line[:0], &row)
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
