package plan

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// ErrMissingField means that an output has nothing at the path of a reference
// or guard. R9: the step fails at once and no call is made.
var ErrMissingField = errors.New("the field is missing")

// Resolve takes the reference's value out of the verified output of its step
// and returns it canonical. With a template the value is inserted as data, a
// string as it is and anything else as JSON, and the result is a JSON string.
func (r *CompiledRef) Resolve(output []byte) ([]byte, error) {
	raw, ok := Field(output, r.Path)
	if !ok {
		return nil, fmt.Errorf("read %q: %w", r.Field, ErrMissingField)
	}
	value, err := Canonical(raw)
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", r.Field, err)
	}
	if r.Template == "" {
		return value, nil
	}
	text := string(value)
	if value[0] == '"' {
		text = gjson.ParseBytes(value).String()
	}
	before, after, _ := strings.Cut(r.Template, valueSlot)
	return appendString(nil, before+text+after), nil
}
