package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// FileBytesMax bounds one file that is read as text; larger ones are no source.
const FileBytesMax = 2 << 20

// Problem is one place where a rule does not hold.
type Problem struct {
	File string // slash path below the root, "" when no file is meant
	Line int    // from 1, 0 when no line is meant
	Text string
}

// String is the form in which editors find the place.
func (p Problem) String() string {
	if p.File == "" {
		return p.Text
	}
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Source is one parsed Go file.
type Source struct {
	Name   string // slash path below the root
	Dir    string // "." for the root
	Syntax *ast.File
	Lines  int
	Test   bool // name ends in _test.go
	Built  bool // _templ.go: written by a tool
}

// Tree is the repository as the rules see it.
type Tree struct {
	Root   string
	Module string            // from go.mod
	Files  map[string][]byte // text of every kept file, by slash path
	Go     []*Source         // sorted by name
	Fset   *token.FileSet
}

// Load reads every file that git keeps or would keep; outside a work tree it
// reads every file except build output. Build constraints are ignored: a rule
// holds for all builds.
func Load(root string) (*Tree, error) {
	names, err := list(root)
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: root, Files: map[string][]byte{}, Fset: token.NewFileSet()}
	for _, name := range names {
		if err := t.read(name); err != nil {
			return nil, err
		}
	}
	t.Module = moduleName(t.Files["go.mod"])
	if t.Module == "" {
		return nil, fmt.Errorf("read go.mod in %s: no module line", root)
	}
	return t, nil
}

// list gives sorted slash paths below root.
func list(root string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		return walk(root)
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list files with git: %w", err)
	}
	names := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	slices.Sort(names)
	return slices.Compact(names), nil
}

// walk is list for a tree without git, such as an unpacked archive.
func walk(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	return names, err
}

// read takes one file in. A file that git lists and the disk no longer has is
// being removed; binary and oversized files have no text to judge.
func (t *Tree) read(name string) error {
	full := filepath.Join(t.Root, filepath.FromSlash(name))
	info, err := os.Lstat(full)
	if err != nil || !info.Mode().IsRegular() || info.Size() > FileBytesMax {
		return nil
	}
	text, err := os.ReadFile(full)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	t.Files[name] = text
	if !strings.HasSuffix(name, ".go") || strings.Contains("/"+name, "/testdata/") {
		return nil
	}
	syntax, err := parser.ParseFile(t.Fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", name, err)
	}
	t.Go = append(t.Go, &Source{
		Name: name, Dir: path.Dir(name), Syntax: syntax, Lines: lineCount(text),
		Test:  strings.HasSuffix(name, "_test.go"),
		Built: strings.HasSuffix(name, "_templ.go"),
	})
	return nil
}

func lineCount(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

func moduleName(gomod []byte) string {
	for line := range strings.SplitSeq(string(gomod), "\n") {
		if name, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(name)
		}
	}
	return ""
}

// line says where a node stands.
func (t *Tree) line(n ast.Node) int { return t.Fset.Position(n.Pos()).Line }

// dirs lists the folders that hold Go files, sorted.
func (t *Tree) dirs() []string {
	var out []string
	for _, s := range t.Go {
		out = append(out, s.Dir)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// names lists the kept text files, sorted.
func (t *Tree) names() []string {
	out := make([]string, 0, len(t.Files))
	for name := range t.Files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
