package tidy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/e2e/tidy"
)

// tree writes files below a fresh root and loads them.
func tree(t *testing.T, files map[string]string) *tidy.Tree {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module sluice\n\ngo 1.26\n"
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := tidy.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func program(t *testing.T, files map[string]string) *tidy.Program {
	t.Helper()
	p, err := tidy.Check(tree(t, files))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range p.Errors {
		t.Fatal(err)
	}
	return p
}

// body wraps statements into a file of the core.
func body(imports, statements string) map[string]string {
	return map[string]string{"engine/x.go": "package engine\n" + imports + "\nfunc f() {\n" + statements + "\n}\n"}
}

func wantOne(t *testing.T, got []tidy.Problem, text string) {
	t.Helper()
	if len(got) != 1 || !strings.Contains(got[0].String(), text) {
		t.Errorf("got %v, want one problem that says %q", got, text)
	}
}

func TestImpure_EachConstruct(t *testing.T) {
	banned := []string{"time.Now", "math/rand/v2.*", "println"}
	cases := []struct{ name, imports, statements, want string }{
		{"goroutine", "", "go f()", "go statement"},
		{"select", "", "select {}", "select"},
		{"channel type", "", "var c chan int; _ = c", "channel type"},
		{"clock", `import "time"`, "_ = time.Now()", "Now is banned"},
		{"clock under another name", `import clock "time"`, "_ = clock.Now", "Now is banned"},
		{"random", `import "math/rand/v2"`, "_ = rand.IntN(3)", "IntN is banned"},
		{"print", "", "println(1)", "println is banned"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := tidy.Impure(program(t, body(c.imports, c.statements)), []string{"engine"}, banned)
			wantOne(t, got, c.want)
		})
	}
}

func TestImpure_AcceptsDurations(t *testing.T) {
	got := tidy.Impure(program(t, body(`import "time"`, "_ = time.Second")), []string{"engine"}, []string{"time.Now"})
	if len(got) != 0 {
		t.Errorf("got %v, want no problem", got)
	}
}

func TestUnordered_EachForm(t *testing.T) {
	cases := []struct{ name, imports, statements string }{
		{"map", "", "for range map[int]int{} {\n}"},
		{"named map", "", "type m map[int]int\nfor range (m{}) {\n}"},
		{"map iterator", `import "maps"`, "for range maps.Keys(map[int]int{}) {\n}"},
		{"mark without a reason", "", "// order-free:\nfor range map[int]int{} {\n}"},
		{"collected, not sorted", "", "var x []int\nfor k := range map[int]int{} {\nx = append(x, k)\n}"},
		{"sorted before", `import "slices"`, "var x []int\nslices.Sort(x)\nfor k := range map[int]int{} {\nx = append(x, k)\n}"},
		{"another sorted", `import "slices"`, "var x, y []int\nfor k := range map[int]int{} {\nx = append(x, k)\n}\nslices.Sort(y)"},
		{"filled under another key", "", "x := map[int]int{}\nfor _, v := range map[int]int{} {\nx[v] = v\n}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wantOne(t, tidy.Unordered(program(t, body(c.imports, c.statements)), []string{"engine"}), "range over a map")
		})
	}
}

func TestUnordered_SeesFunctionValues(t *testing.T) {
	text := "package engine\nvar f = func() {\n\tfor range map[int]int{} {\n\t}\n}\n"
	wantOne(t, tidy.Unordered(program(t, map[string]string{"engine/x.go": text}), []string{"engine"}), "range over a map")
}

func TestUnordered_AcceptsWhatHasNoOrder(t *testing.T) {
	cases := map[string][2]string{
		"mark above":        {"", "// order-free: a sum does not depend on the order\nfor range map[int]int{} {\n}"},
		"mark beside":       {"", "for range map[int]int{} { // order-free: only counts entries\n}"},
		"sorted keys":       {`import ("maps"; "slices")`, "for range slices.Sorted(maps.Keys(map[int]int{})) {\n}"},
		"collect and sort":  {`import "sort"`, "var x []int\nfor k := range map[int]int{} {\nx = append(x, k)\n}\nsort.Ints(x)"},
		"copy":              {"", "x := map[int]int{}\nfor k, v := range map[int]int{} {\nx[k] = v\n}"},
		"slice, not a map":  {"", "for range []int{} {\n}"},
		"integer, no order": {"", "for range 3 {\n}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := tidy.Unordered(program(t, body(c[0], c[1])), []string{"engine"})
			if len(got) != 0 {
				t.Errorf("got %v, want no problem", got)
			}
		})
	}
}

func TestMoving_EachWayToChange(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"assign", "var n int\nfunc f() { n = 2 }", "n changes"},
		{"element", "var m = map[int]int{}\nfunc f() { m[1] = 2 }", "m changes"},
		{"field", "var s struct{ a int }\nfunc f() { s.a++ }", "s changes"},
		{"range", "var n int\nfunc f() { for n = range 3 {\n} }", "n changes"},
		{"init", "func init() {}", "init function"},
		{"lock", "import \"sync\"\nvar m sync.Mutex", "m is a Mutex"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wantOne(t, tidy.Moving(program(t, map[string]string{"store/x.go": "package store\n" + c.text + "\n"})), c.want)
		})
	}
	fine := "package store\nvar n = 1\ntype T struct{ n int }\nfunc (t *T) init() { t.n = n; n := 3; n++ }\n"
	if got := tidy.Moving(program(t, map[string]string{"store/x.go": fine})); len(got) != 0 {
		t.Errorf("a local of the same name: got %v, want no problem", got)
	}
}

func TestCallers_CountsValuesAndPlaces(t *testing.T) {
	gate := "package policy\nfunc Authorise() {}\n"
	want := []tidy.Caller{{Function: "sluice/policy.Authorise", In: "engine/", Why: "why"}}
	call := "package engine\nimport \"sluice/policy\"\n"
	one := map[string]string{"policy/x.go": gate, "engine/x.go": call + "func f() { policy.Authorise() }\n"}
	if got := tidy.Callers(program(t, one), want); len(got) != 0 {
		t.Errorf("one caller: got %v, want no problem", got)
	}
	two := map[string]string{"policy/x.go": gate, "engine/x.go": call + "func f() { policy.Authorise() }\nvar g = policy.Authorise\n"}
	wantOne(t, tidy.Callers(program(t, two), want), "2 callers")
	none := map[string]string{"policy/x.go": gate}
	wantOne(t, tidy.Callers(program(t, none), want), "0 callers")
}

func TestEscapes_EachWayOut(t *testing.T) {
	const head = "package tool\ntype Registry struct{}\ntype runner interface{ run() }\ntype Func func(int) error\n" +
		"func (r *Registry) Open() (runner, error) { return nil, nil }\n"
	handle := tidy.Handle{Dir: "engine/tool", Opener: "(*sluice/engine/tool.Registry).Open", Func: "Func"}
	check := func(t *testing.T, text string) []tidy.Problem {
		return tidy.Escapes(program(t, map[string]string{"engine/tool/x.go": head + text + "\n"}), handle)
	}
	cases := []struct{ name, text, want string }{
		{"function", "func All() []runner { return nil }", "yields a runnable tool"},
		{"method", "func (r *Registry) Get() runner { return nil }", "yields a runnable tool"},
		{"field", "type X struct{ R runner }", "holds a runnable tool"},
		{"variable", "var R runner", "holds a runnable tool"},
		{"implementation", "type Shell struct{}\nfunc (Shell) run() {}", "is a runnable tool"},
		{"name", "type Runner = runner", "names the runnable tool"},
		{"a tool itself", "func Delete(int) error { return nil }", "is a runnable tool"},
		{"gives a tool", "func Find(string) Func { return nil }", "yields a runnable tool"},
		{"table of tools", "var Tools map[string]Func", "holds a runnable tool"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { wantOne(t, check(t, c.text), c.want) })
	}
	if got := check(t, "type shell struct{}\nfunc (shell) run() {}\nvar all []runner\nfunc Add(f Func) {}"); len(got) != 0 {
		t.Errorf("unexported tools and a way in: got %v, want no problem", got)
	}
}

func TestEscapes_AHandleIsSealed(t *testing.T) {
	text := "package tool\ntype Registry struct{}\ntype Handle struct{ %s int }\nfunc (r *Registry) Open() Handle { return Handle{} }\n"
	handle := tidy.Handle{Dir: "engine/tool", Opener: "(*sluice/engine/tool.Registry).Open"}
	check := func(field string) []tidy.Problem {
		return tidy.Escapes(program(t, map[string]string{"engine/tool/x.go": strings.Replace(text, "%s", field, 1)}), handle)
	}
	if got := check("entry"); len(got) != 0 {
		t.Errorf("unexported field: got %v, want no problem", got)
	}
	wantOne(t, check("Entry"), "Handle names the runnable tool")
}

func TestTooLarge_NestingAndParams(t *testing.T) {
	limit := tidy.Sizes{FileLines: 400, FunctionLines: 70, Nesting: 3, Params: 4}
	check := func(text string) []tidy.Problem {
		return tidy.TooLarge(tree(t, map[string]string{"store/x.go": "package store\n" + text}), limit, tidy.Sizes{FileLines: 1})
	}
	wantOne(t, check("func f() { for { for { if true { switch {} } } } }\n"), "nests 4 deep")
	wantOne(t, check("func f(a, b, c, d, e int) {}\n"), "takes 5 parameters")
	wantOne(t, check(strings.Repeat("// line\n", 400)), "401 lines")
	chain := "func f(n int) { for { for { if n == 1 { n++ } else if n == 2 { n++ } else { n++ } } } }\n"
	if got := check(chain); len(got) != 0 {
		t.Errorf("else-if chain: got %v, want no problem", got)
	}
	literal := "func f() { for { for { for { func() { for { for { for { } } } }() } } } }\n"
	if got := check(literal); len(got) != 0 {
		t.Errorf("function literal: got %v, want its nesting counted anew", got)
	}
}

func TestImports_RefusalsWinAndTestsAreFree(t *testing.T) {
	table := []tidy.Row{{Dir: "store", Std: []string{"*", "-net", "-net/*"}, Why: "why"}}
	bad := map[string]string{"store/x.go": "package store\nimport _ \"net/http\"\n"}
	wantOne(t, tidy.Imports(tree(t, bad), table), "may not import net/http")
	test := map[string]string{"store/x_test.go": "package store\nimport _ \"net/http\"\n"}
	if got := tidy.Imports(tree(t, test), table); len(got) != 0 {
		t.Errorf("test file: got %v, want no problem", got)
	}
	table[0].Tests = true
	wantOne(t, tidy.Imports(tree(t, test), table), "may not import net/http")
	stray := map[string]string{"elsewhere/x.go": "package elsewhere\n"}
	wantOne(t, tidy.Imports(tree(t, stray), table), "no row")
}
