package tidy

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Row is one line of the import table. Only direct imports are judged.
type Row struct {
	Dir   string   // folder below the root
	Std   []string // standard library packages, patterns of path.Match, "*" for all; "-name" forbids
	Ours  []string // folders of this module, "*" for all
	Third []string // import path prefixes from outside, "*" for all
	Tests bool     // the row binds test files too
	Why   string
}

// Imports checks every Go file against the row of its folder. A folder without
// a row is a problem: a new package starts with a decision about what it may see.
func Imports(t *Tree, table []Row) []Problem {
	rows := map[string]Row{}
	for _, r := range table {
		rows[r.Dir] = r
	}
	var out []Problem
	for _, s := range t.Go {
		row, known := rows[s.Dir]
		if !known {
			out = append(out, Problem{s.Name, 0, fmt.Sprintf("folder %s has no row in the import table", s.Dir)})
			continue
		}
		if s.Test && !row.Tests {
			continue
		}
		out = append(out, t.judgeImports(s, row)...)
	}
	return out
}

func (t *Tree) judgeImports(s *Source, row Row) []Problem {
	var out []Problem
	for _, spec := range s.Syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil && row.allows(t.Module, name, s.Test) {
			continue
		}
		text := fmt.Sprintf("%s may not import %s (%s)", row.Dir, name, row.Why)
		out = append(out, Problem{s.Name, t.line(spec), text})
	}
	return out
}

func (r Row) allows(module, name string, test bool) bool {
	if name == module || strings.HasPrefix(name, module+"/") {
		dir := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
		return slices.Contains(r.Ours, "*") || slices.Contains(r.Ours, dir) || (test && dir == r.Dir)
	}
	if isStandard(name) {
		return matchStandard(r.Std, name)
	}
	for _, prefix := range r.Third {
		if prefix == "*" || name == prefix || strings.HasPrefix(name, prefix+"/") {
			return true
		}
	}
	return false
}

// isStandard: the first element of an outside path has a dot.
func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

// matchStandard reads "*", "name", "name/*" and a refusal such as "-name" or
// "-name/*", which wins.
func matchStandard(allowed []string, name string) bool {
	ok := false
	for _, a := range allowed {
		if refused, is := strings.CutPrefix(a, "-"); is {
			if hit, _ := path.Match(refused, name); hit {
				return false
			}
			continue
		}
		hit, _ := path.Match(a, name)
		ok = ok || hit || a == "*"
	}
	return ok
}
