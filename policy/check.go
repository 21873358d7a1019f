package policy

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DocumentVersion is the document version this package reads (P16).
const DocumentVersion = 1

// Limits on a policy document.
const (
	NameBytesMax   = 128       // names, globs and rule ids
	ReasonBytesMax = 1024      // reason of an impact override
	EntriesMax     = 1000      // entries of any one list or map, approval rules included
	QuorumMax      = 100       // approvers of one call
	ExpiresSMax    = 2_592_000 // 30 days
)

const (
	selfAllowed = "allowed"
	selfDenied  = "denied"
)

// Roles is the closed set of roles a rule can ask (P35), in their usual order.
func Roles() []string {
	return []string{"viewer", "operator", "approver", "policy_owner", "auditor", "admin"}
}

// Issue is one thing wrong with a document: where, as an RFC 6901 pointer, and
// what is wrong and what to do, as sentences for people.
type Issue struct {
	Pointer string
	Message string
}

// InvalidError is returned by Compile and carries every issue found.
type InvalidError struct{ Issues []Issue }

// Error gives the first issue and how many there are.
func (e *InvalidError) Error() string {
	first := e.Issues[0]
	text := "policy document: " + at(first.Pointer) + ": " + first.Message
	if more := len(e.Issues) - 1; more > 0 {
		text += " (and " + strconv.Itoa(more) + " more)"
	}
	return text
}

func at(pointer string) string {
	if pointer == "" {
		return "the document"
	}
	return pointer
}

// Check finds everything that Compile would refuse, in the order of the
// pointers' sections. No issues means that the document compiles.
func Check(d Document) []Issue {
	c := &checker{}
	c.document(completed(d))
	return c.issues
}

type checker struct{ issues []Issue }

func (c *checker) addf(pointer, format string, args ...any) {
	c.issues = append(c.issues, Issue{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) document(d Document) {
	if d.Version == 0 {
		c.addf("/version", "The document states no version. Write version: %d.", DocumentVersion)
	} else if d.Version != DocumentVersion {
		c.addf("/version", "Version %d is not known. Write version: %d.", d.Version, DocumentVersion)
	}
	c.intents(d.Intents)
	if c.count("/scopes", len(d.Scopes)) {
		for _, name := range sortedKeys(d.Scopes) {
			c.scope("/scopes/"+Escape(name), name, d.Scopes[name])
		}
	}
	if c.count("/tools", len(d.Tools)) {
		for _, name := range sortedKeys(d.Tools) {
			c.tool("/tools/"+Escape(name), name, d.Tools[name])
		}
	}
	ids := map[string]bool{} // of all rules: a decision cites a rule by its id alone
	c.clearance(d.Clearance, ids)
	c.approvals(d.Approvals, ids)
	c.globs("/kill_switches", d.KillSwitches)
}

// intents: the three names have fixed ranks (P16); others may stand between
// them, each on a rank of its own so that a rank has one name.
func (c *checker) intents(intents map[string]Rank) {
	if !c.count("/intents", len(intents)) {
		return
	}
	for _, fixed := range []Rank{Observe, Operate, Override} {
		rank, ok := intents[fixed.Name()]
		if !ok {
			c.addf("/intents", "The intent %s is missing. Add %s: %d.", fixed.Name(), fixed.Name(), int(fixed))
			continue
		}
		if rank != fixed {
			c.addf("/intents/"+fixed.Name(), "The intent %s always has rank %d, not %d. Give your own rank a name of its own.", fixed.Name(), int(fixed), int(rank))
		}
	}
	named := map[Rank]string{}
	for _, name := range sortedKeys(intents) {
		pointer := "/intents/" + Escape(name)
		rank := intents[name]
		c.word(pointer, "intent", name)
		if name != "" && name[0] >= '0' && name[0] <= '9' {
			c.addf(pointer, "%s reads like a rank. Start the name with a letter.", display(name))
		}
		c.rank(pointer, rank)
		if other, ok := named[rank]; ok {
			c.addf(pointer, "Rank %d is already named %s. Give each rank one name.", int(rank), other)
		}
		named[rank] = name
	}
}

func (c *checker) scope(pointer, name string, scope Scope) {
	c.word(pointer, "scope", name)
	c.globs(pointer+"/tools", scope.Tools)
	if !c.count(pointer+"/caps", len(scope.Caps)) {
		return
	}
	for _, text := range sortedKeys(scope.Caps) {
		where := pointer + "/caps/" + Escape(text)
		c.glob(where, text)
		c.rank(where, scope.Caps[text])
	}
}

func (c *checker) tool(pointer, name string, rule ToolRule) {
	c.glob(pointer, name)
	if rule.Impact == nil {
		c.addf(pointer, "The rule for %s states no impact. Add impact: with a rank, or remove the rule.", display(name))
	} else {
		c.rank(pointer+"/impact", *rule.Impact)
	}
	if len(rule.Reason) > ReasonBytesMax {
		c.addf(pointer+"/reason", "The reason is longer than %d bytes. Shorten it.", ReasonBytesMax)
	}
	if !utf8.ValidString(rule.Reason) || strings.ContainsFunc(rule.Reason, isControl) {
		c.addf(pointer+"/reason", "The reason has bytes that cannot be shown. Write it as plain text.")
	}
}

func (c *checker) globs(pointer string, texts []string) {
	if !c.count(pointer, len(texts)) {
		return
	}
	for i, text := range texts {
		c.glob(pointer+"/"+strconv.Itoa(i), text)
	}
}

// glob refuses the signs that mean something in other glob languages, so that
// nobody believes in a restriction that is not there (P16).
func (c *checker) glob(pointer, text string) {
	if text == "" {
		c.addf(pointer, "A tool name is empty. Write a name, or a pattern such as file.* with * for any characters.")
		return
	}
	if len(text) > NameBytesMax {
		c.addf(pointer, "The name is longer than %d bytes. Shorten it.", NameBytesMax)
		return
	}
	if sign := strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`?[]{}\!"'`+"`", r) }); sign >= 0 {
		c.addf(pointer, "%s has the sign %q, which no name has. Patterns know only *, for any characters.", display(text), []rune(text[sign:])[0])
	}
}

// word checks a name that other parts of the document or a command line use.
func (c *checker) word(pointer, kind, name string) {
	if !isWord(name) {
		c.addf(pointer, "%s is not a name for %s. Use letters, digits, _, - and . only, a letter or digit first, at most %d.", display(name), article(kind), NameBytesMax)
	}
}

func article(kind string) string {
	if strings.ContainsAny(kind[:1], "aeiou") {
		return "an " + kind
	}
	return "a " + kind
}

func isWord(name string) bool {
	if name == "" || len(name) > NameBytesMax || strings.ContainsAny(name[:1], "_-.") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		isLetter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !isLetter && !(r >= '0' && r <= '9') && !strings.ContainsRune("_-.", r)
	})
}

func (c *checker) rank(pointer string, rank Rank) {
	if !rank.onScale() {
		c.addf(pointer, "Rank %d is not on the scale. Use %d to %d, or the name of an intent.", int(rank), int(Observe), int(RankMax))
	}
}

// count refuses a list longer than its limit before anything walks it.
func (c *checker) count(pointer string, n int) bool {
	if n > EntriesMax {
		c.addf(pointer, "There are %d entries; the limit is %d. Use patterns, or remove some.", n, EntriesMax)
	}
	return n <= EntriesMax
}

// Escape makes a name one token of an RFC 6901 pointer.
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// display shows a name from outside on one short line, whatever bytes it has.
func display(name string) string {
	if len(name) > NameBytesMax {
		name = name[:NameBytesMax] + "..."
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return strconv.QuoteToASCII(name)
	}
	return name
}

func isControl(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
