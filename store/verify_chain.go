package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sluice/engine"
)

// streamCheck follows one stream while its rows go by.
type streamCheck struct {
	name        string
	v           int64
	isPresent   bool // there is a row in streams
	seq         int64
	prev        []byte
	expected    map[int64][]expectation // by seq
	lastNull    int64                   // last row without data
	through     int64                   // what the stream's own run.erased facts say
	approvals   map[string]*Approval
	policies    map[int]PolicyVersion // of admin
	templates   map[string]TemplateVersion
	key         *ownedKey        // what the run was made with, nil: none, or erased
	calls       map[int64]uint64 // digests by seq
	erasedCalls []int64          // rows that may have been calls
	broken      *StreamReport    // the first thing that is wrong with the chain
	complaint   *StreamReport    // the first thing that is wrong with what is derived from it
}

// expectation is a hash that something outside the chain has for a row.
type expectation struct {
	hash []byte // nil: the row has to be there, whatever its hash
	by   string
}

func (v *verification) stream(name string) *streamCheck {
	check, found := v.streams[name]
	if !found {
		check = &streamCheck{name: name, prev: make([]byte, hashBytes), expected: make(map[int64][]expectation),
			approvals: make(map[string]*Approval)}
		v.streams[name] = check
	}
	return check
}

func (v *verification) expect(stream string, seq int64, e expectation) {
	check := v.stream(stream)
	check.expected[seq] = append(check.expected[seq], e)
}

func (c *streamCheck) fail(seq int64, format string, args ...any) {
	if c.broken == nil {
		c.broken = &StreamReport{Stream: c.name, Status: StatusBroken, Seq: seq, Reason: fmt.Sprintf(format, args...)}
	}
}

// complain notes what is wrong with a projection. It counts for less than a
// stream that is missing, cut off or broken itself.
func (c *streamCheck) complain(seq int64, reason string) {
	if c.complaint == nil {
		c.complaint = &StreamReport{Stream: c.name, Status: StatusBroken, Seq: seq, Reason: reason}
	}
}

func (v *verification) readStreams(ctx context.Context) error {
	rows, err := v.db.QueryContext(ctx, "SELECT name, v FROM streams")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var format int64
		if err := rows.Scan(&name, &format); err != nil {
			return fmt.Errorf("%w: table streams: %w", errDamaged, err)
		}
		check := v.stream(name)
		check.v, check.isPresent = format, true
	}
	return rows.Err()
}

// readFacts goes over all rows in order of id.
func (v *verification) readFacts(ctx context.Context) error {
	names, err := streamNames(ctx, v.db)
	if err != nil {
		return fmt.Errorf("%w: table streams: %w", errDamaged, err)
	}
	rows, err := v.db.QueryContext(ctx, factSelect+"ORDER BY id")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	hashes := newHasher()
	for rows.Next() {
		var raw rawRow
		if err := raw.scan(rows); err != nil {
			return err
		}
		name, known := names[raw.id>>streamShift]
		if !known {
			name = fmt.Sprintf("#%d", raw.id>>streamShift)
			v.stream(name).fail(raw.id&streamSeqMax, "rows of a stream that has no name")
			continue
		}
		v.row(v.stream(name), &raw, hashes)
	}
	return rows.Err()
}

func (v *verification) row(c *streamCheck, raw *rawRow, hashes *hasher) {
	seq := raw.id & streamSeqMax
	if c.broken != nil {
		return // one finding a stream; what follows a break proves nothing
	}
	if seq != c.seq+1 {
		c.fail(c.seq+1, "fact %d is missing", c.seq+1)
		return
	}
	c.seq = seq
	row, isTyped := raw.row(c.name)
	if !isTyped {
		c.fail(seq, "a column has a value of a wrong type")
		return
	}
	c.check(row, hashes)
	if c.broken != nil {
		return
	}
	c.prev = row.Hash
	if row.Kind == engine.RunErased && row.Data != nil {
		v.noteErasure(c, row)
	}
	c.foldApproval(row)
	c.foldPolicy(row)
	c.foldTemplate(row)
	c.foldCall(row)
	c.foldKey(row)
}

// check compares a row with its hashes and with what others say of it.
func (c *streamCheck) check(row *engine.Row, hashes *hasher) {
	switch {
	case (row.Data == nil) != (row.Salt == nil):
		c.fail(row.Seq, "only one of salt and data is there")
	case row.Data == nil && row.Kind == engine.RunErased:
		c.fail(row.Seq, "the record of an erasure has no data")
	case row.Data == nil:
		c.lastNull = row.Seq
	case !bytes.Equal(hashes.data(nil, row.Salt, row.Data), row.DataHash):
		c.fail(row.Seq, "salt and data do not have the data hash")
	}
	want := hashes.row(nil, &chained{prev: c.prev, stream: c.name, run: RunOf(c.name), seq: row.Seq, v: c.v,
		fact: &row.Fact, cause: row.Cause, dataHash: row.DataHash})
	if !bytes.Equal(want, row.Hash) {
		c.fail(row.Seq, "the row does not have its hash")
	}
	for _, e := range c.expected[row.Seq] {
		if e.hash != nil && !bytes.Equal(e.hash, row.Hash) {
			c.fail(row.Seq, "%s has another hash for this fact", e.by)
		}
	}
}

func (v *verification) noteErasure(c *streamCheck, row *engine.Row) {
	var e erasure
	if err := json.Unmarshal(row.Data, &e); err != nil {
		return // then nothing is covered by it
	}
	if c.name == Admin {
		v.erasures[e.Run] = max(v.erasures[e.Run], e.Through)
		return
	}
	if e.Through < row.Seq {
		c.through = max(c.through, e.Through)
	}
}

// conclude says how the stream stands once everything was read.
func (c *streamCheck) conclude(erasures map[string]int64) StreamReport {
	report := StreamReport{Stream: c.name, Status: StatusOK, Seq: c.seq}
	beyond, by := c.beyond()
	switch {
	case c.broken != nil:
		return *c.broken
	case !c.isPresent:
		report.Status, report.Reason = StatusMissing, by+" has this stream"
	case c.seq == 0:
		report.Status, report.Reason = StatusTruncated, "no fact is left"
	case beyond > c.seq:
		report.Status, report.Reason = StatusTruncated, fmt.Sprintf("%s has fact %d", by, beyond)
	case c.lastNull > min(c.through, erasures[RunOf(c.name)]):
		report.Status, report.Seq, report.Reason = StatusBroken, c.lastNull, "data is gone without a record of its erasure"
	case c.complaint != nil:
		return *c.complaint
	case c.through > 0 && c.lastNull > 0:
		report.Status, report.Reason = StatusErased, fmt.Sprintf("data up to fact %d was erased", c.through)
	}
	return report
}

// beyond is the last fact that something outside the chain knows of.
func (c *streamCheck) beyond() (seq int64, by string) {
	if len(c.expected) == 0 {
		return 0, ""
	}
	seq = slices.Max(slices.Collect(maps.Keys(c.expected)))
	return seq, c.expected[seq][0].by
}

// rawRow is a row of facts before its types are believed: whoever edits the
// file is bound by no column type.
type rawRow struct {
	id     int64
	values [factColumns]any
}

func (r *rawRow) scan(rows *sql.Rows) error {
	into := make([]any, factColumns)
	for i := range into {
		into[i] = &r.values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	id, isInteger := r.values[0].(int64)
	if !isInteger {
		return fmt.Errorf("%w: id", errDamaged)
	}
	r.id = id
	return nil
}

// row gives the typed row; ok is false when a column has another type than was written.
func (r *rawRow) row(stream string) (row *engine.Row, ok bool) {
	ok = true
	integer := func(column int) int64 {
		value, is := r.values[column].(int64)
		ok = ok && is
		return value
	}
	text := func(column int) string {
		value, is := r.values[column].(string)
		ok = ok && is
		return value
	}
	blob := func(column int, mayBeNull bool) []byte {
		value, is := r.values[column].([]byte)
		ok = ok && (is || mayBeNull && r.values[column] == nil)
		return value
	}
	row = &engine.Row{ID: r.id, Stream: stream, Run: RunOf(stream)}
	row.Seq, row.At, row.Kind, row.Cause = r.id&streamSeqMax, integer(1), engine.Kind(text(2)), integer(3)
	row.Version, row.Node, row.Attempt, row.Actor = int(integer(4)), text(5), int(integer(6)), text(7)
	row.Data, row.Salt, row.DataHash, row.Hash = blob(8, true), blob(9, true), blob(10, false), blob(11, false)
	row.Erased = row.Data == nil
	return row, ok
}
