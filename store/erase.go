package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/engine"
)

const reasonBytesMax = 4_096

// erasure is the data of a run.erased fact. Through is the last fact of the
// run's stream whose salt and data it took away.
type erasure struct {
	Run     string `json:"run"`
	Reason  string `json:"reason"`
	Through int64  `json:"through"`
}

// Erasure says which run's words to take away, why and by whom.
type Erasure struct {
	Run    string
	Reason string
	Actor  string // principal
	At     int64  // µs UTC
}

// Erase takes the words of an ended run away: salts and data of its facts, its
// blobs that no other run has, its snapshot, and the text in projections (P27).
// That it was done, why and by whom is itself a fact, in the run's stream and in
// admin. When it returns without error the bytes are in none of the database's
// files any more, which takes a rewrite of the database: time goes with its
// size. ErrNotFound: no such run. ErrConflict: it has not ended. An error after
// the erasure itself (a reader would not let go) is mended by calling it again.
func (s *Store) Erase(ctx context.Context, e Erasure) error {
	if !isRunID(e.Run) || len(e.Reason) > reasonBytesMax || len(e.Actor) > actorBytesMax {
		return invalid("erase run %.80q with a reason of %d bytes", e.Run, len(e.Reason))
	}
	// What a dry run can no longer try is still counted, so list its calls first.
	if _, err := s.projectStream(ctx, StreamOf(e.Run)); err != nil {
		return fmt.Errorf("erase run %s: %w", e.Run, err)
	}
	err := s.do(ctx, func(w *writer) error { return w.erase(e) })
	if err != nil {
		return fmt.Errorf("erase run %s: %w", e.Run, err)
	}
	if err := s.doBetween(ctx, func(w *writer) error { return w.wipe() }); err != nil {
		return fmt.Errorf("wipe erased bytes of %s: %w", e.Run, err)
	}
	return nil
}

func (w *writer) erase(e Erasure) error {
	stream := StreamOf(e.Run)
	here, err := w.head(stream)
	if err != nil {
		return err
	}
	if here.seq == 0 {
		return ErrNotFound
	}
	low, high := here.number<<streamShift, here.number<<streamShift|here.seq
	var hasEnded bool
	row := w.conn.QueryRowContext(background(), "SELECT EXISTS (SELECT 1 FROM facts WHERE id BETWEEN ? AND ? AND kind = ?)",
		low, high, string(engine.RunEnded))
	if err := row.Scan(&hasEnded); err != nil {
		return err
	}
	if !hasEnded {
		return fmt.Errorf("run has not ended: %w", ErrConflict)
	}
	if err := w.eraseRows(e.Run, low, high); err != nil {
		return err
	}
	return w.recordErasure(e, here.seq)
}

func (w *writer) recordErasure(e Erasure, through int64) error {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(erasure{Run: e.Run, Reason: e.Reason, Through: through}); err != nil {
		return err
	}
	fact := engine.Fact{At: e.At, Kind: engine.RunErased, Actor: e.Actor, Data: bytes.TrimSpace(buffer.Bytes())}
	if err := checkFact(&fact); err != nil {
		return err
	}
	admin, err := w.head(Admin)
	if err != nil {
		return err
	}
	here, err := w.head(StreamOf(e.Run))
	if err != nil {
		return err
	}
	if err := w.exec("UPDATE runs SET seq = ? WHERE id = ?", here.seq+1, e.Run); err != nil {
		return err
	}
	facts := []engine.Fact{fact}
	kept, err := w.store.salter.salt([]engine.Fact{fact, fact})
	if err != nil {
		return err
	}
	if err := w.chain(StreamOf(e.Run), here, facts, kept[:1]); err != nil {
		return err
	}
	return w.chain(Admin, admin, facts, kept[1:])
}

// eraseRows empties everything of a run that may hold words. Earlier records of
// erasure stay: they are why the rest is gone.
func (w *writer) eraseRows(run string, low, high int64) error {
	blank, err := w.blankSummary(run)
	if err != nil {
		return err
	}
	steps := []struct {
		query string
		args  []any
	}{
		{"UPDATE facts SET salt = NULL, data = NULL WHERE id BETWEEN ? AND ? AND kind <> ?", []any{low, high, string(engine.RunErased)}},
		{"UPDATE runs SET goal = '', erased = 1, summary = ? WHERE id = ?", []any{blank, run}},
		{"UPDATE approvals SET reason = '', asks = '[]', hash = '' WHERE run = ?", []any{run}},
		{"DELETE FROM idempotency WHERE run = ?", []any{run}},
		{"DELETE FROM snapshots WHERE run = ?", []any{run}},
		{"DELETE FROM run_blobs WHERE run = ?", []any{run}},
		{"DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM run_blobs r WHERE r.sha256 = blobs.sha256)", nil},
	}
	for _, step := range steps {
		if err := w.exec(step.query, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// blankSummary is a run's summary without anything a person or a tool has said.
func (w *writer) blankSummary(run string) ([]byte, error) {
	row := w.conn.QueryRowContext(background(), "SELECT "+runColumns+", erased FROM runs WHERE id = ?", run)
	record, err := scanRun(row)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	blank := record.Summary
	blank.Goal, blank.Verdict = "", nil
	blank.Causes, blank.Unplanned = []string{}, []engine.Unplanned{}
	return json.Marshal(blank)
}

// wipe rewrites the database and empties its WAL. secure_delete alone is not
// enough: when SQLite splits a page it may leave copies of rows it has moved
// in the unused middle of the old one.
func (w *writer) wipe() error {
	if err := w.exec("VACUUM"); err != nil {
		return err
	}
	return w.truncateWAL()
}
