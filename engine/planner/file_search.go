package planner

import (
	"slices"
	"strings"
)

// planSearch plans phrases that look for a text in files.
func (b *builder) planSearch(r *reading) ([]string, string, bool) {
	if r.class != verbSearch && !r.marksSearch() && !r.checksFor() {
		return nil, "", false
	}
	noCase := r.takeCase()
	query, fromGoal := r.query(b.goal)
	if query == "" {
		return nil, "", false
	}
	where, named := r.location(r.isFileSearch() || r.marksSearch())
	if before := b.draft.step(b.matches); !named && r.inherited && before != nil && before.Params["path"] != nil {
		where.path, named = b.searched, true
	}
	if where.outside {
		return nil, outsideText, true
	}
	if named && isMedia(where.path) {
		return nil, mediaText, true
	}
	if !named && !r.isFileSearch() {
		return nil, "", false
	}
	if len(r.left(fileWords, searchWords, wordSet("comment marker source code codebase time text reference usage mention defined called used spot say talk discuss"))) > 0 {
		return nil, "", false
	}
	if !b.offers("file.search") {
		return nil, b.missing("file.search", "searching files"), true
	}
	if !named && r.refersThere() && b.path != "" {
		where.path = b.path
	}
	s := spec{tool: "file.search", name: "search " + query, given: map[string]any{"query": query}, chosen: map[string]any{}, guard: b.guard}
	if where.path != "." {
		s.given["path"] = where.path
	}
	if (noCase || !fromGoal) && b.takes("file.search", "ignore_case") {
		s.chosen["ignore_case"] = true
	}
	b.matches, b.searched = b.draft.add(s), where.path
	b.listing = ""
	return []string{b.matches}, "", true
}

func (r *reading) refersThere() bool { return r.text("there", "it", "them") }

// marksSearch says whether a question or a request for lines looks for a text.
func (r *reading) marksSearch() bool {
	if r.text("talk", "talks", "discuss", "discusses") && r.text("files", "documents", "which") && !r.text("you", "we", "i") {
		return true
	}
	if r.text("mention", "mentions", "mentioning", "mentioned", "occurrences", "occurrence", "occur", "occurs", "grep") {
		return true
	}
	if r.text("lines", "line") && r.text("with") || r.question && r.text("word", "phrase", "string") && r.text("anywhere", "in", "inside") {
		return true
	}
	isText := r.text("file", "files", "line", "lines", "documents", "code", "word", "string") || len(r.places()) > 0
	if r.question && r.text("times") && r.text("does", "do", "is") && len(r.places()) > 0 {
		return true // "how many times does X appear in src"
	}
	return isText && r.text("contain", "contains", "containing", "appear", "appears", "include", "includes", "using", "use", "uses", "used", "import",
		"imports", "define", "defined", "defines", "reference", "references", "match", "matching", "say", "called", "says") && !r.text("what", "whats", "says") ||
		r.question && r.text("where") && r.text("used", "defined", "called", "declared", "mentioned", "referenced", "set")
}

// checksFor reads "check app.log for errors", which looks for lines in a file.
func (r *reading) checksFor() bool {
	i := slices.IndexFunc(r.body, func(t token) bool { return t.text == "for" })
	return r.class == verbShow && i > 0 && len(r.files()) == 1 && r.files()[0].at < i && i == len(r.body)-2 && logWordsSought[at(r.body, i+1).stem]
}

var logWordsSought = wordSet("error warning failure exception panic timeout crash")

// takeCase accounts for "ignore case" and its like.
func (r *reading) takeCase() bool {
	i := slices.IndexFunc(r.body, func(t token) bool {
		return t.text == "case" || t.text == "case-insensitive" || t.text == "case-insensitively" || t.raw == "-i" || t.raw == "-ri"
	})
	if i < 0 {
		return false
	}
	from, to := i, i+1
	if before := at(r.body, i-1).text; before == "ignore" || before == "ignoring" || before == "any" {
		from--
	}
	if next := at(r.body, i+1).text; strings.HasPrefix(next, "insensitiv") || next == "ignored" {
		to++
	}
	r.use(from, to)
	return true
}

// query finds the text to look for and accounts for it. fromGoal is false where
// it was changed ("errors" is looked for as "error").
func (r *reading) query(goal string) (text string, fromGoal bool) {
	for i, t := range r.body {
		if (t.kind == quoted || t.kind == command) && !r.used[i] && !placeWords[at(r.body, i-1).text] {
			r.use(i, i+1)
			return t.text, true
		}
	}
	if r.checksFor() {
		i := len(r.body) - 1
		r.use(i-1, i+1)
		return r.body[i].stem, false
	}
	from := r.queryStart()
	if from < 0 {
		return "", false
	}
	start := from
	for from < len(r.body) && queryNoise[r.body[from].text] && from+1 < len(r.body) {
		from++
	}
	to := from
	for to < len(r.body) && !r.used[to] && r.body[to].kind != mark && !r.endsQuery(from, to) {
		to++
	}
	if to == from {
		return "", false
	}
	r.use(start, to)
	return strings.Trim(goal[r.body[from].start:r.body[to-1].end], " ,;:?!"), true
}

// queryNoise stands between "for" and what is looked for.
var queryNoise = map[string]bool{"the": true, "a": true, "an": true, "all": true, "any": true, "every": true, "for": true, "of": true, "word": true,
	"string": true, "text": true, "term": true, "phrase": true, "pattern": true, "keyword": true, "occurrences": true, "occurrence": true,
	"method": true, "class": true, "variable": true, "constant": true, "struct": true,
	"lines": true, "line": true, "with": true, "containing": true, "that": true, "which": true, "contain": true, "mention": true, "mentions": true,
	"references": true, "uses": true, "usages": true, "to": true, "files": true, "words": true, "expression": true, "is": true, "function": true,
	"called": true, "mentioning": true, "contains": true, "matching": true, "me": true, "every2": true, "where": true, "us": true}

// queryMarkers come before what is looked for, the surest first.
var queryMarkers = [][]string{
	{"word", "string", "phrase", "term", "pattern", "keyword", "expression"},
	{"containing", "contains", "contain", "mentioning", "mention", "mentions", "matching", "occurrences", "occurrence", "includes", "include", "imports",
		"import", "references", "reference", "uses"},
	{"about", "discuss", "discusses"},
	{"for"},
	{"use", "using", "text", "say", "saying"},
}

// queryStart gives the position of the first word that is looked for, or -1.
func (r *reading) queryStart() int {
	for _, markers := range queryMarkers {
		for i, t := range r.body {
			if t.kind == word && slices.Contains(markers, t.text) && i+1 < len(r.body) && (r.body[i+1].text == "of" || !placeWords[r.body[i+1].text]) {
				return i + 1
			}
		}
	}
	if r.text("lines", "line") {
		if i := slices.IndexFunc(r.body, func(t token) bool { return t.text == "with" }); i >= 0 {
			return i + 1
		}
	}
	if i := slices.IndexFunc(r.body, func(t token) bool { return t.text == "times" }); r.question && i >= 0 && i+2 < len(r.body) {
		return i + 2 // "how many times does X occur"
	}
	if r.question && (r.text("where") || r.text("mentioned", "used", "referenced", "defined")) && len(r.body) > 2 {
		i := slices.IndexFunc(r.body, func(t token) bool { return t.text == "is" || t.text == "are" || t.text == "do" })
		return i + 1
	}
	if r.class == verbSearch && !r.question && !r.has(entryWords) {
		return r.afterFlags()
	}
	return -1
}

// afterFlags steps over the flags of a grep.
func (r *reading) afterFlags() int {
	for i, t := range r.body {
		if t.kind != flag {
			return i
		}
		r.use(i, i+1)
	}
	return -1
}

// endsQuery says whether the text looked for ends before a position: at a
// preposition that a place follows, or at the verb of a question.
func (r *reading) endsQuery(from, i int) bool {
	t := r.body[i]
	if i == from || t.kind != word {
		return t.kind == pathish && i > from && r.verb.text == "grep"
	}
	if r.question && (t.text == "used" || t.text == "defined" || t.text == "called" || t.text == "declared" || t.text == "mentioned" || t.text == "appear" ||
		t.text == "occur" || t.text == "referenced" || t.text == "set") {
		return true
	}
	if t.text == "here" || t.text == "anywhere" || t.text == "everywhere" || t.text == "there" {
		return true
	}
	return placeWords[t.text] && t.text != "of" && t.text != "to" && t.text != "at"
}

// isFileSearch says whether a search without a place is one in the workspace
// rather than in the world.
func (r *reading) isFileSearch() bool {
	if r.question && r.text("where") && r.text("defined", "declared", "called", "used") && r.text("function", "method", "class", "variable", "constant", "struct", "type") {
		return true
	}
	return r.verb.text == "grep" || r.verb.text == "rg" || r.text("file", "files", "code", "codebase", "workspace", "occurrences", "lines", "there") ||
		slices.ContainsFunc(r.body, func(t token) bool { return t.kind == quoted })
}
