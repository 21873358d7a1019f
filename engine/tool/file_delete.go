package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"sluice/engine/plan"
	"sluice/policy"
)

// deleteHashBytesMax bounds what is hashed before a delete; the hash of a larger
// file is null.
const deleteHashBytesMax = 256 << 20

const fileDeleteInput = `{
	"type": "object", "additionalProperties": false, "required": ["path"],
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "File to delete, relative to the workspace. Not a directory, not a link."}
	}}`

const fileDeleteOutput = `{
	"type": "object", "additionalProperties": false, "required": ["path", "size_bytes", "sha256", "deleted"],
	"properties": {
		"path": {"type": "string", "description": "The file that was deleted, relative to the workspace."},
		"size_bytes": {"type": "integer", "description": "Its size."},
		"sha256": {"type": ["string", "null"], "description": "SHA-256 of its content, hexadecimal; null above 256 MiB."},
		"deleted": {"const": true, "description": "Always true: otherwise the call fails."}
	}}`

func fileDelete(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool: policy.Tool{
				Name: "file.delete", Effect: policy.Once, Impact: policy.Override, Sinks: []string{"path"},
			},
			Summary: "Delete one file of the workspace for good.",
			Input:   json.RawMessage(fileDeleteInput), Output: json.RawMessage(fileDeleteOutput),
			Timeout: fileTimeout,
			Bytes:   InlineBytesMax,
		},
		run: h.deleteFile,
	}
}

type fileDeleteParams struct {
	Path string `json:"path"`
}

type fileDeleted struct {
	Path      string  `json:"path"`
	SizeBytes int64   `json:"size_bytes"`
	SHA256    *string `json:"sha256"`
	Deleted   bool    `json:"deleted"`
}

func (h *host) deleteFile(ctx context.Context, r Request) ([]byte, error) {
	var params fileDeleteParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	path, err := localPath(params.Path)
	if err != nil {
		return nil, err
	}
	hashed, sum, err := h.fingerprint(ctx, path)
	if err != nil {
		return nil, unsent(ctx, err)
	}
	if err := h.unchanged(path, hashed); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ended(ctx, true)
	}
	if err := h.root.Remove(path); errors.Is(err, syscall.EIO) {
		return nil, errUnsure()
	} else if err != nil {
		return nil, fileFailure(path, err)
	}
	if err := h.syncDir(filepath.Dir(path)); err != nil {
		return nil, errUnsure() // removed, but perhaps not durably
	}
	return encode(fileDeleted{Path: path, SizeBytes: hashed.Size(), SHA256: sum, Deleted: true})
}

// unchanged makes sure that what is about to be removed is what was looked at,
// not something put in its place.
func (h *host) unchanged(path string, hashed fs.FileInfo) error {
	now, err := h.changeable(path)
	if err != nil {
		return err
	}
	if now == nil || !os.SameFile(now, hashed) || now.Size() != hashed.Size() || !now.ModTime().Equal(hashed.ModTime()) {
		return failf(Conflict, "%q changed while it was being deleted", clip(path))
	}
	return nil
}

// fingerprint looks at the file to delete and hashes it.
func (h *host) fingerprint(ctx context.Context, path string) (fs.FileInfo, *string, error) {
	info, err := h.changeable(path)
	if err != nil {
		return nil, nil, err
	}
	if info == nil {
		return nil, nil, fileFailure(path, fs.ErrNotExist)
	}
	if info.Size() > deleteHashBytesMax {
		return info, nil, nil
	}
	file, _, err := h.openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, stoppable{ctx, io.LimitReader(file, deleteHashBytesMax)}); err != nil {
		return nil, nil, fileFailure(path, err)
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	return info, &sum, nil
}

// stoppable reads until its context ends.
type stoppable struct {
	ctx    context.Context
	reader io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.reader.Read(p)
}
