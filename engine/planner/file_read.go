package planner

import (
	"slices"

	"sluice/engine/plan"
)

// planRead plans phrases that name files and ask for what is in them.
func (b *builder) planRead(r *reading) ([]string, string, bool) {
	files := r.files()
	if len(files) == 0 || r.asksWhere() {
		return b.planReadBack(r)
	}
	for _, f := range files {
		if why := f.check(); why != "" {
			return nil, why, true
		}
		r.use(f.at, f.at+1)
	}
	if len(files) == 1 {
		r.inFolder(&files[0])
	}
	if left := r.left(fileWords); len(left) > 0 && !r.describes(left, files) {
		return nil, "no tool here does this with a file", true
	}
	if !b.offers("file.read") {
		return nil, b.missing("file.read", "reading a file"), true
	}
	var ids []string
	for _, f := range files {
		ids = append(ids, b.readFile(f.path))
	}
	return ids, "", true
}

// readFile adds a step that reads one file named in the goal.
func (b *builder) readFile(name string) string {
	b.path = name
	return b.draft.add(spec{tool: "file.read", name: "read " + name, given: map[string]any{"path": name}, guard: b.guard})
}

// inFolder joins "a.txt in docs" to docs/a.txt.
func (r *reading) inFolder(f *place) {
	if slices.ContainsFunc(f.parts(), func(s string) bool { return s == "/" }) {
		return
	}
	if where, is := r.location(false); is && where.isDir && !where.outside && where.path != "." {
		f.path = where.path + "/" + f.path
	}
}

// parts tells whether the place already names a folder.
func (p place) parts() []string {
	for _, c := range p.path {
		if c == '/' {
			return []string{"/"}
		}
	}
	return nil
}

// descriptionWordsMax is how many words may say what in the file is of
// interest; a longer tail is more likely another request.
const descriptionWordsMax = 6

// describes lets words stand that say what in the file is of interest: "the
// opening hours in notes.md", "which port is set in app.yaml". They must come
// before the file; what follows it asks for something else ("aloud").
func (r *reading) describes(left []int, files []place) bool {
	if len(left) > descriptionWordsMax {
		return false
	}
	first := files[0].at
	for _, f := range files {
		first = min(first, f.at)
	}
	for _, i := range left {
		t := r.body[i]
		if t.kind != word || otherUses[t.stem] {
			return false
		}
		if i > first && (!r.question || placeWords[at(r.body, first-1).text]) {
			return false
		}
	}
	if r.question {
		return true
	}
	before := at(r.body, first-1)
	for i := first - 1; i > 0 && (determiners[before.text] || before.stem == "file"); i-- {
		before = at(r.body, i-1)
	}
	return placeWords[before.text] && before.text != "to" && before.text != "on" && before.text != "into"
}

// otherUses are words that ask for something else than the text of a file.
var otherUses = wordSet(`aloud loud loudly printer paper email mail browser fullscreen speaker screen wallpaper projector slideshow fax tv bug typo
	spelling grammar virus malware plagiarism bigger brighter photoshop excel word powerpoint translation french german spanish english
	italian chinese japanese dutch voice audio video image`)

// planReadBack plans "show it", "print its contents": the file named before, or
// the one file that an earlier step finds.
func (b *builder) planReadBack(r *reading) ([]string, string, bool) {
	if r.class != verbRead && r.class != verbShow || r.question && !r.text("say", "says", "contain", "contains") {
		return nil, "", false
	}
	if b.picked != "" && r.text("it", "its") && len(r.left(fileWords)) == 0 && b.offers("file.read") {
		return []string{b.draft.add(spec{tool: "file.read", name: "read picked file", guard: b.guard,
			refs: map[string]plan.Ref{"path": {Step: b.picked, Field: "entries.0.path"}}})}, "", true
	}
	if b.it() == "" || !r.text("it", "its", "that", "this") || len(r.left(fileWords, wordSet("say back"))) > 0 || len(r.body) > 8 {
		return nil, "", false
	}
	if place := newPlace(b.it(), 0); place.isDir || place.check() != "" {
		return nil, "", false
	}
	if !b.offers("file.read") {
		return nil, b.missing("file.read", "reading a file"), true
	}
	return []string{b.readFile(b.it())}, "", true
}

// planPick plans "read the newest one": a listing in the right order and a
// reference to its first entry.
func (b *builder) planPick(r *reading) ([]string, string, bool) {
	reads := r.class == verbRead || r.class == verbShow && !r.question && r.text("content", "contents", "inside", "text")
	if !reads || len(r.files()) > 0 || !r.superlative() {
		return nil, "", false
	}
	ids, ref, why := b.pick(r)
	if why != "" {
		return nil, why, true
	}
	if len(r.left(fileWords)) > 0 {
		return nil, "", false
	}
	if !b.offers("file.read") {
		return nil, b.missing("file.read", "reading a file"), true
	}
	return append(ids, b.draft.add(spec{tool: "file.read", name: "read " + r.pickName(), refs: map[string]plan.Ref{"path": ref}, guard: b.guard})), "", true
}

// superlative says whether the phrase picks one of several.
func (r *reading) superlative() bool {
	return r.text("newest", "latest", "biggest", "largest", "oldest", "smallest", "first", "last", "top", "shortest", "longest", "heaviest") ||
		r.text("recent") && r.text("most")
}

// pick gives a reference to the one entry that the phrase picks from a listing:
// that of an earlier clause, or of the folder it names itself.
func (b *builder) pick(r *reading) (ids []string, ref plan.Ref, why string) {
	order, why := r.pickOrder()
	if why != "" {
		return nil, ref, why
	}
	where, named := r.location(true)
	if where.outside {
		return nil, ref, outsideText
	}
	if order == "" && b.matches != "" && !named {
		return []string{b.matches}, plan.Ref{Step: b.matches, Field: "matches.0.path"}, ""
	}
	if b.listing == "" || named {
		if !named && !r.text("file", "files") {
			return nil, ref, whichText
		}
		if !b.offers("file.list") {
			return nil, ref, b.missing("file.list", "listing a folder")
		}
		ids = []string{b.list(where.path, map[string]any{"kind": "file"})}
	}
	if order != "" {
		b.draft.set(b.listing, "sort", order)
	}
	if s := b.draft.step(b.listing); s != nil && s.Params["kind"] == nil && b.takes("file.list", "kind") {
		b.draft.set(b.listing, "kind", "file")
	}
	return ids, plan.Ref{Step: b.listing, Field: "entries.0.path"}, ""
}

// pickOrder gives the order in which the wanted entry comes first, "" for the
// order there is.
func (r *reading) pickOrder() (order, why string) {
	switch {
	case r.text("oldest", "smallest", "shortest", "bottom"), r.text("last") && !r.text("modified", "changed", "updated", "edited"):
		return "", "a listing puts the newest or the biggest first, so this one cannot be picked"
	case r.text("newest", "latest", "recent", "last", "recently"):
		return "modified", ""
	case r.text("biggest", "largest", "heaviest", "longest"):
		return "size", ""
	}
	return "", ""
}

func (r *reading) pickName() string {
	order, _ := r.pickOrder()
	switch order {
	case "modified":
		return "newest file"
	case "size":
		return "biggest file"
	}
	return "first file"
}
