package tidy

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Word is a text that no kept file may hold.
type Word struct {
	Pattern *regexp.Regexp
	Why     string
}

// foreign are files whose words are not ours.
var foreign = []string{"LICENSE", "LICENSE-3RD-PARTY.txt", "go.sum", "package-lock.json"}

// Words lists the lines that hold a forbidden text.
func Words(t *Tree, words []Word) []Problem {
	var out []Problem
	for _, name := range t.names() {
		if slices.Contains(foreign, path.Base(name)) || isGenerated(name) {
			continue
		}
		for i, line := range bytes.Split(t.Files[name], []byte("\n")) {
			out = append(out, judgeLine(name, i+1, line, words)...)
		}
	}
	return out
}

func judgeLine(name string, number int, line []byte, words []Word) []Problem {
	var out []Problem
	for _, w := range words {
		if hit := w.Pattern.Find(line); hit != nil {
			out = append(out, Problem{name, number, fmt.Sprintf("%q: %s", hit, w.Why)})
		}
	}
	return out
}

// Docs wants a doc.go with a package comment in every package, and no other
// file that gives the package a second one.
func Docs(t *Tree) []Problem {
	documented := map[string]bool{}
	var out []Problem
	for _, s := range t.Go {
		if s.Test || s.Syntax.Doc == nil {
			continue
		}
		if path.Base(s.Name) == "doc.go" {
			documented[s.Dir] = true
		} else if !s.Built {
			out = append(out, Problem{s.Name, t.line(s.Syntax), "the package comment belongs into doc.go"})
		}
	}
	for _, dir := range t.dirs() {
		if !documented[dir] {
			out = append(out, Problem{dir, 0, "package without a doc.go that says what it is"})
		}
	}
	return out
}

// vague are names that say nothing about what lives inside.
var vague = []string{"util", "utils", "common", "helper", "helpers", "types", "models", "misc"}

// Names refuses files and folders named after nothing, and top-level entries
// beyond the fixed ones. A page of docs may be about models.
func Names(t *Tree, top []string) []Problem {
	var out []Problem
	for _, name := range t.names() {
		first, _, _ := strings.Cut(name, "/")
		if !slices.Contains(top, first) {
			out = append(out, Problem{name, 0, "the top level is fixed: " + strings.Join(top, " ")})
		}
		for part := range strings.SplitSeq(name, "/") {
			stem, _, _ := strings.Cut(strings.TrimSuffix(part, "_test.go"), ".")
			if slices.Contains(vague, stem) && first != "docs" {
				out = append(out, Problem{name, 0, fmt.Sprintf("%q names no idea", stem)})
			}
		}
	}
	return out
}
