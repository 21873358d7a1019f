package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sluice/engine/plan"
)

// localPath cleans a path from outside and refuses what could leave the
// workspace. It comes before every os.Root operation, because an escape found
// there matches no fs.Err* (spec.md part G).
func localPath(path string) (string, error) {
	switch {
	case path == "":
		return "", Fail(Invalid, "the path is empty")
	case len(path) > plan.PathBytesMax:
		return "", failf(Invalid, "the path is longer than %d bytes", plan.PathBytesMax)
	case strings.ContainsRune(path, 0):
		return "", Fail(Invalid, "the path contains a NUL byte")
	case !filepath.IsLocal(path):
		return "", failf(Invalid, "%q leaves the workspace", clip(path))
	}
	return filepath.Clean(path), nil
}

// openRegular opens a regular file of the workspace for reading. It never
// blocks: opening a FIFO plainly would wait for a writer for ever.
func (h *host) openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := h.root.Stat(path)
	if err != nil {
		return nil, nil, fileFailure(path, err)
	}
	if err := wantRegular(path, info); err != nil { // a device may act on being opened
		return nil, nil, err
	}
	file, err := h.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fileFailure(path, err)
	}
	info, err = file.Stat() // it may have been exchanged since
	if err == nil {
		err = wantRegular(path, info)
	}
	if err != nil {
		return nil, nil, errors.Join(fileFailure(path, err), file.Close())
	}
	return file, info, nil
}

func wantRegular(path string, info fs.FileInfo) error {
	if info.IsDir() {
		return failf(Invalid, "%q is a directory", clip(path))
	}
	if !info.Mode().IsRegular() {
		return failf(Invalid, "%q is not a regular file", clip(path))
	}
	return nil
}

// changeable looks at what a write or delete would hit: nothing (nil, nil), or a
// regular file with one name. A symbolic link is not followed, and a file with
// several names may lie outside the workspace too (spec.md part G).
func (h *host) changeable(path string) (fs.FileInfo, error) {
	info, err := h.root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fileFailure(path, err)
	}
	if err := wantRegular(path, info); err != nil {
		return nil, err
	}
	if stat, known := info.Sys().(*syscall.Stat_t); !known || stat.Nlink > 1 {
		return nil, failf(Conflict, "%q has several names (hard links)", clip(path))
	}
	return info, nil
}

// syncDir makes a change of a directory's entries durable.
func (h *host) syncDir(path string) error {
	dir, err := h.openDir(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// openDir opens a directory of the workspace without blocking.
func (h *host) openDir(path string) (*os.File, error) {
	return h.root.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
}
