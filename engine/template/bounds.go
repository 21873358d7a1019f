package template

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"sluice/engine/plan"
)

// bounds is what a tool's schema says of one value, as far as a slot can say it.
type bounds struct {
	about    string
	enum     []json.RawMessage
	min, max *float64
}

// schemaPart is what is read of a schema.
type schemaPart struct {
	Description string                     `json:"description"`
	Enum        []json.RawMessage          `json:"enum"`
	Minimum     *float64                   `json:"minimum"`
	Maximum     *float64                   `json:"maximum"`
	MinLength   *float64                   `json:"minLength"`
	MaxLength   *float64                   `json:"maxLength"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Items       json.RawMessage            `json:"items"`
}

// boundsOf reads what a tool asks of the value at a pointer below its parameters.
func boundsOf(tool *plan.Tool, pointer []string, value json.RawMessage) bounds {
	raw, about := tool.Input, ""
	var part schemaPart
	for i := 0; ; i++ {
		part = schemaPart{}
		if len(raw) == 0 || json.Unmarshal(raw, &part) != nil {
			return bounds{about: about}
		}
		if part.Description != "" {
			about = part.Description
		}
		if i == len(pointer) {
			break
		}
		if inner, is := part.Properties[unescape(pointer[i])]; is {
			raw = inner
			continue
		}
		raw = part.Items
	}
	b := bounds{about: shortened(about), min: part.Minimum, max: part.Maximum}
	kind := typeOf(value)
	if kind == String {
		b.min, b.max = part.MinLength, part.MaxLength
	}
	for _, choice := range part.Enum {
		if choice = bytes.TrimSpace(choice); len(choice) > 0 && typeOf(choice) == kind {
			b.enum = append(b.enum, choice)
		}
	}
	if len(b.enum) > EnumMax {
		b.enum = nil
	}
	return b
}

// aboutMax is in characters.
const aboutMax = 200

// shortened is the first sentence, within the limit of a slot's description.
func shortened(text string) string {
	if end := strings.IndexAny(text, ".;"); end > 0 {
		text = text[:end]
	}
	if utf8.RuneCountInString(text) > aboutMax {
		return string([]rune(text)[:aboutMax-1]) + "…"
	}
	return text
}

// both is what two places of one slot agree on: the tighter limits, and choices
// that both offer.
func (b bounds) both(o bounds) bounds {
	if o.min != nil && (b.min == nil || *o.min > *b.min) {
		b.min = o.min
	}
	if o.max != nil && (b.max == nil || *o.max < *b.max) {
		b.max = o.max
	}
	if b.enum == nil || o.enum == nil {
		b.enum = append(b.enum, o.enum...)
		return b
	}
	var shared []json.RawMessage
	for _, x := range b.enum {
		for _, y := range o.enum {
			if bytes.Equal(x, y) {
				shared = append(shared, x)
			}
		}
	}
	b.enum = shared
	return b
}

// SlotAt names the slot that a pointer into an instance's plan is about, "" when
// none stands there.
func (t *Template) SlotAt(pointer string) string {
	for _, p := range places(t.Plan) {
		for _, u := range uses(p.value(t.Plan)) {
			at := p.pointer + u.pointer
			// A finding about a part above the slot is about it when it is the only one there.
			if pointer == at || strings.HasPrefix(pointer, at+"/") || pointer == p.pointer && len(uses(p.value(t.Plan))) == 1 {
				return u.name
			}
		}
	}
	return ""
}
