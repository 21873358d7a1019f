package handlers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Limits on what a page shows of one value.
const (
	leavesMax     = 100  // leaves of one parameter
	valueRunesMax = 2000 // of one leaf
	previewLines  = 40
)

// plain makes text safe to read: control characters, direction marks and
// zero-width characters are shown as their code points, so that a value cannot
// look like another one (security.md: terminal and bidi spoofing).
func plain(s string) string {
	clean := true
	for _, r := range s {
		if hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "\\u%04X", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Plain is plain for the terminal: what a model or a file says must not move its
// cursor, set its title or turn its lines.
func Plain(s string) string { return plain(s) }

func hidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}

// hides says whether any text in a JSON value has characters that do not show,
// however they are escaped in it.
func hides(raw []byte) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return strings.ContainsFunc(string(raw), hidden)
	}
	var walk func(v any) bool
	walk = func(v any) bool {
		switch v := v.(type) {
		case string:
			return strings.ContainsFunc(v, hidden)
		case []any:
			return slices.ContainsFunc(v, walk)
		case map[string]any:
			for k, e := range v {
				if strings.ContainsFunc(k, hidden) || walk(e) {
					return true
				}
			}
		}
		return false
	}
	return walk(v)
}

// leaf is one scalar of a JSON value with its path.
type leaf struct{ path, value string }

// leaves flattens a value; what is beyond the limit is counted, not hidden.
func leaves(name string, raw []byte) []leaf {
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return []leaf{{name, plain(string(raw))}}
	}
	var list []leaf
	flatten(name, v, &list)
	if len(list) > leavesMax {
		more := len(list) - leavesMax
		list = append(list[:leavesMax], leaf{name, "… and " + strconv.Itoa(more) + " more values"})
	}
	return list
}

func flatten(path string, v any, list *[]leaf) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			for _, k := range sortedKeys(v) {
				flatten(path+"."+plain(k), v[k], list)
			}
			return
		}
		*list = append(*list, leaf{path, "{}"})
	case []any:
		if len(v) > 0 {
			for i, e := range v {
				flatten(path+"."+strconv.Itoa(i), e, list)
			}
			return
		}
		*list = append(*list, leaf{path, "[]"})
	case string:
		*list = append(*list, leaf{path, shorten(plain(v))})
	case nil:
		*list = append(*list, leaf{path, "null"})
	default:
		*list = append(*list, leaf{path, fmt.Sprint(v)})
	}
}

// shorten cuts in the middle of nothing a reader must see: it says how much is left out.
func shorten(s string) string {
	runes := []rune(s)
	if len(runes) <= valueRunesMax {
		return s
	}
	return string(runes[:valueRunesMax]) + fmt.Sprintf("… (%d characters in all)", len(runes))
}

// indented is JSON for people.
func indented(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return plain(string(raw))
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if e.Encode(v) != nil {
		return plain(string(raw))
	}
	return plain(strings.TrimRight(b.String(), "\n"))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
