package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"runtime"
)

// Limits of the writer's queue.
const (
	queueMax        = 1_024    // requests; a sender waits when it is full
	batchBytesMax   = 64 << 20 // fact bytes in one transaction
	headsCachedMax  = 65_536   // streams whose head is kept in memory
	queuedBatchSize = queueMax + 1
)

// request is one thing for the writer to do. Exactly one of append, op and
// between is set.
type request struct {
	append  *pendingAppend
	op      func(*writer) error // inside the transaction, undone alone if it fails
	between func(*writer) error // outside any transaction
	done    func(error)
}

// writer owns the only connection that writes. Everything but queue belongs to
// its goroutine.
type writer struct {
	store *Store
	queue chan request
	ended chan struct{}

	db      *sql.DB
	conn    *sql.Conn
	hot     *hotStatements
	warm    map[string]*sql.Stmt // of execWarm, by query
	rows    rowBuffer
	heads   map[string]*head
	changed bool  // the open transaction has written something
	number  int64 // of the newest stream, 0 when not known
	check   *checkpointer
	batch   []request
	results []error
}

// head is where a stream stands, the uncommitted part of a batch included.
type head struct {
	number int64
	seq    int64
	hash   [hashBytes]byte
}

// ctx of the writer's statements: a batch is never abandoned half way.
func background() context.Context { return context.Background() }

func openWriter(ctx context.Context, s *Store, walBytes int64) (*writer, error) {
	db, err := openPool(writerDSN(s.path), 1)
	if err != nil {
		return nil, err
	}
	w := &writer{store: s, db: db, queue: make(chan request, queueMax), ended: make(chan struct{}),
		heads: make(map[string]*head), warm: make(map[string]*sql.Stmt), batch: make([]request, 0, queuedBatchSize), results: make([]error, queuedBatchSize)}
	if err := w.prepare(ctx, walBytes); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *writer) prepare(ctx context.Context, walBytes int64) error {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	w.conn = conn
	if err := migrate(ctx, conn); err != nil {
		return err
	}
	w.check, err = openCheckpointer(ctx, w.store, walBytes)
	if err != nil {
		return err
	}
	if err := w.growWAL(); err != nil {
		return err
	}
	w.rows.hasher = newHasher()
	return conn.Raw(func(raw any) error {
		w.hot, err = prepareHot(raw.(driver.Conn))
		return err
	})
}

func (w *writer) start() {
	w.check.started = true
	go w.check.loop()
	go w.loop()
}

// stop is called once, after the gate is closed: nobody sends any more. The
// goroutines may not have been started, when opening went wrong half way.
func (w *writer) stop() error {
	close(w.queue)
	if w.check.started {
		<-w.ended
	}
	return w.close()
}

func (w *writer) close() error {
	if w.check != nil {
		w.check.stop()
	}
	for _, statement := range w.warm {
		_ = statement.Close()
	}
	if w.conn != nil {
		if w.hot != nil {
			_ = w.conn.Raw(func(any) error { return w.hot.close() })
		}
		_ = w.conn.Close()
	}
	return w.db.Close()
}

// send queues a request; the gate keeps the queue open while it waits.
func (s *Store) send(r request) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	switch {
	case s.readOnly:
		r.done(ErrReadOnly)
	case s.closed:
		r.done(ErrClosed)
	default:
		s.writer.queue <- r
	}
}

// do performs an operation on the writer inside its next transaction.
func (s *Store) do(ctx context.Context, op func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	result := make(chan error, 1)
	s.send(request{op: op, done: func(err error) { result <- err }})
	return <-result
}

// doBetween performs an operation on the writer outside any transaction.
func (s *Store) doBetween(ctx context.Context, between func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	result := make(chan error, 1)
	s.send(request{between: between, done: func(err error) { result <- err }})
	return <-result
}

func (w *writer) loop() {
	defer close(w.ended)
	joined := 0 // requests of the commit before
	for first := range w.queue {
		if first.between == nil && joined > 1 {
			// One yield lets the senders that were just called back join this
			// commit instead of paying for their own. A single one is not waited for.
			runtime.Gosched()
		}
		last := w.drain(first)
		joined = len(w.batch)
		w.commit()
		if last.between != nil {
			last.done(last.between(w))
		}
		w.check.after(w)
	}
}

// drain fills the batch with what is queued. A request that belongs between
// transactions ends the batch and is returned.
func (w *writer) drain(first request) (last request) {
	w.batch = w.batch[:0]
	bytes := 0
	for next := first; ; {
		if next.between != nil {
			return next
		}
		w.batch = append(w.batch, next)
		if next.append != nil {
			bytes += next.append.bytes
		}
		if len(w.batch) == queueMax || bytes > batchBytesMax {
			return request{}
		}
		select {
		case r, isOpen := <-w.queue:
			if !isOpen {
				return request{}
			}
			next = r
		default:
			return request{}
		}
	}
}

// commit performs the batch in one transaction and calls every request back.
func (w *writer) commit() {
	if len(w.batch) == 0 {
		return
	}
	results := w.results[:len(w.batch)]
	if err := w.transact(results); err != nil {
		w.forget()
		for i := range results {
			results[i] = fmt.Errorf("commit facts: %w", onDisk(err))
		}
	}
	for i := range w.batch {
		w.batch[i].done(results[i])
		w.batch[i] = request{}
	}
}

func (w *writer) transact(results []error) error {
	if err := w.run(w.hot.begin); err != nil {
		return err
	}
	w.changed = false
	for i := range w.batch {
		err := w.perform(&w.batch[i], &results[i])
		if err != nil {
			return w.rollback(err)
		}
	}
	if err := w.flush(); err != nil {
		return w.rollback(err)
	}
	if err := w.run(w.hot.commit); err != nil {
		return w.rollback(err)
	}
	if w.changed {
		w.store.commits.Add(1)
		w.check.written += walTransactionBytes
	}
	w.publishHeads()
	return nil
}

// perform does one request. refused is its own failure; the error returned
// fails the whole batch.
func (w *writer) perform(r *request, refused *error) error {
	*refused = nil
	if r.append != nil {
		var err error
		*refused, err = w.stage(r.append)
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	return w.savepoint(r.op, refused)
}

// savepoint runs an operation so that its failure undoes only itself. An
// operation that staged facts and then failed fails the batch: the heads in
// memory have moved.
func (w *writer) savepoint(op func(*writer) error, refused *error) error {
	if err := w.execWarm("SAVEPOINT op"); err != nil {
		return err
	}
	err := op(w)
	staged := len(w.rows.pending) > 0
	if err == nil {
		w.changed = true
		if err := w.flush(); err != nil {
			return err
		}
		return w.execWarm("RELEASE op")
	}
	if staged {
		return err
	}
	*refused = err
	if err := w.execWarm("ROLLBACK TO op"); err != nil {
		return err
	}
	return w.execWarm("RELEASE op")
}

func (w *writer) rollback(cause error) error {
	// A failed COMMIT may have rolled back already; then this fails harmlessly.
	_ = w.run(w.hot.rollback)
	return cause
}

// forget drops what the writer believes about the log after a failure.
func (w *writer) forget() {
	clear(w.heads)
	w.number = 0
	w.rows.reset()
}

func (w *writer) exec(query string, args ...any) error {
	_, err := w.conn.ExecContext(background(), query, args...)
	return err
}

// execWarm is exec for the few queries that come with most commits: parsing one
// takes longer than performing it. The query must be a constant.
func (w *writer) execWarm(query string, args ...any) error {
	statement, found := w.warm[query]
	if !found {
		prepared, err := w.conn.PrepareContext(background(), query)
		if err != nil {
			return err
		}
		statement, w.warm[query] = prepared, prepared
	}
	_, err := statement.ExecContext(background(), args...)
	return err
}

func (w *writer) run(s *hotStatement) error {
	return w.conn.Raw(func(any) error { return s.exec(nil) })
}
