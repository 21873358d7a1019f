package document

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/policy"
)

type place struct{ line, col int }

// reader turns nodes into a document and remembers where every pointer stands.
type reader struct {
	problems []Problem
	places   map[string]place
	intents  map[string]policy.Rank // for ranks given by name
}

func (r *reader) add(n *yaml.Node, pointer, message string) {
	r.problems = append(r.problems, Problem{Line: n.Line, Col: n.Column, Pointer: pointer, Message: message})
}

func (r *reader) mark(n *yaml.Node, pointer string) {
	r.places[pointer] = place{n.Line, n.Column}
}

// inspect refuses what no policy document needs and what a reader of the text
// could overlook: anchors, aliases, tags, deep nesting.
func (r *reader) inspect(n *yaml.Node, pointer string, depth int) {
	switch {
	case depth > DepthMax:
		r.add(n, pointer, "The nesting is deeper than "+strconv.Itoa(DepthMax)+" levels. Check the indentation.")
		return
	case n.Kind == yaml.AliasNode:
		r.add(n, pointer, noAliases)
		return
	case n.Anchor != "":
		r.add(n, pointer, "Anchors are not available. Remove "+shown("&"+n.Anchor)+".")
	case n.Style&yaml.TaggedStyle != 0:
		r.add(n, pointer, "Tags are not available. Remove "+shown(n.Tag)+".")
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode {
			r.inspect(child, pointer+"/"+policy.Escape(n.Content[i-i%2].Value), depth+1)
			continue
		}
		r.inspect(child, pointer+"/"+strconv.Itoa(i), depth+1)
	}
}

// addIssues gives what policy.Check found its place in the text. An issue at or
// around a value that could not be read is left out: it would only say again,
// in other words, what is already reported.
func (r *reader) addIssues(issues []policy.Issue) {
	read := r.problems
	for _, issue := range issues {
		isKnown := false
		for i := range read {
			isKnown = isKnown || touches(read[i].Pointer, issue.Pointer)
		}
		if isKnown {
			continue
		}
		where := r.placeOf(issue.Pointer)
		r.problems = append(r.problems, Problem{Line: where.line, Col: where.col, Pointer: issue.Pointer, Message: issue.Message})
	}
}

func touches(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// placeOf is the place of a pointer, or of the nearest thing around it where
// the pointer names something that is missing.
func (r *reader) placeOf(pointer string) place {
	for {
		if found, ok := r.places[pointer]; ok {
			return found
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return place{1, 1}
		}
		pointer = pointer[:cut]
	}
}

// entry is one key of a map with its value and pointer.
type entry struct {
	key     string
	keyNode *yaml.Node
	value   *yaml.Node
	pointer string
}

// entries are the usable keys of a map; what is not usable becomes a problem.
func (r *reader) entries(n *yaml.Node, pointer string) []entry {
	if n.Kind != yaml.MappingNode {
		r.add(n, pointer, "A map is needed here, but this is "+kindOf(n)+". Write key: value lines, or {}.")
		return nil
	}
	var found []entry
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		e := entry{key: n.Content[i].Value, keyNode: n.Content[i], value: n.Content[i+1]}
		e.pointer = pointer + "/" + policy.Escape(e.key)
		if e.keyNode.Kind != yaml.ScalarNode || e.keyNode.Tag != "!!str" {
			r.add(e.keyNode, pointer, "A key must be a name, but this is "+kindOf(e.keyNode)+". Put quotes around it, or remove it.")
			continue
		}
		if line, ok := first[e.key]; ok {
			r.add(e.keyNode, e.pointer, "The key "+shown(e.key)+" is already on line "+strconv.Itoa(line)+". Keep one of them.")
			continue
		}
		first[e.key] = e.keyNode.Line
		found = append(found, e)
	}
	return found
}

// fields hands each known key of a map to its reader; others are problems.
func (r *reader) fields(n *yaml.Node, pointer string, known map[string]func(entry)) {
	for _, e := range r.entries(n, pointer) {
		read, ok := known[e.key]
		switch {
		case ok:
			r.mark(e.value, e.pointer)
			read(e)
		case pointer == "" && isReserved(e.key):
			r.add(e.keyNode, e.pointer, e.key+" is reserved, not yet available. Remove it.")
		default:
			r.add(e.keyNode, e.pointer, "The key "+shown(e.key)+" is not known here. Use "+listKeys(known)+".")
		}
	}
}

// isReserved: keys that later versions of the document will have (P16).
func isReserved(key string) bool {
	switch key {
	case "conditions", "flows", "models", "guards", "waivers", "budgets":
		return true
	}
	return false
}

func (r *reader) text(e entry) string {
	n := e.value
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Value == "" {
		r.add(n, e.pointer, "A text is needed here, but this is "+kindOf(n)+". Write it, in quotes if it looks like something else.")
		return ""
	}
	return n.Value
}

// texts reads a list of texts. An item that cannot be read stays as an empty
// text, so that the others keep their positions.
func (r *reader) texts(e entry) []string {
	out := []string{}
	for _, item := range r.items(e) {
		out = append(out, r.text(item))
	}
	return out
}

func (r *reader) items(e entry) []entry {
	if e.value.Kind != yaml.SequenceNode {
		r.add(e.value, e.pointer, "A list is needed here, but this is "+kindOf(e.value)+". Write [a, b], or [] for none.")
		return nil
	}
	items := make([]entry, len(e.value.Content))
	for i, n := range e.value.Content {
		items[i] = entry{value: n, pointer: e.pointer + "/" + strconv.Itoa(i)}
		r.mark(n, items[i].pointer)
	}
	return items
}

// decimal is how whole numbers are written: YAML's other notations (octal,
// underscores) are easily misread in a rule.
var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,14})$`)

func (r *reader) number(e entry) (int, bool) {
	n := e.value
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || !decimal.MatchString(n.Value) {
		r.add(n, e.pointer, "A whole number is needed here, but this is "+kindOf(n)+". Write it in digits.")
		return 0, false
	}
	value, err := strconv.Atoi(n.Value)
	if err != nil {
		r.add(n, e.pointer, "This number is too large. Write a smaller one.")
	}
	return value, err == nil
}

// positive reads a number for which 0 would mean "not stated" in a Document, so
// that a written 0 is refused and not replaced by a default.
func (r *reader) positive(e entry) int {
	value, ok := r.number(e)
	if ok && value < 1 {
		r.add(e.value, e.pointer, strconv.Itoa(value)+" is not possible here. Write 1 or more.")
	}
	return value
}

func (r *reader) truth(e entry) *bool {
	n := e.value
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.add(n, e.pointer, "true or false is needed here, but this is "+kindOf(n)+".")
		return nil
	}
	value := strings.EqualFold(n.Value, "true")
	return &value
}

// rank reads a rank given by number or by the name of an intent.
func (r *reader) rank(e entry) (policy.Rank, bool) {
	n := e.value
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		rank, ok := r.intents[n.Value]
		if !ok {
			r.add(n, e.pointer, shown(n.Value)+" is not an intent of this document. Use "+listKeys(r.intents)+" or a number from 0 to "+strconv.Itoa(int(policy.RankMax))+".")
		}
		return rank, ok
	}
	value, ok := r.number(e)
	return policy.Rank(value), ok
}
