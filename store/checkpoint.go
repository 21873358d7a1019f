package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// What a transaction puts into the WAL beyond its fact data, roughly: enough to
// know when to look, since looking takes a statement.
const (
	walPageBytes        = 4_096
	walTransactionBytes = 2 * walPageBytes
	walRowBytes         = 512
	growChunkBytes      = 1 << 20
	restartBusyMS       = 200              // readers may hold up the writer's RESTART this long
	truncateWait        = 10 * time.Second // no fact is written meanwhile
)

// checkpointer moves committed pages from the WAL to the database on a
// connection of its own, so that commits do not pay for it (P31a).
type checkpointer struct {
	store    *Store
	db       *sql.DB
	wish     chan struct{}
	ended    chan struct{}
	started  bool
	growTo   int64
	written  int64        // bytes since the last wish; the writer's
	logBytes atomic.Int64 // size of the WAL in use, as last measured
}

func openCheckpointer(ctx context.Context, s *Store, walBytes int64) (*checkpointer, error) {
	db, err := openPool(writerDSN(s.path), 1)
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	if walBytes == 0 {
		walBytes = walGrowBytes
	}
	return &checkpointer{store: s, db: db, growTo: walBytes,
		wish: make(chan struct{}, checkpointQueue), ended: make(chan struct{})}, nil
}

func (c *checkpointer) loop() {
	defer close(c.ended)
	for range c.wish {
		log, err := checkpoint(c.db, "PASSIVE")
		if err != nil && !errors.Is(err, errBusy) {
			c.store.log.Warn("checkpoint", "error", err)
			continue
		}
		c.logBytes.Store(log * walPageBytes)
	}
}

func (c *checkpointer) stop() {
	close(c.wish)
	if c.started {
		<-c.ended
	}
	_ = c.db.Close()
}

// after is called by the writer between transactions.
func (c *checkpointer) after(w *writer) {
	if c.written > walPassiveBytes {
		select {
		case c.wish <- struct{}{}:
			c.written = 0
		default:
		}
	}
	if c.logBytes.Load() <= walRestartBytes {
		return
	}
	if err := w.restartWAL(); err != nil {
		c.store.log.Warn("restart WAL", "error", err)
	}
	c.logBytes.Store(0)
}

// restartWAL makes the next commit write at the WAL's start. Readers that stay
// in the old part may prevent it; it is tried again after the next measurement.
func (w *writer) restartWAL() error {
	if err := w.exec(fmt.Sprintf("PRAGMA busy_timeout = %d", restartBusyMS)); err != nil {
		return err
	}
	_, err := checkpoint(w.conn, "RESTART")
	if reset := w.exec(fmt.Sprintf("PRAGMA busy_timeout = %d", busyMS)); err == nil {
		err = reset
	}
	return err
}

// truncateWAL empties the WAL file, waiting for readers in it, and grows it again.
func (w *writer) truncateWAL() error {
	deadline := time.Now().Add(truncateWait)
	for {
		_, err := checkpoint(w.conn, "TRUNCATE")
		if err == nil {
			return w.growWAL()
		}
		if !errors.Is(err, errBusy) || time.Now().After(deadline) {
			return fmt.Errorf("truncate WAL: %w", err)
		}
	}
}

var errBusy = errors.New("readers hold the WAL")

// checkpoint returns the pages in the WAL. errBusy: it could not finish.
func checkpoint(db queryRower, mode string) (pages int64, err error) {
	var busy, moved int64
	row := db.QueryRowContext(background(), "PRAGMA wal_checkpoint("+mode+")")
	if err := row.Scan(&busy, &pages, &moved); err != nil {
		return 0, err
	}
	if busy != 0 {
		return pages, errBusy
	}
	return pages, nil
}

// growWAL gives the WAL file its working size, so that a commit syncs data and
// no change of size (P31a). It writes zeros behind what is there: SQLite reads a
// WAL up to the first frame that does not carry the header's salts, so they are
// never taken for content, and later commits overwrite them. Growing it through
// SQLite (a large value written and dropped) has the same end, takes ten times
// as long and leaves the database as large as the WAL. No lock is lost by
// closing the file: SQLite holds its locks on the two others.
func (w *writer) growWAL() error {
	path, want := w.store.path+"-wal", w.check.growTo
	info, err := os.Stat(path)
	if want <= 0 || err == nil && info.Size() >= want {
		return nil
	}
	if err != nil {
		return fmt.Errorf("grow WAL: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, databaseMode)
	if err != nil {
		return fmt.Errorf("grow WAL: %w", err)
	}
	defer func() { _ = file.Close() }()
	zeros := make([]byte, growChunkBytes)
	for at := info.Size(); at < want; at += growChunkBytes {
		if _, err := file.WriteAt(zeros[:min(growChunkBytes, want-at)], at); err != nil {
			return fmt.Errorf("grow WAL: %w", err)
		}
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("grow WAL: %w", err)
	}
	return nil
}
