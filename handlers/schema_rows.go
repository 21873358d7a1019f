package handlers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/web/templates"
)

// Limits on what a page shows of a schema.
const (
	schemaRowsMax  = 200
	schemaDepthMax = 4
)

// schemaPart is what a page shows of a JSON Schema.
type schemaPart struct {
	Type        any                        `json:"type"`
	Description string                     `json:"description"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
	Items       json.RawMessage            `json:"items"`
	Enum        []any                      `json:"enum"`
	Default     any                        `json:"default"`
	Pattern     string                     `json:"pattern"`
	MinLength   *json.Number               `json:"minLength"`
	MaxLength   *json.Number               `json:"maxLength"`
	Minimum     *json.Number               `json:"minimum"`
	Maximum     *json.Number               `json:"maximum"`
	MinItems    *json.Number               `json:"minItems"`
	MaxItems    *json.Number               `json:"maxItems"`
}

// schemaRows lists the fields of a schema; those of objects inside come with
// their path.
func schemaRows(raw []byte) []templates.SchemaRow {
	var rows []templates.SchemaRow
	schemaFields(raw, "", 0, &rows)
	return rows
}

func schemaFields(raw []byte, prefix string, depth int, rows *[]templates.SchemaRow) {
	var p schemaPart
	if len(raw) == 0 || depth > schemaDepthMax || json.Unmarshal(raw, &p) != nil {
		return
	}
	for _, name := range sortedKeys(p.Properties) {
		if len(*rows) >= schemaRowsMax {
			return
		}
		var field schemaPart
		if json.Unmarshal(p.Properties[name], &field) != nil {
			continue
		}
		*rows = append(*rows, templates.SchemaRow{Name: plain(prefix + name), Type: schemaType(&field), Limits: schemaLimits(&field),
			About: plain(field.Description), Required: slices.Contains(p.Required, name)})
		schemaFields(p.Properties[name], prefix+name+".", depth+1, rows)
		if len(field.Items) > 0 {
			schemaFields(field.Items, prefix+name+"[].", depth+1, rows)
		}
	}
}

func schemaType(p *schemaPart) string {
	word := ""
	switch t := p.Type.(type) {
	case string:
		word = t
	case []any:
		words := make([]string, len(t))
		for i := range t {
			words[i] = fmt.Sprint(t[i])
		}
		word = strings.Join(words, " or ")
	}
	var item schemaPart
	if word == "array" && len(p.Items) > 0 && json.Unmarshal(p.Items, &item) == nil {
		return "list of " + schemaType(&item)
	}
	if word == "" {
		return "any"
	}
	return word
}

func schemaLimits(p *schemaPart) string {
	var parts []string
	span := func(low, high *json.Number, unit string) {
		switch {
		case low != nil && high != nil:
			parts = append(parts, low.String()+" to "+high.String()+unit)
		case low != nil:
			parts = append(parts, "from "+low.String()+unit)
		case high != nil:
			parts = append(parts, "up to "+high.String()+unit)
		}
	}
	span(p.MinLength, p.MaxLength, " characters")
	span(p.Minimum, p.Maximum, "")
	span(p.MinItems, p.MaxItems, " items")
	if len(p.Enum) > 0 {
		words := make([]string, len(p.Enum))
		for i := range p.Enum {
			words[i] = fmt.Sprint(p.Enum[i])
		}
		parts = append(parts, "one of "+strings.Join(words, ", "))
	}
	if p.Pattern != "" {
		parts = append(parts, "matches "+p.Pattern)
	}
	if p.Default != nil {
		parts = append(parts, "default "+defaultWord(p.Default))
	}
	return plain(strings.Join(parts, "; "))
}

func defaultWord(v any) string {
	if f, isNumber := v.(float64); isNumber {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
