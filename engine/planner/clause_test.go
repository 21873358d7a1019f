package planner

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyGoal draws text that is full of what the planner looks for.
func anyGoal(t *rapid.T) string {
	piece := rapid.OneOf(
		rapid.SampledFrom(strings.Fields(`show list read delete write the kernel disks notes.txt docs/ and then or but not without if unless
			otherwise before , . ? ! ; : ( ) | > "quoted" 'single quoted' “curly” don't what's *.go ../up /abs ~ 80 % 17.5 2,348.60 https://example.org
			a@b.org -la first newest it them git repositories uncommitted in under to from`)),
		rapid.String(),
		rapid.SampledFrom([]string{"\n", "  ", "…", "\u00a0", `"`, "`", "'"}),
	)
	return strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "gap"))
}

func TestP9_SplittingLosesNoText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		goal := anyGoal(t)
		clauses := splitClauses(goal, tokenize(goal))
		var joined strings.Builder
		for _, c := range clauses {
			joined.WriteString(goal[c.start:c.end])
		}
		if len(clauses) > 0 && joined.String() != goal {
			t.Fatalf("clauses joined are %q, want %q", joined.String(), goal)
		}
		at := 0
		for _, token := range tokenize(goal) {
			if token.start < at || token.end <= token.start || goal[token.start:token.end] != token.raw {
				t.Fatalf("token %+v after byte %d of %q", token, at, goal)
			}
			if strings.TrimSpace(goal[at:token.start]) != "" {
				t.Fatalf("%q lies between tokens of %q", goal[at:token.start], goal)
			}
			at = token.end
		}
		if strings.TrimSpace(goal[at:]) != "" {
			t.Fatalf("%q follows the last token of %q", goal[at:], goal)
		}
	})
}

func TestTokens(t *testing.T) {
	cases := []struct {
		text string
		kind tokenKind
	}{
		{"kernel", word}, {"don't", word}, {"README.md", pathish}, {"docs/", pathish}, {"projects/web", pathish}, {"*.go", pathish}, {"..", pathish},
		{".env", pathish}, {"Makefile", pathish}, {"2,348.60", number}, {"80%", number}, {"10MB", number}, {"example.org", address},
		{"ana@example.org", address}, {"https://example.org/a.txt", address}, {"127.0.0.1", address}, {"-la", flag}, {`"a b.txt"`, quoted},
		{"'it is'", quoted}, {"“curly”", quoted}, {"`df -h`", command}, {"e.g.", word}, {"a.txt.", pathish},
	}
	for _, c := range cases {
		if got := tokenize(c.text)[0]; got.kind != c.kind {
			t.Errorf("%q is of kind %d, want %d", c.text, got.kind, c.kind)
		}
	}
	if got := tokenize("CPU/RAM"); len(got) != 2 || got[0].text != "cpu" || got[1].text != "ram" {
		t.Errorf("CPU/RAM gives %+v, want two words", got)
	}
	for _, got := range tokenize("the dogs' bowl and the cats' bowl") {
		if got.kind == quoted {
			t.Errorf("an apostrophe was taken for a quote: %+v", got)
		}
	}
}

func TestStems(t *testing.T) {
	same := [][]string{
		{"listening", "listens", "listen"}, {"process", "processes"}, {"running", "run", "runs"}, {"use", "using", "used", "uses"},
		{"directory", "directories", "dirs", "folder"}, {"save", "saving", "saved"}, {"commit", "committed", "commits"},
		{"repository", "repos", "repositories"}, {"modify", "modified"}, {"address", "addresses", "adresses"}, {"write", "writing", "wrote"},
	}
	for _, words := range same {
		for _, w := range words[1:] {
			if stem(w) != stem(words[0]) {
				t.Errorf("%s is %q, %s is %q", words[0], stem(words[0]), w, stem(w))
			}
		}
	}
	for _, pair := range [][2]string{{"not", "note"}, {"us", "use"}, {"her", "here"}, {"process", "proceed"}, {"list", "lie"}} {
		if stem(pair[0]) == stem(pair[1]) {
			t.Errorf("%s and %s share the stem %q", pair[0], pair[1], stem(pair[0]))
		}
	}
}

func TestOneSlip(t *testing.T) {
	for slip, want := range map[string]string{"enviromnent": "environment", "repositores": "repositories", "filesysten": "filesystem", "uncomitted": "uncommitted"} {
		if lookup(slip) != stem(want) {
			t.Errorf("%s is looked up as %q, want %q", slip, lookup(slip), stem(want))
		}
	}
	for _, w := range []string{"delet3", "kennel", "posts", "sports", "disco", "removed2"} {
		if known(lookup(w)) && !known(w) {
			t.Errorf("%s is taken for %q", w, lookup(w))
		}
	}
	if withinOneEdit("abcdef", "abdcef") != true || withinOneEdit("abc", "abcde") || withinOneEdit("abc", "acd") {
		t.Error("one edit is one insertion, deletion, change or swap")
	}
}

func TestClauses(t *testing.T) {
	cases := []struct {
		goal string
		want []string
	}{
		{"Show memory and CPU but leave the disks out.", []string{"Show memory", "and CPU", "but leave the disks out."}},
		{`Write "a, b and c" to d.txt, then read it`, []string{`Write "a, b and c" to d.txt,`, "then read it"}},
		{"Add up 1 and 2", []string{"Add up 1 and 2"}},
		{"List docs/. Read 2,5 and a.txt", []string{"List docs/.", "Read 2,5", "and a.txt"}},
		{"Check if a port is open", []string{"Check if a port is open"}},
		{"Show x if the load is above 2", []string{"Show x", "if the load is above 2"}},
		{"If the load is above 2 show me the processes", []string{"If the load is above 2", "show me the processes"}},
		{"Create a.txt saying: one, two and three", []string{"Create a.txt saying: one, two and three"}},
		{"which repos are not clean", []string{"which repos are not clean"}},
	}
	for _, c := range cases {
		var got []string
		for _, part := range splitClauses(c.goal, tokenize(c.goal)) {
			got = append(got, strings.TrimSpace(c.goal[part.start:part.end]))
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%q: got %q, want %q", c.goal, got, c.want)
		}
	}
}
