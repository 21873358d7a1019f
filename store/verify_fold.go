package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"sluice/engine"
)

// projected is what the tables hold of one run that a fold can give again.
type projected struct {
	summary    *engine.Summary // nil: none to compare
	snapshot   []byte          // nil: none to compare
	snapshotAt int64
}

// compareFolds folds every run that has a snapshot or a summary and holds both
// against the state at their own seq (P32, P33): whoever changed a projection
// would otherwise change what people see, or what a run goes on from, without
// touching a fact.
func (v *verification) compareFolds(ctx context.Context) error {
	runs := make(map[string]*projected)
	if err := v.readSnapshots(ctx, runs); err != nil {
		return err
	}
	if err := v.readSummaries(ctx, runs); err != nil {
		return err
	}
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		check := v.stream(StreamOf(run))
		if check.broken != nil || !check.isPresent || check.lastNull > 0 {
			continue // reported already, or erased: there is nothing to fold
		}
		if err := v.compareFold(ctx, check, runs[run]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verification) readSnapshots(ctx context.Context, runs map[string]*projected) error {
	rows, err := v.db.QueryContext(ctx, "SELECT run, seq, data FROM snapshots WHERE version = ?", engine.SnapshotVersion)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var run string
		p := &projected{}
		if err := rows.Scan(&run, &p.snapshotAt, &p.snapshot); err != nil {
			return fmt.Errorf("%w: table snapshots: %w", errDamaged, err)
		}
		runs[run] = p
	}
	return rows.Err()
}

func (v *verification) readSummaries(ctx context.Context, runs map[string]*projected) error {
	rows, err := v.db.QueryContext(ctx, "SELECT id, seq, summary FROM runs WHERE erased = 0 AND seq > 0")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var run string
		var seq int64
		var stored []byte
		if err := rows.Scan(&run, &seq, &stored); err != nil {
			return fmt.Errorf("%w: table runs: %w", errDamaged, err)
		}
		if runs[run] == nil {
			runs[run] = &projected{}
		}
		sum := &engine.Summary{}
		if err := json.Unmarshal(stored, sum); err != nil {
			v.stream(StreamOf(run)).fail(seq, "the summary of the run cannot be read")
			continue
		}
		sum.Seq = seq
		runs[run].summary = sum
	}
	return rows.Err()
}

func (v *verification) compareFold(ctx context.Context, c *streamCheck, p *projected) error {
	rows, err := v.db.QueryContext(ctx, factSelect+"WHERE id >> 32 = (SELECT number FROM streams WHERE name = ?) ORDER BY id", c.name)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	state := engine.New(engine.Env{})
	state.SetRun(RunOf(c.name))
	for rows.Next() {
		var raw rawRow
		if err := raw.scan(rows); err != nil {
			return err
		}
		row, isTyped := raw.row(c.name)
		if !isTyped {
			return nil // the chain has its own finding
		}
		state.Apply(row.Fact)
		if !state.Sound() {
			return nil // not a run of this engine: nothing to compare with
		}
		c.compareAt(state, p)
	}
	return rows.Err()
}

func (c *streamCheck) compareAt(state *engine.State, p *projected) {
	if p.snapshot != nil && p.snapshotAt == state.Seq() && !bytes.Equal(p.snapshot, state.Snapshot()) {
		c.fail(state.Seq(), "the snapshot is not what the facts say")
	}
	if p.summary == nil || p.summary.Seq != state.Seq() {
		return
	}
	if field := differs(engine.Summarise(state), *p.summary); field != "" {
		c.fail(state.Seq(), "the summary is not what the facts say: %s", field)
	}
}

// differs names the first part of a summary that is not the folded one.
func differs(want, got engine.Summary) string {
	for _, part := range []struct {
		name      string
		want, got any
	}{
		{"goal", want.Goal, got.Goal}, {"status", want.Status, got.Status}, {"code", want.Code, got.Code},
		{"counts", want.Counts, got.Counts}, {"requester", want.Requester, got.Requester},
		{"verdict", want.Verdict, got.Verdict}, {"plan version", want.PlanVersion, got.PlanVersion},
	} {
		if !reflect.DeepEqual(part.want, part.got) {
			return part.name
		}
	}
	return ""
}
