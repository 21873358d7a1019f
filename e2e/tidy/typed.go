package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Unit is one package of the module with its types; test files are left out.
type Unit struct {
	Dir     string
	Sources []*Source
	Types   *types.Package
	Info    *types.Info
}

// Program is the module type-checked under the default build tags.
type Program struct {
	Tree   *Tree
	Units  []*Unit // sorted by folder
	Errors []error // what did not type-check
	byDir  map[string]*Unit
	gc     types.Importer
}

// Check type-checks the module's packages from source; what they import from
// elsewhere is read from export data, which the go command has in its cache.
func Check(t *Tree) (*Program, error) {
	exports, err := exportData(t)
	if err != nil {
		return nil, err
	}
	open := func(path string) (io.ReadCloser, error) {
		file, known := exports[path]
		if !known {
			return nil, fmt.Errorf("find export data of %s: not listed", path)
		}
		return os.Open(file)
	}
	p := &Program{Tree: t, byDir: map[string]*Unit{}, gc: importer.ForCompiler(t.Fset, "gc", open)}
	for _, dir := range t.dirs() {
		p.unit(dir)
	}
	for _, dir := range t.dirs() {
		if u := p.byDir[dir]; u != nil && u.Types != nil {
			p.Units = append(p.Units, u)
		}
	}
	return p, nil
}

// exportData maps the outside packages the module needs to their export files.
func exportData(t *Tree) (map[string]string, error) {
	wanted := []string{"fmt"}
	for _, s := range t.Go {
		if s.Test {
			continue
		}
		for _, spec := range s.Syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err == nil && name != "unsafe" && !t.owns(name) && t.isBuilt(s) {
				wanted = append(wanted, name)
			}
		}
	}
	slices.Sort(wanted)
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}
	cmd := exec.Command("go", append(args, slices.Compact(wanted)...)...)
	cmd.Dir = t.Root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list export data: %w: %s", err, stderr.String())
	}
	files := map[string]string{}
	for line := range strings.SplitSeq(string(out), "\n") {
		if name, file, ok := strings.Cut(line, "\t"); ok && file != "" {
			files[name] = file
		}
	}
	return files, nil
}

func (t *Tree) owns(name string) bool {
	return name == t.Module || strings.HasPrefix(name, t.Module+"/")
}

// isBuilt says whether the default build takes the file.
func (t *Tree) isBuilt(s *Source) bool {
	full := filepath.Join(t.Root, filepath.FromSlash(s.Name))
	ok, err := build.Default.MatchFile(filepath.Split(full))
	return ok && err == nil
}

// Import gives our own packages from source, so that one object is the same in
// every package that uses it, and all others from export data.
func (p *Program) Import(name string) (*types.Package, error) {
	if name == "unsafe" {
		return types.Unsafe, nil
	}
	if !p.Tree.owns(name) {
		return p.gc.Import(name)
	}
	dir := strings.TrimPrefix(strings.TrimPrefix(name, p.Tree.Module), "/")
	if dir == "" {
		dir = "."
	}
	u := p.unit(dir)
	if u.Types == nil {
		return nil, fmt.Errorf("import %s: no such package", name)
	}
	return u.Types, nil
}

// unit checks one folder once. An import cycle ends in the "no such package"
// error above, because the entry is made before its imports are followed.
func (p *Program) unit(dir string) *Unit {
	if u, done := p.byDir[dir]; done {
		return u
	}
	u := &Unit{Dir: dir}
	p.byDir[dir] = u
	var files []*ast.File
	for _, s := range p.Tree.Go {
		if s.Dir == dir && !s.Test && p.Tree.isBuilt(s) {
			u.Sources = append(u.Sources, s)
			files = append(files, s.Syntax)
		}
	}
	if len(files) == 0 {
		return u
	}
	u.Info = &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: p, Error: func(err error) { p.Errors = append(p.Errors, err) }}
	checked, err := config.Check(filepath.ToSlash(filepath.Join(p.Tree.Module, dir)), p.Tree.Fset, files, u.Info)
	if err == nil || checked != nil {
		u.Types = checked
	}
	return u
}

// Broken lists what does not type-check: the other checks see nothing there.
func (p *Program) Broken() []Problem {
	var out []Problem
	for _, err := range p.Errors {
		out = append(out, Problem{Text: err.Error()})
	}
	return out
}

// find gives the unit of a folder, or nil.
func (p *Program) find(dir string) *Unit {
	if u := p.byDir[dir]; u != nil && u.Types != nil {
		return u
	}
	return nil
}

// at makes a problem at a node.
func (p *Program) at(n ast.Node, format string, args ...any) Problem {
	pos := p.Tree.Fset.Position(n.Pos())
	return Problem{pos.Filename, pos.Line, fmt.Sprintf(format, args...)}
}
