package planner

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// shape is the part of a JSON Schema that the planner looks at: which fields
// there are.
type shape struct {
	Properties map[string]shape `json:"properties"`
	Items      *shape           `json:"items"`
	Required   []string         `json:"required"`
}

// shapeOf reads a schema; what cannot be read has no fields.
func shapeOf(schema json.RawMessage) shape {
	var s shape
	if json.Unmarshal(schema, &s) != nil {
		return shape{}
	}
	return s
}

// names lists the properties, sorted.
func (s shape) names() []string {
	var out []string
	for name := range s.Properties { // order-free: sorted below
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// at follows a dot path of keys and indexes.
func (s shape) at(field string) (shape, bool) {
	if field == "" {
		return s, true
	}
	for _, key := range strings.Split(field, ".") {
		if _, err := strconv.Atoi(key); err == nil && s.Items != nil {
			s = *s.Items
			continue
		}
		next, is := s.Properties[key]
		if !is {
			return shape{}, false
		}
		s = next
	}
	return s, true
}

// takes says whether a tool declares a parameter.
func (b *builder) takes(tool, param string) bool {
	declared, is := b.planner.Catalog.Lookup(tool)
	if !is {
		return false
	}
	_, has := shapeOf(declared.Input).Properties[param]
	return has
}

// gives says whether a tool declares a field of its output.
func (b *builder) gives(tool, field string) bool {
	declared, is := b.planner.Catalog.Lookup(tool)
	if !is {
		return false
	}
	_, has := shapeOf(declared.Output).at(field)
	return has
}
