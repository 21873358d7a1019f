package tool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of file.patch.
const (
	patchBytesMax = 4 << 20 // of the file, before and after
	editsMax      = 100
)

const filePatchInput = `{
	"type": "object", "additionalProperties": false, "required": ["path"],
	"anyOf": [{"required": ["edits"]}, {"required": ["append"]}],
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "File to change, relative to the workspace. It must exist."},
		"edits": {"type": "array", "minItems": 1, "maxItems": 100, "description": "Replacements. All are found in the file as it is, none touches another, and all are made or none.", "items": {
			"type": "object", "additionalProperties": false, "required": ["old", "new"],
			"properties": {
				"old": {"type": "string", "minLength": 1, "maxLength": 262144, "description": "Text that occurs in the file exactly once, byte for byte; may span lines."},
				"new": {"type": "string", "maxLength": 262144, "description": "What stands there afterwards."}
			}}},
		"append": {"type": "string", "minLength": 1, "maxLength": 262144, "description": "Text put at the end, on lines of its own: a line end is put before and after it where there is none."}
	}}`

const filePatchOutput = `{
	"type": "object", "additionalProperties": false, "required": ["path", "lines", "size_bytes", "sha256", "sha256_before"],
	"properties": {
		"path": {"type": "string", "description": "The file, relative to the workspace."},
		"lines": {"type": "array", "description": "For each edit the line it began on, from 1, before any was made.", "items": {"type": "integer"}},
		"size_bytes": {"type": "integer", "description": "Size of the file now."},
		"sha256": {"type": "string", "description": "SHA-256 of the content now, hexadecimal."},
		"sha256_before": {"type": "string", "description": "SHA-256 of the content before, hexadecimal."}
	}}`

func filePatch(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool: policy.Tool{
				Name: "file.patch", Effect: policy.Once, Impact: policy.Operate,
				Sinks: []string{"append", "edits", "path"},
			},
			Summary: "Change parts of one file of the workspace: replace texts that occur once, or append.",
			Input:   json.RawMessage(filePatchInput), Output: json.RawMessage(filePatchOutput),
			Timeout: fileTimeout,
			Bytes:   InlineBytesMax,
		},
		run: h.patchFile,
	}
}

type filePatchParams struct {
	Path   string     `json:"path"`
	Edits  []fileEdit `json:"edits"`
	Append string     `json:"append"`
}

type fileEdit struct {
	Old string `json:"old"`
	New string `json:"new"`
}

type filePatched struct {
	Path         string `json:"path"`
	Lines        []int  `json:"lines"`
	SizeBytes    int    `json:"size_bytes"`
	SHA256       string `json:"sha256"`
	SHA256Before string `json:"sha256_before"`
}

func (h *host) patchFile(ctx context.Context, r Request) ([]byte, error) {
	var params filePatchParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	if len(params.Edits) > editsMax || len(params.Edits) == 0 && params.Append == "" {
		return nil, failf(Invalid, "there must be 1 to %d edits, or text to append", editsMax)
	}
	path, err := localPath(params.Path)
	if err != nil {
		return nil, err
	}
	info, before, err := h.readWhole(ctx, path)
	if err != nil {
		return nil, unsent(ctx, err)
	}
	after, lines, err := patched(path, before, params)
	if err != nil {
		return nil, err
	}
	if err := h.unchanged(path, info); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ended(ctx, true)
	}
	if err := h.replaceFile(path, after, replacement{info.Mode().Perm(), &r}); err != nil {
		return nil, err
	}
	return encode(filePatched{Path: path, Lines: lines, SizeBytes: len(after), SHA256: sumOf(after), SHA256Before: sumOf(before)})
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// readWhole reads a file that may be changed.
func (h *host) readWhole(ctx context.Context, path string) (fs.FileInfo, []byte, error) {
	info, err := h.changeable(path)
	if err != nil {
		return nil, nil, err
	}
	if info == nil {
		return nil, nil, fileFailure(path, fs.ErrNotExist)
	}
	file, _, err := h.openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(stoppable{ctx, io.LimitReader(file, patchBytesMax+1)})
	if err != nil {
		return nil, nil, fileFailure(path, err)
	}
	if len(content) > patchBytesMax {
		return nil, nil, failf(Invalid, "%q is larger than %d bytes", clip(path), patchBytesMax)
	}
	return info, content, nil
}

// place is where an edit goes.
type place struct {
	edit       int
	start, end int
}

// patched makes all edits on the content as it is, so that their order means
// nothing, and appends.
func patched(path string, before []byte, params filePatchParams) (after []byte, lines []int, err error) {
	places := make([]place, len(params.Edits))
	lines = []int{}
	for i, edit := range params.Edits {
		if edit.Old == "" || edit.Old == edit.New {
			return nil, nil, failf(Invalid, "edit %d changes nothing", i+1)
		}
		at, err := onlyPlace(path, before, i, edit.Old)
		if err != nil {
			return nil, nil, err
		}
		places[i] = place{i, at, at + len(edit.Old)}
		lines = append(lines, lineOf(before, at))
	}
	slices.SortFunc(places, func(a, b place) int { return a.start - b.start })
	var out bytes.Buffer
	from := 0
	for k, p := range places {
		if p.start < from {
			return nil, nil, failf(Invalid, "edit %d and edit %d touch the same text", places[k-1].edit+1, p.edit+1)
		}
		out.Write(before[from:p.start])
		out.WriteString(params.Edits[p.edit].New)
		from = p.end
	}
	out.Write(before[from:])
	if added := params.Append; added != "" {
		if out.Len() > 0 && out.Bytes()[out.Len()-1] != '\n' {
			out.WriteByte('\n')
		}
		out.WriteString(strings.TrimSuffix(added, "\n") + "\n")
	}
	if out.Len() > patchBytesMax {
		return nil, nil, failf(Invalid, "%q would be larger than %d bytes", clip(path), patchBytesMax)
	}
	return out.Bytes(), lines, nil
}

// onlyPlace finds the one place of a text. Places that overlap count each: which
// of them was meant, nobody could say.
func onlyPlace(path string, content []byte, edit int, old string) (int, error) {
	const shown = 5
	first, count := -1, 0
	var lines []string
	for from := 0; ; {
		at := bytes.Index(content[from:], []byte(old))
		if at < 0 {
			break
		}
		if at += from; first < 0 {
			first = at
		}
		if count++; count <= shown {
			lines = append(lines, strconv.Itoa(lineOf(content, at)))
		}
		from = at + 1
	}
	switch {
	case count == 0:
		return 0, failf(Conflict, "the old text of edit %d does not occur in %q", edit+1, clip(path))
	case count > shown:
		lines = append(lines, "and more")
		fallthrough
	case count > 1:
		return 0, failf(Conflict, "the old text of edit %d occurs %d times in %q, on lines %s; it must occur once", edit+1, count, clip(path), strings.Join(lines, ", "))
	}
	return first, nil
}

func lineOf(content []byte, at int) int { return 1 + bytes.Count(content[:at], []byte("\n")) }
