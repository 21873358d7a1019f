package tidy

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// Sizes are the largest a file and a function may be.
type Sizes struct {
	FileLines     int
	FunctionLines int
	Nesting       int // blocks inside one another; a function literal starts anew
	Params        int // without the receiver; more become a struct
}

// sourceSuffixes are the kinds of hand-written files whose length counts.
var sourceSuffixes = []string{".go", ".templ", ".ts", ".tsx", ".css", ".sql", ".sh"}

// TooLarge lists files and functions beyond the limits; test files have limits
// of their own. What a tool wrote (_templ.go, bundles under dist) is not judged.
func TooLarge(t *Tree, code, tests Sizes) []Problem {
	var out []Problem
	for _, name := range t.names() {
		if !slices.Contains(sourceSuffixes, path.Ext(name)) || isGenerated(name) {
			continue
		}
		limit := code.FileLines
		if strings.HasSuffix(name, "_test.go") {
			limit = tests.FileLines
		}
		if n := lineCount(t.Files[name]); n > limit {
			out = append(out, Problem{name, 0, fmt.Sprintf("%d lines, at most %d", n, limit)})
		}
	}
	for _, s := range t.Go {
		switch {
		case s.Test:
			out = append(out, t.largeFunctions(s, tests)...)
		case !s.Built:
			out = append(out, t.largeFunctions(s, code)...)
		}
	}
	return out
}

func isGenerated(name string) bool {
	return strings.HasSuffix(name, "_templ.go") || strings.HasSuffix(name, ".min.js") || strings.Contains("/"+name, "/dist/")
}

func (t *Tree) largeFunctions(s *Source, limit Sizes) []Problem {
	var out []Problem
	note := func(n ast.Node, format string, args ...any) {
		out = append(out, Problem{s.Name, t.line(n), fmt.Sprintf(format, args...)})
	}
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		name, kind, body := function(n)
		if body == nil {
			return true
		}
		lines := t.Fset.Position(body.End()).Line - t.line(n) + 1
		if lines > limit.FunctionLines {
			note(n, "%s has %d lines, at most %d", name, lines, limit.FunctionLines)
		}
		if p := paramCount(kind); p > limit.Params {
			note(n, "%s takes %d parameters, at most %d", name, p, limit.Params)
		}
		if d := depth(body); d > limit.Nesting {
			note(n, "%s nests %d deep, at most %d", name, d, limit.Nesting)
		}
		return true
	})
	return out
}

// function takes a declaration or a literal apart; body is nil for anything else.
func function(n ast.Node) (string, *ast.FuncType, *ast.BlockStmt) {
	switch f := n.(type) {
	case *ast.FuncDecl:
		return f.Name.Name, f.Type, f.Body
	case *ast.FuncLit:
		return "function literal", f.Type, f.Body
	}
	return "", nil, nil
}

func paramCount(f *ast.FuncType) int {
	n := 0
	for _, field := range f.Params.List {
		n += max(1, len(field.Names))
	}
	return n
}

// depth counts how many blocks the deepest statement stands in. An else-if goes
// on at the level of its if: it reads as one list of cases.
func depth(n ast.Node) int {
	deepest := 0
	ast.Inspect(n, func(inner ast.Node) bool {
		if inner == n {
			return true
		}
		if _, is := inner.(*ast.FuncLit); is {
			return false
		}
		below, opens := opened(inner)
		for _, b := range below {
			deepest = max(deepest, 1+depth(b))
		}
		return !opens
	})
	return deepest
}

// opened gives the bodies of a statement that opens a block.
func opened(n ast.Node) ([]ast.Node, bool) {
	switch s := n.(type) {
	case *ast.IfStmt:
		bodies := []ast.Node{s.Body}
		for s.Else != nil {
			next, more := s.Else.(*ast.IfStmt)
			if !more {
				return append(bodies, s.Else), true
			}
			bodies, s = append(bodies, next.Body), next
		}
		return bodies, true
	case *ast.ForStmt:
		return []ast.Node{s.Body}, true
	case *ast.RangeStmt:
		return []ast.Node{s.Body}, true
	case *ast.SwitchStmt:
		return []ast.Node{s.Body}, true
	case *ast.TypeSwitchStmt:
		return []ast.Node{s.Body}, true
	case *ast.SelectStmt:
		return []ast.Node{s.Body}, true
	}
	return nil, false
}
