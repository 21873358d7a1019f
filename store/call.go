package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/engine"
	"sluice/policy"
)

// RecordedCall is one gate decision of a run, for trying a draft policy on
// (P20). The fact Seq of the run's stream holds the gate's whole input.
type RecordedCall struct {
	Run      string
	Seq      int64
	At       int64 // µs UTC
	Node     string
	Attempt  int
	Tool     string
	Decision policy.Outcome
	Impact   policy.Rank
}

// callData reads what a list of calls shows out of a fact that carries the
// gate's input and its answer.
type callData struct {
	Call *struct {
		Tool string `json:"tool"`
	} `json:"call"`
	Decision *policy.Decision `json:"decision"`
}

// ProjectCalls brings the calls projection up to the log and returns how many
// were added. It follows with a cursor per stream, so it may be called often.
func (s *Store) ProjectCalls(ctx context.Context) (added int, err error) {
	behind, err := s.callsBehind(ctx)
	if err != nil {
		return 0, fmt.Errorf("project calls: %w", err)
	}
	for _, stream := range behind {
		count, err := s.projectStream(ctx, stream)
		if err != nil {
			return added, fmt.Errorf("project calls of %s: %w", stream, err)
		}
		added += count
	}
	return added, nil
}

func (s *Store) callsBehind(ctx context.Context) ([]string, error) {
	return s.runIDs(ctx, `SELECT s.name FROM streams s LEFT JOIN call_cursors c ON c.stream = s.number
		WHERE s.name LIKE 'run/%' AND coalesce(c.seq, 0) <
			(SELECT max(f.id) & 4294967295 FROM facts f WHERE f.id BETWEEN s.number << 32 AND (s.number << 32 | 4294967295))
		ORDER BY s.number`)
}

func (s *Store) projectStream(ctx context.Context, stream string) (added int, err error) {
	number, _, err := streamNumber(ctx, s.readers, stream)
	if err != nil {
		return 0, err
	}
	var after int64
	row := s.readers.QueryRowContext(ctx, "SELECT seq FROM call_cursors WHERE stream = ?", number)
	if err := row.Scan(&after); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	for {
		facts, err := s.Facts(ctx, stream, after, 0)
		if err != nil || len(facts) == 0 {
			return added, err
		}
		calls := callsIn(facts)
		after, added = facts[len(facts)-1].Seq, added+len(calls)
		if err := s.do(ctx, func(w *writer) error { return w.saveCalls(number, after, calls) }); err != nil {
			return added, err
		}
	}
}

func callsIn(facts []engine.Row) []RecordedCall {
	var calls []RecordedCall
	for i := range facts {
		if call, isCall := callIn(&facts[i]); isCall {
			calls = append(calls, call)
		}
	}
	return calls
}

// callIn reads the decision out of a fact. Facts without one, and erased ones,
// are no calls.
func callIn(r *engine.Row) (RecordedCall, bool) {
	call := RecordedCall{Run: r.Run, Seq: r.Seq, At: r.At, Node: r.Node, Attempt: r.Attempt}
	var data callData
	if !mayBeCall(r.Kind) || json.Unmarshal(r.Data, &data) != nil {
		return call, false
	}
	if data.Call == nil || data.Decision == nil {
		return call, false
	}
	call.Tool, call.Decision, call.Impact = data.Call.Tool, data.Decision.Outcome, data.Decision.Impact
	return call, true
}

// mayBeCall says whether facts of a kind carry decisions of the gate.
func mayBeCall(kind engine.Kind) bool {
	return kind == engine.AttemptStarted || kind == engine.NodeChanged || kind == engine.ApprovalRequested || kind == engine.ClearanceRequested
}

func (w *writer) saveCalls(stream, through int64, calls []RecordedCall) error {
	for _, c := range calls {
		if err := w.exec("INSERT OR REPLACE INTO calls (fact, run, seq, at, node, attempt, tool, decision, impact) VALUES (?,?,?,?,?,?,?,?,?)",
			stream<<streamShift|c.Seq, c.Run, c.Seq, c.At, c.Node, c.Attempt, c.Tool, string(c.Decision), int64(c.Impact)); err != nil {
			return err
		}
	}
	return w.exec("INSERT OR REPLACE INTO call_cursors (stream, seq) VALUES (?, ?)", stream, through)
}

// Calls lists recorded calls behind a fact id given as cursor ("" = from the
// first), in the order of ids. next is "" on the last page.
func (s *Store) Calls(ctx context.Context, cursor string, limit int) (page []RecordedCall, next string, err error) {
	var after int64
	if cursor != "" {
		if after, _, err = parseCursor(cursor); err != nil {
			return nil, "", err
		}
	}
	limit = listLimit(limit)
	rows, err := s.readers.QueryContext(ctx, "SELECT fact, run, seq, at, node, attempt, tool, decision, impact FROM calls WHERE fact > ? ORDER BY fact LIMIT ?", after, limit)
	if err != nil {
		return nil, "", fmt.Errorf("list calls: %w", err)
	}
	defer func() { _ = rows.Close() }()
	page = []RecordedCall{}
	for rows.Next() {
		var c RecordedCall
		if err := rows.Scan(&after, &c.Run, &c.Seq, &c.At, &c.Node, &c.Attempt, &c.Tool, &c.Decision, &c.Impact); err != nil {
			return nil, "", fmt.Errorf("list calls: %w", err)
		}
		page = append(page, c)
	}
	if len(page) == limit {
		next = makeCursor(after, "")
	}
	return page, next, rows.Err()
}
