package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// OrderFree marks a range over a map whose result does not depend on the order;
// the reason follows on the same line.
const OrderFree = "// order-free:"

// Impure lists what breaks determinism inside the given folders: banned
// functions (full names, or a package path with ".*"), goroutines, channels,
// select, and ranges over maps that carry no reason.
func Impure(p *Program, dirs, banned []string) []Problem {
	var out []Problem
	for _, dir := range dirs {
		u := p.find(dir)
		if u == nil {
			out = append(out, Problem{dir, 0, "core package not found"})
			continue
		}
		for _, s := range u.Sources {
			out = append(out, p.impureFile(u, s, banned)...)
		}
	}
	return out
}

func (p *Program) impureFile(u *Unit, s *Source, banned []string) []Problem {
	marked := orderFreeLines(p.Tree, s)
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
		if loop, is := n.(*ast.RangeStmt); is && unordered(u, loop) && !marked[p.Tree.line(loop)] {
			out = append(out, p.at(n, "range over a map without %q and a reason", OrderFree))
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

// unordered: the loop reads a map, or one of the iterators over a map.
func unordered(u *Unit, loop *ast.RangeStmt) bool {
	tv, known := u.Info.Types[loop.X]
	if known && tv.Type != nil {
		if _, is := tv.Type.Underlying().(*types.Map); is {
			return true
		}
	}
	call, is := loop.X.(*ast.CallExpr)
	if !is {
		return false
	}
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	f, is := u.Info.Uses[selector.Sel].(*types.Func)
	return is && slices.Contains([]string{"maps.All", "maps.Keys", "maps.Values"}, f.FullName())
}

// orderFreeLines are the lines a marked comment speaks for: its own, and the
// first one after it.
func orderFreeLines(t *Tree, s *Source) map[int]bool {
	lines := map[int]bool{}
	for _, group := range s.Syntax.Comments {
		for _, c := range group.List {
			reason, is := strings.CutPrefix(c.Text, OrderFree)
			if is && len(strings.TrimSpace(reason)) >= 8 {
				lines[t.line(c)] = true
				lines[t.Fset.Position(group.End()).Line+1] = true
			}
		}
	}
	return lines
}
