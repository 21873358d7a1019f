package document

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Errors of edits. The text is as it was.
var (
	ErrNoPlace  = errors.New("there is no such place in the document")
	ErrNotYAML  = errors.New("the text is not YAML yet; mend it first")
	ErrKeyTaken = errors.New("there is an entry of this name already")
)

// Field is one entry of a map, in the order it is to be written.
type Field struct {
	Key   string
	Value any
}

// Set writes a value where a pointer leads, making what is missing on the way;
// "-" as last token appends to a list. A value is a string, an int, a bool, a
// []string or a []Field of these. Only the section that holds the place
// is written anew: its comments stay, its layout may change.
func Set(text []byte, pointer string, value any) ([]byte, error) {
	return change(text, pointer, func(path []string, root *yaml.Node) error {
		parent, key, err := walk(root, path, true)
		if err != nil {
			return err
		}
		return put(parent, key, nodeOf(value))
	})
}

// Remove takes the entry away to which a pointer leads.
func Remove(text []byte, pointer string) ([]byte, error) {
	return change(text, pointer, func(path []string, root *yaml.Node) error {
		parent, key, err := walk(root, path, false)
		if err != nil {
			return err
		}
		at, width := position(parent, key), 1
		if parent.Kind == yaml.MappingNode {
			width = 2
		}
		if at < 0 {
			return ErrNoPlace
		}
		parent.Content = append(parent.Content[:at], parent.Content[at+width:]...)
		if len(parent.Content) == 0 {
			parent.Style |= yaml.FlowStyle // {} or []
		}
		return nil
	})
}

// Rename gives an entry of a map another key.
func Rename(text []byte, pointer, to string) ([]byte, error) {
	return change(text, pointer, func(path []string, root *yaml.Node) error {
		parent, key, err := walk(root, path, false)
		if err != nil {
			return err
		}
		at := position(parent, key)
		if at < 0 || parent.Kind != yaml.MappingNode {
			return ErrNoPlace
		}
		if to != key && position(parent, to) >= 0 {
			return ErrKeyTaken
		}
		old := parent.Content[at]
		renamed := nodeOf(to)
		renamed.HeadComment, renamed.LineComment, renamed.FootComment = old.HeadComment, old.LineComment, old.FootComment
		parent.Content[at] = renamed
		return nil
	})
}

// change applies an edit to the section of the text that a pointer is in.
func change(text []byte, pointer string, edit func(path []string, root *yaml.Node) error) ([]byte, error) {
	path := split(pointer)
	if len(path) == 0 {
		return nil, ErrNoPlace
	}
	root, problem := load(text)
	if problem != nil || root.Kind != yaml.MappingNode {
		return nil, ErrNotYAML
	}
	from, to := 0, len(text)
	if root.Style&yaml.FlowStyle == 0 {
		from, to = section(text, root, path[0])
	}
	part := &yaml.Node{Kind: yaml.MappingNode}
	if len(bytes.TrimSpace(text[from:to])) > 0 {
		if part, problem = load(text[from:to]); problem != nil {
			return nil, ErrNotYAML
		}
	}
	if err := edit(path, part); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Write(text[:from])
	if from > 0 && text[from-1] != '\n' {
		out.WriteByte('\n')
	}
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(part); err != nil {
		return nil, err
	}
	out.Write(text[to:])
	return out.Bytes(), nil
}

// section is the range of whole lines that a top-level key and what is under it
// take. What stands between sections unindented (blank lines, comments) is in
// none. A key that is not there yet has an empty range at the end.
func section(text []byte, root *yaml.Node, key string) (from, to int) {
	starts := make([]int, 1, 64)
	for i, c := range text {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	begin := func(line int) int {
		if line > len(starts) {
			return len(text)
		}
		return starts[line-1]
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != key {
			continue
		}
		first, behind := root.Content[i].Line, len(starts)+1
		if i+2 < len(root.Content) {
			behind = root.Content[i+2].Line
		}
		for behind > first+1 && isBetween(text[begin(behind-1):begin(behind)]) {
			behind--
		}
		return begin(first), begin(behind)
	}
	return len(text), len(text)
}

func isBetween(line []byte) bool {
	return len(bytes.TrimSpace(line)) == 0 || line[0] == '#'
}

// split reads an RFC 6901 pointer.
func split(pointer string) []string {
	if !strings.HasPrefix(pointer, "/") {
		return nil
	}
	path := strings.Split(pointer[1:], "/")
	for i := range path {
		path[i] = strings.ReplaceAll(strings.ReplaceAll(path[i], "~1", "/"), "~0", "~")
	}
	return path
}

// walk gives the container of a path's last token.
func walk(root *yaml.Node, path []string, makes bool) (parent *yaml.Node, key string, err error) {
	at := root
	for i, token := range path[:len(path)-1] {
		pos := position(at, token)
		if pos < 0 && !makes {
			return nil, "", ErrNoPlace
		}
		if pos < 0 {
			if err := put(at, token, empty(path[i+1])); err != nil {
				return nil, "", err
			}
			pos = position(at, token)
		}
		if pos < 0 {
			return nil, "", ErrNoPlace // appended to a list, where nothing can be below
		}
		next := value(at, pos)
		if next.Kind == yaml.ScalarNode && makes && next.Tag == "!!null" {
			made := empty(path[i+1])
			next.Kind, next.Tag, next.Value, next.Style = made.Kind, "", "", 0
		}
		at = next
	}
	if at.Kind != yaml.MappingNode && at.Kind != yaml.SequenceNode {
		return nil, "", ErrNoPlace
	}
	return at, path[len(path)-1], nil
}

func empty(below string) *yaml.Node {
	if _, err := strconv.Atoi(below); err == nil || below == "-" {
		return &yaml.Node{Kind: yaml.SequenceNode}
	}
	return &yaml.Node{Kind: yaml.MappingNode}
}

// position is where a key's node stands in a map, or an item in a list, -1 for
// nowhere.
func position(n *yaml.Node, key string) int {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return i
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.Content) {
			return i
		}
	}
	return -1
}

func value(n *yaml.Node, pos int) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		return n.Content[pos+1]
	}
	return n.Content[pos]
}

func put(parent *yaml.Node, key string, v *yaml.Node) error {
	pos := position(parent, key)
	switch {
	case pos >= 0 && parent.Kind == yaml.MappingNode:
		keepComments(parent.Content[pos+1], v)
		parent.Content[pos+1] = v
	case pos >= 0:
		keepComments(parent.Content[pos], v)
		parent.Content[pos] = v
	case parent.Kind == yaml.MappingNode:
		open(parent, v)
		parent.Content = append(parent.Content, nodeOf(key), v)
	case parent.Kind == yaml.SequenceNode && key == "-":
		open(parent, v)
		parent.Content = append(parent.Content, v)
	default:
		return ErrNoPlace
	}
	return nil
}

func keepComments(old, v *yaml.Node) {
	v.HeadComment, v.LineComment, v.FootComment = old.HeadComment, old.LineComment, old.FootComment
	if old.Kind == v.Kind && v.Kind == yaml.ScalarNode && v.Tag == old.Tag {
		v.Style = old.Style
	}
}

// open writes {} and [] over several lines once something larger goes in.
func open(parent, v *yaml.Node) {
	if len(parent.Content) == 0 && (parent.Kind == yaml.MappingNode || v.Kind == yaml.MappingNode) {
		parent.Style &^= yaml.FlowStyle
	}
	if len(parent.Content) == 0 && parent.Kind == yaml.SequenceNode && v.Kind == yaml.ScalarNode {
		parent.Style |= yaml.FlowStyle
	}
}

func nodeOf(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
	case int:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(v)}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case []string:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range v {
			n.Content = append(n.Content, nodeOf(item))
		}
		return n
	case []Field:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, f := range v {
			n.Content = append(n.Content, nodeOf(f.Key), nodeOf(f.Value))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}
