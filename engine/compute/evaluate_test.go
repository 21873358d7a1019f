package compute

import (
	"strings"
	"testing"
)

func evaluate(t *testing.T, code, input string) string {
	t.Helper()
	value, err := Evaluate(code, []byte(input))
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return string(value.JSON)
}

func TestCompute_ExpressionsAndMain(t *testing.T) {
	for _, c := range []struct{ code, input, want string }{
		{"1 + 2", "", "3"},
		{"input", "", "null"},
		{"input['a'][1] * 2", `{"a":[1,21]}`, "42"},
		{"def main(input):\n  return [r for r in input if r['due'] < 10]\n", `[{"due":5},{"due":15}]`, `[{"due":5}]`},
		{"rate = 3\ndef main(rows):\n  total = 0\n  for r in rows:\n    total += r * rate\n  return {'total': total}", "[1,2,3]", `{"total":18}`},
		{"(1, 'a', None, True, 0.5)", "", `[1,"a",null,true,0.5]`},
		{"7 // 2", "", "3"}, {"7 / 2", "", "3.5"}, {"1e30", "", "1e+30"}, {"4.0", "", "4"}, {"-0.0", "", "0"},
		{"9007199254740992", "", "9007199254740992"},
		{"str(2 << 100)", "", `"2535301200456458802993406410752"`},
		{"input", `9007199254740992`, `9007199254740992`},
		{"sorted(set([3, 1, 3]))", "", "[1,3]"},
		{"'a\\n\"<ü>'", "", `"a\n\"<ü>"`},
	} {
		if got := evaluate(t, c.code, c.input); got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.code, c.input, got, c.want)
		}
	}
}

func TestCompute_HelpersForDatesNumbersAndTables(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"parse_date('1970-01-02')", "1"}, {"parse_date('2026-01-02')", "20455"}, {"parse_date('1969-12-31')", "-1"},
		{"format_date(20455)", `"2026-01-02"`}, {"format_date(parse_date('2024-02-29'))", `"2024-02-29"`},
		{"format_date(parse_date('0001-01-01'))", `"0001-01-01"`}, {"format_date(parse_date('9999-12-31'))", `"9999-12-31"`},
		{"days_between('2026-01-02', '2026-03-01')", "58"}, {"days_between('2026-01-02', 20450)", "-5"},
		{"sum([1, 2, 3])", "6"}, {"sum([0.5, 1])", "1.5"}, {"sum([])", "0"},
		{"round(2.5)", "3"}, {"round(-2.5)", "-3"}, {"round(2.347, 2)", "2.35"}, {"round(9007199254740991)", "9007199254740991"}, {"round(1.5, digits=0)", "2"},
		{`csv("name,sum\nAda,12\n\"B, C\",7\n")`, `[{"name":"Ada","sum":"12"},{"name":"B, C","sum":"7"}]`},
		{`csv("a;b", separator=";", header=False)`, `[["a","b"]]`}, {`csv("")`, `[]`},
		{"csv(\"\ufeffa\\n1\")", `[{"a":"1"}]`},
	} {
		if got := evaluate(t, c.code, ""); got != c.want {
			t.Errorf("%s: got %s, want %s", c.code, got, c.want)
		}
	}
}

// Every mistake is answered with what is wrong and, where it lies in the
// program, with line and column.
func TestP41_ComputeSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ code, input, want string }{
		{"def main(input):\n  return input +", "", "line 2, column"},
		{"1 +", "", "line 1, column"},
		{"def main(input):\n  return undefined\n", "", "line 2, column 10: undefined: undefined"},
		{"def main(input):\n  return input['x']\n", `{}`, `line 2, column 15: key "x" not in dict`},
		{"1 // 0", "", "line 1, column 3: floored division by zero"},
		{"def f(n):\n  return f(n)\ndef main(input):\n  return f(1)", "", "line 2, column 10: function f called recursively"},
		{"def main(input):\n  while True:\n    pass", "", "while"},
		{"load('x', 'y')\ndef main(input):\n  return 1", "", "load is not available"},
		{"x = 1", "", "define main(input)"}, {"def main():\n  return 1", "", "line 1, column 1: main takes one parameter"},
		{"def main(*a):\n  return 1", "", "main takes one parameter"},
		{"fail('no rows')", "", "no rows"},
		{"[x for x in range(100000000)] and 1", "", "20000000 steps"},
		{"input.append(1)", "[]", "frozen"},
		{"9007199254740993", "", "beyond ±2^53"}, {"{'a': [1, 1 << 60]}", "", "the value.a.1: an integer beyond ±2^53"}, {"1e18", "", "beyond ±2^53"},
		{"float('nan')", "", "nan is no number"}, {"float('inf')", "", "+inf is no number"},
		{"{1: 2}", "", "a key is of type int"}, {"set([1])", "", "a set has no order"}, {"len", "", "builtin_function_or_method cannot be JSON"},
		{"b'x'", "", "a value of type bytes"}, {"'\\xff'", "", "\\xff"}, {"['ü'.elems()]", "", "cannot be JSON"},
		{"input", "9007199254740993", "input: the integer 9007199254740993 is beyond"}, {"input", "1e999", "input: the number 1e999"},
		{"input", `{"a":1,"a":2}`, "duplicate"}, {"input", "[1", "input: it is not JSON"}, {"input", "1 2", "more than one value"},
		{"parse_date('02.01.2026')", "", `"02.01.2026" is no date`}, {"parse_date('2026-02-30')", "", "is no date"}, {"format_date(99999999)", "", "outside the years"},
		{"days_between(1.5, 2)", "", "not float"}, {"sum(['a'])", "", "string is no number"}, {"round('a')", "", "x is no number"}, {"round(1.5, 13)", "", "digits are 0 to 12"},
		{"csv('a,a\\n1,2')", "", "two columns have one name"}, {"csv('a,b\\n1')", "", "wrong number of fields"}, {"csv('a', separator='ab')", "", "one character"},
		{strings.Repeat("[", 70) + strings.Repeat("]", 70), "", "nests deeper than 62"}, {strings.Repeat("[", 100) + strings.Repeat("]", 100), "", "excessive nesting"},
		{"[x for x in ['" + strings.Repeat("a", 1000) + "'] for i in range(300)]", "", "larger than 262144 bytes"},
		{strings.Repeat(" ", CodeBytesMax) + "1", "", "larger than 65536 bytes"},
	} {
		if value, err := Evaluate(c.code, []byte(c.input)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q of %.20s: got %s, %v; want an error with %q", c.code, c.input, value.JSON, err, c.want)
		}
	}
}

// A value that contains itself, or shares so much that writing it out would
// never end, is refused.
func TestP14_ComputeValuesAreBounded(t *testing.T) {
	for code, want := range map[string]string{
		"def main(input):\n  a = []\n  a.append(a)\n  return a":                                         "nests deeper",
		"def main(input):\n  a = []\n  for i in range(50):\n    a = [a, a]\n  return a":                 "larger than",
		"def main(input):\n  a = 'x'\n  for i in range(20):\n    a = a + a\n  return {a: a}":            "larger than",
		"def main(input):\n  a = 1\n  for i in range(60):\n    a = a * 10\n  return a":                  "beyond ±2^53",
		"def main(input):\n  for i in range(1 << 40):\n    for j in range(9):\n      i = j\n  return 1": "steps",
	} {
		if _, err := Evaluate(code, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", code, err, want)
		}
	}
}

func TestCompute_PrintIsKeptWithinLimits(t *testing.T) {
	value, err := Evaluate("def main(input):\n  print('a', 1)\n  for i in range(100):\n    print('ü' * 300)\n  return 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(value.Log) != LogLinesMax || value.Log[0] != "a 1" || len(value.Log[1]) != LogBytesMax {
		t.Errorf("got %d lines, first %q, second of %d bytes", len(value.Log), value.Log[0], len(value.Log[1]))
	}
}

func TestP9_ArgsStandBesideInput(t *testing.T) {
	for _, code := range []string{"[x for x in input if x > args['above']]", "def main(input):\n  return [x for x in input if x > args['above']]"} {
		got, err := EvaluateWith(code, []byte("[1,5,9]"), []byte(`{"above":4}`))
		if err != nil || string(got.JSON) != "[5,9]" {
			t.Errorf("%s: got %s %v, want [5,9]", code, got.JSON, err)
		}
	}
	if got, err := Evaluate("args", nil); err != nil || string(got.JSON) != "null" {
		t.Errorf("got %s %v without args, want null", got.JSON, err)
	}
}
