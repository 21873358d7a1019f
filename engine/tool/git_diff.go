package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of git.diff.
const (
	diffBytesMax = 40 << 10 // of the text shown, cut at a line; ordinary text stays inline (P30)
	diffFilesMax = 300
)

const gitDiffInput = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Folder of the repository, relative to the workspace; the workspace itself if absent."}
	}}`

const gitDiffOutput = `{
	"type": "object", "additionalProperties": false, "required": ["path", "files", "changed_count", "diff", "truncated"],
	"properties": {
		"path": {"type": "string", "description": "Folder of the repository, relative to the workspace."},
		"files": {"type": "array", "description": "Tracked files that differ from the last commit, at most 300.", "items": {
			"type": "object", "additionalProperties": false, "required": ["path", "added", "removed"],
			"properties": {
				"path": {"type": "string", "description": "File, relative to the repository."},
				"added": {"type": ["integer", "null"], "description": "Lines added; null when it is not text."},
				"removed": {"type": ["integer", "null"], "description": "Lines removed; null when it is not text."}
			}}},
		"changed_count": {"type": "integer", "description": "All files that differ."},
		"diff": {"type": "string", "description": "The differences as a unified diff."},
		"truncated": {"type": "boolean", "description": "True when not all of it is shown."}
	}}`

func gitDiff(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "git.diff", Effect: policy.Read, Impact: policy.Observe},
			Summary: "Show the diff of a git repository: what changed since its last commit.",
			Input:   json.RawMessage(gitDiffInput), Output: json.RawMessage(gitDiffOutput),
			Timeout: gitTimeout,
			Bytes:   4 << 20,
		},
		run: h.diffRepository,
	}
}

type gitDiffParams struct {
	Path *string `json:"path"`
}

type gitDiffFile struct {
	Path    string `json:"path"`
	Added   *int64 `json:"added"`
	Removed *int64 `json:"removed"`
}

type gitDifference struct {
	Path         string        `json:"path"`
	Files        []gitDiffFile `json:"files"`
	ChangedCount int           `json:"changed_count"`
	Diff         string        `json:"diff"`
	Truncated    bool          `json:"truncated"`
}

func (h *host) diffRepository(ctx context.Context, r Request) ([]byte, error) {
	var params gitDiffParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	g, repo, err := h.gitAt(ctx, params.Path)
	if err != nil {
		return nil, err
	}
	if committed, err := g.hasCommits(ctx, repo); err != nil {
		return nil, err
	} else if !committed {
		return nil, failf(Conflict, "%q has no commit to compare with", clip(repo.path))
	}
	names, err := g.diff(ctx, repo, "--numstat", "-z", "--no-renames")
	if err != nil {
		return nil, err
	}
	text, err := g.diff(ctx, repo, "--patch", "--no-renames")
	if err != nil {
		return nil, err
	}
	difference := gitDifference{Path: repo.path, Files: []gitDiffFile{}, Truncated: names.cut || text.cut}
	difference.read(strings.Split(string(names.stdout), "\x00"))
	difference.show(text.stdout)
	return encode(difference)
}

// diff compares the files with the last commit. Programs that a repository could
// name for it are off here as well as refused before.
func (g *git) diff(ctx context.Context, repo *repository, how ...string) (ran, error) {
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all"}, how...)
	done, err := g.in(ctx, repo, append(args, "HEAD", "--")...)
	if err == nil && done.code != 0 {
		err = errUnavailable()
	}
	return done, err
}

// read takes records of the form "added TAB removed TAB path".
func (d *gitDifference) read(records []string) {
	for _, record := range records {
		parts := strings.SplitN(record, "\t", 3)
		if len(parts) != 3 {
			continue
		}
		d.ChangedCount++
		if len(d.Files) == diffFilesMax {
			d.Truncated = true
			continue
		}
		file := gitDiffFile{Path: parts[2]}
		if parts[0] != "-" { // git writes - for what is not text
			file.Added, file.Removed = count(parts[0]), count(parts[1])
		}
		d.Files = append(d.Files, file)
	}
}

// show keeps as many whole lines as fit.
func (d *gitDifference) show(text []byte) {
	if len(text) > diffBytesMax {
		d.Truncated = true
		text = text[:bytes.LastIndexByte(text[:diffBytesMax], '\n')+1]
	}
	d.Diff = strings.ToValidUTF8(string(text), "\uFFFD")
}
