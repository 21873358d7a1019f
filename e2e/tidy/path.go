package tidy

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Caller is a function together with the only place that may use it.
type Caller struct {
	Function string // full name as go/types prints it
	In       string // file, or a folder ending in "/"
	Why      string
}

// Callers wants each function used exactly once outside tests, in its place. A
// mention counts as a use: a function value would be a second path.
func Callers(p *Program, want []Caller) []Problem {
	var out []Problem
	for _, c := range want {
		uses := p.uses(c.Function)
		for _, use := range uses {
			if !inPlace(use.File, c.In) {
				out = append(out, Problem{use.File, use.Line, fmt.Sprintf("%s is used outside %s: %s", c.Function, c.In, c.Why)})
			}
		}
		if len(uses) != 1 {
			out = append(out, Problem{c.In, 0, fmt.Sprintf("%s has %d callers, want exactly one: %s", c.Function, len(uses), c.Why)})
		}
	}
	return out
}

func inPlace(file, place string) bool {
	if folder, is := strings.CutSuffix(place, "/"); is {
		return file[:max(0, strings.LastIndex(file, "/"))] == folder
	}
	return file == place
}

func (p *Program) uses(function string) []Problem {
	var out []Problem
	for _, u := range p.Units {
		for id, o := range u.Info.Uses {
			if f, is := o.(*types.Func); is && f.FullName() == function {
				out = append(out, p.at(id, "use"))
			}
		}
	}
	slices.SortFunc(out, func(a, b Problem) int {
		return strings.Compare(a.String(), b.String())
	})
	return out
}

// Handle describes what lets a tool run.
type Handle struct {
	Dir    string // the package of tools
	Opener string // full name of the only function that gives a handle out
	Func   string // name of the function type that a tool is; "" when there is none
}

// Escapes lists exported ways to a runnable tool other than the opener: an
// exported function, method or field that yields a handle, an exported type that
// is one without being sealed, an exported function that is a tool or gives one.
// Taking a tool in is free: whoever passes it has it already.
func Escapes(p *Program, h Handle) []Problem {
	u := p.find(h.Dir)
	if u == nil {
		return []Problem{{h.Dir, 0, "package not found"}}
	}
	r := ways{handle: p.handle(u, h.Opener), function: named(u, h.Func)}
	if r.handle == nil {
		return []Problem{{h.Dir, 0, h.Opener + " not found or returns nothing"}}
	}
	var out []Problem
	for id, o := range u.Info.Defs {
		if o == nil || !o.Exported() || isOpener(o, h.Opener) {
			continue
		}
		if what := r.leak(o); what != "" {
			out = append(out, p.at(id, "exported %s %s", o.Name(), what))
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(a.String(), b.String()) })
	return out
}

func isOpener(o types.Object, opener string) bool {
	f, is := o.(*types.Func)
	return is && f.FullName() == opener
}

// handle is the first result of the opener.
func (p *Program) handle(u *Unit, opener string) types.Type {
	for _, o := range u.Info.Defs {
		if !isOpener(o, opener) {
			continue
		}
		results := o.(*types.Func).Signature().Results()
		if results.Len() > 0 {
			return results.At(0).Type()
		}
	}
	return nil
}

func named(u *Unit, name string) types.Type {
	if o := u.Types.Scope().Lookup(name); o != nil {
		return o.Type()
	}
	return nil
}

// ways are the two forms in which a tool can be run.
type ways struct{ handle, function types.Type }

func (w ways) leak(o types.Object) string {
	switch x := o.(type) {
	case *types.Func:
		if w.function != nil && types.Identical(x.Type(), w.function.Underlying()) {
			return "is a runnable tool"
		}
		results := x.Signature().Results()
		for i := range results.Len() {
			if w.reached(results.At(i).Type()) {
				return "yields a runnable tool"
			}
		}
	case *types.Var:
		if (x.IsField() && reaches(x.Type(), w.handle)) || (scoped(x) != nil && w.reached(x.Type())) {
			return "holds a runnable tool"
		}
	case *types.TypeName:
		return w.leakedType(x)
	}
	return ""
}

func (w ways) reached(t types.Type) bool {
	return reaches(t, w.handle) || (w.function != nil && reaches(t, w.function))
}

// leakedType: a handle may have a name when it is a struct that only its package
// can fill; an interface that others can satisfy or hold may not.
func (w ways) leakedType(x *types.TypeName) string {
	face, isInterface := w.handle.Underlying().(*types.Interface)
	if reaches(x.Type(), w.handle) {
		if isInterface || !isSealed(x.Type()) {
			return "names the runnable tool"
		}
		return ""
	}
	if !isInterface || face.Empty() || types.IsInterface(x.Type()) {
		return ""
	}
	if types.Implements(x.Type(), face) || types.Implements(types.NewPointer(x.Type()), face) {
		return "is a runnable tool"
	}
	return ""
}

// isSealed: a struct without exported fields.
func isSealed(t types.Type) bool {
	fields, is := t.Underlying().(*types.Struct)
	if !is {
		return false
	}
	for f := range fields.Fields() {
		if f.Exported() {
			return false
		}
	}
	return true
}

// reaches looks through pointers, slices, arrays and maps.
func reaches(t, runnable types.Type) bool {
	if types.Identical(t, runnable) {
		return true
	}
	switch x := t.(type) {
	case *types.Pointer:
		return reaches(x.Elem(), runnable)
	case *types.Slice:
		return reaches(x.Elem(), runnable)
	case *types.Array:
		return reaches(x.Elem(), runnable)
	case *types.Map:
		return reaches(x.Elem(), runnable)
	}
	if p, is := runnable.(*types.Pointer); is {
		return types.Identical(t, p.Elem())
	}
	return false
}

// Fields lists exported fields of a named struct: a sealed type has none.
func Fields(p *Program, dir, name string) []Problem {
	u := p.find(dir)
	if u == nil {
		return []Problem{{dir, 0, "package not found"}}
	}
	object := u.Types.Scope().Lookup(name)
	if object == nil {
		return []Problem{{dir, 0, name + " not found"}}
	}
	fields, is := object.Type().Underlying().(*types.Struct)
	if !is {
		return []Problem{{dir, 0, name + " is not a struct"}}
	}
	var out []Problem
	for f := range fields.Fields() {
		if f.Exported() {
			out = append(out, p.at(&ast.Ident{NamePos: f.Pos(), Name: f.Name()}, "%s.%s is exported", name, f.Name()))
		}
	}
	return out
}
