package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

// writeBytesMax bounds the content of file.write: what resolved parameters may hold (P14).
const writeBytesMax = plan.ParamsBytesMax

// newFileMode is the mode of a file that did not exist, before the umask.
const newFileMode = fs.FileMode(0o644)

const fileWriteInput = `{
	"type": "object", "additionalProperties": false, "required": ["path", "content"],
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "File to write, relative to the workspace. Missing folders are made."},
		"content": {"type": "string", "maxLength": 262144, "description": "The whole content of the file; what it held before is replaced."}
	}}`

const fileWriteOutput = `{
	"type": "object", "additionalProperties": false, "required": ["path", "size_bytes", "sha256"],
	"properties": {
		"path": {"type": "string", "description": "The file, relative to the workspace."},
		"size_bytes": {"type": "integer", "description": "Bytes written."},
		"sha256": {"type": "string", "description": "SHA-256 of the content, hexadecimal."}
	}}`

func fileWrite(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool: policy.Tool{
				Name: "file.write", Effect: policy.Idempotent, Impact: policy.Operate,
				Sinks: []string{"content", "path"},
			},
			Summary: "Write a file of the workspace as a whole, replacing what it held.",
			Input:   json.RawMessage(fileWriteInput), Output: json.RawMessage(fileWriteOutput),
			Timeout: fileTimeout,
			Bytes:   InlineBytesMax,
		},
		run: h.writeFile,
	}
}

type fileWriteParams struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

// fileWritten says nothing of what was there before: an idempotent call that is
// repeated after a crash has to answer as it would have the first time (P45).
type fileWritten struct {
	Path      string `json:"path"`
	SizeBytes int    `json:"size_bytes"`
	SHA256    string `json:"sha256"`
}

func (h *host) writeFile(ctx context.Context, r Request) ([]byte, error) {
	var params fileWriteParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	if params.Content == nil || len(*params.Content) > writeBytesMax {
		return nil, failf(Invalid, "content must be given and at most %d bytes", writeBytesMax)
	}
	path, err := localPath(params.Path)
	if err != nil {
		return nil, err
	}
	before, err := h.changeable(path)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ended(ctx, true)
	}
	mode := newFileMode
	if before != nil {
		mode = before.Mode().Perm()
	}
	content := []byte(*params.Content)
	if err := h.replaceFile(path, content, replacement{mode, &r}); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	return encode(fileWritten{
		Path: path, SizeBytes: len(content), SHA256: hex.EncodeToString(sum[:]),
	})
}

// Temporary files of replaceFile. Walks pass them by: what is not in place yet
// is no file of the workspace.
const (
	temporaryPrefix = ".sluice-"
	temporarySuffix = ".tmp"
	temporaryBytes  = 12 // of a hash, in hex between the two
)

func isTemporary(name string) bool {
	mark, ours := strings.CutPrefix(name, temporaryPrefix)
	mark, whole := strings.CutSuffix(mark, temporarySuffix)
	sum, err := hex.DecodeString(mark)
	return ours && whole && err == nil && len(sum) == temporaryBytes
}

// replacement is how a file is replaced, and for which attempt.
type replacement struct {
	mode fs.FileMode
	by   *Request
}

// temporary is a name of this attempt's own: repeated after a crash it takes up
// the file that it left, so that none stays behind (P45).
func (r *replacement) temporary(dir string) string {
	sum := sha256.Sum256([]byte(r.by.Run + "\x00" + r.by.Node + "\x00" + strconv.Itoa(r.by.Attempt)))
	return filepath.Join(dir, temporaryPrefix+hex.EncodeToString(sum[:temporaryBytes])+temporarySuffix)
}

// replaceFile puts the content in place at once: a reader, or a crash, sees the
// old file or the new one and nothing between.
func (h *host) replaceFile(path string, content []byte, r replacement) error {
	dir := filepath.Dir(path)
	if err := h.root.MkdirAll(dir, 0o755); err != nil {
		return fileFailure(dir, err)
	}
	temporary := r.temporary(dir)
	if err := h.discard(temporary); err != nil {
		return fileFailure(path, err)
	}
	if err := h.writeDurably(temporary, content, r.mode); err != nil {
		return errors.Join(fileFailure(path, err), h.discard(temporary))
	}
	if err := h.root.Rename(temporary, path); err != nil {
		return errors.Join(fileFailure(path, err), h.discard(temporary))
	}
	if err := h.syncDir(dir); err != nil {
		return errUnsure() // written, but perhaps not durably
	}
	return nil
}

func (h *host) writeDurably(path string, content []byte, mode fs.FileMode) error {
	file, err := h.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if mode != newFileMode { // the file that is replaced had bits that the umask may take away
		err = file.Chmod(mode)
	}
	if err == nil {
		_, err = file.Write(content)
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// discard removes a temporary file, which may not have come to exist.
func (h *host) discard(path string) error {
	if err := h.root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
