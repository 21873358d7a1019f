package handlers

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestP43_PlainHidesNothing: whatever the text, what comes out shows every
// character, keeps every visible one, and does not change when it is made
// plain again.
func TestP43_PlainHidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Latin, unicode.Arabic)).Draw(t, "text")
		got := plain(text)
		for _, r := range got {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
				t.Fatalf("got %q from %q, want nothing hidden", got, text)
			}
		}
		if again := plain(got); again != got {
			t.Fatalf("got %q, then %q", got, again)
		}
		if !strings.ContainsFunc(text, hidden) && got != text {
			t.Fatalf("got %q, want %q as it is", got, text)
		}
	})
	for text, want := range map[string]string{"a\u202eb": `a\u202Eb`, "\x1b[2J": `\u001B[2J`, "a\u200bb": `a\u200Bb`, "a\xffb": `a\uFFFDb`,
		"a\nb\tc": "a\nb\tc", "\r": `\u000D`, "\U000E0041": `\uE0041`, "é ☃ <b>": "é ☃ <b>"} {
		if got := plain(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestR73_EveryLeafIsShownOrCounted: a value is flattened completely; what is
// beyond a limit is counted, never dropped in silence.
func TestR73_EveryLeafIsShownOrCounted(t *testing.T) {
	for _, tc := range []struct{ raw, want string }{
		{`"x"`, "p=x"}, {`7`, "p=7"}, {`9007199254740993`, "p=9007199254740993"}, {`1e400`, "p=1e400"}, {`true`, "p=true"}, {`null`, "p=null"},
		{`{}`, "p={}"}, {`[]`, "p=[]"}, {`{"b":[1,{"c":null}],"a":"z"}`, "p.a=z p.b.0=1 p.b.1.c=null"}, {`{`, "p={"},
		{`"a\u202eb"`, `p=a\u202Eb`}, {`{"a\u202eb":1}`, `p.a\u202Eb=1`}, {`""`, "p="},
	} {
		var got []string
		for _, l := range leaves("p", []byte(tc.raw)) {
			got = append(got, l.path+"="+l.value)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: got %q, want %q", tc.raw, got, tc.want)
		}
	}
	many := leaves("p", []byte("["+strings.Repeat("1,", 149)+"1]"))
	if len(many) != leavesMax+1 || many[leavesMax].value != "… and 50 more values" {
		t.Errorf("got %d leaves, last %q, want 100 and the count of the others", len(many), many[len(many)-1].value)
	}
	long := leaves("p", []byte(`"`+strings.Repeat("é", 5000)+`"`))[0].value
	if !strings.HasSuffix(long, "… (5000 characters in all)") || len([]rune(long)) > valueRunesMax+40 {
		t.Errorf("got %d characters ending in %q, want it cut and counted", len([]rune(long)), long[max(0, len(long)-40):])
	}
}

// TestR73_IndentedIsTheSameValue: what people read is what the fact holds.
func TestR73_IndentedIsTheSameValue(t *testing.T) {
	for _, raw := range []string{`{"b":[1,2,{"c":"<x>&"}],"a":9007199254740993}`, `[]`, `"x"`, `1.50`} {
		var got, want any
		if err := json.Unmarshal([]byte(indented([]byte(raw))), &got); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		if string(g) != string(w) {
			t.Errorf("got %s, want %s", g, w)
		}
	}
	if got := indented(nil); got != "" {
		t.Errorf("nothing: got %q", got)
	}
	if got := indented([]byte("{\x1b")); got != `{\u001B` {
		t.Errorf("no JSON: got %q, want it plain", got)
	}
}

// TestP5_QuestionIdsReadBack, and nothing else reads as one.
func TestP5_QuestionIdsReadBack(t *testing.T) {
	id := questionID("r_1", "a-b_c", 2)
	if q, ok := parseQuestion(id); !ok || q.run != "r_1" || q.Node != "a-b_c" || q.Attempt != 2 || q.id() != id {
		t.Errorf("%s: got %+v and %v", id, q, ok)
	}
	for _, bad := range []string{"", "q", "q.r_1.a", "q.r_1.a.0", "q.r_1.a.-1", "q.r_1.a.x", "q.r_1.a.1.2", "a.r_1.a.1", "q.r_1.a.99999999999999999999"} {
		if q, ok := parseQuestion(bad); ok {
			t.Errorf("%q: got %+v, want no question", bad, q)
		}
	}
}

// TestP20_SourcesInWords: where a value came from is told by the source pointer.
func TestP20_SourcesInWords(t *testing.T) {
	for source, want := range map[string]struct {
		words, step string
		isRef       bool
	}{
		"step:a/content": {"a.content", "a", true}, "step:a/": {"a", "a", true}, "step:a": {"a", "a", true}, "plan:/steps/0/params/path": {"plan literal", "", false}, "": {"plan literal", "", false},
	} {
		if words, step, isRef := sourceOf(source); words != want.words || step != want.step || isRef != want.isRef {
			t.Errorf("%q: got %q, %q, %v, want %+v", source, words, step, isRef, want)
		}
	}
}
