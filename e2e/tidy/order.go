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

// Unordered lists ranges over maps in the given folders. Three forms pass: a
// loop that only collects into a slice which the function sorts afterwards, a
// loop that only fills a map under the same key, and one marked OrderFree.
func Unordered(p *Program, dirs []string) []Problem {
	return p.inFiles(dirs, p.unorderedFile)
}

func (p *Program) unorderedFile(u *Unit, s *Source) []Problem {
	marked := orderFreeLines(p.Tree, s)
	var out []Problem
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		_, _, whole := function(n)
		if whole == nil {
			return true
		}
		ast.Inspect(whole, func(n ast.Node) bool {
			loop, is := n.(*ast.RangeStmt)
			if is && ranges(u, loop) && !marked[p.Tree.line(loop)] && !collects(u, loop, whole) && !copies(u, loop) {
				out = append(out, p.at(loop, "range over a map without %q and a reason", OrderFree))
			}
			return true
		})
		return false
	})
	return out
}

// ranges: the loop reads a map, or one of the iterators over a map.
func ranges(u *Unit, loop *ast.RangeStmt) bool {
	tv, known := u.Info.Types[loop.X]
	if known && tv.Type != nil {
		if _, is := tv.Type.Underlying().(*types.Map); is {
			return true
		}
	}
	call, is := loop.X.(*ast.CallExpr)
	return is && slices.Contains([]string{"maps.All", "maps.Keys", "maps.Values"}, calledName(u, call))
}

// calledName is the full name of a called function of another package.
func calledName(u *Unit, call *ast.CallExpr) string {
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	f, is := u.Info.Uses[selector.Sel].(*types.Func)
	if !is {
		return ""
	}
	return f.FullName()
}

// only is the single assignment that makes up a loop's body, or nil.
func only(loop *ast.RangeStmt) *ast.AssignStmt {
	if len(loop.Body.List) != 1 {
		return nil
	}
	assign, is := loop.Body.List[0].(*ast.AssignStmt)
	if !is || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return nil
	}
	return assign
}

// collects: the body is x = append(x, …) and x is sorted after the loop.
func collects(u *Unit, loop *ast.RangeStmt, whole ast.Node) bool {
	assign := only(loop)
	if assign == nil {
		return false
	}
	target, is := assign.Lhs[0].(*ast.Ident)
	call, calls := assign.Rhs[0].(*ast.CallExpr)
	if !is || !calls {
		return false
	}
	name, is := call.Fun.(*ast.Ident)
	if !is || name.Name != "append" {
		return false
	}
	sorted := false
	ast.Inspect(whole, func(n ast.Node) bool {
		after, is := n.(*ast.CallExpr)
		if is && after.Pos() > loop.End() && sorts(u, after, u.Info.Uses[target]) {
			sorted = true
		}
		return true
	})
	return sorted
}

// sorts: a call of package sort or slices.Sort… whose first argument is v.
func sorts(u *Unit, call *ast.CallExpr, v types.Object) bool {
	name := calledName(u, call)
	if len(call.Args) == 0 || !(strings.HasPrefix(name, "sort.") || strings.HasPrefix(name, "slices.Sort")) {
		return false
	}
	first, is := call.Args[0].(*ast.Ident)
	return is && v != nil && u.Info.Uses[first] == v
}

// copies: the body is m[k] = … with k the key of the loop, so that every turn
// writes a place of its own.
func copies(u *Unit, loop *ast.RangeStmt) bool {
	assign := only(loop)
	key, is := loop.Key.(*ast.Ident)
	if assign == nil || !is {
		return false
	}
	index, is := assign.Lhs[0].(*ast.IndexExpr)
	if !is {
		return false
	}
	name, is := index.Index.(*ast.Ident)
	tv := u.Info.Types[index.X]
	if !is || tv.Type == nil || u.Info.Uses[name] == nil || u.Info.Uses[name] != u.Info.Defs[key] {
		return false
	}
	_, isMap := tv.Type.Underlying().(*types.Map)
	return isMap
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
