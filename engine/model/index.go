package model

import (
	"encoding/json"
	"slices"
	"strings"

	"sluice/engine/plan"
	"sluice/engine/planner"
)

// toolsMax is how many tools a planner sees at once (design §4).
const toolsMax = 15

// Bounds of one line of the index: about 30 tokens (R11).
const (
	lineBytesMax   = 150
	outputNamesMax = 5
)

// Tools is the compiled index of tools (R11): names and one line each, never a
// schema.
type Tools struct {
	Catalog *plan.Catalog
	Search  planner.Index // by relevance; nil: by name
}

// lines gives the index for a question, of the tools that may be shown, in the
// order of names: the same tools give the same prompt.
func (t *Tools) lines(visible []string, words ...string) []string {
	names := slices.DeleteFunc(t.Catalog.Names(), func(name string) bool { return !slices.Contains(visible, name) })
	if len(names) > toolsMax {
		names = t.relevant(names, words)
	}
	lines := make([]string, len(names))
	for i, name := range names {
		tool, _ := t.Catalog.Lookup(name)
		lines[i] = toolLine(tool)
	}
	return lines
}

// relevant keeps the tools that the words are most about, and fills up by name.
func (t *Tools) relevant(names, words []string) []string {
	order := append(t.found(words), names...)
	order = slices.DeleteFunc(order, func(name string) bool { return !slices.Contains(names, name) })
	set := map[string]bool{}
	for _, name := range order {
		if len(set) < toolsMax {
			set[name] = true
		}
	}
	return sorted(set)
}

// found gives the tools the words are about, best first. A failing index changes
// which tools are seen, never whether any are.
func (t *Tools) found(words []string) []string {
	if t.Search == nil {
		return nil
	}
	hits, err := t.Search.Search(termsOf(words), len(t.Catalog.Names()))
	if err != nil {
		return nil
	}
	names := make([]string, len(hits))
	for i := range hits {
		names[i] = hits[i].Tool
	}
	return names
}

func termsOf(words []string) []string {
	var terms []string
	for _, text := range words {
		terms = append(terms, strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80
		})...)
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// toolLine is name(needed, optional?) -> output fields: summary.
func toolLine(t *plan.Tool) string {
	line := t.Name + "(" + strings.Join(parameters(t.Input), ", ") + ")"
	if out := outputs(t); len(out) > 0 {
		line += " -> " + strings.Join(out, ", ")
	}
	if room := lineBytesMax - len(line) - 2; len(t.Summary) > room {
		return line + ": " + firstWords(t.Summary, max(room, 40))
	}
	return line + ": " + t.Summary
}

// firstWords cuts a text between words.
func firstWords(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if i := strings.LastIndexByte(text[:limit], ' '); i > 0 {
		text = text[:i]
	} else {
		text = strings.ToValidUTF8(text[:limit], "")
	}
	return strings.TrimRight(text, " ,;:") + "…"
}

// shape is what the index reads of a schema.
type shape struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

func shapeOf(schema json.RawMessage) shape {
	var s shape
	if json.Unmarshal(schema, &s) != nil {
		return shape{}
	}
	return s
}

// parameters names the needed ones first, then those that may be left out.
func parameters(schema json.RawMessage) []string {
	s := shapeOf(schema)
	needed := slices.Clone(s.Required)
	slices.Sort(needed)
	var optional []string
	for name := range s.Properties {
		if !slices.Contains(needed, name) {
			optional = append(optional, name+"?")
		}
	}
	slices.Sort(optional)
	return append(needed, optional...)
}

// outputs names the first fields of an output: the required ones before others,
// and none that only repeat a parameter.
func outputs(t *plan.Tool) []string {
	out, in := shapeOf(t.Output), shapeOf(t.Input)
	var rest []string
	for name := range out.Properties {
		if !slices.Contains(out.Required, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	names := slices.DeleteFunc(append(slices.Clone(out.Required), rest...), func(name string) bool {
		_, repeats := in.Properties[name]
		return repeats
	})
	if len(names) > outputNamesMax {
		names = append(names[:outputNamesMax:outputNamesMax], "…")
	}
	return names
}
