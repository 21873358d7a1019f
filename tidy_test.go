package sluice_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/e2e/tidy"
)

// pure is the part of the standard library that computes and does nothing else.
// "time" is for durations: its clock is banned where the core is checked.
var pure = []string{
	"bytes", "cmp", "container/*", "crypto/sha256", "crypto/subtle", "encoding", "encoding/*",
	"errors", "fmt", "hash", "hash/fnv", "iter", "maps", "math", "math/big", "math/bits", "path",
	"regexp", "regexp/syntax", "slices", "sort", "strconv", "strings", "time", "unicode", "unicode/*",
}

// imports is the import table: who may see whom, and why. A package that is not
// in it does not pass, so each new one starts with a decision.
var imports = []tidy.Row{
	{Dir: ".", Std: []string{"*"}, Ours: []string{"e2e/tidy"}, Tests: true,
		Why: "the root holds only the check of this table"},
	{Dir: "policy", Std: append([]string{"net/netip", "net/url"}, pure...), // addresses are parsed, never dialled
		Why: "the gate is a pure function that everything else may trust"},
	{Dir: "policy/document", Std: append([]string{"io"}, pure...), Ours: []string{"policy"}, Third: []string{"go.yaml.in/yaml/v3"},
		Why: "the only reader of policy YAML; it performs no I/O itself"},
	{Dir: "policy/gatecheck", Std: append([]string{"io", "bufio"}, pure...), Ours: []string{"policy", "policy/document"},
		Third: []string{"github.com/go-json-experiment/json/jsontext"},
		Why:   "reads calls and writes decisions as lines, without a store"},
	{Dir: "policy/clearance", Std: []string{"*", "-database/*", "-os", "-os/exec"},
		Third: []string{"github.com/go-json-experiment/json/jsontext"},
		Why:   "asks external authorities over HTTP; it knows no policy and no run"},
	{Dir: "engine/plan", Std: append([]string{"io"}, pure...), Ours: []string{"policy"},
		Third: []string{"github.com/tidwall/gjson", "github.com/go-json-experiment/json/jsontext", "github.com/santhosh-tekuri/jsonschema/v6",
			"golang.org/x/text/language", "golang.org/x/text/message"}, // jsonschema renders its errors through these two
		Why: "compiling a plan is pure: parsers and schemas, no loader"},
	{Dir: "engine/plan/yamlform", Std: append([]string{"io"}, pure...), Ours: []string{"engine/plan"},
		Third: []string{"go.yaml.in/yaml/v3", "github.com/go-json-experiment/json/jsontext"},
		Why:   "the only reader of plans in YAML; what it reads goes through engine/plan like any other"},
	{Dir: "engine/template", Std: append([]string{"embed"}, pure...), Ours: []string{"engine/plan"},
		Why: "filling the slots of a plan is pure; versions and their facts belong to the store"},
	{Dir: "engine/planner", Std: pure, Ours: []string{"engine/plan", "engine/template", "policy"},
		Why: "the built-in planner is plain code; its index is implemented by the store"},
	{Dir: "engine", Std: pure, Ours: []string{"engine/plan", "policy"},
		Why: "the core decides and does nothing"},
	{Dir: "engine/trace", Std: pure, Ours: []string{"engine", "engine/plan", "policy"},
		Why: "turns facts into views; the layout must be the same on every replay"},
	{Dir: "engine/exec", Std: []string{"*", "-database/*", "-net/http", "-os/exec"}, Ours: []string{"engine", "engine/plan", "policy"},
		Why: "the shell declares what it needs (Log, Executor, Clock) and knows no implementation"},
	{Dir: "engine/compute", Std: append([]string{"io"}, pure...),
		Third: []string{"go.starlark.net", "github.com/go-json-experiment/json/jsontext"},
		Why:   "a program of a plan is evaluated by a pure function; the process around it belongs to its tool"},
	{Dir: "engine/tool", Std: []string{"*", "-database/*"}, Ours: []string{"engine", "engine/compute", "engine/plan", "policy"},
		Third: []string{"github.com/shirou/gopsutil/v4", "github.com/go-json-experiment/json", "golang.org/x/sys"},
		Why:   "tools act on the world and never on the log or the pages"},
	{Dir: "engine/model", Std: []string{"*", "-database/*", "-os", "-os/exec"}, Ours: []string{"engine", "engine/plan", "engine/planner", "policy"},
		Third: []string{"github.com/sashabaranov/go-openai", "github.com/go-json-experiment/json/jsontext"},
		Why:   "asks models and turns replies into inputs; it knows no state, log or page"},
	{Dir: "engine/model/fake", Std: []string{"*", "-database/*", "-os", "-os/exec"},
		Why: "a scripted model server: what it says of Sluice it reads from prompts, as any model does"},
	{Dir: "engine/sim", Std: []string{"*", "-database/*", "-net", "-net/http"}, Ours: []string{"engine", "engine/exec", "engine/plan", "policy"},
		Why: "a simulated world has no live provider"},
	{Dir: "engine/bench", Std: []string{"*", "-net", "-net/http"}, Ours: []string{"engine", "engine/exec", "engine/plan", "engine/tool", "policy", "store"},
		Third: []string{"modernc.org/sqlite"},
		Why:   "measures the durable kernel beside a bare program, without a live provider"},
	{Dir: "store", Std: []string{"*", "-net", "-net/http", "-os/exec"}, Ours: []string{"engine", "engine/plan", "engine/planner", "policy"},
		Third: []string{"modernc.org/sqlite", "github.com/alexedwards/scs/v2", "github.com/oklog/ulid/v2", "golang.org/x/sys"},
		Why:   "the only package that speaks SQL"},
	{Dir: "store/storetest", Std: []string{"*", "-net", "-net/http", "-os/exec"}, Ours: []string{"engine", "engine/plan", "policy", "store"},
		Third: []string{"pgregory.net/rapid"},
		Why:   "one suite for every store"},
	{Dir: "handlers", Std: []string{"*", "-database/*", "-os/exec"},
		Ours: []string{"engine", "engine/plan", "engine/plan/yamlform", "engine/template", "engine/trace", "policy", "policy/document", "policy/gatecheck", "web/static", "web/templates"},
		Third: []string{"github.com/labstack/echo/v4", "github.com/gorilla/websocket", "github.com/alexedwards/scs/v2",
			"github.com/a-h/templ", "github.com/oklog/ulid/v2"},
		Why: "translates requests to inputs and facts to views through ports it declares"},
	{Dir: "web/templates", Std: append([]string{"context", "io", "net/url"}, pure...), Third: []string{"github.com/a-h/templ"},
		Why: "renders view structs and decides nothing"},
	{Dir: "web/static", Std: []string{"*", "-os", "-net", "-database/*"},
		Why: "embedded files with their content hashes"},
	{Dir: "cmd/web", Std: []string{"*"}, Ours: []string{"*"}, Third: []string{"*"},
		Why: "the one place where all parts meet"},
	{Dir: "e2e", Std: []string{"*"}, Third: []string{"*"}, Tests: true,
		Why: "sees the binary as its users do, never our packages"},
	{Dir: "e2e/tidy", Std: []string{"*"}, Tests: true, Why: "must work when our packages do not compile"},
	{Dir: "e2e/req", Std: []string{"*"}, Tests: true, Why: "must work when our packages do not compile"},
	{Dir: "e2e/mutants", Std: []string{"*"}, Tests: true, Why: "must work when our packages do not compile"},
}

// core are the packages whose result may depend on nothing but their arguments.
var core = []string{"policy", "policy/document", "engine/compute", "engine/plan", "engine/template", "engine/planner", "engine", "engine/trace"}

// banned in the core: the clock, output, and anything the import table would
// let through only by mistake.
var banned = []string{
	"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick",
	"time.NewTimer", "time.NewTicker", "fmt.Print", "fmt.Printf", "fmt.Println", "print", "println",
	"math/rand.*", "math/rand/v2.*", "crypto/rand.*", "sync.*", "sync/atomic.*", "os.*", "context.*", "log.*", "reflect.*", "runtime.*",
}

// onePath holds the two functions through which every effect passes (P18).
var onePath = []tidy.Caller{
	{Function: "sluice/policy.Authorise", In: "engine/", Why: "a second caller could mint a grant past the core"},
	{Function: "(*sluice/engine/tool.Registry).Open", In: "engine/tool/executor.go", Why: "a second caller is a second way to a tool"},
}

var handle = tidy.Handle{Dir: "engine/tool", Opener: "(*sluice/engine/tool.Registry).Open", Func: "Func"}

var sizes = tidy.Sizes{FileLines: 400, FunctionLines: 70, Nesting: 3, Params: 4}

// testSizes leave room for a table of cases above the check, and for loops over
// all combinations.
var testSizes = tidy.Sizes{FileLines: 400, FunctionLines: 100, Nesting: 5, Params: 5}

// topLevel is fixed: a new idea finds its place below one of these.
var topLevel = []string{
	".ci", ".gitattributes", ".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE", "Makefile", "README.md",
	"cmd", "doc.go", "docs", "e2e", "engine", "go.mod", "go.sum", "handlers", "policy", "store", "tidy_test.go", "web",
}

// words that no file may hold. The patterns are written so as not to match themselves.
var words = []tidy.Word{
	{Pattern: regexp.MustCompile(`(?:^|[^\w.~-])/(?:work|root|farm|Users)/`), Why: "a path of one machine means nothing on another"},
	{Pattern: regexp.MustCompile(`(?://|/\*|#|<!--)\s*(?:T[O]DO|F[I]XME|X[X]X|H[A]CK)\b`), Why: "do it, or write down in CHANGELOG.md what is next"},
	{Pattern: regexp.MustCompile(`(?i)\bissue #?\d`), Why: "numbers of a tracker say nothing to who reads the code"},
}

// rule is one check of the repository with a repository that breaks it: a check
// that cannot fail proves nothing.
type rule struct {
	name  string
	check func(*tidy.Tree) []tidy.Problem
	bad   map[string]string
	want  string // part of the problem found in bad
}

// typed runs a check that needs types.
func typed(t *testing.T, check func(*tidy.Program) []tidy.Problem) func(*tidy.Tree) []tidy.Problem {
	return func(tree *tidy.Tree) []tidy.Problem {
		program, err := tidy.Check(tree)
		if err != nil {
			t.Fatal(err)
		}
		return check(program)
	}
}

func rules(t *testing.T) []rule {
	return []rule{
		{"import table", func(tree *tidy.Tree) []tidy.Problem { return tidy.Imports(tree, imports) },
			map[string]string{"engine/x.go": "package engine\nimport \"os\"\nvar _ = os.Args\n"}, "engine may not import os"},
		{"types", typed(t, (*tidy.Program).Broken),
			map[string]string{"store/x.go": "package store\nvar n int = \"\"\n"}, "cannot use"},
		{"pure core", typed(t, func(p *tidy.Program) []tidy.Problem { return tidy.Impure(p, core, banned) }),
			map[string]string{"engine/x.go": "package engine\nimport \"time\"\nfunc now() time.Time { return time.Now() }\n"}, "Now is banned"},
		{"map order", typed(t, func(p *tidy.Program) []tidy.Problem { return tidy.Unordered(p, core) }),
			map[string]string{"engine/x.go": "package engine\nfunc f(m map[string]int) (s string) {\n\tfor k := range m {\n\t\ts += k\n\t}\n\treturn s\n}\n"}, "range over a map"},
		{"no moving package state", typed(t, tidy.Moving),
			map[string]string{"store/x.go": "package store\nvar n int\nfunc f() { n++ }\n"}, "package variable n changes"},
		{"one caller", typed(t, func(p *tidy.Program) []tidy.Problem { return tidy.Callers(p, onePath) }),
			map[string]string{"policy/x.go": "package policy\nfunc Authorise() {}\n",
				"handlers/x.go": "package handlers\nimport \"sluice/policy\"\nfunc f() { policy.Authorise() }\n"}, "used outside engine/"},
		{"tools stay inside", typed(t, func(p *tidy.Program) []tidy.Problem { return tidy.Escapes(p, handle) }),
			map[string]string{"engine/tool/x.go": "package tool\ntype Registry struct{}\ntype runner struct{}\n" +
				"func (r *Registry) Open() *runner { return nil }\nfunc Shortcut() *runner { return nil }\n"}, "Shortcut yields a runnable tool"},
		{"sealed grant", typed(t, func(p *tidy.Program) []tidy.Problem { return tidy.Fields(p, "policy", "Grant") }),
			map[string]string{"policy/x.go": "package policy\ntype Grant struct{ ID int }\n"}, "Grant.ID is exported"},
		{"sizes", func(tree *tidy.Tree) []tidy.Problem { return tidy.TooLarge(tree, sizes, testSizes) },
			map[string]string{"store/x.go": "package store\nfunc f() {\n" + strings.Repeat("\t_ = 1\n", 80) + "}\n"}, "f has 82 lines"},
		{"doc.go", tidy.Docs,
			map[string]string{"store/x.go": "package store\n"}, "without a doc.go"},
		{"names", func(tree *tidy.Tree) []tidy.Problem { return tidy.Names(tree, topLevel) },
			map[string]string{"store/util.go": "package store\n"}, "names no idea"},
		{"words", func(tree *tidy.Tree) []tidy.Problem { return tidy.Words(tree, words) },
			map[string]string{"store/x.go": "package store\n\n// f reads /" + "root/data.\nfunc f() {}\n"}, "a path of one machine"},
	}
}

func TestTidy(t *testing.T) {
	repository, err := tidy.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules(t) {
		t.Run(r.name, func(t *testing.T) {
			if got := joined(r.check(load(t, r.bad))); !strings.Contains(got, r.want) {
				t.Errorf("control: got %q, want a problem that says %q", got, r.want)
			}
			for _, p := range r.check(repository) {
				t.Error(p)
			}
		})
	}
}

// load writes a tree to judge and reads it back as the repository is read.
func load(t *testing.T, files map[string]string) *tidy.Tree {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	write(t, filepath.Join(dir, "go.mod"), "module sluice\n\ngo 1.26\n")
	tree, err := tidy.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func joined(problems []tidy.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}
