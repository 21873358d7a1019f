package planner

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind says what a piece of a goal is. Only words are read as language;
// everything else is data that a rule may place into a parameter.
type tokenKind int

const (
	word    tokenKind = iota
	number            // 12, 17.5, 2,348.60, 80%
	pathish           // README.md, docs/, projects/web, *.go
	quoted            // "…", '…', “…”
	command           // `…`
	address           // URL, mail address or host name: outside this machine
	flag              // -la, --all
	mark              // punctuation
)

// token is one piece of the goal with its place in it, in bytes.
type token struct {
	kind       tokenKind
	raw        string // as written, quotes included
	text       string // lower case, apostrophes removed; the inner text for quoted and command
	stem       string // of a word
	start, end int
}

var (
	numberForm  = regexp.MustCompile(`^-?[$€£]?\d+(?:,\d{3})*(?:\.\d+)?(?:%|[kKmMgGtT](?:i?[bB])?)?$`)
	addressForm = regexp.MustCompile(`(?i)^(?:[a-z][a-z0-9+.-]*://\S+|www\.\S+|[^\s@]+@[^\s@]+\.[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})$`)
	domainForm  = regexp.MustCompile(`(?i)^(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|edu|gov|de|uk|eu|fr|at|ch|it|es|co|ai|info)$`)
	fileForm    = regexp.MustCompile(`^[^\s/]*[^\s/.]\.[A-Za-z][A-Za-z0-9]{0,9}$|^\.[A-Za-z][A-Za-z0-9_.-]+$|^[^\s/]+\.(?:7z|1)$`)
	flagForm    = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9=_-]*$`)
)

// closers are the quotes that open data, with the quote that ends each.
var closers = map[rune]rune{'"': '"', '\'': '\'', '“': '”', '‘': '’', '«': '»', '„': '“', '`': '`'}

// wellKnown are files that have no extension.
var wellKnown = wordSet("makefile dockerfile license licence readme changelog gemfile rakefile procfile jenkinsfile vagrantfile authors")

// tokenize cuts a goal into tokens. Every byte that is not white space is in
// exactly one of them.
func tokenize(goal string) []token {
	var out []token
	for at := 0; at < len(goal); {
		r, size := utf8.DecodeRuneInString(goal[at:])
		if r == '\n' {
			out = append(out, token{kind: mark, raw: "\n", text: "\n", start: at, end: at + 1})
		}
		if unicode.IsSpace(r) {
			at += size
			continue
		}
		next := readToken(goal, at)
		if next.kind == word && strings.Contains(next.raw, "/") {
			out = append(out, slashParts(next)...)
		} else {
			out = append(out, next)
		}
		at = next.end
	}
	return out
}

// slashParts makes one token of each word of "CPU/RAM"; the slash stays with
// the word before it.
func slashParts(t token) []token {
	var out []token
	at := t.start
	for _, part := range strings.SplitAfter(t.raw, "/") {
		end := at + len(part)
		text := plainWord(strings.TrimSuffix(part, "/"))
		out = append(out, token{kind: word, raw: part, text: text, stem: lookup(text), start: at, end: end})
		at = end
	}
	return out
}

// readToken reads the token that starts at a byte which is not white space.
func readToken(goal string, at int) token {
	r, size := utf8.DecodeRuneInString(goal[at:])
	if end := quoteEnd(goal, at); end > 0 {
		_, last := utf8.DecodeLastRuneInString(goal[:end])
		kind := quoted
		if r == '`' {
			kind = command
		}
		return token{kind: kind, raw: goal[at:end], text: goal[at+size : end-last], start: at, end: end}
	}
	end := chunkEnd(goal, at)
	if end == at {
		return token{kind: mark, raw: goal[at : at+size], text: goal[at : at+size], start: at, end: at + size}
	}
	raw := goal[at:end]
	text := plainWord(raw)
	return token{kind: kindOf(raw), raw: raw, text: text, stem: lookup(text), start: at, end: end}
}

// quoteEnd gives the byte after the closing quote of a quotation that opens at
// at, or 0. A single quote opens only at the start of a word and closes only at
// the end of one, so that an apostrophe is none.
func quoteEnd(goal string, at int) int {
	r, size := utf8.DecodeRuneInString(goal[at:])
	closer, opens := closers[r]
	if !opens || r == '\'' && at > 0 && startsWord(goal[at-1:at]) { // "the dogs' bowl" quotes nothing
		return 0
	}
	for i := at + size; i < len(goal); {
		c, n := utf8.DecodeRuneInString(goal[i:])
		i += n
		if c == '\n' && r == '\'' {
			return 0
		}
		if c == closer && (r != '\'' && r != '‘' || !startsWord(goal[i:])) {
			return i
		}
	}
	return 0
}

func startsWord(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// chunkEnd gives the end of the run of characters that belong together at at:
// up to white space, without closing punctuation. It is at for a lone mark.
func chunkEnd(goal string, at int) int {
	end := at
	for end < len(goal) {
		r, n := utf8.DecodeRuneInString(goal[end:])
		if unicode.IsSpace(r) || strings.ContainsRune("\"“”«»`()[]{}|<>;?!…—–", r) {
			break
		}
		if r == ',' && !digitAround(goal, end) {
			break
		}
		end += n
	}
	for end > at && strings.IndexByte(".,:'&=+-", goal[end-1]) >= 0 && goal[at:end] != ".." {
		end--
	}
	return at + len(strings.TrimSuffix(goal[at:end], "’"))
}

func digitAround(goal string, comma int) bool {
	return comma > 0 && comma+1 < len(goal) && isDigit(goal[comma-1]) && isDigit(goal[comma+1])
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func kindOf(raw string) tokenKind {
	switch {
	case raw == "..":
		return pathish
	case numberForm.MatchString(raw):
		return number
	case addressForm.MatchString(raw), domainForm.MatchString(raw):
		return address
	case flagForm.MatchString(raw):
		return flag
	case isAbbreviation(raw):
		return word
	case strings.Contains(raw, "/"):
		if slashWords(raw) {
			return word
		}
		return pathish
	case strings.HasPrefix(raw, "*.") || fileForm.MatchString(raw) || strings.ContainsAny(raw, "*~\\"):
		return pathish
	case wellKnown[stem(plainWord(raw))] && unicode.IsUpper(rune(raw[0])):
		return pathish
	case !strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return mark
	}
	return word
}

// isAbbreviation keeps "e.g" and the like from looking like files.
func isAbbreviation(raw string) bool {
	switch plainWord(raw) {
	case "e.g", "i.e", "p.s", "a.m", "p.m", "u.s", "node.js", "vs", "etc":
		return true
	}
	return false
}

// slashWords tells "CPU/RAM" and "and/or" from a path: every part is a word
// that the lexicon knows and none of them looks like a folder.
func slashWords(raw string) bool {
	parts := strings.Split(raw, "/")
	for _, part := range parts {
		if !known(plainWord(part)) || folders[stem(plainWord(part))] {
			return false
		}
	}
	return len(parts) > 1
}

// plainWord is the form in which words are compared: lower case, typographic
// apostrophes and apostrophes removed ("what's" and "whats" are one word).
func plainWord(raw string) string {
	s := strings.ToLower(strings.NewReplacer("’", "", "'", "").Replace(raw))
	return strings.Trim(s, ".,:&=+")
}
