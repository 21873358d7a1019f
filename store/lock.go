package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// LockName is the file in a data directory that carries the lock. It holds
// nothing and stays: removing it would let two holders lock two files.
const LockName = "lock"

// Lock is a held data directory (P34, P36a).
type Lock struct{ file *os.File }

// LockDir takes the lock of a data directory, which is made if it is missing.
// It does not wait: ErrLocked says that another process holds it. The kernel
// gives the lock back when the process dies.
func LockDir(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, directoryMode); err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, LockName), os.O_RDWR|os.O_CREATE, databaseMode)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return &Lock{file: file}, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("lock data directory: %w", err)
}

// Unlock gives the directory back. It may be called twice.
func (l *Lock) Unlock() error {
	err := l.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
