package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
)

// FileName is the database's name in a data directory.
const FileName = "sluice.db"

// Limits of the store's own machinery.
const (
	readersMax      = 8        // connections of the read pool
	busyMS          = 5_000    // how long a statement waits for a lock of another process
	walGrowBytes    = 32 << 20 // P31a: the WAL's size before the first commit
	walPassiveBytes = 8 << 20  // P31a: above it another connection checkpoints
	walRestartBytes = 64 << 20 // P31a: above it the writer restarts the WAL between commits
	cacheKiB        = 16 << 10 // page cache of the writer
	directoryMode   = 0o700    // the data directory holds people's text
	databaseMode    = 0o600    //
	checkpointQueue = 1        // one wish to checkpoint is as good as many
)

// Options of Open. Path is required.
type Options struct {
	Path     string           // a data directory, or the database file itself
	ReadOnly bool             // no writer; nothing is created or migrated (P34)
	Now      func() time.Time // time.Now when nil
	Rand     io.Reader        // of salts, tokens and links; crypto/rand when nil
	Logger   *slog.Logger     // slog.Default when nil
	WALBytes int64            // size the WAL is grown to at start; 0 = 32 MiB, < 0 = not grown
}

// Store is the log with its projections. All methods are safe for concurrent use.
type Store struct {
	path     string
	readOnly bool
	now      func() time.Time
	random   io.Reader
	salter   *salter
	log      *slog.Logger
	readers  *sql.DB
	writer   *writer // nil when read-only
	commits  atomic.Int64

	gate   sync.RWMutex // held for reading while a request is handed over
	closed bool

	sealing sync.Mutex   // one Seal at a time
	sealed  *sealedHeads // what is sealed, nil until the first Seal
	dirty   dirtyHeads
}

// Open opens or creates the database, brings its form up to date and starts
// the writer. ctx bounds the opening only. A read-only store of a missing file
// gives an error that wraps fs.ErrNotExist.
func Open(ctx context.Context, o Options) (*Store, error) {
	path, err := databasePath(o)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: path, readOnly: o.ReadOnly, now: o.Now, random: o.Rand, log: o.Logger}
	if s.now == nil {
		s.now = time.Now
	}
	if s.random == nil {
		s.random = rand.Reader
	}
	s.salter = newSalter(s.random)
	if s.log == nil {
		s.log = slog.Default()
	}
	if err := s.start(ctx, o); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

func (s *Store) start(ctx context.Context, o Options) error {
	if !o.ReadOnly {
		w, err := openWriter(ctx, s, o.WALBytes)
		if err != nil {
			return err
		}
		s.writer = w
	}
	readers, err := openPool(readerDSN(s.path, o.ReadOnly), readersMax)
	if err == nil {
		s.readers = readers
		err = checkForm(ctx, readers)
	}
	if err != nil {
		_ = s.Close()
		return err
	}
	if s.writer != nil {
		s.writer.start()
	}
	return nil
}

// Path is the database file.
func (s *Store) Path() string { return s.path }

// Commits counts the transactions that changed something since Open.
func (s *Store) Commits() int64 { return s.commits.Load() }

// Close performs what is queued, then stops. It may be called twice.
func (s *Store) Close() error {
	s.gate.Lock()
	wasClosed := s.closed
	s.closed = true
	s.gate.Unlock()
	if wasClosed {
		return nil
	}
	var failure error
	if s.readers != nil {
		failure = s.readers.Close()
	}
	if s.writer != nil {
		if err := s.writer.stop(); err != nil {
			failure = err
		}
	}
	if failure != nil {
		return fmt.Errorf("close store: %w", failure)
	}
	return nil
}

// databasePath resolves Path to the file and makes what a writing store needs.
func databasePath(o Options) (string, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil || o.Path == "" {
		return "", invalid("path %q", o.Path)
	}
	info, err := os.Stat(path)
	isDirectory := err == nil && info.IsDir() || strings.HasSuffix(o.Path, string(filepath.Separator))
	if isDirectory {
		path = filepath.Join(path, FileName)
	}
	if o.ReadOnly {
		_, err := os.Stat(path)
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), directoryMode); err != nil {
		return "", err
	}
	// SQLite gives its WAL the mode of the database: create it closed to others.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, databaseMode)
	if err != nil {
		return "", err
	}
	return path, file.Close()
}

func writerDSN(path string) string {
	return dsn(path, "",
		fmt.Sprintf("busy_timeout(%d)", busyMS), "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"wal_autocheckpoint(0)", "secure_delete(1)", fmt.Sprintf("cache_size(-%d)", cacheKiB), "trusted_schema(0)")
}

func readerDSN(path string, readOnly bool) string {
	mode := ""
	if readOnly {
		mode = "ro"
	}
	return dsn(path, mode, fmt.Sprintf("busy_timeout(%d)", busyMS), "query_only(1)", "wal_autocheckpoint(0)", "trusted_schema(0)")
}

func dsn(path, mode string, pragmas ...string) string {
	query := url.Values{"_pragma": pragmas}
	if mode != "" {
		query.Set("mode", mode)
	}
	file := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return file.String()
}

func openPool(dsn string, connections int) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}
