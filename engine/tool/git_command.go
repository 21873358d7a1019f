package tool

import (
	"context"
	"strings"
	"time"
)

// Limits of the git tools.
const (
	gitTimeout       = 30 * time.Second
	gitConfigBytes   = 1 << 20 // of one configuration file read
	gitOutputBytes   = 8 << 20 // of git's standard output kept
	gitPointerBytes  = 8 << 10 // of a .git or commondir file
	gitKeysBytes     = 4 << 20 // of the list of configuration keys
	gitDubiousDetail = "dubious ownership: the repository belongs to another user"
)

// ErrDubiousOwnership says that git refuses a repository because another user
// owns it; it is named because only the owner's files, not the tool, are at fault.
var ErrDubiousOwnership = &Failure{Class: Invalid, Detail: gitDubiousDetail, BeforeSend: true}

// git runs the git program with nothing of the caller's: no GIT_* variable, no
// system or global configuration, no prompt, no optional lock, no transport.
type git struct {
	path string
	env  []string
}

func (h *host) git() (*git, error) {
	env := h.env()
	path, err := findProgram(env, "git")
	if err != nil {
		return nil, err
	}
	return &git{path: path, env: []string{
		"PATH=" + lookup(env, "PATH"), "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_PAGER=cat", "GIT_DISCOVERY_ACROSS_FILESYSTEM=0",
	}}, nil
}

// hardened are settings given on the command line, where no repository can
// override them: no hook, no bare repository found by chance, no signature
// program, no submodule summary, readable names and UTF-8.
func hardened() []string {
	return []string{
		"--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit",
		"-c", "log.showSignature=false", "-c", "status.submoduleSummary=false", "-c", "core.quotePath=false",
		"-c", "i18n.logOutputEncoding=UTF-8", "-c", "core.pager=cat", "-c", "color.ui=false",
	}
}

// in runs a git command in a checked repository. Whatever git complains about is
// unavailable, but for what has a name.
func (g *git) in(ctx context.Context, repo *repository, args ...string) (ran, error) {
	env := append([]string{"GIT_CEILING_DIRECTORIES=" + repo.ceiling}, g.env...)
	all := append(append(hardened(), "-C", repo.dir), args...)
	done, err := command{path: g.path, args: all, env: env, dir: "/", max: gitOutputBytes}.run(ctx)
	if err != nil {
		return ran{}, err
	}
	if done.code != 0 && strings.Contains(done.stderr, "dubious ownership") {
		return done, ErrDubiousOwnership
	}
	return done, nil
}

// keys lists the names of the settings in a configuration file, as git reads it
// and without following includes. Sections and names are in lower case.
func (g *git) keys(ctx context.Context, config []byte) ([]string, error) {
	done, err := command{
		path: g.path, env: append([]string{"GIT_CEILING_DIRECTORIES=/"}, g.env...), dir: "/", stdin: config, max: gitKeysBytes,
		args: []string{"config", "--file", "-", "--no-includes", "--null", "--name-only", "--list"},
	}.run(ctx)
	if err != nil {
		return nil, err
	}
	if done.code != 0 || done.cut { // what git cannot read, or what is not wholly known, is not trusted
		return nil, errUnavailable()
	}
	return strings.Split(strings.TrimSuffix(string(done.stdout), "\x00"), "\x00"), nil
}
