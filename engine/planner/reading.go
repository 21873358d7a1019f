package planner

import (
	"path"
	"slices"
	"strings"
)

// reading is a phrase while a rule accounts for its words.
type reading struct {
	phrase
	used []bool // by position in body
}

func read(p phrase) *reading {
	return &reading{phrase: p, used: make([]bool, len(p.body))}
}

func (r *reading) use(from, to int) {
	for i := from; i < to; i++ {
		r.used[i] = true
	}
}

// has says whether a word of the set stands in the body.
func (r *reading) has(set map[string]bool) bool { return r.find(set) >= 0 }

// find gives the position of the first word of the set, or -1.
func (r *reading) find(set map[string]bool) int {
	return slices.IndexFunc(r.body, func(t token) bool { return t.kind == word && set[t.stem] })
}

// text says whether one of the words stands in the body as written.
func (r *reading) text(words ...string) bool {
	return slices.ContainsFunc(r.body, func(t token) bool { return t.kind == word && slices.Contains(words, t.text) })
}

// left lists what is not accounted for by use, by the sets, or as a filler.
// Numbers count as accounted for; every other datum does not.
func (r *reading) left(sets ...map[string]bool) []int {
	var out []int
	for i, t := range r.body {
		if r.used[i] || t.kind == mark || t.kind == number {
			continue
		}
		if t.kind == word && (fillers[t.stem] || numberWords[t.text] > 0 || slices.ContainsFunc(sets, func(s map[string]bool) bool { return s[t.stem] })) {
			continue
		}
		out = append(out, i)
	}
	return out
}

// isLater says whether the phrase asks for another time than now.
func (r *reading) isLater() bool {
	for i, t := range r.body {
		before := at(r.body, i-1)
		switch {
		case t.kind != word:
		case later[t.stem]:
			return true
		case timeUnits[t.stem] && (before.text == "every" || before.text == "each"):
			return true
		case timeUnits[t.stem] && at(r.body, i-2).text == "in" && (before.kind == number || numberWords[before.text] > 0):
			return true
		}
	}
	return false
}

// numberWords are numbers that people spell.
var numberWords = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
	"ninety": 90, "hundred": 100, "dozen": 12}

// place is a path of the workspace as the goal names it.
type place struct {
	path    string // cleaned, relative; "." is the workspace
	outside bool   // it names something beyond the workspace
	isDir   bool   // it is written like a folder
	glob    bool   // it holds a wildcard
	slash   bool   // it ends in a slash
	at      int    // position in body
}

// places lists the paths in the body, quoted ones included where they look like
// paths.
func (r *reading) places() []place {
	var out []place
	for i, t := range r.body {
		if t.kind == pathish {
			out = append(out, newPlace(t.raw, i))
		}
	}
	return out
}

func newPlace(raw string, at int) place {
	p := place{path: path.Clean(raw), at: at}
	p.outside = strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "~") || strings.Contains(raw, "\\") ||
		p.path == ".." || strings.HasPrefix(p.path, "../")
	p.isDir = strings.HasSuffix(raw, "/") || p.path == "." || !fileForm.MatchString(path.Base(p.path)) && !wellKnown[stem(strings.ToLower(path.Base(p.path)))]
	p.slash = strings.HasSuffix(raw, "/")
	p.glob = strings.ContainsAny(raw, "*?[")
	return p
}

// location finds the folder or file in which something is to be looked for and
// accounts for its words: "in src", "under the folder projects", "docs/", "the
// inbox folder", "in the workspace". bare allows any word after a preposition.
func (r *reading) location(bare bool) (place, bool) {
	if next := at(r.body, 1); r.class == verbSearch && next.text == "for" && len(r.used) > 0 && !r.used[0] && folders[r.body[0].stem] {
		r.use(0, 1)
		return r.placeAt(0), true
	}
	for i, t := range r.body {
		if r.used[i] || t.kind != word {
			continue
		}
		if t.stem == "directory" {
			if found, is := r.besideFolder(i); is {
				return found, true
			}
		}
		if placeWords[t.text] {
			if found, is := r.afterPreposition(i, bare); is {
				return found, true
			}
		}
	}
	for _, p := range r.places() {
		if !r.used[p.at] && !p.glob {
			r.use(p.at, p.at+1)
			return p, true
		}
	}
	if i := slices.IndexFunc(r.body, func(t token) bool { return workspaceWords[t.stem] }); i >= 0 {
		r.use(i, i+1)
		return place{path: ".", isDir: true, at: i}, true
	}
	return place{path: ".", isDir: true, at: -1}, false
}

// workspaceWords mean the workspace itself.
var workspaceWords = wordSet("workspace here everywhere")

// besideFolder reads "folder x", "folder called x" and "x folder".
func (r *reading) besideFolder(i int) (place, bool) {
	j := i + 1
	for j < len(r.body) && (r.body[j].text == "called" || r.body[j].text == "named" || r.body[j].kind == mark) {
		j++
	}
	if next := at(r.body, j); isName(next) && !placeWords[next.text] && next.stem != "for" && !fillers[next.stem] && !fileWords[next.stem] {
		r.use(i, j+1)
		return r.placeAt(j), true
	}
	if before := at(r.body, i-1); isName(before) && !fillers[before.stem] && !fileWords[before.stem] {
		r.use(i-1, i+1)
		return r.placeAt(i - 1), true
	}
	if before := at(r.body, i-1); before.text == "this" || before.text == "current" || before.text == "working" || before.text == "top" {
		r.use(i-1, i+1)
		return place{path: ".", isDir: true, at: i}, true
	}
	return place{}, false
}

// afterPreposition reads what follows "in", "under" and the like.
func (r *reading) afterPreposition(i int, bare bool) (place, bool) {
	j := i + 1
	for j < len(r.body) && (determiners[r.body[j].text] || r.body[j].stem == "directory" || r.body[j].stem == "file" ||
		r.body[j].text == "called" || r.body[j].text == "named" || r.body[j].text == "everything") {
		j++
	}
	next := at(r.body, j)
	if r.usedAt(j) {
		return place{}, false
	}
	switch {
	case workspaceWords[next.stem]:
		r.use(i, j+1)
		return place{path: ".", isDir: true, at: j}, true
	case next.kind == pathish, next.kind == quoted && looksLikePath(next.text):
	case next.kind == word && folders[next.stem] && r.endsPlace(j):
	case bare && next.kind == word && !fillers[next.stem] && !fileWords[next.stem] && r.endsPlace(j):
	default:
		return place{}, false
	}
	r.use(i, j+1)
	if at(r.body, j+1).stem == "directory" {
		r.use(j+1, j+2)
	}
	return r.placeAt(j), true
}

func (r *reading) usedAt(i int) bool { return i >= 0 && i < len(r.used) && r.used[i] }

// endsPlace says whether a bare folder name stands alone: "in data", but not
// "in data science".
func (r *reading) endsPlace(i int) bool {
	next := at(r.body, i+1)
	return next.kind != word || fillers[next.stem] || fileWords[next.stem] || searchWords[next.stem] || placeWords[next.text] || classOf(next) != verbNone
}

func (r *reading) placeAt(i int) place {
	t := r.body[i]
	name := t.raw
	if t.kind == quoted {
		name = t.text
	}
	p := newPlace(strings.TrimRight(name, "?"), i)
	p.isDir = p.isDir || t.kind == word
	return p
}

func isName(t token) bool {
	return t.kind == pathish || t.kind == word || t.kind == quoted && looksLikePath(t.text)
}

// looksLikePath says whether quoted text can be a file or folder name.
func looksLikePath(text string) bool {
	if text == "" || len(text) > 255 || strings.ContainsAny(text, "\n\"'`;|<>") {
		return false
	}
	return strings.Contains(text, "/") && !strings.Contains(text, " ") || fileForm.MatchString(strings.ReplaceAll(text, " ", "_")) ||
		!strings.ContainsAny(text, " .,!?")
}
