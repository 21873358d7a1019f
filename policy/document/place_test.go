package document

import (
	"reflect"
	"strings"
	"testing"

	"sluice/policy"
)

// broken gives the shipped document cut off, and with one byte gone or changed,
// at every seventh offset.
func broken(visit func(text string)) {
	for i := 0; i < len(shipped); i += 7 {
		visit(shipped[:i])
		visit(shipped[:i] + shipped[i+1:])
		for _, sign := range []string{"*", "{", ":", "\n"} {
			visit(shipped[:i] + sign + shipped[i+1:])
		}
	}
}

// TestP16_EveryPlaceIsInTheText: whatever is wrong, the place is one that an
// editor can jump to, and the answer is the same every time.
func TestP16_EveryPlaceIsInTheText(t *testing.T) {
	refused := 0
	broken(func(text string) {
		d, problems := Parse([]byte(text))
		if len(problems) == 0 {
			if _, err := policy.Compile(d); err != nil {
				t.Errorf("%q: got no problem, but %v", text, err)
			}
			return
		}
		refused++
		lines := strings.Split(text, "\n")
		for _, p := range problems {
			if p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > len(lines[p.Line-1])+1 {
				t.Errorf("%q: got %+v, which is not in the text", text, p)
			}
			if !strings.HasSuffix(p.Message, ".") {
				t.Errorf("%q: got the message %q, want a sentence", text, p.Message)
			}
		}
		if _, again := Parse([]byte(text)); !reflect.DeepEqual(again, problems) {
			t.Errorf("%q: got %+v, then %+v", text, problems, again)
		}
	})
	if refused < len(shipped)/7 {
		t.Errorf("got %d of the broken documents refused, want about one for each offset", refused)
	}
}

// TestP16_SyntaxIsFoundWhereItBreaks: far into a long document, not at the
// start of the block around the mistake.
func TestP16_SyntaxIsFoundWhereItBreaks(t *testing.T) {
	good := strings.Repeat("    - {id: A}\n", 500)
	for name, line := range map[string]string{"indentation": "   - {id: B}\n", "colon": "    - id: A: B\n", "text": "    x\n", "bracket": "    - {id: A]\n"} {
		text := "version: 1\napprovals:\n  rules:\n" + good + line + good
		_, problems := Parse([]byte(text))
		if len(problems) != 1 || problems[0].Line < 504 || problems[0].Line > 505 {
			t.Errorf("%s: got %+v, want one problem on line 504 or the next", name, problems)
		}
	}
}

// TestP16_CommentsAndStylesDoNotCount: the same document in another layout has
// the same canonical bytes, and so the same hash.
func TestP16_CommentsAndStylesDoNotCount(t *testing.T) {
	want := string(Canonical(parsed(t, shipped)))
	for name, text := range map[string]string{
		"block style":      first,
		"windows line end": strings.ReplaceAll(shipped, "\n", "\r\n"),
		"document markers": "---\n" + shipped + "...\n",
		"comments":         strings.ReplaceAll(shipped, "\nkill", "\n# a remark\nkill"),
		"ranks by number":  strings.ReplaceAll(shipped, ": override}", ": 200}"),
		"quotes":           strings.ReplaceAll(shipped, "sysinfo", `'sysinfo'`),
		"JSON":             want,
	} {
		if got := string(Canonical(parsed(t, text))); got != want {
			t.Errorf("%s: got %s\nwant %s", name, got, want)
		}
	}
}
