package plan

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/policy"
)

func TestP09_SplitPath(t *testing.T) {
	for field, want := range map[string][]string{
		"": nil, "a": {"a"}, "slots.0.start": {"slots", "0", "start"}, `a\.b.c`: {"a.b", "c"}, `\.`: {"."},
		`a\b`: {`a\b`}, "#.*|@": {"#", "*|@"}, "ключ.0": {"ключ", "0"}, `a\\.b`: {`a\.b`},
	} {
		got, err := SplitPath(field)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("SplitPath(%q): got %q %v, want %q", field, got, err, want)
		}
	}
	for _, field := range []string{".", "a.", ".a", "a..b", strings.Repeat("x", PathBytesMax+1)} {
		if got, err := SplitPath(field); err == nil {
			t.Errorf("SplitPath(%q): got %q, want an error", clip(field), got)
		}
	}
}

func TestP09_SplitPathInvertsJoining(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.StringMatching(`[a-z0-9.#*@|]{1,8}`), 1, 5).Draw(t, "path")
		escaped := make([]string, len(want))
		for i, part := range want {
			escaped[i] = strings.ReplaceAll(part, ".", `\.`)
		}
		got, err := SplitPath(strings.Join(escaped, "."))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q %v, want %q", got, err, want)
		}
	})
}

func TestP09_Field(t *testing.T) {
	const doc = `{ "a": [ {"b.c": "x"} , 2 ], "#": 1, "0": "zero", "n": null, "e\"q": true, "*": {"@this": 5} }`
	for field, want := range map[string]string{
		"a": `[ {"b.c": "x"} , 2 ]`, `a.0.b\.c`: `"x"`, "a.1": "2", "#": "1", "0": `"zero"`, "n": "null", `e"q`: "true", "*.@this": "5", "": doc,
	} {
		path, _ := SplitPath(field)
		got, ok := Field([]byte(doc), path)
		if !ok || string(got) != want {
			t.Errorf("Field(%q): got %s %v, want %s", field, got, ok, want)
		}
	}
	for _, field := range []string{"b", "a.2", "a.-1", "a.01", "a.b", "a.#", "n.x", "0.1", "a.0.b.c", "a.99999999999999999999"} {
		path, _ := SplitPath(field)
		if got, ok := Field([]byte(doc), path); ok {
			t.Errorf("Field(%q): got %s, want nothing", field, got)
		}
	}
}

func TestR09_ResolveInsertsValuesAsData(t *testing.T) {
	const output = `{"s":"a \"b\" {{value}} $(rm)","n":1.50,"o":{"b":1,"a":[true]},"u":"\u00e9"}`
	for _, c := range []struct{ field, template, want string }{
		{"s", "", `"a \"b\" {{value}} $(rm)"`},
		{"n", "", `1.5`},
		{"o", "", `{"a":[true],"b":1}`},
		{"u", "", `"é"`},
		{"s", "<{{value}}>", `"<a \"b\" {{value}} $(rm)>"`},
		{"n", "n={{value}}", `"n=1.5"`},
		{"o", "{{value}}", `"{\"a\":[true],\"b\":1}"`},
	} {
		path, _ := SplitPath(c.field)
		ref := CompiledRef{Field: c.field, Path: path, Template: c.template}
		got, err := ref.Resolve([]byte(output))
		if err != nil || string(got) != c.want {
			t.Errorf("%s in %q: got %s %v, want %s", c.field, c.template, got, err, c.want)
		}
	}
	missing := CompiledRef{Field: "x.y", Path: []string{"x", "y"}}
	if got, err := missing.Resolve([]byte(output)); !errors.Is(err, ErrMissingField) || !strings.Contains(err.Error(), "x.y") {
		t.Errorf("missing: got %s %v, want ErrMissingField that names x.y", got, err)
	}
	bent := CompiledRef{Field: "n", Path: []string{"n"}}
	if got, err := bent.Resolve([]byte(`{"n":9007199254740993}`)); err == nil {
		t.Errorf("bent integer: got %s, want an error", got)
	}
}

func TestP09_Guards(t *testing.T) {
	const output = `{"n":5,"f":5.0,"big":9007199254740993,"s":"b","t":true,"z":null,"o":{"b":1,"a":2},"l":[1,2]}`
	cases := []struct {
		field, op, value string
		want             bool
	}{
		{"n", "eq", "5", true}, {"n", "eq", "5.0", true}, {"f", "eq", "5", true}, {"n", "eq", `"5"`, false}, {"n", "ne", `"5"`, true}, {"n", "ne", "5", false},
		{"n", "lt", "6", true}, {"n", "lt", "5", false}, {"n", "le", "5", true}, {"n", "gt", "4.9", true}, {"n", "gt", "-10", true}, {"n", "ge", "5.1", false},
		{"big", "gt", "9007199254740992", true}, {"big", "eq", "9007199254740992", false},
		{"s", "eq", `"\u0062"`, true}, {"s", "lt", `"c"`, true}, {"s", "ge", `"c"`, false},
		{"t", "eq", "true", true}, {"t", "ne", "false", true}, {"z", "eq", "null", true}, {"o", "eq", `{"a":2,"b":1}`, true}, {"l", "eq", "[1, 2]", true}, {"l", "eq", "[2,1]", false},
		{"n", "in", "[1,5]", true}, {"n", "in", `["5"]`, false}, {"s", "in", `["a","b"]`, true}, {"n", "in", "[]", false},
		{"n", "exists", "", true}, {"z", "exists", "", true}, {"x", "exists", "", false}, {"l.1", "exists", "", true}, {"l.2", "exists", "", false}, {"", "exists", "", true},
	}
	for _, c := range cases {
		path, _ := SplitPath(c.field)
		g := CompiledGuard{Field: c.field, Path: path, Op: c.op, Value: []byte(c.value)}
		got, err := g.Holds([]byte(output))
		if err != nil || got != c.want {
			t.Errorf("%s %s %s: got %v %v, want %v", c.field, c.op, c.value, got, err, c.want)
		}
	}
	for _, c := range []struct{ field, op, value string }{
		{"x", "eq", "1"}, {"x", "ne", "1"}, {"x", "in", "[1]"}, {"n", "lt", `"6"`}, {"s", "gt", "1"}, {"t", "lt", "true"}, {"z", "le", "1"}, {"n", "like", "5"},
	} {
		g := CompiledGuard{Field: c.field, Path: []string{c.field}, Op: c.op, Value: []byte(c.value)}
		if got, err := g.Holds([]byte(output)); err == nil {
			t.Errorf("%s %s %s: got %v, want an error", c.field, c.op, c.value, got)
		}
	}
}

func TestP09_NumbersCompareAsNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		want := 0
		if a < b {
			want = -1
		} else if a > b {
			want = 1
		}
		got, err := compareNumbers(itoa(a), itoa(b))
		if err != nil || got != want {
			t.Fatalf("compare %d and %d: got %d %v, want %d", a, b, got, err, want)
		}
	})
	if got, err := compareNumbers("-0", "0"); err != nil || got != 0 {
		t.Errorf("-0 and 0: got %d %v, want equal", got, err)
	}
	if got, err := compareNumbers("1e3", "1000"); err != nil || got != 0 {
		t.Errorf("1e3 and 1000: got %d %v, want equal", got, err)
	}
}

func TestP18_Canonical(t *testing.T) {
	for raw, want := range map[string]string{
		` { "b" : 1 , "a" : [ true , null ] } `: `{"a":[true,null],"b":1}`,
		`"\u20ac\/"`:                            `"€/"`, "1.50": "1.5", "-0": "0", "1E2": "100", "9007199254740992": "9007199254740992", "1e-7": "1e-7", "1e21": "1e+21",
		`{"\ufb33":1,"\ud83d\ude02":2}`: "{\"😂\":2,\"\ufb33\":1}", `"plain"`: `"plain"`, "true": "true", "12": "12", "{}": "{}",
	} {
		got, err := Canonical([]byte(raw))
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s): got %s %v, want %s", raw, got, err, want)
		}
		if again, err := Canonical(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("Canonical(%s) twice: got %s %v", raw, again, err)
		}
	}
	for _, raw := range []string{``, ` `, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, "\"\xff\"", `"\ud800"`, "9007199254740993", "-9007199254740993", "1e20", "1e400",
		"01", "+1", "1 2", "{}x", "tru", `"a`, "\"\x01\"", strings.Repeat("[", 65) + strings.Repeat("]", 65), strings.Repeat("[", 100_000)} {
		if got, err := Canonical([]byte(raw)); err == nil {
			t.Errorf("Canonical(%s): got %s, want an error", clip(raw), clip(string(got)))
		}
	}
	if _, err := Canonical([]byte(strings.Repeat("[", 64) + strings.Repeat("]", 64))); err != nil {
		t.Errorf("64 levels: got %v, want accepted", err)
	}
}

// jsonValue draws JSON text, with spaces and escapes that canonical form has not.
func jsonValue(depth int) *rapid.Generator[string] {
	scalars := []*rapid.Generator[string]{
		rapid.SampledFrom([]string{"null", "true", "false", "0", "-0", "1.5e3", `"\u0061\n"`, `"é😂\ufb33"`, "[ ]", "{ }"}),
		rapid.Map(rapid.Int64Range(-integerMax, integerMax), itoa),
		rapid.Map(rapid.String(), func(s string) string { return string(appendString(nil, s)) }),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	inner := jsonValue(depth - 1)
	list := rapid.Map(rapid.SliceOfN(inner, 0, 4), func(items []string) string { return "[ " + strings.Join(items, " , ") + "]" })
	object := rapid.Custom(func(t *rapid.T) string {
		keys := rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID).Draw(t, "keys")
		members := make([]string, len(keys))
		for i, key := range keys {
			members[i] = string(appendString(nil, key)) + " :\t" + inner.Draw(t, "value")
		}
		return "{" + strings.Join(members, ",\n") + " }"
	})
	return rapid.OneOf(append(scalars, list, object)...)
}

func TestP18_SpliceEqualsCanonicalOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z\x{e000}\x{1f600}]{0,3}`)), 0, 6, rapid.ID).Draw(t, "names")
		var params []policy.Param
		var members []string
		for _, name := range names {
			raw := jsonValue(3).Draw(t, "value")
			value, err := Canonical([]byte(raw))
			if err != nil {
				t.Fatalf("Canonical(%s): %v", raw, err)
			}
			params = append(params, policy.Param{Name: name, Value: value})
			members = append(members, string(appendString(nil, name))+": "+raw)
		}
		before := append([]policy.Param(nil), params...)
		want, err := Canonical([]byte("{" + strings.Join(members, ",") + "}"))
		if err != nil {
			t.Fatalf("canonical of the whole: %v", err)
		}
		if got := Splice(params); !bytes.Equal(got, want) {
			t.Fatalf("got %s, want %s", got, want)
		}
		if !reflect.DeepEqual(before, params) {
			t.Fatal("Splice changed the order of its input")
		}
	})
}
