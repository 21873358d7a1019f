package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits of git.status.
const (
	statusRepositoriesMax = 200
	statusChangesMax      = 500 // shown of one repository
)

const gitStatusInput = `{
	"type": "object", "additionalProperties": false, "maxProperties": 1,
	"properties": {
		"path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Folder of one repository, relative to the workspace; the workspace itself if neither is given."},
		"paths": {"type": "array", "maxItems": 200, "description": "Folders of several repositories, such as git.find gives in paths.",
			"items": {"type": "string", "minLength": 1, "maxLength": 4096}}
	}}`

const gitStatusOutput = `{
	"type": "object", "additionalProperties": false, "required": ["repositories", "dirty", "clean"],
	"properties": {
		"repositories": {"type": "array", "description": "One entry per repository asked for, in that order.", "items": {
			"type": "object", "additionalProperties": false,
			"required": ["path", "branch", "commit", "upstream", "ahead", "behind", "clean", "changes", "changed_count", "problem"],
			"properties": {
				"path": {"type": "string", "description": "Folder of the repository, relative to the workspace."},
				"branch": {"type": ["string", "null"], "description": "Branch; null when detached."},
				"commit": {"type": ["string", "null"], "description": "Hash of the last commit; null before the first."},
				"upstream": {"type": ["string", "null"], "description": "Branch it follows; null without one."},
				"ahead": {"type": ["integer", "null"], "description": "Commits that upstream lacks."},
				"behind": {"type": ["integer", "null"], "description": "Commits that only upstream has."},
				"clean": {"type": ["boolean", "null"], "description": "True when nothing is uncommitted; null when it could not be read."},
				"changes": {"type": "array", "description": "Uncommitted changes, at most 500.", "items": {
					"type": "object", "additionalProperties": false, "required": ["path", "from", "staged", "unstaged"],
					"properties": {
						"path": {"type": "string", "description": "File, relative to the repository."},
						"from": {"type": ["string", "null"], "description": "Where it was before a rename or copy."},
						"staged": {"type": ["string", "null"], "description": "Change in the index, such as added or modified."},
						"unstaged": {"type": ["string", "null"], "description": "Change in the files, such as modified or untracked."}
					}}},
				"changed_count": {"type": "integer", "description": "All uncommitted changes."},
				"problem": {"type": ["string", "null"], "description": "Why one of several repositories could not be read."}
			}}},
		"dirty": {"type": "array", "description": "Paths of the repositories with uncommitted changes.", "items": {"type": "string"}},
		"clean": {"type": "array", "description": "Paths of the repositories without any.", "items": {"type": "string"}}
	}}`

func gitStatus(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool:    policy.Tool{Name: "git.status", Effect: policy.Read, Impact: policy.Observe},
			Summary: "Show branch, ahead and behind, and uncommitted changes of git repositories.",
			Input:   json.RawMessage(gitStatusInput), Output: json.RawMessage(gitStatusOutput),
			Timeout: gitTimeout,
			Bytes:   8 << 20,
		},
		run: h.statusRepositories,
	}
}

type gitStatusParams struct {
	Path  *string  `json:"path"`
	Paths []string `json:"paths"`
}

type gitChange struct {
	Path     string  `json:"path"`
	From     *string `json:"from"`
	Staged   *string `json:"staged"`
	Unstaged *string `json:"unstaged"`
}

type gitState struct {
	Path         string      `json:"path"`
	Branch       *string     `json:"branch"`
	Commit       *string     `json:"commit"`
	Upstream     *string     `json:"upstream"`
	Ahead        *int64      `json:"ahead"`
	Behind       *int64      `json:"behind"`
	Clean        *bool       `json:"clean"`
	Changes      []gitChange `json:"changes"`
	ChangedCount int         `json:"changed_count"`
	Problem      *string     `json:"problem"`
}

type gitStates struct {
	Repositories []gitState `json:"repositories"`
	Dirty        []string   `json:"dirty"`
	Clean        []string   `json:"clean"`
}

func (h *host) statusRepositories(ctx context.Context, r Request) ([]byte, error) {
	var params gitStatusParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	if len(params.Paths) > statusRepositoriesMax || params.Path != nil && params.Paths != nil {
		return nil, failf(Invalid, "give path, or paths with at most %d entries", statusRepositoriesMax)
	}
	g, err := h.git()
	if err != nil {
		return nil, err
	}
	if params.Paths == nil {
		return h.statusOne(ctx, g, params.Path)
	}
	states := gitStates{Repositories: []gitState{}, Dirty: []string{}, Clean: []string{}}
	for _, path := range params.Paths {
		state, err := h.status(ctx, g, path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil { // one bad repository does not hide the others
			state = gitState{Path: path, Changes: []gitChange{}, Problem: problem(err)}
		}
		states.add(state)
	}
	return encode(states)
}

// statusOne fails as the one repository asked for does.
func (h *host) statusOne(ctx context.Context, g *git, path *string) ([]byte, error) {
	start, err := pathOrWorkspace(path)
	if err != nil {
		return nil, err
	}
	state, err := h.status(ctx, g, start)
	if err != nil {
		return nil, err
	}
	states := gitStates{Repositories: []gitState{}, Dirty: []string{}, Clean: []string{}}
	states.add(state)
	return encode(states)
}

// problem is the text of a failure inside an output; P24 holds for it too.
func problem(err error) *string {
	text := UnavailableText
	var failure *Failure
	if errors.As(err, &failure) && failure.Class != Unavailable {
		text = failure.Detail
	}
	return &text
}

func (s *gitStates) add(state gitState) {
	s.Repositories = append(s.Repositories, state)
	if state.Clean == nil {
		return
	}
	if *state.Clean {
		s.Clean = append(s.Clean, state.Path)
		return
	}
	s.Dirty = append(s.Dirty, state.Path)
}

func (h *host) status(ctx context.Context, g *git, path string) (gitState, error) {
	repo, err := h.openRepository(ctx, g, path)
	if err != nil {
		return gitState{}, err
	}
	// Submodules have configurations of their own, which nobody has checked.
	done, err := g.in(ctx, repo, "status", "--porcelain=v2", "--branch", "--ahead-behind", "-z",
		"--untracked-files=normal", "--ignore-submodules=all")
	if err != nil {
		return gitState{}, err
	}
	if done.code != 0 || done.cut {
		return gitState{}, errUnavailable()
	}
	state := gitState{Path: repo.path, Changes: []gitChange{}}
	state.read(strings.Split(strings.TrimSuffix(string(done.stdout), "\x00"), "\x00"))
	clean := state.ChangedCount == 0
	state.Clean = &clean
	return state, nil
}

// read takes the records of git's porcelain format 2.
func (s *gitState) read(records []string) {
	for i := 0; i < len(records); i++ {
		kind, rest, _ := strings.Cut(records[i], " ")
		switch kind {
		case "#":
			s.header(rest)
		case "1":
			s.change(rest, 7, nil)
		case "u":
			s.change(rest, 9, nil)
		case "?":
			s.keep(gitChange{Path: rest, Unstaged: word('?')})
		case "2": // its former path is the next record
			if i++; i < len(records) {
				s.change(rest, 8, &records[i])
			}
		}
	}
}

func (s *gitState) header(line string) {
	name, value, _ := strings.Cut(line, " ")
	switch {
	case name == "branch.oid" && value != "(initial)":
		s.Commit = &value
	case name == "branch.head" && value != "(detached)":
		s.Branch = &value
	case name == "branch.upstream":
		s.Upstream = &value
	case name == "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead, s.Behind = count(ahead), count(behind)
	}
}

// count reads "+3" or "-3" as 3.
func count(text string) *int64 {
	n, err := strconv.ParseInt(strings.TrimLeft(text, "+-"), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// change takes a record whose path follows a number of fields, the first of which
// is the pair of states.
func (s *gitState) change(rest string, fields int, from *string) {
	parts := strings.SplitN(rest, " ", fields+1)
	if len(parts) != fields+1 || len(parts[0]) != 2 {
		return
	}
	s.keep(gitChange{Path: parts[fields], From: from, Staged: word(parts[0][0]), Unstaged: word(parts[0][1])})
}

func (s *gitState) keep(change gitChange) {
	s.ChangedCount++
	if len(s.Changes) < statusChangesMax {
		s.Changes = append(s.Changes, change)
	}
}

// word names git's letter for a change; nil for none.
func word(letter byte) *string {
	name := "changed"
	switch letter {
	case '.':
		return nil
	case 'M':
		name = "modified"
	case 'T':
		name = "type changed"
	case 'A':
		name = "added"
	case 'D':
		name = "deleted"
	case 'R':
		name = "renamed"
	case 'C':
		name = "copied"
	case 'U':
		name = "conflicted"
	case '?':
		name = "untracked"
	}
	return &name
}
