package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Impure lists what breaks determinism inside the given folders: banned
// functions (full names, or a package path with ".*"), goroutines, channels and
// select.
func Impure(p *Program, dirs, banned []string) []Problem {
	return p.inFiles(dirs, func(u *Unit, s *Source) []Problem { return p.impureFile(u, s, banned) })
}

// inFiles judges every hand-written file of some packages. One that does not
// exist is a problem: the rule would hold nothing.
func (p *Program) inFiles(dirs []string, judge func(*Unit, *Source) []Problem) []Problem {
	var out []Problem
	for _, dir := range dirs {
		u := p.find(dir)
		if u == nil {
			out = append(out, Problem{dir, 0, "core package not found"})
			continue
		}
		for _, s := range u.Sources {
			out = append(out, judge(u, s)...)
		}
	}
	return out
}

func (p *Program) impureFile(u *Unit, s *Source, banned []string) []Problem {
	var out []Problem
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		if n == nil {
			return true
		}
		if what := construct(n); what != "" {
			out = append(out, p.at(n, "%s in the core", what))
		}
		if id, is := n.(*ast.Ident); is && isBanned(u.Info.Uses[id], banned) {
			out = append(out, p.at(n, "%s is banned in the core", id.Name))
		}
		return true
	})
	return out
}

// construct names what the language itself does out of order.
func construct(n ast.Node) string {
	switch x := n.(type) {
	case *ast.GoStmt:
		return "go statement"
	case *ast.SelectStmt:
		return "select"
	case *ast.ChanType:
		return "channel type"
	case *ast.SendStmt:
		return "channel send"
	case *ast.UnaryExpr:
		if x.Op == token.ARROW {
			return "channel receive"
		}
	}
	return ""
}

func isBanned(o types.Object, banned []string) bool {
	switch f := o.(type) {
	case *types.Func:
		if f.Pkg() == nil {
			return false
		}
		return slices.Contains(banned, f.FullName()) || slices.Contains(banned, f.Pkg().Path()+".*")
	case *types.Builtin:
		return slices.Contains(banned, f.Name())
	}
	return false
}
