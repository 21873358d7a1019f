package plan

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// layersMax bounds how many schemas that hold together are looked at.
const layersMax = 32

// layers are the schemas that all hold for one value: the schema, what it
// references and the members of its allOf.
func layers(s *jsonschema.Schema) []*jsonschema.Schema {
	if s == nil {
		return nil
	}
	found := []*jsonschema.Schema{s}
	for i := 0; i < len(found) && len(found) < layersMax; i++ {
		next := found[i].AllOf
		if found[i].Ref != nil {
			next = append(slices.Clone(next), found[i].Ref)
		}
		for _, n := range next {
			if !slices.Contains(found, n) {
				found = append(found, n)
			}
		}
	}
	return found
}

// property gives the schemas that one layer has for a key; false means that the
// layer forbids the key.
func property(layer *jsonschema.Schema, name string) ([]*jsonschema.Schema, bool) {
	if layer.Bool != nil {
		return nil, *layer.Bool
	}
	var found []*jsonschema.Schema
	if s, ok := layer.Properties[name]; ok {
		found = append(found, s)
	}
	for pattern, s := range layer.PatternProperties { // order-free: every schema found counts alike
		if pattern.MatchString(name) {
			found = append(found, s)
		}
	}
	if len(found) > 0 {
		return found, true
	}
	switch additional := layer.AdditionalProperties.(type) {
	case bool:
		return nil, additional
	case *jsonschema.Schema:
		if additional.Bool != nil {
			return nil, *additional.Bool
		}
		return []*jsonschema.Schema{additional}, true
	}
	return nil, hasBranches(layer) || !forbids(layer.UnevaluatedProperties)
}

// hasBranches says whether other schemas evaluate a part of the same value, so
// that "unevaluated" means less than "not named here".
func hasBranches(s *jsonschema.Schema) bool {
	return s.Ref != nil || s.DynamicRef != nil || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.If != nil || s.DependentSchemas != nil
}

func forbids(s *jsonschema.Schema) bool { return s != nil && s.Bool != nil && !*s.Bool }

// item gives the schemas that one layer has for an index; false means that no
// array it accepts is so long.
func item(layer *jsonschema.Schema, at int) ([]*jsonschema.Schema, bool) {
	switch {
	case layer.Bool != nil:
		return nil, *layer.Bool
	case layer.MaxItems != nil && at >= *layer.MaxItems:
		return nil, false
	case at < len(layer.PrefixItems):
		return []*jsonschema.Schema{layer.PrefixItems[at]}, true
	case layer.Items2020 == nil:
		return nil, hasBranches(layer) || !forbids(layer.UnevaluatedItems)
	case forbids(layer.Items2020):
		return nil, false
	}
	return []*jsonschema.Schema{layer.Items2020}, true
}

// reach follows a path through a schema as far as the schema is closed. ok is
// false when no value that the schema accepts has anything at path; types are
// the JSON types a value there can have, nil when the schema does not say.
func reach(s *jsonschema.Schema, path []string) (types []string, ok bool) {
	current := layers(s)
	for _, part := range path {
		var next []*jsonschema.Schema
		for _, layer := range current {
			found, isAllowed := step(layer, part)
			if !isAllowed {
				return nil, false
			}
			for _, f := range found {
				next = append(next, layers(f)...)
			}
		}
		if len(next) > layersMax {
			// More than this cannot be said with little work: the run will tell.
			return nil, true
		}
		current = next
	}
	return typesOf(current), true
}

// step goes one key or index down in one layer.
func step(layer *jsonschema.Schema, part string) ([]*jsonschema.Schema, bool) {
	isObject, isArray := accepts(layer, "object"), accepts(layer, "array")
	at, isIndex := index(part)
	isArray = isArray && isIndex
	switch {
	case !isObject && !isArray:
		return nil, false
	case isObject && isArray:
		// Either may stand here: nothing is certain below.
		return nil, true
	case isArray:
		return item(layer, at)
	}
	return property(layer, part)
}

// accepts says whether a layer lets a value be of a type.
func accepts(layer *jsonschema.Schema, name string) bool {
	if layer.Bool != nil {
		return *layer.Bool
	}
	return layer.Types == nil || layer.Types.IsEmpty() || slices.Contains(layer.Types.ToStrings(), name)
}

// typesOf intersects what the layers say of a value's type.
func typesOf(all []*jsonschema.Schema) []string {
	var types []string
	for _, layer := range all {
		if layer.Types == nil || layer.Types.IsEmpty() {
			continue
		}
		own := layer.Types.ToStrings()
		if types == nil {
			types = own
			continue
		}
		types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return !fits(own, t) })
	}
	return types
}

// fits says whether a value of a type can be of one of the types wanted: every
// integer is a number, and a number may be an integer.
func fits(want []string, have string) bool {
	isNumber := have == "integer" || have == "number"
	return slices.Contains(want, have) || isNumber && (slices.Contains(want, "number") || slices.Contains(want, "integer"))
}
