package tool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of file.search.
const (
	searchQueryBytesMax  = 1024
	searchMatchesDefault = 100
	searchMatchesMax     = 1000
	searchFileBytesMax   = 8 << 20   // larger files are skipped and counted
	searchTotalBytesMax  = 256 << 20 // read in one call
	searchLineBytesMax   = 1 << 20   // a longer line ends the search of its file
	searchSnippetBytes   = 400       // of a matching line shown
	searchSniffBytes     = 8 << 10   // looked at for a NUL byte: binary
)

const fileSearchInput = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1024, "description": "Text to find in the lines of files."},
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "File or directory to search, relative to the workspace; the workspace itself if absent."},
		"regex": {"type": "boolean", "description": "Read the query as a regular expression (RE2); false if absent."},
		"ignore_case": {"type": "boolean", "description": "Treat upper and lower case alike; false if absent."},
		"limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "Most matching lines to give; 100 if absent."}
	}}`

const fileSearchOutput = `{
	"type": "object", "additionalProperties": false,
	"required": ["query", "path", "matches", "files", "files_searched", "files_skipped", "truncated"],
	"properties": {
		"query": {"type": "string", "description": "The query as given."},
		"path": {"type": "string", "description": "Where was searched, relative to the workspace."},
		"matches": {"type": "array", "description": "Matching lines by path and line.", "items": {
			"type": "object", "additionalProperties": false, "required": ["path", "line", "text"],
			"properties": {
				"path": {"type": "string", "description": "File, relative to the workspace."},
				"line": {"type": "integer", "description": "Number of the line, from 1."},
				"text": {"type": "string", "description": "The line, or the part around the match."}
			}}},
		"files": {"type": "array", "description": "Paths of the files with a match.", "items": {"type": "string"}},
		"files_searched": {"type": "integer", "description": "Files read."},
		"files_skipped": {"type": "integer", "description": "Files left out: binary, too large or unreadable."},
		"truncated": {"type": "boolean", "description": "True when a limit ended the search early."}
	}}`

func fileSearch(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "file.search", Effect: policy.Read, Impact: policy.Observe},
			Summary: "Search the files of the workspace for a word, a text or a regular expression.",
			Input:   json.RawMessage(fileSearchInput), Output: json.RawMessage(fileSearchOutput),
			Timeout: 30 * time.Second,
			Bytes:   8 << 20,
		},
		run: h.searchFiles,
	}
}

type fileSearchParams struct {
	Query      string  `json:"query"`
	Path       *string `json:"path"`
	Regex      bool    `json:"regex"`
	IgnoreCase bool    `json:"ignore_case"`
	Limit      *int64  `json:"limit"`
}

type fileMatch struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

type fileMatches struct {
	Query         string      `json:"query"`
	Path          string      `json:"path"`
	Matches       []fileMatch `json:"matches"`
	Files         []string    `json:"files"`
	FilesSearched int         `json:"files_searched"`
	FilesSkipped  int         `json:"files_skipped"`
	Truncated     bool        `json:"truncated"`
}

// search is one file.search in progress.
type search struct {
	host  *host
	form  *regexp.Regexp
	limit int
	bytes int64 // read so far
	found fileMatches
}

func (h *host) searchFiles(ctx context.Context, r Request) ([]byte, error) {
	var params fileSearchParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	s, err := h.newSearch(params)
	if err != nil {
		return nil, err
	}
	info, err := h.root.Stat(s.found.Path)
	if err != nil {
		return nil, fileFailure(s.found.Path, err)
	}
	if !info.IsDir() {
		if err := wantRegular(s.found.Path, info); err != nil {
			return nil, err
		}
		if err := s.file(ctx, s.found.Path, info); err != nil && !errors.Is(err, errStopWalk) {
			return nil, err
		}
		return encode(s.found)
	}
	w := walker{host: h, depthMax: walkDepthMax, visit: func(path string, info fs.FileInfo) (bool, error) {
		if info.Mode().IsRegular() {
			return false, s.file(ctx, path, info)
		}
		return info.Name() != ".git", nil
	}}
	if err := w.walk(ctx, s.found.Path); err != nil {
		return nil, err
	}
	s.found.Truncated = s.found.Truncated || w.full || w.deep
	return encode(s.found)
}

func (h *host) newSearch(params fileSearchParams) (*search, error) {
	if params.Query == "" || len(params.Query) > searchQueryBytesMax {
		return nil, failf(Invalid, "query must be 1 to %d bytes", searchQueryBytesMax)
	}
	s := &search{host: h, limit: searchMatchesDefault}
	if params.Limit != nil {
		if !between(*params.Limit, 1, searchMatchesMax) {
			return nil, failf(Invalid, "limit must be 1 to %d", searchMatchesMax)
		}
		s.limit = int(*params.Limit)
	}
	start, err := pathOrWorkspace(params.Path)
	if err != nil {
		return nil, err
	}
	expression := params.Query
	if !params.Regex {
		expression = regexp.QuoteMeta(expression)
	}
	if params.IgnoreCase {
		expression = "(?i)" + expression
	}
	if s.form, err = regexp.Compile(expression); err != nil {
		return nil, Fail(Invalid, "query is not a regular expression that RE2 takes")
	}
	s.found = fileMatches{Query: params.Query, Path: start, Matches: []fileMatch{}, Files: []string{}}
	return s, nil
}

// file searches one file; errStopWalk means that a limit of the whole search is reached.
func (s *search) file(ctx context.Context, path string, info fs.FileInfo) error {
	if info.Size() > searchFileBytesMax {
		s.found.FilesSkipped++
		return nil
	}
	if s.bytes+info.Size() > searchTotalBytesMax {
		s.found.Truncated = true
		return errStopWalk
	}
	file, _, err := s.host.openRegular(path)
	if err != nil { // gone, exchanged or unreadable since it was listed
		s.found.FilesSkipped++
		return nil
	}
	defer file.Close()
	reader := bufio.NewReaderSize(io.LimitReader(file, searchFileBytesMax), searchSniffBytes)
	if head, _ := reader.Peek(searchSniffBytes); bytes.IndexByte(head, 0) >= 0 {
		s.found.FilesSkipped++
		return nil
	}
	s.found.FilesSearched++
	s.bytes += info.Size()
	return s.lines(ctx, path, reader)
}

func (s *search) lines(ctx context.Context, path string, reader io.Reader) error {
	scanner := bufio.NewScanner(reader)
	scanner.Buffer(nil, searchLineBytesMax)
	matched := false
	for number := 1; scanner.Scan(); number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line := scanner.Bytes()
		at := s.form.FindIndex(line)
		if at == nil {
			continue
		}
		if len(s.found.Matches) == s.limit {
			s.found.Truncated = true
			return errStopWalk
		}
		s.found.Matches = append(s.found.Matches, fileMatch{Path: path, Line: number, Text: snippet(line, at)})
		if !matched {
			matched = true
			s.found.Files = append(s.found.Files, path)
		}
	}
	if scanner.Err() != nil { // a line beyond its limit, or a read error
		s.found.Truncated = true
	}
	return nil
}

// snippet is the line, or as much of it around the match as is shown.
func snippet(line []byte, at []int) string {
	from, to := 0, len(line)
	if to > searchSnippetBytes {
		from = max(0, min(at[0]-searchSnippetBytes/4, to-searchSnippetBytes))
		to = from + searchSnippetBytes
	}
	return strings.ToValidUTF8(string(line[from:to]), "\uFFFD")
}
