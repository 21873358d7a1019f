package template

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/engine/plan"
)

// checkPhrases wants phrases that name known slots, each once, with words besides.
func (t *Template) checkPhrases(found *problems) {
	for i, phrase := range t.Phrases {
		at := "/match/" + strconv.Itoa(i)
		if n := utf8.RuneCountInString(phrase); n > PhraseMax {
			found.add(at, "The phrase is longer than "+strconv.Itoa(PhraseMax)+" characters.", "Shorten it.")
			continue
		}
		seen := map[string]bool{}
		for _, name := range gaps(phrase) {
			if t.index(name) < 0 {
				found.add(at, "There is no slot "+strconv.Quote(name)+".", "Name a declared slot.")
			}
			if seen[name] {
				found.add(at, "The slot "+name+" stands in the phrase twice.", "Name it once.")
			}
			seen[name] = true
		}
		if len(strings.Fields(gapForm.ReplaceAllString(phrase, " "))) < 2 {
			found.add(at, "A phrase needs at least two words besides its slots.", "Otherwise it would match goals that mean something else.")
		}
	}
}

// politeness that may stand before what is asked.
var politeness = regexp.MustCompile(`^(?i)(?:please|can you|could you|kindly)[ ,]+`)

// Match reads a goal by the template's phrases and gives the plan it asks for, and
// how many characters of the phrase are its own; nil when no phrase fits as a
// whole or a slot does not take the words. Of several phrases the one with most
// words of its own is taken.
func (t *Template) Match(goal string) (*plan.Plan, int) {
	words := strings.Join(strings.Fields(goal), " ")
	words = politeness.ReplaceAllString(words, "")
	words = unended(words)
	var best *plan.Plan
	most := -1
	for _, phrase := range t.Phrases {
		fixed := len(gapForm.ReplaceAllString(phrase, ""))
		values, is := t.read(phrase, words)
		if !is || fixed <= most {
			continue
		}
		if p, found := t.Instantiate(values); len(found) == 0 {
			p.Goal = goal
			best, most = p, fixed
		}
	}
	return best, most
}

// furtherWish is where one wish ends and another or a limit on it begins.
var furtherWish = regexp.MustCompile(`(?i)[,;\n]\s|\b(?:and|then|but|or|not|never|without|except|unless|instead)\b`)

// takes says whether words can be one value: a text that a slot would swallow
// together with a second wish is not, unless it stands in quotes.
func takes(words string) bool {
	return unquote(words) != words || !furtherWish.MatchString(words)
}

func (t *Template) read(phrase, words string) (map[string]json.RawMessage, bool) {
	form, names := t.phraseForm(phrase)
	if form == nil {
		return nil, false
	}
	m := form.FindStringSubmatch(words)
	if m == nil {
		return nil, false
	}
	values := make(map[string]json.RawMessage, len(names))
	for k, name := range names {
		s := &t.Slots[t.index(name)]
		if !takes(m[k+1]) {
			return nil, false
		}
		values[name] = s.Read(unquote(m[k+1]))
	}
	return values, true
}

// phraseForm is a phrase as an expression over a goal's words.
func (t *Template) phraseForm(phrase string) (*regexp.Regexp, []string) {
	phrase = unended(strings.Join(strings.Fields(phrase), " "))
	var b strings.Builder
	b.WriteString("^(?i)")
	names := gaps(phrase)
	at := 0
	for _, m := range gapForm.FindAllStringIndex(phrase, -1) {
		b.WriteString(regexp.QuoteMeta(phrase[at:m[0]]))
		b.WriteString("(.+?)")
		at = m[1]
	}
	b.WriteString(regexp.QuoteMeta(phrase[at:]) + "$")
	form, err := regexp.Compile(b.String())
	if err != nil {
		return nil, nil
	}
	return form, names
}

// unended is a sentence without its end; a dot that stands alone is a folder.
func unended(words string) string {
	words = strings.TrimRight(words, "!? ")
	if strings.HasSuffix(words, ".") && !strings.HasSuffix(words, " .") && !strings.HasSuffix(words, "..") {
		return strings.TrimSuffix(words, ".")
	}
	return words
}

func unquote(s string) string {
	for _, q := range []string{`"`, "'", "`"} {
		if len(s) > 1 && strings.HasPrefix(s, q) && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
	}
	return s
}
