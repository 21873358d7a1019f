package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// reader walks one JSON document strictly and keeps going where it can: a
// duplicate key, a wrong type or a bent integer is a finding, only broken syntax
// ends the reading. It never holds more of the document than the document.
type reader struct {
	doc      []byte
	dec      *jsontext.Decoder
	path     []string // reference tokens from the root to the value being read
	found    *collector
	isEnded  bool // nothing more can be read
	isBroken bool // a part that other parts build on could not be read
}

// keysInline is how many keys of one object are compared one by one before a
// map is worth its cost.
const keysInline = 16

func newReader(doc []byte, found *collector) *reader {
	// Duplicate names are found by the reader itself, to go on after them.
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowDuplicateNames(true))
	return &reader{doc: doc, dec: dec, found: found}
}

// pointer is the RFC 6901 pointer of the value being read.
func (r *reader) pointer() string {
	var b strings.Builder
	for _, token := range r.path {
		b.WriteByte('/')
		b.WriteString(escape(token))
	}
	return b.String()
}

func (r *reader) report(rule, message, fix string) {
	r.found.add(Finding{Rule: rule, Pointer: r.pointer(), Message: message, Fix: fix})
}

// kind is the kind of the next value; 0 at the end or at broken syntax.
func (r *reader) kind() jsontext.Kind {
	if r.isEnded {
		return 0
	}
	return r.dec.PeekKind()
}

// object reads an object and calls each for every key, which must consume the
// value. Duplicate keys are findings; the first one counts.
func (r *reader) object(each func(key string)) bool {
	if !r.open('{', "an object") {
		return false
	}
	var few []string
	var many map[string]bool
	for !r.isEnded && r.dec.PeekKind() != '}' {
		token, err := r.dec.ReadToken()
		if err != nil {
			r.fail(err)
			return false
		}
		key := token.String()
		r.path = append(r.path, key)
		if isRepeated(key, few, many) {
			r.report("P08", fmt.Sprintf("The key %s stands twice in one object.", quote(key)), "Keep one of them.")
			r.skip()
		} else {
			few, many = remember(key, few, many)
			each(key)
		}
		r.path = r.path[:len(r.path)-1]
	}
	return r.closing()
}

func isRepeated(key string, few []string, many map[string]bool) bool {
	if many != nil {
		return many[key]
	}
	for _, k := range few {
		if k == key {
			return true
		}
	}
	return false
}

func remember(key string, few []string, many map[string]bool) ([]string, map[string]bool) {
	if many == nil && len(few) == keysInline {
		many = make(map[string]bool, 4*keysInline)
		for _, k := range few {
			many[k] = true
		}
	}
	if many != nil {
		many[key] = true
		return nil, many
	}
	return append(few, key), nil
}

// array reads an array and calls each for every element, which must consume it.
func (r *reader) array(each func(i int)) bool {
	if !r.open('[', "an array") {
		return false
	}
	for i := 0; !r.isEnded && r.dec.PeekKind() != ']'; i++ {
		r.path = append(r.path, strconv.Itoa(i))
		each(i)
		r.path = r.path[:len(r.path)-1]
	}
	return r.closing()
}

// open consumes the start of an object or array, if that is what follows and
// the document is not nested too deep (P14).
func (r *reader) open(want jsontext.Kind, name string) bool {
	if r.isEnded {
		return false
	}
	if kind := r.dec.PeekKind(); kind != want {
		r.mistyped(name)
		return false
	}
	if r.dec.StackDepth() >= DepthMax {
		r.tooDeep()
		return false
	}
	if _, err := r.dec.ReadToken(); err != nil {
		r.fail(err)
		return false
	}
	return true
}

func (r *reader) closing() bool {
	if r.isEnded {
		return false
	}
	if _, err := r.dec.ReadToken(); err != nil {
		r.fail(err)
		return false
	}
	return true
}

// tooDeep reports the nesting and steps over it. What cannot even be stepped
// over ends the reading without a second finding about the same place.
func (r *reader) tooDeep() {
	r.report("P14", fmt.Sprintf("The document is nested deeper than %d levels.", DepthMax), "Flatten the value.")
	r.isBroken = true
	if err := r.dec.SkipValue(); err != nil {
		r.isEnded = true
	}
}

// skip reads a value that has no use, so that what is wrong inside is still found.
func (r *reader) skip() { r.raw() }

// raw reads any value and returns it as written. Inside it duplicate keys, bent
// integers and depth are found as everywhere.
func (r *reader) raw() json.RawMessage {
	switch r.kind() {
	case '{':
		return r.span(func() { r.object(func(string) { r.skip() }) })
	case '[':
		return r.span(func() { r.array(func(int) { r.skip() }) })
	case '0':
		value, _ := r.number()
		return json.RawMessage(value)
	}
	return r.scalar()
}

// span returns what read consumed, without the space before it.
func (r *reader) span(read func()) json.RawMessage {
	start := r.dec.InputOffset()
	read()
	end := r.dec.InputOffset()
	// Between two values stand only space, a colon or a comma.
	return json.RawMessage(bytes.TrimLeft(r.doc[start:end:end], " \t\r\n:,"))
}

// scalar reads one value that is no object or array, as written.
func (r *reader) scalar() json.RawMessage {
	if r.isEnded {
		return nil
	}
	value, err := r.dec.ReadValue()
	if err != nil {
		r.fail(err)
		return nil
	}
	end := r.dec.InputOffset()
	return json.RawMessage(r.doc[end-int64(len(value)) : end : end])
}

// number reads a number as written.
func (r *reader) number() (string, bool) {
	if r.kind() != '0' {
		r.mistyped("a number")
		return "", false
	}
	raw := r.scalar()
	if raw == nil {
		return "", false
	}
	if err := checkNumber(string(raw)); err != nil {
		r.report("P14", fmt.Sprintf("The number %s cannot be kept exactly: %s.", clip(string(raw)), err), "Use a smaller number, or write it as a string.")
		return "0", false
	}
	return string(raw), true
}

// text reads a string.
func (r *reader) text() (string, bool) {
	if r.kind() != '"' {
		r.mistyped("a string")
		return "", false
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		r.fail(err)
		return "", false
	}
	return token.String(), true
}

// integer reads an integer between least and most, both included.
func (r *reader) integer(least, most int64) (int, bool) {
	if r.kind() != '0' {
		r.mistyped("an integer")
		return 0, false
	}
	raw, ok := r.number()
	if !ok {
		return 0, false
	}
	value, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || value < least || value > most {
		r.report("P08", fmt.Sprintf("%s is not an integer from %d to %d.", clip(raw), least, most), fmt.Sprintf("Write an integer from %d to %d.", least, most))
		return 0, false
	}
	return int(value), true
}

// mistyped reports that something else stands where want was expected, and
// steps over it.
func (r *reader) mistyped(want string) {
	kind := r.kind()
	if kind == 0 || kind == '}' || kind == ']' {
		r.skipBroken()
		return
	}
	r.isBroken = true
	r.report("P08", fmt.Sprintf("Expected %s, found %s.", want, kindName(kind)), fmt.Sprintf("Write %s here.", want))
	r.skip()
}

// skipBroken lets the decoder say what is wrong with the syntax.
func (r *reader) skipBroken() {
	if r.isEnded {
		return
	}
	if _, err := r.dec.ReadToken(); err != nil {
		r.fail(err)
		return
	}
	r.isEnded, r.isBroken = true, true
}

// fail reports broken syntax with its place and ends the reading.
func (r *reader) fail(err error) {
	if r.isEnded {
		return
	}
	r.isEnded, r.isBroken = true, true
	offset := min(max(r.dec.InputOffset(), 0), int64(len(r.doc)))
	message := err.Error()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && syntax.Err != nil {
		offset = min(max(syntax.ByteOffset, 0), int64(len(r.doc)))
		message = syntax.Err.Error()
	}
	if strings.HasSuffix(message, "EOF") {
		message = "the document ends too early"
	}
	before := r.doc[:offset]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	r.report("json", fmt.Sprintf("This is not JSON: %s (line %d, column %d).", clip(message), line, column), "Write valid JSON in UTF-8.")
}

// end says whether nothing but space follows the value just read.
func (r *reader) end() {
	if r.isEnded {
		return
	}
	rest := r.doc[r.dec.InputOffset():]
	if len(bytes.TrimLeft(rest, " \t\r\n")) == 0 {
		return
	}
	r.fail(errors.New("something follows the document"))
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "nothing"
}

// clipBytes bounds what of a document is repeated inside a message.
const clipBytes = 80

// clip shortens text of a document for a message, at a rune's edge.
func clip(text string) string {
	if len(text) <= clipBytes {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:clipBytes], "") + "…"
}

// quote writes text of a document inside a message.
func quote(text string) string { return strconv.Quote(clip(text)) }
