package tool

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"time"
	"unicode/utf8"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of file.read, in bytes of the file.
const (
	readBytesDefault = 48 << 10 // with escapes of ordinary text still inline (P30)
	readBytesMax     = 1 << 20
)

// fileTimeout is the declared timeout of the file tools.
const fileTimeout = 10 * time.Second

const fileReadInput = `{
	"type": "object", "additionalProperties": false, "required": ["path"],
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "File to read, relative to the workspace."},
		"offset": {"type": "integer", "minimum": 0, "maximum": 9007199254740992, "description": "Byte to start at; 0 if absent."},
		"limit": {"type": "integer", "minimum": 1, "maximum": 1048576, "description": "Most bytes to read; 49152 if absent."}
	}}`

const fileReadOutput = `{
	"type": "object", "additionalProperties": false,
	"required": ["path", "size_bytes", "modified", "offset", "encoding", "content", "truncated", "next_offset"],
	"properties": {
		"path": {"type": "string", "description": "The file, relative to the workspace."},
		"size_bytes": {"type": "integer", "description": "Size of the whole file."},
		"modified": {"type": "string", "description": "Time of the last change, RFC 3339, UTC."},
		"offset": {"type": "integer", "description": "Byte the content starts at."},
		"encoding": {"enum": ["utf-8", "base64"], "description": "How content is to be read; base64 for what is not text."},
		"content": {"type": "string", "description": "The bytes read."},
		"truncated": {"type": "boolean", "description": "True when the file goes on after the content."},
		"next_offset": {"type": ["integer", "null"], "description": "Where to go on reading; null at the end."}
	}}`

func fileRead(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "file.read", Effect: policy.Read, Impact: policy.Observe},
			Summary: "Read a file of the workspace: its text, or base64 when it is not text.",
			Input:   json.RawMessage(fileReadInput), Output: json.RawMessage(fileReadOutput),
			Timeout: fileTimeout,
			Bytes:   6*readBytesMax + InlineBytesMax, // a control character takes six bytes in JSON
		},
		run: h.readFile,
	}
}

type fileReadParams struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"`
	Limit  *int64 `json:"limit"`
}

type fileContent struct {
	Path       string `json:"path"`
	SizeBytes  int64  `json:"size_bytes"`
	Modified   string `json:"modified"`
	Offset     int64  `json:"offset"`
	Encoding   string `json:"encoding"`
	Content    string `json:"content"`
	Truncated  bool   `json:"truncated"`
	NextOffset *int64 `json:"next_offset"`
}

func (h *host) readFile(_ context.Context, r Request) ([]byte, error) {
	var params fileReadParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	limit := int64(readBytesDefault)
	if params.Limit != nil {
		limit = *params.Limit
	}
	if !between(params.Offset, 0, numberMax) || !between(limit, 1, readBytesMax) {
		return nil, failf(Invalid, "offset must be 0 or more and limit 1 to %d", readBytesMax)
	}
	path, err := localPath(params.Path)
	if err != nil {
		return nil, err
	}
	file, info, err := h.openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, limit)
	n, err := file.ReadAt(data, params.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fileFailure(path, err)
	}
	content := fileContent{Path: path, SizeBytes: info.Size(), Modified: stamp(info.ModTime()), Offset: params.Offset}
	content.fill(data[:n])
	return encode(content)
}

// fill sets the content and where it ends.
func (c *fileContent) fill(data []byte) {
	atEnd := c.Offset+int64(len(data)) >= c.SizeBytes
	if !atEnd {
		data = wholeRunes(data)
	}
	c.Encoding, c.Content = "utf-8", string(data)
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		c.Encoding, c.Content = "base64", base64.StdEncoding.EncodeToString(data)
	}
	if !atEnd {
		next := c.Offset + int64(len(data))
		c.Truncated, c.NextOffset = true, &next
	}
}

// wholeRunes drops the start of a character that the limit cut through.
func wholeRunes(data []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		start := len(data) - back
		if !utf8.RuneStart(data[start]) {
			continue
		}
		if !utf8.FullRune(data[start:]) && start > 0 {
			return data[:start]
		}
		return data
	}
	return data
}

// stamp writes a time of the system as the tools show it.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
