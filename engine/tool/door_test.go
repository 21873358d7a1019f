package tool

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Programs outside the package that try to reach a tool. The first is the
// positive control: it shows that the others fail for what they try and not for
// how they are built.
var attempts = map[string]struct{ body, complaint string }{
	"zz_control": {`func try(r *tool.Registry, g policy.Grant, c policy.Call) { _, _ = r.Open(g, c) }`, ""},
	"zz_fields": {`func try(r *tool.Registry) { _ = r.tools["file.delete"] }`,
		"r.tools undefined"},
	"zz_constructor": {`func try() { _ = tool.fileDelete }`,
		"undefined: tool.fileDelete"},
	"zz_grant": {`func try(r *tool.Registry, c policy.Call) { _, _ = r.Open(policy.Grant{isMinted: true}, c) }`,
		"cannot refer to unexported field isMinted"},
	"zz_without": {`func try(r *tool.Registry, c policy.Call) { _, _ = r.Open(c) }`,
		"not enough arguments in call to r.Open"},
	"zz_decision": {`func try(r *tool.Registry, d policy.Decision, c policy.Call) { _, _ = r.Open(d, c) }`,
		"cannot use d"},
	"zz_handle": {`func try() { _ = tool.Handle{entry: nil} }`,
		"cannot refer to unexported field entry"},
	"zz_extra": {`func try(x tool.Extra) { _ = x.entry.run }`,
		"x.entry undefined"},
	"zz_mint": {`func try(c *policy.Call) { _ = policy.mint(c, "") }`,
		"undefined: policy.mint"},
}

func TestP18_AnotherPathToAToolDoesNotCompile(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	args := []string{"build", "-gcflags=-e"}
	for name, attempt := range attempts {
		source := filepath.Join(t.TempDir(), name+".go")
		text := "package " + name + "\n\nimport (\n\t\"sluice/engine/tool\"\n\t\"sluice/policy\"\n)\n\n" +
			"var _ tool.Registry\nvar _ policy.Call\n\n" + attempt.body + "\n"
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(here, name, name+".go")] = source
		args = append(args, "./"+name)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", append([]string{args[0], "-overlay", overlay}, args[1:]...)...)
	output, err := build.CombinedOutput()
	if err == nil {
		t.Fatal("every program compiled, want only the control to")
	}
	said := map[string]string{}
	for _, part := range strings.Split("\n"+string(output), "\n# ")[1:] {
		name, complaints, _ := strings.Cut(part, "\n")
		said[filepath.Base(strings.Fields(name)[0])] = complaints
	}
	for name, attempt := range attempts {
		complaint, failed := said[name]
		if failed != (attempt.complaint != "") || !strings.Contains(complaint, attempt.complaint) {
			t.Errorf("%s: got %q, want a complaint with %q", name, complaint, attempt.complaint)
		}
	}
	if len(said) != len(attempts)-1 {
		t.Errorf("got complaints about %d programs, want %d:\n%s", len(said), len(attempts)-1, output)
	}
}

// Every call of a method named Open with two arguments in a file that knows this
// package is one of Registry.Open: os.Root.Open has one argument.
func TestP18_OpenHasOneCaller(t *testing.T) {
	var callers []string
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return nil // another package in the middle of a change
		}
		if !knowsTools(file) {
			return nil
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, isCall := n.(*ast.CallExpr); isCall && len(call.Args) == 2 {
				if selector, ok := call.Fun.(*ast.SelectorExpr); ok && selector.Sel.Name == "Open" && !ofPackage(file, selector) {
					callers = append(callers, filepath.ToSlash(name))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(callers) != 1 || !strings.HasSuffix(callers[0], "engine/tool/executor.go") {
		t.Errorf("callers of Registry.Open: got %v, want engine/tool/executor.go once", callers)
	}
}

func knowsTools(file *ast.File) bool {
	if file.Name.Name == "tool" {
		return true
	}
	for _, spec := range file.Imports {
		if spec.Path.Value == `"sluice/engine/tool"` {
			return true
		}
	}
	return false
}

// ofPackage says whether a selector names a function of an imported package.
func ofPackage(file *ast.File, selector *ast.SelectorExpr) bool {
	name, isName := selector.X.(*ast.Ident)
	for _, spec := range file.Imports {
		imported := path.Base(strings.Trim(spec.Path.Value, `"`))
		if spec.Name != nil {
			imported = spec.Name.Name
		}
		if isName && name.Name == imported {
			return true
		}
	}
	return false
}
