package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Named counts, per requirement number, the tests and mutants that name it.
type Named map[string]int

// Scan reads every test file and every mutant below root.
func Scan(root string) (Named, error) {
	named := Named{}
	own := filepath.Join(root, "e2e", "req") // its tests are full of numbers they do not test
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (skipped(d.Name()) || path == own):
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			return named.addTests(path)
		case strings.HasSuffix(path, ".patch"):
			return named.addMutant(path)
		}
		return nil
	})
	return named, err
}

func skipped(dir string) bool {
	return dir == ".git" || dir == "node_modules" || dir == "testdata" || dir == "bin"
}

func (n Named) add(name string) {
	for _, number := range numbersIn(name) {
		n[number]++
	}
}

func (n Named) addTests(path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse test file: %w", err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.FuncDecl:
			if isTest(x) {
				n.add(x.Name.Name)
			}
		case *ast.CallExpr:
			n.add(subtestName(x))
		case *ast.BasicLit:
			n.addWhole(x)
		}
		return true
	})
	return nil
}

func isTest(f *ast.FuncDecl) bool {
	for _, prefix := range []string{"Test", "Fuzz", "Benchmark"} {
		if f.Recv == nil && strings.HasPrefix(f.Name.Name, prefix) {
			return true
		}
	}
	return false
}

// subtestName gives the literal name of t.Run(name, …) when it says more than
// the number alone, which addWhole counts.
func subtestName(call *ast.CallExpr) string {
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is || selector.Sel.Name != "Run" || len(call.Args) != 2 {
		return ""
	}
	literal, is := call.Args[0].(*ast.BasicLit)
	if !is || literal.Kind != token.STRING {
		return ""
	}
	name, err := strconv.Unquote(literal.Value)
	if err != nil || isWhole(name) {
		return ""
	}
	return name
}

// isWhole: the text is one requirement number and nothing else.
func isWhole(text string) bool {
	found := numbersIn(text)
	return len(found) == 1 && (text == found[0] || canonical(text) == found[0]) && len(text) <= 4
}

func (n Named) addWhole(literal *ast.BasicLit) {
	text, err := strconv.Unquote(literal.Value)
	if err == nil && isWhole(text) {
		n.add(text)
	}
}

// addMutant reads the whole patch header, up to the first line of the diff.
func (n Named) addMutant(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read mutant: %w", err)
	}
	header, _, _ := strings.Cut(string(text), "\n--- ")
	header, _, _ = strings.Cut(header, "\ndiff ")
	n.add(header)
	return nil
}
