package tool

import (
	"context"
	"encoding/json"
	"io/fs"
	"path/filepath"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of git.find.
const (
	findDepthDefault    = 8
	findRepositoriesMax = 1000
)

const gitFindInput = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Directory to look in, relative to the workspace; the workspace itself if absent."},
		"depth": {"type": "integer", "minimum": 1, "maximum": 32, "description": "How many folders deep to look; 8 if absent."}
	}}`

const gitFindOutput = `{
	"type": "object", "additionalProperties": false, "required": ["path", "repositories", "paths", "count", "truncated"],
	"properties": {
		"path": {"type": "string", "description": "Where was looked, relative to the workspace."},
		"repositories": {"type": "array", "description": "The git repositories, by path.", "items": {
			"type": "object", "additionalProperties": false, "required": ["path"],
			"properties": {"path": {"type": "string", "description": "Folder of the repository, relative to the workspace."}}}},
		"paths": {"type": "array", "description": "The same folders as a plain list, as git.status takes them.", "items": {"type": "string"}},
		"count": {"type": "integer", "description": "How many were found."},
		"truncated": {"type": "boolean", "description": "True when a limit ended the search early."}
	}}`

func gitFind(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "git.find", Effect: policy.Read, Impact: policy.Observe},
			Summary: "Find git repositories in the workspace or one of its folders.",
			Input:   json.RawMessage(gitFindInput), Output: json.RawMessage(gitFindOutput),
			Timeout: gitTimeout,
			Bytes:   1 << 20,
		},
		run: h.findRepositories,
	}
}

type gitFindParams struct {
	Path  *string `json:"path"`
	Depth *int64  `json:"depth"`
}

type foundRepository struct {
	Path string `json:"path"`
}

type foundRepositories struct {
	Path         string            `json:"path"`
	Repositories []foundRepository `json:"repositories"`
	Paths        []string          `json:"paths"`
	Count        int               `json:"count"`
	Truncated    bool              `json:"truncated"`
}

func (h *host) findRepositories(ctx context.Context, r Request) ([]byte, error) {
	var params gitFindParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	depth := int64(findDepthDefault)
	if params.Depth != nil {
		depth = *params.Depth
	}
	if !between(depth, 1, walkDepthMax) {
		return nil, failf(Invalid, "depth must be 1 to %d", walkDepthMax)
	}
	start, err := pathOrWorkspace(params.Path)
	if err != nil {
		return nil, err
	}
	found := foundRepositories{Path: start, Repositories: []foundRepository{}, Paths: []string{}}
	w := walker{host: h, depthMax: int(depth), visit: func(path string, info fs.FileInfo) (bool, error) {
		if info.Name() != ".git" {
			return true, nil
		}
		if len(found.Paths) == findRepositoriesMax {
			found.Truncated = true
			return false, errStopWalk
		}
		if info.IsDir() || info.Mode().IsRegular() {
			found.add(filepath.Dir(path))
		}
		return false, nil
	}}
	if err := w.walk(ctx, start); err != nil {
		return nil, err
	}
	found.Count = len(found.Paths)
	found.Truncated = found.Truncated || w.full
	return encode(found)
}

func (f *foundRepositories) add(path string) {
	f.Repositories = append(f.Repositories, foundRepository{Path: path})
	f.Paths = append(f.Paths, path)
}
