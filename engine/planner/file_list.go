package planner

import "strings"

// list adds a step that lists a folder.
func (b *builder) list(folder string, chosen map[string]any) string {
	s := spec{tool: "file.list", name: "list " + folder, chosen: map[string]any{}, given: map[string]any{}, guard: b.guard}
	if folder == "." {
		s.name = "list workspace"
	} else {
		s.given["path"] = folder
	}
	for name, v := range chosen { // order-free: fills a map
		if b.takes("file.list", name) {
			s.chosen[name] = v
		}
	}
	b.listing, b.path = b.draft.add(s), folder
	b.matches, b.picked = "", ""
	return b.listing
}

// planListing plans phrases about the files of a folder.
func (b *builder) planListing(r *reading) ([]string, string, bool) {
	isAbout := r.has(entryWords) || r.asksInside()
	folder := r.bareFolder()
	where, named := r.location(isAbout)
	if where.outside {
		return nil, outsideText, true
	}
	if !named && folder != "" {
		where, named = newPlace(folder, 0), true
	}
	if !named && b.path != "" && r.text("it", "there", "its") && newPlace(b.path, 0).isDir {
		where, named = newPlace(b.path, 0), true
	}
	if !isAbout && !(named && where.isDir && r.class != verbSearch) {
		return nil, "", false
	}
	for _, p := range r.places() {
		if p.glob && !p.outside {
			r.use(p.at, p.at+1)
		}
	}
	left := r.left(fileWords)
	if len(left) > 0 && !(named && r.listsThings(left)) {
		return nil, "", false
	}
	if !isAbout && r.question && !r.asksInside() {
		return nil, "", false
	}
	if !named && isAbout && !r.plainFiles() {
		return nil, "", false
	}
	if !b.offers("file.list") {
		return nil, b.missing("file.list", "listing a folder"), true
	}
	id := b.list(where.path, r.listOptions())
	if order, why := r.pickOrder(); order != "" && why == "" && r.text("file", "one", "document") {
		b.picked = id
	}
	return []string{id}, "", true
}

// entryWords are what a folder is made of.
var entryWords = wordSet("file directory subfolder subdirectory entry document filename")

// thingWords are kinds of documents that a folder may be said to hold.
var thingWords = wordSet(`image photo picture pdf log script note report invoice letter recipe screenshot video song template test config backup
	draft contract receipt spreadsheet presentation module package page dataset table attachment message`)

// listsThings lets one kind of document stand for the files of a folder that is
// named: "list the invoices in inbox".
func (r *reading) listsThings(left []int) bool {
	if len(left) > 1 || r.body[left[0]].kind != word {
		return false
	}
	return thingWords[r.body[left[0]].stem] && (r.class == verbList || r.class == verbShow || r.class == verbSearch)
}

// asksInside reads "what is in docs/", "what's inside src".
func (r *reading) asksInside() bool {
	return r.question && r.text("what", "whats", "anything", "wots") && (r.text("in", "inside", "under", "within", "below")) ||
		r.text("content", "contents", "everything", "all", "inside") && len(r.places()) > 0
}

// bareFolder reads a folder named without a preposition and with nothing else:
// "list docs", "ls reports".
func (r *reading) bareFolder() string {
	if r.class != verbList || r.question {
		return ""
	}
	found := -1
	for i, t := range r.body {
		switch {
		case r.used[i] || determiners[t.text] || t.text == "me" || t.text == "us":
		case found < 0 && t.kind == word && folders[t.stem]:
			found = i
		default:
			return ""
		}
	}
	if found < 0 {
		return ""
	}
	r.use(found, found+1)
	return r.body[found].raw
}

// plainFiles says whether files without a place are those of the workspace and
// not, say, the open files of a process.
func (r *reading) plainFiles() bool {
	return r.has(wordSet("file directory subfolder")) && !r.text("open", "system", "log", "swap")
}

// listOptions reads order, kind and depth.
func (r *reading) listOptions() map[string]any {
	out := map[string]any{}
	switch {
	case r.text("biggest", "largest", "big", "large", "heaviest", "size", "larger", "bigger", "smallest"):
		out["sort"] = "size"
	case r.text("newest", "latest", "recent", "recently", "modified", "changed", "updated", "oldest", "edited", "date"):
		out["sort"] = "modified"
	}
	isFiles := r.text("file", "files", "documents", "fils")
	isFolders := r.text("folders", "directories", "subfolders", "subdirectories", "dirs")
	switch {
	case isFiles && !isFolders:
		out["kind"] = "file"
	case isFolders && !isFiles:
		out["kind"] = "directory"
	}
	if r.text("recursive", "recursively", "tree", "everything", "below", "under", "nested", "deep") || out["sort"] == "size" && out["kind"] == "file" {
		out["recursive"] = true
	}
	if n := r.howMany(); n > 0 {
		out["limit"] = n
	}
	return out
}

// asksWhere says whether a file is looked for by its name.
func (r *reading) asksWhere() bool {
	if r.class == verbSearch {
		return true
	}
	return r.question && r.text("where", "wheres", "exist", "exists", "there", "theres") && !r.text("in", "inside", "contain", "contains")
}

// planLocate plans "find notes.txt" and "does notes.txt exist": a listing of
// everything, in which the report can be read.
func (b *builder) planLocate(r *reading) ([]string, string, bool) {
	if !r.asksWhere() && !r.namesPattern() {
		return nil, "", false
	}
	count := 0
	for _, p := range r.places() {
		isName := p.glob || !p.isDir && !strings.Contains(p.path, "/") || r.asksWhere() && !p.isDir
		if isName && p.outside {
			return nil, outsideText, true
		}
		if isName {
			r.use(p.at, p.at+1)
			count++
		}
	}
	where, _ := r.location(true)
	if count == 0 || where.outside || len(r.left(fileWords, wordSet("exist locate"))) > 0 {
		return nil, "", false
	}
	if !b.offers("file.list") {
		return nil, b.missing("file.list", "listing a folder"), true
	}
	id := b.list(where.path, map[string]any{"recursive": true, "kind": "file"})
	if files := r.files(); len(files) == 1 && where.path == "." {
		b.path = files[0].path
	}
	return []string{id}, "", true
}

// namesPattern says whether the phrase asks for the files of a pattern: "*.go".
func (r *reading) namesPattern() bool {
	for _, p := range r.places() {
		if p.glob {
			return r.class == verbList || r.class == verbShow
		}
	}
	return false
}
