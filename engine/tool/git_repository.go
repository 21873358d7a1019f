package tool

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// repository is a git repository of the workspace that git may be started in:
// its own configuration runs no program, and all of it lies in the workspace.
type repository struct {
	path    string // relative to the workspace
	dir     string // real path
	ceiling string // git does not look for a repository above this
}

// openRepository finds the repository at path and checks it before git reads it
// (spec.md part G: git status runs code that a repository's configuration names).
func (h *host) openRepository(ctx context.Context, g *git, path string) (*repository, error) {
	path, err := localPath(path)
	if err != nil {
		return nil, err
	}
	info, err := h.root.Stat(path)
	if err != nil {
		return nil, fileFailure(path, err)
	}
	if !info.IsDir() {
		return nil, failf(Invalid, "%q is not a directory", clip(path))
	}
	real, err := h.within(filepath.Join(h.dir, path))
	if err != nil {
		return nil, failf(Invalid, "%q leaves the workspace", clip(path))
	}
	dir := filepath.Join(h.dir, real)
	repo := &repository{path: path, dir: dir, ceiling: filepath.Dir(dir)}
	gitDir, commonDir, err := h.gitDirs(real)
	if err != nil {
		return nil, err
	}
	if err := h.checkLayout(gitDir, commonDir); err != nil {
		return nil, err
	}
	for _, config := range configFiles(gitDir, commonDir) {
		if err := h.checkConfig(ctx, g, config); err != nil {
			return nil, err
		}
	}
	return repo, h.confirm(ctx, g, repo, gitDir)
}

// within resolves a path of the system and gives it relative to the workspace.
func (h *host) within(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(h.dir, real)
	if err != nil || !filepath.IsLocal(relative) {
		return "", errUnavailable()
	}
	return relative, nil
}

// gitDirs finds the folder that holds the repository's own data and the one it
// shares with other working trees; both relative to the workspace.
func (h *host) gitDirs(repo string) (gitDir, commonDir string, err error) {
	dotGit := filepath.Join(repo, ".git")
	info, err := h.root.Lstat(dotGit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", failf(NotFound, "%q is not a git repository", clip(repo))
	case err != nil:
		return "", "", fileFailure(dotGit, err)
	case info.IsDir():
		gitDir = dotGit
	case info.Mode().IsRegular(): // a linked working tree or a submodule
		if gitDir, err = h.follow(dotGit, "gitdir:", repo); err != nil {
			return "", "", err
		}
	default:
		return "", "", errUnavailable()
	}
	commonDir, err = h.follow(filepath.Join(gitDir, "commondir"), "", gitDir)
	var failure *Failure
	if errors.As(err, &failure) && failure.Class == NotFound {
		return gitDir, gitDir, nil
	}
	return gitDir, commonDir, err
}

// follow reads a file that names a folder, relative to base or absolute. A
// folder outside the workspace is unavailable.
func (h *host) follow(file, prefix, base string) (string, error) {
	content, err := h.readSmall(file, gitPointerBytes)
	if err != nil {
		return "", err
	}
	target, found := strings.CutPrefix(strings.TrimRight(string(content), "\r\n"), prefix)
	target = strings.TrimLeft(target, " ")
	if !found || target == "" || strings.ContainsRune(target, 0) {
		return "", errUnavailable()
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(h.dir, base, target)
	}
	relative, err := h.within(target)
	if err != nil {
		return "", errUnavailable()
	}
	return relative, nil
}

// readSmall reads a regular file of the workspace that must not exceed a limit.
func (h *host) readSmall(path string, bytesMax int64) ([]byte, error) {
	file, _, err := h.openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, bytesMax+1))
	if err != nil || int64(len(content)) > bytesMax {
		return nil, errUnavailable()
	}
	return content, nil
}

// checkLayout wants the parts that make git take the folder for a repository,
// none of them leading out of the workspace, and no objects borrowed elsewhere.
func (h *host) checkLayout(gitDir, commonDir string) error {
	for _, part := range []string{
		filepath.Join(gitDir, "HEAD"), filepath.Join(commonDir, "objects"), filepath.Join(commonDir, "refs"),
	} {
		if _, err := h.root.Stat(part); err != nil {
			return errUnavailable()
		}
	}
	for _, borrowed := range []string{"alternates", "http-alternates"} {
		_, err := h.root.Lstat(filepath.Join(commonDir, "objects", "info", borrowed))
		if !errors.Is(err, fs.ErrNotExist) {
			return errUnavailable()
		}
	}
	return nil
}

// configFiles lists the files git may read settings from, each once.
func configFiles(gitDir, commonDir string) []string {
	files := []string{
		filepath.Join(commonDir, "config"), filepath.Join(commonDir, "config.worktree"),
		filepath.Join(gitDir, "config"), filepath.Join(gitDir, "config.worktree"),
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func (h *host) checkConfig(ctx context.Context, g *git, path string) error {
	if _, err := h.root.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	config, err := h.readSmall(path, gitConfigBytes)
	if err != nil {
		return errUnavailable()
	}
	keys, err := g.keys(ctx, config)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(keys, dangerous) {
		return errUnavailable()
	}
	return nil
}

// dangerous says whether a setting can make status, log or diff start a program,
// read another configuration or fetch from elsewhere.
func dangerous(key string) bool {
	section, rest, _ := strings.Cut(key, ".")
	name := rest[strings.LastIndexByte(rest, '.')+1:]
	switch section {
	case "filter", "include", "includeif":
		return true
	case "core":
		return name == "fsmonitor" || name == "alternaterefscommand"
	case "diff":
		return name == "command" || name == "textconv" || name == "external"
	case "gpg":
		return name == "program"
	case "extensions":
		return name == "partialclone"
	case "remote":
		return name == "promisor" || name == "partialclonefilter"
	}
	return false
}

// confirm asks git itself which repository it would use there: the one that was
// checked, with its files where they are expected (core.worktree may say else).
func (h *host) confirm(ctx context.Context, g *git, repo *repository, gitDir string) error {
	done, err := g.in(ctx, repo, "rev-parse", "--absolute-git-dir", "--show-toplevel")
	if err != nil {
		return err
	}
	want := filepath.Join(h.dir, gitDir) + "\n" + repo.dir + "\n"
	if done.code != 0 || string(done.stdout) != want {
		return errUnavailable()
	}
	return nil
}
