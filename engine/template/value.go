package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/engine/plan"
)

// integerMax is the largest whole number that JSON readers agree on.
const integerMax = 1 << 53

// withArticle is the type as a sentence names it.
func (t Type) withArticle() string {
	if t == Integer {
		return "a whole number"
	}
	return "a " + string(t)
}

// typed says why a value is not of the slot's type, "" when it is.
func (s *Slot) typed(raw json.RawMessage) string {
	if len(raw) > ValueBytesMax {
		return fmt.Sprintf("The value has %d bytes, at most %d are allowed.", len(raw), ValueBytesMax)
	}
	wrong := "This is not a " + string(s.Type) + "."
	if s.Type == Integer {
		wrong = "This is not a whole number within ±2^53."
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return wrong
	}
	switch x := v.(type) {
	case string:
		if s.Type == String && utf8.Valid(raw) && !strings.ContainsRune(x, 0) {
			return ""
		}
	case bool:
		if s.Type == Boolean {
			return ""
		}
	case float64:
		if s.Type == Number || s.Type == Integer && x == math.Trunc(x) && math.Abs(x) <= integerMax {
			return ""
		}
	}
	return wrong
}

// valueProblem says why slot i does not take a value, "" when it does.
func (t *Template) valueProblem(i int, raw json.RawMessage) string {
	s := &t.Slots[i]
	if why := s.typed(raw); why != "" {
		return why
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return "This is not JSON."
	}
	if len(s.Enum) > 0 && !s.offers(raw) {
		return "This is not one of the choices."
	}
	size, what := 0.0, "The value is"
	switch x := v.(type) {
	case float64:
		size = x
	case string:
		if p := t.patterns[i]; p != nil && !p.MatchString(x) {
			return "This does not have the form " + s.Pattern + "."
		}
		size, what = float64(utf8.RuneCountInString(x)), "The number of characters is"
	default:
		return ""
	}
	switch {
	case s.Min != nil && size < *s.Min:
		return what + " less than " + text(*s.Min) + "."
	case s.Max != nil && size > *s.Max:
		return what + " more than " + text(*s.Max) + "."
	}
	return ""
}

func (s *Slot) offers(raw json.RawMessage) bool {
	want, err := plan.Canonical(raw)
	if err != nil {
		return false
	}
	for _, choice := range s.Enum {
		if c, err := plan.Canonical(choice); err == nil && bytes.Equal(c, want) {
			return true
		}
	}
	return false
}

func text(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Read turns what a person typed into a value of the slot; what is not of its
// type comes back as it is, so that checking says so.
func (s *Slot) Read(typed string) json.RawMessage {
	switch s.Type {
	case Integer, Number:
		n := strings.TrimSpace(typed)
		if _, err := strconv.ParseFloat(n, 64); err == nil && json.Valid([]byte(n)) {
			return json.RawMessage(n)
		}
	case Boolean:
		switch strings.ToLower(strings.TrimSpace(typed)) {
		case "true", "yes", "on", "1":
			return json.RawMessage("true")
		case "false", "no", "off", "0", "":
			return json.RawMessage("false")
		}
	}
	raw, err := marshal(typed)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// Words is a value as people read it.
func Words(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// shownMax is in characters.
const shownMax = 120

// ShownValue is a value in one short line, with its slots as {name}.
func ShownValue(raw json.RawMessage) string {
	var v any
	if decodeNumbers(raw, &v) != nil {
		return string(raw)
	}
	text, err := marshal(named(v))
	if err != nil {
		return string(raw)
	}
	line := strings.Join(strings.Fields(Words(text)), " ")
	if r := []rune(line); len(r) > shownMax {
		return string(r[:shownMax-1]) + "…"
	}
	return line
}

// named puts {name} where a slot stands.
func named(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, is := v[slotKey].(string); is && len(v) == 1 {
			return "{" + name + "}"
		}
		for k := range v { // order-free: replaces each member by itself
			v[k] = named(v[k])
		}
	case []any:
		for i := range v {
			v[i] = named(v[i])
		}
	}
	return v
}

// marshal writes JSON without HTML escapes.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write template: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// strict refuses unknown members.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
