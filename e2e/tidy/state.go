package tidy

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Moving lists init functions and package variables that change after start:
// both are state that no owner holds and no test can set. Variables whose type
// is a lock, a pool or an atomic exist only to change.
func Moving(p *Program) []Problem {
	var out []Problem
	for _, u := range p.Units {
		for _, s := range u.Sources {
			if !s.Built {
				out = append(out, p.movingFile(u, s)...)
			}
		}
	}
	return out
}

func (p *Program) movingFile(u *Unit, s *Source) []Problem {
	var out []Problem
	flag := func(target ast.Expr) {
		if v := p.packageVariable(u, target); v != nil {
			out = append(out, p.at(target, "package variable %s changes", v.Name()))
		}
	}
	ast.Inspect(s.Syntax, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncDecl:
			if x.Name.Name == "init" && x.Recv == nil {
				out = append(out, p.at(x, "init function"))
			}
		case *ast.AssignStmt:
			if x.Tok != token.DEFINE {
				each(x.Lhs, flag)
			}
		case *ast.IncDecStmt:
			flag(x.X)
		case *ast.RangeStmt:
			if x.Tok == token.ASSIGN {
				each([]ast.Expr{x.Key, x.Value}, flag)
			}
		}
		return true
	})
	return append(out, p.locks(u, s)...)
}

func each(list []ast.Expr, do func(ast.Expr)) {
	for _, e := range list {
		if e != nil {
			do(e)
		}
	}
}

// packageVariable follows an assignment's target to its root and gives the
// variable when it lives in a package scope.
func (p *Program) packageVariable(u *Unit, e ast.Expr) *types.Var {
	switch x := e.(type) {
	case *ast.IndexExpr:
		return p.packageVariable(u, x.X)
	case *ast.StarExpr:
		return p.packageVariable(u, x.X)
	case *ast.ParenExpr:
		return p.packageVariable(u, x.X)
	case *ast.SelectorExpr:
		if v := scoped(u.Info.Uses[x.Sel]); v != nil {
			return v
		}
		return p.packageVariable(u, x.X)
	case *ast.Ident:
		return scoped(u.Info.Uses[x])
	}
	return nil
}

func scoped(o types.Object) *types.Var {
	v, is := o.(*types.Var)
	if !is || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	return v
}

func (p *Program) locks(u *Unit, s *Source) []Problem {
	var out []Problem
	for id, o := range u.Info.Defs {
		v := scoped(o)
		if v == nil || p.Tree.Fset.Position(id.Pos()).Filename != s.Name {
			continue
		}
		named, is := v.Type().(*types.Named)
		if !is || named.Obj().Pkg() == nil {
			continue
		}
		if slices.Contains([]string{"sync", "sync/atomic"}, named.Obj().Pkg().Path()) {
			out = append(out, p.at(id, "package variable %s is a %s", v.Name(), named.Obj().Name()))
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return a.Line - b.Line })
	return out
}
