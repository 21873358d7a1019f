package planner

import (
	"fmt"
	"strings"
)

func aboutRepositories(output []byte) (string, bool) {
	var o struct {
		Path      string
		Paths     []string
		Count     *int
		Truncated bool
	}
	if !readOutput(output, &o) || o.Count == nil {
		return "", false
	}
	if *o.Count == 0 {
		return "Found no git repositories under " + where(o.Path) + ".", true
	}
	text := "Found " + plural(*o.Count, "git repository") + " under " + where(o.Path) + ": " + listNames(o.Paths, *o.Count)
	return text + more(o.Truncated), true
}

// where names a folder for people.
func where(path string) string {
	if path == "" || path == "." {
		return "the workspace"
	}
	return path
}

// more ends a sentence and says when a limit cut the result.
func more(truncated bool) string {
	if truncated {
		return "; there are more than were read."
	}
	return "."
}

func aboutStatus(output []byte) (string, bool) {
	var o struct {
		Repositories []struct {
			Path    string
			Branch  *string
			Count   int `json:"changed_count"`
			Clean   *bool
			Problem *string
		}
	}
	if !readOutput(output, &o) || o.Repositories == nil {
		return "", false
	}
	if len(o.Repositories) == 0 {
		return "There was no repository to look at.", true
	}
	var parts []string
	for _, r := range o.Repositories {
		state := "could not be read"
		switch {
		case r.Problem == nil && r.Clean != nil && *r.Clean:
			state = "is clean"
		case r.Problem == nil && r.Clean != nil:
			state = "has " + plural(r.Count, "uncommitted change")
		}
		if r.Branch != nil {
			state += " (branch " + clip(*r.Branch) + ")"
		}
		parts = append(parts, where(r.Path)+" "+state)
	}
	return listNames(parts, len(parts)) + ".", true
}

func aboutLog(output []byte) (string, bool) {
	var o struct {
		Path    string
		Commits []struct{ Hash, Author, Date, Subject string }
	}
	if !readOutput(output, &o) || o.Commits == nil {
		return "", false
	}
	if len(o.Commits) == 0 {
		return where(o.Path) + " has no commits.", true
	}
	lines := []string{fmt.Sprintf("%s in %s:", plural(len(o.Commits), "commit"), where(o.Path))}
	for _, c := range o.Commits[:min(len(o.Commits), linesMax)] {
		lines = append(lines, fmt.Sprintf("  %s %s %s: %s", c.Hash[:min(len(c.Hash), 8)], c.Date, clip(c.Author), clip(c.Subject)))
	}
	return strings.Join(lines, "\n"), true
}

func aboutDiff(output []byte) (string, bool) {
	var o struct {
		Path      string
		Files     []struct{ Path string }
		Count     *int `json:"changed_count"`
		Truncated bool
	}
	if !readOutput(output, &o) || o.Count == nil {
		return "", false
	}
	if *o.Count == 0 {
		return where(o.Path) + " does not differ from its last commit.", true
	}
	var names []string
	for _, f := range o.Files {
		names = append(names, f.Path)
	}
	return plural(*o.Count, "file") + " in " + where(o.Path) + verbFor(*o.Count, " differs", " differ") + " from the last commit: " +
		listNames(names, *o.Count) + more(o.Truncated), true
}

func verbFor(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func aboutReading(output []byte) (string, bool) {
	var o struct {
		Path      string
		Size      *float64 `json:"size_bytes"`
		Encoding  string
		Content   string
		Truncated bool
	}
	if !readOutput(output, &o) || o.Size == nil {
		return "", false
	}
	head := fmt.Sprintf("%s (%s)", o.Path, size(*o.Size))
	switch {
	case o.Content == "":
		return head + " is empty.", true
	case o.Encoding != "utf-8":
		return head + " is no text.", true
	}
	lines := strings.Split(strings.TrimRight(o.Content, "\n"), "\n")
	quotedLines := []string{head + ":"}
	for _, line := range lines[:min(len(lines), linesMax)] {
		quotedLines = append(quotedLines, "  "+clip(line))
	}
	if len(lines) > linesMax || o.Truncated {
		quotedLines = append(quotedLines, "  …")
	}
	return strings.Join(quotedLines, "\n"), true
}

func aboutListing(output []byte) (string, bool) {
	var o struct {
		Path    string
		Entries []struct {
			Path string
			Kind string
			Size float64 `json:"size_bytes"`
		}
		Total *int
	}
	if !readOutput(output, &o) || o.Total == nil {
		return "", false
	}
	if *o.Total == 0 {
		return where(o.Path) + " holds nothing of this kind.", true
	}
	var names []string
	for _, e := range o.Entries {
		name := e.Path
		if e.Kind == "file" {
			name += " (" + size(e.Size) + ")"
		}
		names = append(names, name)
	}
	noun := "entry"
	return plural(*o.Total, noun) + " in " + where(o.Path) + ": " + listNames(names, *o.Total) + ".", true
}

func aboutSearch(output []byte) (string, bool) {
	var o struct {
		Query   string
		Path    string
		Matches []struct {
			Path string
			Line int
			Text string
		}
		Files     []string
		Truncated bool
	}
	if !readOutput(output, &o) || o.Matches == nil {
		return "", false
	}
	if len(o.Matches) == 0 {
		return fmt.Sprintf("%q does not occur in %s.", clip(o.Query), where(o.Path)), true
	}
	lines := []string{fmt.Sprintf("%q: %s in %s of %s%s", clip(o.Query), plural(len(o.Matches), "line"), plural(len(o.Files), "file"), where(o.Path), more(o.Truncated))}
	for _, m := range o.Matches[:min(len(o.Matches), linesMax)] {
		lines = append(lines, fmt.Sprintf("  %s:%d: %s", m.Path, m.Line, clip(m.Text)))
	}
	return strings.Join(lines, "\n"), true
}

func aboutWriting(output []byte) (string, bool) {
	var o struct {
		Path string
		Size *float64 `json:"size_bytes"`
	}
	if !readOutput(output, &o) || o.Size == nil {
		return "", false
	}
	return fmt.Sprintf("Wrote %s to %s.", size(*o.Size), o.Path), true
}

func aboutDeletion(output []byte) (string, bool) {
	var o struct {
		Path    string
		Size    *float64 `json:"size_bytes"`
		Deleted bool
	}
	if !readOutput(output, &o) || !o.Deleted || o.Size == nil {
		return "", false
	}
	return fmt.Sprintf("Deleted %s (%s).", o.Path, size(*o.Size)), true
}

func aboutPatch(output []byte) (string, bool) {
	var o struct {
		Path  string
		Lines []int
		Size  *int `json:"size_bytes"`
	}
	if !readOutput(output, &o) || o.Size == nil {
		return "", false
	}
	if len(o.Lines) == 0 {
		return "Appended to " + o.Path + ".", true
	}
	return "Changed " + o.Path + " in " + plural(len(o.Lines), "place") + ".", true
}
