package tool

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
)

// Limits on walking the workspace.
const (
	walkEntriesMax = 20_000 // entries looked at in one call
	walkDepthMax   = 32     // directories below the start
)

// walker visits the entries below a directory of the workspace, each directory's
// entries by name. It does not follow symbolic links, so it ends.
type walker struct {
	host     *host
	depthMax int // 1 visits the start's own entries only
	seen     int
	full     bool // a limit or an unreadable folder left entries unvisited
	deep     bool // folders below depthMax were not entered
	// visit sees one entry; path is relative to the workspace. It says whether
	// to go into a directory.
	visit func(path string, info fs.FileInfo) (enter bool, err error)
}

// errStopWalk ends a walk early without an error.
var errStopWalk = errors.New("stop walking")

// walk visits everything below start, which must be a directory.
func (w *walker) walk(ctx context.Context, start string) error {
	err := w.directory(ctx, start, 1)
	if errors.Is(err, errStopWalk) {
		return nil
	}
	return err
}

func (w *walker) directory(ctx context.Context, path string, depth int) error {
	names, err := w.names(path)
	if err != nil && depth == 1 {
		return fileFailure(path, err)
	}
	if err != nil { // unreadable or gone since: the rest is still worth showing
		w.full = true
		return nil
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(ctx, filepath.Join(path, name), depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) entry(ctx context.Context, path string, depth int) error {
	info, err := w.host.root.Lstat(path)
	if err != nil {
		return nil // removed while walking
	}
	enter, err := w.visit(path, info)
	if err != nil || !enter || !info.IsDir() {
		return err
	}
	if depth >= w.depthMax {
		w.deep = true
		return nil
	}
	return w.directory(ctx, path, depth+1)
}

// names reads a directory's entry names, sorted, within what is left of the limit.
func (w *walker) names(path string) ([]string, error) {
	dir, err := w.host.openDir(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	left := walkEntriesMax - w.seen
	if left <= 0 {
		w.full = true
		return nil, nil
	}
	names, err := dir.Readdirnames(left)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) == left {
		w.full = true
	}
	w.seen += len(names)
	names = slices.DeleteFunc(names, isTemporary)
	slices.Sort(names)
	return names, nil
}
