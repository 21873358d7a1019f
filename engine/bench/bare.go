package bench

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// rowBytes is the size of a row's data in the bare program (P47).
const rowBytes = 430

// bare is the limit: an event loop with counters and one writer that drains
// its queue into one transaction. It checks, decides, hashes and verifies nothing.
type bare struct {
	db   *sql.DB
	in   chan bareRow
	wait sync.WaitGroup
	err  error
}

type bareRow struct {
	run  int
	seq  int
	done func()
}

// newBare opens its own database with SQLite's own checkpointing, because a log
// that is never checkpointed only puts the work off. The grown variant has the
// settings of the store (P31a): a WAL of its full size, and no checkpoint at
// all within the measurement.
func newBare(dir string, grow bool) (*bare, error) {
	dsn := filepath.Join(dir, "bare.db") + "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	if grow {
		dsn += "&_pragma=wal_autocheckpoint(0)"
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	statements := []string{"CREATE TABLE facts (id INTEGER PRIMARY KEY, run INTEGER, seq INTEGER, data BLOB, UNIQUE (run, seq))"}
	if grow {
		statements = append(statements, "CREATE TABLE grow (b BLOB)", "INSERT INTO grow VALUES (zeroblob(33554432))",
			"DROP TABLE grow", "PRAGMA wal_checkpoint(RESTART)")
	}
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			return nil, fmt.Errorf("prepare bare database: %w", err)
		}
	}
	b := &bare{db: db, in: make(chan bareRow, 4096)}
	b.wait.Add(1)
	go b.write()
	return b, nil
}

func (b *bare) close() error {
	close(b.in)
	b.wait.Wait()
	if err := b.db.Close(); err != nil {
		return err
	}
	return b.err
}

func (b *bare) write() {
	defer b.wait.Done()
	data := make([]byte, rowBytes)
	insert, err := b.db.Prepare("INSERT INTO facts (run, seq, data) VALUES (?, ?, ?)")
	if err != nil {
		b.err = err
		return
	}
	defer insert.Close()
	var batch []bareRow
	for row := range b.in {
		batch = b.drain(append(batch[:0], row))
		if err := b.commit(insert, batch, data); err != nil {
			b.err = err
		}
		for _, r := range batch {
			if r.done != nil {
				r.done()
			}
		}
	}
}

// drain adds what waits already, without waiting for more.
func (b *bare) drain(batch []bareRow) []bareRow {
	for {
		select {
		case r, ok := <-b.in:
			if !ok {
				return batch
			}
			batch = append(batch, r)
		default:
			return batch
		}
	}
}

func (b *bare) commit(insert *sql.Stmt, batch []bareRow, data []byte) error {
	tx, err := b.db.Begin()
	if err != nil {
		return err
	}
	stmt := tx.Stmt(insert)
	for _, r := range batch {
		if _, err := stmt.Exec(r.run, r.seq, data); err != nil {
			_ = tx.Rollback()
			return err
		}
	}
	return tx.Commit()
}

// run performs one shape: a row before each step, a row after it.
func (b *bare) run(number int, s *Shape, work time.Duration) time.Duration {
	started := time.Now()
	next, left := s.next(), make([]int, len(s.Deps))
	results := make(chan int, len(s.Deps))
	seq, open := 0, len(s.Deps)
	start := func(i int) {
		seq++
		b.in <- bareRow{number, seq, func() {
			go func() {
				if work > 0 {
					time.Sleep(work)
				}
				results <- i
			}()
		}}
	}
	for i, deps := range s.Deps {
		if left[i] = len(deps); left[i] == 0 {
			start(i)
		}
	}
	durable := make(chan struct{}, 1)
	for open > 0 {
		i := <-results
		open--
		seq++
		row := bareRow{run: number, seq: seq}
		if open == 0 {
			row.done = func() { durable <- struct{}{} }
		}
		b.in <- row
		for _, j := range next[i] {
			if left[j]--; left[j] == 0 {
				start(j)
			}
		}
	}
	<-durable
	return time.Since(started)
}
