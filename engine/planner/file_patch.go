package planner

import "slices"

// planPatch plans the changes of a file that leave no choice: one quoted text or
// number for another, or a quoted text at the end.
func (b *builder) planPatch(r *reading) ([]string, string) {
	files := r.files()
	if len(files) != 1 || !b.offers("file.patch") {
		return nil, b.missing("file.patch", "changing a part of a file")
	}
	if why := files[0].check(); why != "" {
		return nil, why
	}
	given := map[string]any{"path": files[0].path}
	rest := patchWords(r, files[0].at)
	switch {
	case isWordForWord(r, rest):
		given["edits"] = []map[string]string{{"old": written(rest[0]), "new": written(rest[2])}}
	case isReplacing(r, rest):
		from := slices.IndexFunc(rest, func(t token) bool { return t.kind != word })
		given["edits"] = []map[string]string{{"old": written(rest[from]), "new": written(rest[from+2])}}
	case isAppending(r, rest):
		given["append"] = rest[0].text
	default:
		return nil, b.missing("file.patch", "changing a part of a file")
	}
	b.path = files[0].path
	return []string{b.draft.add(spec{tool: "file.patch", name: "change " + files[0].path, given: given, guard: b.guard, act: true})}, ""
}

// patchWords is the body without the file and the words around it.
func patchWords(r *reading, file int) []token {
	var rest []token
	for i, t := range r.body {
		isAround := t.kind == mark || t.kind == word && aroundFile[t.text]
		if i != file && !isAround {
			rest = append(rest, t)
		}
	}
	return rest
}

var aroundFile = wordSet("in inside within file text string word line value of please the a an")

// exchange are the words between an old text and the new one.
var exchange = map[string][]string{"replace": {"by", "with"}, "change": {"to", "into"}}

// isReplacing reads `"a" with "b"` and "port 8080 by 9090".
func isReplacing(r *reading, rest []token) bool {
	if len(rest) == 4 && rest[0].kind == word && rest[1].kind == number {
		rest = rest[1:]
	}
	return len(rest) == 3 && rest[0].kind == rest[2].kind && (rest[0].kind == quoted || rest[0].kind == number) &&
		written(rest[0]) != "" && written(rest[0]) != written(rest[2]) && slices.Contains(exchange[r.verb.text], rest[1].text)
}

// isWordForWord reads "the word red to blue": only where the goal calls it a
// word is it not a name for something else ("the owner to bob").
func isWordForWord(r *reading, rest []token) bool {
	if len(rest) != 3 || rest[0].kind != word || rest[2].kind != word && rest[2].kind != quoted || !slices.Contains(exchange[r.verb.text], rest[1].text) {
		return false
	}
	i := slices.IndexFunc(r.body, func(t token) bool { return t.start == rest[0].start })
	return at(r.body, i-1).text == "word" && written(rest[0]) != written(rest[2])
}

// isAppending reads `"a" to` and `"a" at the end`.
func isAppending(r *reading, rest []token) bool {
	if r.verb.text != "append" && r.verb.text != "add" || len(rest) < 2 || rest[0].kind != quoted || rest[0].text == "" {
		return false
	}
	for _, t := range rest[1:] {
		if t.text != "to" && t.text != "at" && t.text != "end" {
			return false
		}
	}
	return true
}

// written is a datum as the goal has it.
func written(t token) string {
	if t.kind == quoted {
		return t.text
	}
	return t.raw
}
