package tool

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of git.log.
const (
	logCommitsDefault  = 20
	logCommitsMax      = 100
	logSubjectBytesMax = 500
)

const gitLogInput = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Folder of the repository, relative to the workspace; the workspace itself if absent."},
		"limit": {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many commits, the newest first; 20 if absent."}
	}}`

const gitLogOutput = `{
	"type": "object", "additionalProperties": false, "required": ["path", "commits", "truncated"],
	"properties": {
		"path": {"type": "string", "description": "Folder of the repository, relative to the workspace."},
		"commits": {"type": "array", "description": "Commits, the newest first; empty before the first commit.", "items": {
			"type": "object", "additionalProperties": false, "required": ["hash", "author", "date", "subject"],
			"properties": {
				"hash": {"type": "string", "description": "Hash of the commit."},
				"author": {"type": "string", "description": "Name of its author."},
				"date": {"type": "string", "description": "When it was written, RFC 3339."},
				"subject": {"type": "string", "description": "First line of its message."}
			}}},
		"truncated": {"type": "boolean", "description": "True when there are older commits."}
	}}`

func gitLog(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "git.log", Effect: policy.Read, Impact: policy.Observe},
			Summary: "Show the latest commits of a git repository: hash, author, date, subject.",
			Input:   json.RawMessage(gitLogInput), Output: json.RawMessage(gitLogOutput),
			Timeout: gitTimeout,
			Bytes:   1 << 20,
		},
		run: h.logRepository,
	}
}

type gitLogParams struct {
	Path  *string `json:"path"`
	Limit *int64  `json:"limit"`
}

type gitCommit struct {
	Hash    string `json:"hash"`
	Author  string `json:"author"`
	Date    string `json:"date"`
	Subject string `json:"subject"`
}

type gitHistory struct {
	Path      string      `json:"path"`
	Commits   []gitCommit `json:"commits"`
	Truncated bool        `json:"truncated"`
}

func (h *host) logRepository(ctx context.Context, r Request) ([]byte, error) {
	var params gitLogParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	limit := int64(logCommitsDefault)
	if params.Limit != nil {
		limit = *params.Limit
	}
	if !between(limit, 1, logCommitsMax) {
		return nil, failf(Invalid, "limit must be 1 to %d", logCommitsMax)
	}
	g, repo, err := h.gitAt(ctx, params.Path)
	if err != nil {
		return nil, err
	}
	history := gitHistory{Path: repo.path, Commits: []gitCommit{}}
	if committed, err := g.hasCommits(ctx, repo); err != nil {
		return nil, err
	} else if !committed {
		return encode(history)
	}
	done, err := g.in(ctx, repo, "log", "-z", "--max-count="+strconv.FormatInt(limit+1, 10), "--no-show-signature",
		"--no-mailmap", "--no-color", "--format=%H%x00%an%x00%aI%x00%s", "HEAD", "--")
	if err != nil {
		return nil, err
	}
	if done.code != 0 || done.cut {
		return nil, errUnavailable()
	}
	history.read(strings.Split(strings.TrimSuffix(string(done.stdout), "\x00"), "\x00"))
	if history.Truncated = int64(len(history.Commits)) > limit; history.Truncated {
		history.Commits = history.Commits[:limit]
	}
	return encode(history)
}

// gitAt finds git and the repository that a tool's optional path names.
func (h *host) gitAt(ctx context.Context, path *string) (*git, *repository, error) {
	start, err := pathOrWorkspace(path)
	if err != nil {
		return nil, nil, err
	}
	g, err := h.git()
	if err != nil {
		return nil, nil, err
	}
	repo, err := h.openRepository(ctx, g, start)
	return g, repo, err
}

// hasCommits says whether the current branch has a commit.
func (g *git) hasCommits(ctx context.Context, repo *repository) (bool, error) {
	done, err := g.in(ctx, repo, "rev-parse", "--verify", "--quiet", "HEAD")
	return done.code == 0, err
}

// read takes the fields of the commits, four each.
func (l *gitHistory) read(fields []string) {
	for ; len(fields) >= 4; fields = fields[4:] {
		subject := fields[3]
		if len(subject) > logSubjectBytesMax {
			subject = strings.ToValidUTF8(subject[:logSubjectBytesMax], "") + "..."
		}
		l.Commits = append(l.Commits, gitCommit{Hash: fields[0], Author: fields[1], Date: fields[2], Subject: subject})
	}
}
