package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of file.list, in entries.
const (
	listEntriesDefault = 300
	listEntriesMax     = 5000
)

const fileListInput = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Directory to list, relative to the workspace; the workspace itself if absent."},
		"recursive": {"type": "boolean", "description": "Also list what is below; false if absent. Does not enter .git."},
		"kind": {"enum": ["any", "file", "directory"], "description": "List only entries of this kind; any if absent."},
		"sort": {"enum": ["name", "modified", "size"], "description": "name: by path; modified: newest first; size: biggest first. name if absent."},
		"limit": {"type": "integer", "minimum": 1, "maximum": 5000, "description": "Most entries to give, after sorting; 300 if absent."}
	}}`

const fileListOutput = `{
	"type": "object", "additionalProperties": false, "required": ["path", "entries", "total", "truncated"],
	"properties": {
		"path": {"type": "string", "description": "The directory, relative to the workspace."},
		"entries": {"type": "array", "description": "The entries in the order asked for.", "items": {
			"type": "object", "additionalProperties": false, "required": ["name", "path", "kind", "size_bytes", "modified"],
			"properties": {
				"name": {"type": "string", "description": "Last part of the path."},
				"path": {"type": "string", "description": "Path relative to the workspace, as the file tools take it."},
				"kind": {"enum": ["file", "directory", "link", "other"], "description": "Links are not followed."},
				"size_bytes": {"type": "integer", "description": "Size as the file system states it."},
				"modified": {"type": "string", "description": "Time of the last change, RFC 3339, UTC."}
			}}},
		"total": {"type": "integer", "description": "Entries found before the limit."},
		"truncated": {"type": "boolean", "description": "True when there are more entries than given."}
	}}`

func fileList(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "file.list", Effect: policy.Read, Impact: policy.Observe},
			Summary: "List the files in a folder of the workspace, by name, newest or biggest first.",
			Input:   json.RawMessage(fileListInput), Output: json.RawMessage(fileListOutput),
			Timeout: fileTimeout,
			Bytes:   4 << 20,
		},
		run: h.listFiles,
	}
}

type fileListParams struct {
	Path      *string `json:"path"`
	Recursive bool    `json:"recursive"`
	Kind      string  `json:"kind"`
	Sort      string  `json:"sort"`
	Limit     *int64  `json:"limit"`
}

type fileEntry struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Kind      string `json:"kind"`
	SizeBytes int64  `json:"size_bytes"`
	Modified  string `json:"modified"`

	at time.Time // exact, for sorting
}

type fileListing struct {
	Path      string      `json:"path"`
	Entries   []fileEntry `json:"entries"`
	Total     int         `json:"total"`
	Truncated bool        `json:"truncated"`
}

func (p *fileListParams) check() error {
	if !slices.Contains([]string{"", "any", "file", "directory"}, p.Kind) {
		return Fail(Invalid, "kind must be any, file or directory")
	}
	if !slices.Contains([]string{"", "name", "modified", "size"}, p.Sort) {
		return Fail(Invalid, "sort must be name, modified or size")
	}
	if p.Limit != nil && !between(*p.Limit, 1, listEntriesMax) {
		return failf(Invalid, "limit must be 1 to %d", listEntriesMax)
	}
	return nil
}

func (h *host) listFiles(ctx context.Context, r Request) ([]byte, error) {
	var params fileListParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	if err := params.check(); err != nil {
		return nil, err
	}
	start, err := pathOrWorkspace(params.Path)
	if err != nil {
		return nil, err
	}
	listing := fileListing{Path: start, Entries: []fileEntry{}}
	w := walker{host: h, depthMax: 1, visit: func(path string, info fs.FileInfo) (bool, error) {
		listed := newFileEntry(path, info)
		if params.Kind == "" || params.Kind == "any" || params.Kind == listed.Kind {
			listing.Entries = append(listing.Entries, listed)
		}
		return params.Recursive && listed.Name != ".git", nil
	}}
	if params.Recursive {
		w.depthMax = walkDepthMax
	}
	if err := w.walk(ctx, start); err != nil {
		return nil, err
	}
	listing.cut(params, w.full || w.deep && params.Recursive)
	return encode(listing)
}

// pathOrWorkspace reads an optional path.
func pathOrWorkspace(path *string) (string, error) {
	if path == nil {
		return ".", nil
	}
	return localPath(*path)
}

func newFileEntry(path string, info fs.FileInfo) fileEntry {
	return fileEntry{
		Name: filepath.Base(path), Path: path, Kind: kindOf(info.Mode()),
		SizeBytes: info.Size(), Modified: stamp(info.ModTime()), at: info.ModTime(),
	}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}

// cut sorts the entries, ties by path, and applies the limit.
func (l *fileListing) cut(params fileListParams, full bool) {
	slices.SortFunc(l.Entries, func(a, b fileEntry) int {
		order := 0
		switch params.Sort {
		case "modified":
			order = b.at.Compare(a.at)
		case "size":
			order = cmp.Compare(b.SizeBytes, a.SizeBytes)
		}
		return cmp.Or(order, cmp.Compare(a.Path, b.Path))
	})
	limit := listEntriesDefault
	if params.Limit != nil {
		limit = int(*params.Limit)
	}
	l.Total = len(l.Entries)
	l.Truncated = full || l.Total > limit
	l.Entries = l.Entries[:min(l.Total, limit)]
}
