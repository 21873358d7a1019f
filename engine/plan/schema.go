package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is a compiled JSON Schema with what makes checking cheap. The zero
// value accepts any JSON value.
type schema struct {
	compiled  *jsonschema.Schema // nil accepts anything
	isObject  bool               // accepts every object and nothing else
	isEmptyOK bool               // accepts {}
}

// schemaBytesMax bounds a schema: it is compiled for every check of its plan.
const schemaBytesMax = 256 << 10

var (
	errReference   = errors.New("references are not followed, write the schema out")
	errSchemaBytes = errors.New("it is larger than 256 KiB")
	errNotJSON     = errors.New("it is not one JSON value in UTF-8")
)

// noLoader refuses every document that a schema points to: compiling a schema
// reads no file and opens no connection.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errReference }

// compileSchema compiles a schema of this program's own tools.
func compileSchema(raw json.RawMessage) (s *schema, err error) {
	if len(raw) > schemaBytesMax {
		return nil, errSchemaBytes
	}
	document, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if isTrivial(document) {
		return trivial(document), nil
	}
	// A schema can come with a plan, from outside, and the compiler is not ours:
	// what would be its panic is a schema that does not compile.
	defer func() {
		if cause := recover(); cause != nil {
			s, err = nil, fmt.Errorf("it cannot be compiled: %v", cause)
		}
	}()
	const location = "sluice:schema"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(location, document); err != nil {
		return nil, brief(err)
	}
	compiled, err := compiler.Compile(location)
	if err != nil {
		return nil, brief(err)
	}
	return &schema{compiled: compiled, isEmptyOK: compiled.Validate(map[string]any{}) == nil}, nil
}

// compilePlanSchema compiles a schema that a plan states. References inside it
// are refused: two at each level would make checking one value exponential.
func compilePlanSchema(raw json.RawMessage) (*schema, error) {
	if _, err := Canonical(raw); err != nil {
		return nil, err
	}
	document, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if hasReference(document) {
		return nil, errReference
	}
	return compileSchema(raw)
}

func hasReference(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v { // order-free: any one reference is enough
			_, isText := inner.(string)
			isReference := key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef"
			if isReference && isText || hasReference(inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if hasReference(inner) {
				return true
			}
		}
	}
	return false
}

// isTrivial recognises true, {} and {"type":"object"}, which need no validator.
func isTrivial(document any) bool {
	switch v := document.(type) {
	case bool:
		return v
	case map[string]any:
		return len(v) == 0 || len(v) == 1 && v["type"] == "object"
	}
	return false
}

func trivial(document any) *schema {
	object, _ := document.(map[string]any)
	return &schema{isObject: len(object) == 1, isEmptyOK: true}
}

// isEmptySchema says whether a schema states nothing: true or {}.
func isEmptySchema(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "true":
		return true
	}
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil && len(object) == 0
}

// decode reads one JSON value for the validator; numbers keep their digits.
func decode(raw []byte) (any, error) {
	if !jsontext.Value(raw).IsValid() {
		return nil, errNotJSON
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, errNotJSON
	}
	return value, nil
}

// check validates one JSON value. The error says what is wrong, in one line.
func (s *schema) check(raw []byte) error {
	problems, err := s.problems(raw)
	if err != nil {
		return err
	}
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, 0, problemsShown)
	for _, p := range problems[:min(len(problems), problemsShown)] {
		texts = append(texts, p.String())
	}
	return errors.New(strings.Join(texts, "; "))
}

// problemsShown bounds what one error says of a value with many faults.
const problemsShown = 5

// problem is one place where a value misses its schema.
type problem struct {
	at   []string // keys and indexes from the value's root
	text string
}

func (p problem) String() string {
	if len(p.at) == 0 {
		return p.text
	}
	return strings.Join(p.at, ".") + ": " + p.text
}

// problems lists where a value misses the schema; the error is for what is no
// JSON value at all.
func (s *schema) problems(raw []byte) ([]problem, error) {
	switch {
	case s.isEmptyOK && string(raw) == "{}":
		return nil, nil
	case s.compiled == nil && !jsontext.Value(raw).IsValid():
		return nil, errNotJSON
	case s.isObject && bytes.TrimLeft(raw, " \t\r\n")[0] != '{':
		return []problem{{text: "it is not an object"}}, nil
	case s.compiled == nil:
		return nil, nil
	}
	value, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return validate(s.compiled, value), nil
}

func validate(compiled *jsonschema.Schema, value any) []problem {
	err := compiled.Validate(value)
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []problem{{text: clip(err.Error())}}
	}
	return flatten(invalid, nil)
}

// flatten lists the causes one level down: what stands below an anyOf belongs
// together and is one problem.
func flatten(e *jsonschema.ValidationError, out []problem) []problem {
	if len(e.Causes) == 0 {
		return append(out, problem{at: e.InstanceLocation, text: problemText(e)})
	}
	for _, cause := range e.Causes {
		out = append(out, problem{at: cause.InstanceLocation, text: problemText(cause)})
	}
	return out
}

// problemText takes the words out of a validator's message: "at '/x': words".
func problemText(e *jsonschema.ValidationError) string {
	text := e.Error()
	if at := strings.Index(text, "\n- at '"); strings.HasPrefix(text, "jsonschema validation failed") && at >= 0 {
		text = text[at+len("\n- "):]
	}
	if _, words, ok := strings.Cut(text, "': "); ok {
		text = words
	}
	first, _, _ := strings.Cut(text, "\n")
	const textBytes = 200
	if len(first) > textBytes {
		first = strings.ToValidUTF8(first[:textBytes], "") + "…"
	}
	return first
}

// brief shortens a compiler's error to its last line, which names the place.
func brief(err error) error {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	last := strings.TrimLeft(lines[len(lines)-1], " -")
	return errors.New(clip(last))
}
