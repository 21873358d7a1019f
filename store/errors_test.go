package store

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
)

// A disk that takes no more is told apart from every other failure.
func TestP41_AFullDiskIsSaidSo(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "small.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"CREATE TABLE t (x)", "PRAGMA max_page_count = 3"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	_, err = db.Exec("INSERT INTO t VALUES (zeroblob(1000000))")
	if !errors.Is(onDisk(err), ErrDisk) || !errors.Is(onDisk(err), err) {
		t.Errorf("got %v, want ErrDisk around the cause", onDisk(err))
	}
	if _, err = db.Exec("INSERT INTO nothing VALUES (1)"); errors.Is(onDisk(err), ErrDisk) {
		t.Errorf("got ErrDisk for %v", err)
	}
}
