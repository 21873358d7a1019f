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
	listed     bool            // there is a row in the list of runs
	erased     bool            // … that says so
	columns    columns
	snapshot   []byte // nil: none to compare
	snapshotAt int64
}

// columns are what lists select and sort by, beside the summary itself.
type columns struct {
	owner, status, code, goal string
	intent, created, ended    int64
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
	for _, name := range slices.Sorted(maps.Keys(v.streams)) {
		run := RunOf(name)
		if run == "" {
			continue
		}
		p := runs[run]
		if p == nil {
			p = &projected{}
		}
		if err := v.compareRun(ctx, v.streams[name], p); err != nil {
			return err
		}
	}
	return nil
}

func (v *verification) compareRun(ctx context.Context, c *streamCheck, p *projected) error {
	switch {
	case c.broken != nil || !c.isPresent:
		return nil // reported already
	case c.lastNull > 0 && p.listed && !p.erased:
		c.complain(c.seq, "the list of runs does not say that the run was erased")
		return nil
	case c.lastNull > 0:
		return nil // there is nothing to fold
	case p.erased:
		c.complain(c.seq, "the list of runs says that the run was erased")
		return nil
	}
	return v.compareFold(ctx, c, p)
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
	rows, err := v.db.QueryContext(ctx, "SELECT id, seq, summary, erased, owner, status, code, goal, intent, created_at, ended_at FROM runs")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var run string
		var seq int64
		var stored []byte
		var c columns
		var erased bool
		if err := rows.Scan(&run, &seq, &stored, &erased, &c.owner, &c.status, &c.code, &c.goal, &c.intent, &c.created, &c.ended); err != nil {
			return fmt.Errorf("%w: table runs: %w", errDamaged, err)
		}
		if runs[run] == nil {
			runs[run] = &projected{}
		}
		p := runs[run]
		p.listed, p.erased, p.columns = true, erased, c
		sum := &engine.Summary{}
		if erased || seq == 0 {
			continue // blanked, or registered before its first summary
		}
		if err := json.Unmarshal(stored, sum); err != nil {
			v.stream(StreamOf(run)).complain(seq, "the summary of the run cannot be read")
			continue
		}
		sum.Seq = seq
		p.summary = sum
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
		if !p.listed {
			c.complain(state.Seq(), "the run is missing from the list of runs")
			return nil
		}
		c.compareAt(state, p)
	}
	return rows.Err()
}

func (c *streamCheck) compareAt(state *engine.State, p *projected) {
	if p.snapshot != nil && p.snapshotAt == state.Seq() && !bytes.Equal(p.snapshot, state.Snapshot()) {
		c.complain(state.Seq(), "the snapshot is not what the facts say")
	}
	if p.summary == nil || p.summary.Seq != state.Seq() {
		return
	}
	if field := differs(engine.Summarise(state), *p.summary); field != "" {
		c.complain(state.Seq(), "the summary is not what the facts say: "+field)
	}
	want := engine.Summarise(state)
	if (columns{want.Requester, string(want.Status), string(want.Code), want.Goal, int64(want.Intent), want.CreatedAt, want.EndedAt}) != p.columns {
		c.complain(state.Seq(), "the list of runs is not what the facts say")
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
		{"verdict", want.Verdict, got.Verdict}, {"plan version", want.PlanVersion, got.PlanVersion}, {"template", want.Template, got.Template},
	} {
		if !reflect.DeepEqual(part.want, part.got) {
			return part.name
		}
	}
	return ""
}
