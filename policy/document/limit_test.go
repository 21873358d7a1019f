package document

import (
	"fmt"
	"strings"
	"testing"

	"sluice/policy"
)

func one(t *testing.T, text string) Problem {
	t.Helper()
	_, problems := Parse([]byte(text))
	if len(problems) != 1 {
		t.Fatalf("got %d problems (%.300v), want one", len(problems), problems)
	}
	return problems[0]
}

func TestP16_SizeLimitIsExact(t *testing.T) {
	fits := "version: 1\n#" + strings.Repeat("x", BytesMax-12)
	parsed(t, fits)
	if p := one(t, fits+"x"); !strings.Contains(p.Message, "262145 bytes; the limit is 262144") {
		t.Errorf("got %q, want the size and the limit", p.Message)
	}
}

func TestP16_RuleLimit(t *testing.T) {
	rules := func(n int) string {
		var text strings.Builder
		text.WriteString("version: 1\napprovals:\n  rules:\n")
		for i := range n {
			fmt.Fprintf(&text, "    - {id: R%d}\n", i)
		}
		return text.String()
	}
	if d := parsed(t, rules(1000)); len(d.Approvals.Rules) != 1000 {
		t.Errorf("got %d rules, want 1000", len(d.Approvals.Rules))
	}
	if p := one(t, rules(1001)); p.Pointer != "/approvals/rules" || !strings.Contains(p.Message, "the limit is 1000") {
		t.Errorf("got %+v, want the limit named", p)
	}
}

func TestP16_DepthLimit(t *testing.T) {
	nested := func(depth int) string {
		return "version: 1\nkill_switches: " + strings.Repeat("[", depth) + strings.Repeat("]", depth)
	}
	if p := one(t, nested(DepthMax)); !strings.Contains(p.Message, "A text is needed") {
		t.Errorf("at the limit: got %q, want only the wrong kind of value", p.Message)
	}
	if p := one(t, nested(DepthMax+1)); !strings.Contains(p.Message, "deeper than 16") {
		t.Errorf("above the limit: got %q, want the limit named", p.Message)
	}
	for _, bracket := range []string{"[", "{", "- ", "? "} {
		one(t, strings.Repeat(bracket, 50_000))
	}
}

// TestP16_AliasesCannotMultiply: a document that would grow to billions of
// values by aliases is refused as it stands.
func TestP16_AliasesCannotMultiply(t *testing.T) {
	var text strings.Builder
	text.WriteString("version: 1\nkill_switches: [a]\na0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(&text, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	_, problems := Parse([]byte(text.String()))
	if len(problems) != ProblemsMax {
		t.Fatalf("got %d problems, want %d", len(problems), ProblemsMax)
	}
	if last := problems[ProblemsMax-1].Message; !strings.Contains(last, "There are 92 more problems") {
		t.Errorf("got the last problem %q, want the number of those left out", last)
	}
}

func TestP16_ProblemLimitIsExact(t *testing.T) {
	text := "version: 1\nkill_switches:\n" + strings.Repeat("- 'a?'\n", ProblemsMax)
	_, problems := Parse([]byte(text))
	if len(problems) != ProblemsMax || strings.Contains(problems[ProblemsMax-1].Message, "more problems") {
		t.Errorf("at the limit: got %d problems, the last %+v, want each reported", len(problems), problems[len(problems)-1])
	}
	_, problems = Parse([]byte(text + "- 'a?'\n"))
	if len(problems) != ProblemsMax || !strings.Contains(problems[ProblemsMax-1].Message, "There are 2 more problems") {
		t.Errorf("above the limit: got %d problems, the last %+v, want the number left out", len(problems), problems[len(problems)-1])
	}
}

func TestP16_NamesCannotMakeLongMessages(t *testing.T) {
	long := strings.Repeat("k", 2000)
	for _, text := range []string{
		"version: 1\n'" + long + "': 1\n",
		"version: 1\nkill_switches: ['" + long + "?']\n",
		"version: 1\napprovals: {self: '" + long + "'}\n",
		"version: 1\nscopes: {s: {caps: {a: '" + long + "'}}}\n",
		"version: 1\n? '" + long + "'\n: 1\n",
		"version: 1." + strings.Repeat("0", 2000) + "\n",
		"version: " + strings.Repeat("9", 2000) + "\n",
		"version: 1\ntools: &" + long + " {}\n",
		"version: 1\ntools: !" + long + " {}\n",
	} {
		_, problems := Parse([]byte(text))
		if len(problems) == 0 {
			t.Errorf("%.60q: got no problem", text)
		}
		for _, p := range problems {
			if len(p.Message) > 500 {
				t.Errorf("%.60q: got a message of %d bytes, want a short one", text, len(p.Message))
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(shipped))
	f.Add([]byte("version: 1\nscopes: {s: {caps: {a: &x [*x]}}}\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, problems := Parse(text)
		if len(problems) == 0 {
			p, err := policy.Compile(d)
			if err != nil {
				t.Fatalf("no problem, but it does not compile: %v", err)
			}
			again, more := Parse(Marshal(d))
			if len(more) > 0 || string(Canonical(again)) != string(Canonical(d)) {
				t.Fatalf("does not read back: %+v\n%s", more, Marshal(d))
			}
			_ = p.Hash()
			return
		}
		for _, p := range problems {
			if p.Line < 1 || p.Col < 1 || p.Message == "" {
				t.Fatalf("got %+v, want a place and a message", p)
			}
		}
	})
}
