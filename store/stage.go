package store

import (
	"database/sql"
	"errors"

	"sluice/engine"
)

// stagedRow is a fact with what the writer gave it.
type stagedRow struct {
	id    int64
	cause int64
	fact  *engine.Fact
	kept  *salted
	hash  [hashBytes]byte
}

// rowBuffer holds the rows of a batch until they are inserted together.
type rowBuffer struct {
	pending []stagedRow
	changed map[string]struct{} // streams with rows in the open transaction
	hasher  *hasher
}

func (b *rowBuffer) reset() {
	b.pending = b.pending[:0]
	clear(b.changed)
}

// stage checks an append against its stream and the projections and, when it
// stands, gives its facts ids and hashes. refused leaves everything as it was;
// failure is an operating failure.
func (w *writer) stage(p *pendingAppend) (refused, failure error) {
	at, err := w.head(p.Stream)
	if err != nil {
		return nil, err
	}
	if p.Expected != Next && p.Expected != at.seq {
		return &ConflictError{Stream: p.Stream, Expected: p.Expected, Head: at.seq}, nil
	}
	if at.seq+int64(len(p.Facts)) > streamSeqMax {
		return invalid("stream %s is full", p.Stream), nil
	}
	if p.Create != nil {
		if refused, err := w.create(p.Create); refused != nil || err != nil {
			return refused, err
		}
	}
	return nil, w.stageFacts(p, at)
}

func (w *writer) stageFacts(p *pendingAppend, at *head) error {
	first := at.seq + 1
	if err := w.projectApprovals(p, first); err != nil {
		return err
	}
	if p.summary != nil {
		if err := w.saveSummary(p.summary); err != nil {
			return err
		}
	}
	return w.chain(p.Stream, at, p.Facts, p.salted)
}

// chain stages facts behind the head and moves it.
func (w *writer) chain(stream string, at *head, facts []engine.Fact, kept []salted) error {
	if at.number == 0 {
		if err := w.addStream(stream, at); err != nil {
			return err
		}
	}
	b := &w.rows
	if b.changed == nil {
		b.changed = make(map[string]struct{})
	}
	b.changed[stream] = struct{}{}
	first, run := at.seq+1, RunOf(stream)
	for i := range facts {
		f := &facts[i]
		at.seq++
		b.pending = append(b.pending, stagedRow{id: at.number<<streamShift | at.seq, cause: f.Cause, fact: f, kept: &kept[i]})
		row := &b.pending[len(b.pending)-1]
		if row.cause == 0 {
			row.cause = first
		}
		b.hasher.row(at.hash[:0], &chained{prev: at.hash[:], stream: stream, run: run, seq: at.seq, v: engine.FormatVersion,
			fact: f, cause: row.cause, dataHash: row.kept.dataHash[:]})
		row.hash = at.hash
	}
	return nil
}

// flush inserts the staged rows, as many at once as there are.
func (w *writer) flush() error {
	rows := w.rows.pending
	if len(rows) == 0 {
		return nil
	}
	w.changed = true
	err := w.conn.Raw(func(any) error {
		for _, insert := range w.hot.inserts {
			for len(rows) >= insert.rows {
				if err := w.insert(insert, rows[:insert.rows]); err != nil {
					return err
				}
				rows = rows[insert.rows:]
			}
		}
		return nil
	})
	clear(w.rows.pending)
	w.rows.pending = w.rows.pending[:0]
	return err
}

func (w *writer) insert(into insertStatement, rows []stagedRow) error {
	args := w.hot.args[:len(rows)*factColumns]
	for i := range rows {
		r, a := &rows[i], args[i*factColumns:(i+1)*factColumns]
		f := r.fact
		w.check.written += walRowBytes + int64(len(f.Data))
		a[0].Value, a[1].Value, a[2].Value, a[3].Value = r.id, f.At, string(f.Kind), r.cause
		a[4].Value, a[5].Value, a[6].Value, a[7].Value = int64(f.Version), f.Node, int64(f.Attempt), f.Actor
		a[8].Value, a[9].Value, a[10].Value, a[11].Value = storedData(f), r.kept.salt[:], r.kept.dataHash[:], r.hash[:]
	}
	return into.statement.exec(args)
}

// head gives where a stream stands; number is 0 while it does not exist.
func (w *writer) head(stream string) (*head, error) {
	if known, found := w.heads[stream]; found {
		return known, nil
	}
	if len(w.heads) >= headsCachedMax && len(w.rows.changed) == 0 {
		clear(w.heads)
	}
	at := &head{}
	row := w.conn.QueryRowContext(background(), "SELECT number FROM streams WHERE name = ?", stream)
	err := row.Scan(&at.number)
	if errors.Is(err, sql.ErrNoRows) {
		w.heads[stream] = at
		return at, nil
	}
	if err != nil {
		return nil, err
	}
	var hash []byte
	row = w.conn.QueryRowContext(background(),
		"SELECT id & 4294967295, hash FROM facts WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1",
		at.number<<streamShift, at.number<<streamShift|streamSeqMax)
	err = row.Scan(&at.seq, &hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	copy(at.hash[:], hash)
	w.heads[stream] = at
	return at, nil
}

func (w *writer) addStream(stream string, at *head) error {
	if w.number == 0 {
		row := w.conn.QueryRowContext(background(), "SELECT coalesce(max(number), 0) FROM streams")
		if err := row.Scan(&w.number); err != nil {
			return err
		}
	}
	w.number++
	at.number = w.number
	w.changed = true
	return w.exec("INSERT INTO streams (number, name, v) VALUES (?, ?, ?)", at.number, stream, engine.FormatVersion)
}
