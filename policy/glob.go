package policy

import (
	"sort"
	"strings"
)

// glob matches names with `*` for any run of bytes, dots included; nothing
// else is special (P16).
type glob struct {
	text    string
	isExact bool
	head    string
	tail    string
	middle  []string
}

func newGlob(text string) glob {
	parts := strings.Split(text, "*")
	last := len(parts) - 1
	if last == 0 {
		return glob{text: text, isExact: true}
	}
	return glob{text: text, head: parts[0], tail: parts[last], middle: parts[1:last]}
}

func (g glob) match(name string) bool {
	if g.isExact {
		return g.text == name
	}
	if len(name) < len(g.head)+len(g.tail) || !strings.HasPrefix(name, g.head) || !strings.HasSuffix(name, g.tail) {
		return false
	}
	rest := name[len(g.head) : len(name)-len(g.tail)]
	for _, piece := range g.middle {
		at := strings.Index(rest, piece)
		if at < 0 {
			return false
		}
		rest = rest[at+len(piece):]
	}
	return true
}

// byGlob finds the values whose globs match a name. Names without a star are
// looked up, so that a long list of plain names costs one map access (R50).
type byGlob[T any] struct {
	exact    map[string]T
	patterns []globEntry[T]
}

type globEntry[T any] struct {
	glob  glob
	value T
}

func newByGlob[T any](entries map[string]T) byGlob[T] {
	texts := make([]string, 0, len(entries))
	for text := range entries {
		texts = append(texts, text)
	}
	sort.Strings(texts)
	found := byGlob[T]{exact: make(map[string]T)}
	for _, text := range texts {
		g := newGlob(text)
		if g.isExact {
			found.exact[text] = entries[text]
			continue
		}
		found.patterns = append(found.patterns, globEntry[T]{glob: g, value: entries[text]})
	}
	return found
}

// each visits every matching entry: the plain name first, then the globs in
// alphabetical order.
func (b *byGlob[T]) each(name string, visit func(text string, value T)) {
	if value, ok := b.exact[name]; ok {
		visit(name, value)
	}
	for i := range b.patterns {
		if b.patterns[i].glob.match(name) {
			visit(b.patterns[i].glob.text, b.patterns[i].value)
		}
	}
}

// nameSet is a byGlob that only answers whether a name is in it.
type nameSet struct{ byGlob[struct{}] }

func newNameSet(texts []string) nameSet {
	entries := make(map[string]struct{}, len(texts))
	for _, text := range texts {
		entries[text] = struct{}{}
	}
	return nameSet{newByGlob(entries)}
}

func (s *nameSet) has(name string) bool {
	if _, ok := s.exact[name]; ok {
		return true
	}
	for i := range s.patterns {
		if s.patterns[i].glob.match(name) {
			return true
		}
	}
	return false
}

// MatchName says whether a pattern of a document matches a tool's name (P16).
func MatchName(pattern, name string) bool { return newGlob(pattern).match(name) }
