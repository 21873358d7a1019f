package store

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sluice/engine"
)

// foldApproval folds a row as the writer did when it came.
func (c *streamCheck) foldApproval(row *engine.Row) {
	isApproval := row.Kind == engine.ApprovalRequested || row.Kind == engine.ApprovalDecided
	if !isApproval || row.Data == nil {
		return
	}
	fact, err := parseApproval(row.Run, &row.Fact)
	if err != nil {
		c.fail(row.Seq, "an approval fact cannot be read")
		return
	}
	if fact.asked != nil {
		fact.asked.Seq = row.Seq
	}
	if next := fact.apply(c.approvals[fact.id]); next != nil {
		c.approvals[fact.id] = next
	}
}

// compareProjections holds the tables that are derived from facts against them.
func (v *verification) compareProjections(ctx context.Context) error {
	for _, compare := range []func(context.Context) error{v.compareApprovals, v.comparePolicies, v.compareTemplates, v.compareCalls, v.compareKeys} {
		if err := compare(ctx); err != nil {
			return err
		}
	}
	// No projection can know more than the log: what it has seen must be there.
	for _, source := range []struct{ by, query string }{
		{"the summary", "SELECT 'run/' || id, seq FROM runs WHERE seq > 0"},
		{"the snapshot", "SELECT 'run/' || run, seq FROM snapshots"},
		{"the list of calls", "SELECT 'run/' || run, max(seq) FROM calls GROUP BY run"},
	} {
		if err := v.expectSeqs(ctx, source.by, source.query); err != nil {
			return err
		}
	}
	return v.compareFolds(ctx)
}

func (v *verification) expectSeqs(ctx context.Context, by, query string) error {
	rows, err := v.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var stream string
		var seq int64
		if err := rows.Scan(&stream, &seq); err != nil {
			return fmt.Errorf("%w: %s: %w", errDamaged, by, err)
		}
		v.expect(stream, seq, expectation{by: by})
	}
	return rows.Err()
}

func (v *verification) compareApprovals(ctx context.Context) error {
	rows, err := v.db.QueryContext(ctx, "SELECT "+approvalColumns+" FROM approvals")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		got, err := scanApproval(rows)
		if err != nil {
			return fmt.Errorf("%w: table approvals: %w", errDamaged, err)
		}
		check := v.stream(StreamOf(got.Run))
		want, isKnown := check.approvals[got.ID]
		delete(check.approvals, got.ID)
		isErased := check.lastNull >= got.Seq
		if !isErased && (!isKnown || !equalApprovals(got, want)) {
			check.complain(got.Seq, "approval "+got.ID+" is not what the facts say")
		}
	}
	for _, check := range v.streams {
		for _, id := range slices.Sorted(maps.Keys(check.approvals)) {
			check.complain(check.approvals[id].Seq, "approval "+id+" is missing from the projection")
		}
	}
	return rows.Err()
}

// equalApprovals compares what is stored; no asks and an empty list of asks are one.
func equalApprovals(a, b *Approval) bool {
	left, right := *a, *b
	if len(left.Asks) == 0 && len(right.Asks) == 0 {
		left.Asks, right.Asks = nil, nil
	}
	return reflect.DeepEqual(left, right)
}
