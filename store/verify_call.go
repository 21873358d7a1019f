package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"sluice/engine"
)

// foldCall keeps what the list of calls has to say of a row, as a digest: a long
// log has many calls.
func (c *streamCheck) foldCall(row *engine.Row) {
	if RunOf(c.name) == "" {
		return
	}
	if row.Data == nil && mayBeCall(row.Kind) {
		c.erasedCalls = append(c.erasedCalls, row.Seq)
		return
	}
	call, is := callIn(row)
	if !is {
		return
	}
	if c.calls == nil {
		c.calls = make(map[int64]uint64)
	}
	c.calls[row.Seq] = call.digest()
}

func (c *RecordedCall) digest() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %d %d %q %d %q %q %d", c.Run, c.Seq, c.At, c.Node, c.Attempt, c.Tool, c.Decision, c.Impact)
	return h.Sum64()
}

// compareCalls holds the list of calls against the facts, up to where it says it
// has come: a dry run of a policy counts what it finds there.
func (v *verification) compareCalls(ctx context.Context) error {
	names, err := streamNames(ctx, v.db)
	if err != nil {
		return fmt.Errorf("%w: table streams: %w", errDamaged, err)
	}
	if err := v.readCalls(ctx, names); err != nil {
		return err
	}
	rows, err := v.db.QueryContext(ctx, "SELECT stream, seq FROM call_cursors")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var number, through int64
		if err := rows.Scan(&number, &through); err != nil {
			return fmt.Errorf("%w: table call_cursors: %w", errDamaged, err)
		}
		check := v.stream(names[number])
		for _, seq := range slices.Sorted(maps.Keys(check.calls)) {
			if seq <= through {
				check.complain(seq, fmt.Sprintf("the call of fact %d is missing from the list of calls", seq))
				break
			}
		}
		v.expect(names[number], through, expectation{by: "the list of calls"})
	}
	return rows.Err()
}

// readCalls compares every listed call and strikes it off.
func (v *verification) readCalls(ctx context.Context, names map[int64]string) error {
	rows, err := v.db.QueryContext(ctx, "SELECT fact, run, seq, at, node, attempt, tool, decision, impact FROM calls ORDER BY fact")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		var got RecordedCall
		if err := rows.Scan(&id, &got.Run, &got.Seq, &got.At, &got.Node, &got.Attempt, &got.Tool, &got.Decision, &got.Impact); err != nil {
			return fmt.Errorf("%w: table calls: %w", errDamaged, err)
		}
		check, seq := v.stream(names[id>>streamShift]), id&streamSeqMax
		want, isCall := check.calls[seq]
		_, isErased := slices.BinarySearch(check.erasedCalls, seq)
		isPlaced := got.Seq == seq && StreamOf(got.Run) == check.name
		if !isPlaced || !isErased && (!isCall || got.digest() != want) {
			check.complain(seq, fmt.Sprintf("the list of calls does not say what fact %d says", seq))
		}
		delete(check.calls, seq)
	}
	return rows.Err()
}
