package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sluice/engine"
	"sluice/policy"
)

// RunRecord is a run as the projection has it, with what a Summary does not say.
type RunRecord struct {
	engine.Summary
	Owner  string // principal (P35)
	Erased bool
}

// RunFilter chooses runs; the zero value chooses all.
type RunFilter struct {
	Owner  string        // "" = of all owners
	Status engine.Status // "" = any
	Code   engine.Code   // "" = any
	Query  string        // part of the goal, case does not matter
	Limit  int           // 0 or beyond listMax = listMax
	Cursor string        // as given by the page before
}

const queryBytesMax = 1_000

// summaryRow is a Summary ready to be written.
type summaryRow struct {
	summary *engine.Summary
	stored  []byte
}

func newSummaryRow(s *engine.Summary) (*summaryRow, error) {
	if !isRunID(s.ID) {
		return nil, invalid("run id %.80q", s.ID)
	}
	stored, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode summary: %w", err)
	}
	copied := *s
	return &summaryRow{summary: &copied, stored: stored}, nil
}

const runColumns = "id, owner, seq, status, code, goal, intent, created_at, ended_at, summary"

// saveSummary replaces an older summary of the run. An erased run keeps its
// blanked one: a late summary would bring its words back.
func (w *writer) saveSummary(row *summaryRow) error {
	s := row.summary
	w.changed = true
	return w.execWarm("INSERT INTO runs ("+runColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "+
		"ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, status = excluded.status, code = excluded.code, goal = excluded.goal, "+
		"intent = excluded.intent, created_at = excluded.created_at, ended_at = excluded.ended_at, summary = excluded.summary "+
		"WHERE excluded.seq > runs.seq AND runs.erased = 0",
		s.ID, s.Requester, s.Seq, string(s.Status), string(s.Code), s.Goal, int64(s.Intent), s.CreatedAt, s.EndedAt, row.stored)
}

// SaveSummary writes a run's summary unless a newer one is there. It is for
// re-projecting; a shell sends summaries with its appends (Append.Summary).
func (s *Store) SaveSummary(ctx context.Context, summary engine.Summary) error {
	row, err := newSummaryRow(&summary)
	if err != nil {
		return err
	}
	return s.do(ctx, func(w *writer) error { return w.saveSummary(row) })
}

// Run gives one run, ErrNotFound when there is none. Who may see it is the
// caller's question; Owner answers part of it (P35).
func (s *Store) Run(ctx context.Context, id string) (RunRecord, error) {
	row := s.readers.QueryRowContext(ctx, "SELECT "+runColumns+", erased FROM runs WHERE id = ?", id)
	record, err := scanRun(row)
	if errors.Is(err, sql.ErrNoRows) {
		return record, fmt.Errorf("run %.80q: %w", id, ErrNotFound)
	}
	return record, err
}

func scanRun(row scanner) (RunRecord, error) {
	var r RunRecord
	var id, owner, status, code, goal string
	var seq, intent, created, ended int64
	var stored []byte
	if err := row.Scan(&id, &owner, &seq, &status, &code, &goal, &intent, &created, &ended, &stored, &r.Erased); err != nil {
		return r, err
	}
	if err := json.Unmarshal(stored, &r.Summary); err != nil {
		return r, fmt.Errorf("read summary of %s: %w", id, err)
	}
	// The columns win: they are what lists are filtered by.
	r.ID, r.Owner, r.Seq, r.Goal = id, owner, seq, goal
	r.Status, r.Code = engine.Status(status), engine.Code(code)
	r.Intent, r.CreatedAt, r.EndedAt = policy.Rank(intent), created, ended
	if r.Requester == "" {
		r.Requester = owner
	}
	fillEmpty(&r.Summary)
	return r, nil
}

// fillEmpty makes the lists of a summary that was never projected empty, not
// null: P39 has them always.
func fillEmpty(s *engine.Summary) {
	if s.Causes == nil {
		s.Causes = []string{}
	}
	if s.Counts == nil {
		s.Counts = map[string]int{}
	}
	if s.Budget == nil {
		s.Budget = map[string]engine.Spend{}
	}
	if s.Unplanned == nil {
		s.Unplanned = []engine.Unplanned{}
	}
	if s.Waiting == nil {
		s.Waiting = []string{}
	}
}

// Runs lists runs, newest first. next is "" on the last page.
func (s *Store) Runs(ctx context.Context, f RunFilter) (page []engine.Summary, next string, err error) {
	query, args, err := runQuery(f)
	if err != nil {
		return nil, "", err
	}
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, "", fmt.Errorf("list runs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	page = []engine.Summary{}
	for rows.Next() {
		record, err := scanRun(rows)
		if err != nil {
			return nil, "", fmt.Errorf("list runs: %w", err)
		}
		page = append(page, record.Summary)
	}
	if limit := listLimit(f.Limit); len(page) > limit {
		page = page[:limit]
		next = makeCursor(page[limit-1].CreatedAt, page[limit-1].ID)
	}
	return page, next, rows.Err()
}

func runQuery(f RunFilter) (query string, args []any, err error) {
	where := []string{"1"}
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.Owner != "" {
		add("owner = ?", f.Owner)
	}
	if f.Status != "" {
		add("status = ?", string(f.Status))
	}
	if f.Code != "" {
		add("code = ?", string(f.Code))
	}
	if len(f.Query) > queryBytesMax {
		return "", nil, invalid("query of %d bytes, at most %d are allowed", len(f.Query), queryBytesMax)
	}
	if f.Query != "" {
		add(`goal LIKE ? ESCAPE '\'`, "%"+escapeLike(f.Query)+"%")
	}
	if f.Cursor != "" {
		at, id, err := parseCursor(f.Cursor)
		if err != nil {
			return "", nil, err
		}
		add("(created_at, id) < (?, ?)", at, id)
	}
	query = "SELECT " + runColumns + ", erased FROM runs WHERE " + strings.Join(where, " AND ") +
		" ORDER BY created_at DESC, id DESC LIMIT ?"
	return query, append(args, listLimit(f.Limit)+1), nil
}

func escapeLike(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}

// StaleRuns lists runs whose log goes beyond their summary: those a crash kept
// from being projected. They are to be folded and saved at start.
func (s *Store) StaleRuns(ctx context.Context) ([]string, error) {
	return s.runIDs(ctx, `SELECT substr(s.name, 5) FROM streams s LEFT JOIN runs r ON r.id = substr(s.name, 5)
		WHERE s.name LIKE 'run/%' AND coalesce(r.seq, 0) <
			(SELECT max(f.id) & 4294967295 FROM facts f WHERE f.id BETWEEN s.number << 32 AND (s.number << 32 | 4294967295))
		ORDER BY s.number`)
}

// LiveRuns lists runs that have not ended, as far as their summaries know.
func (s *Store) LiveRuns(ctx context.Context) ([]string, error) {
	return s.runIDs(ctx, "SELECT id FROM runs WHERE status <> 'ended' AND erased = 0 ORDER BY created_at, id")
}

func (s *Store) runIDs(ctx context.Context, query string) ([]string, error) {
	rows, err := s.readers.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	defer func() { _ = rows.Close() }()
	ids := []string{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list runs: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
