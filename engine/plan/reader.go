package plan

import (
	"bytes"
	"encoding/json"
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
	path     []token // from the root to the value being read
	found    *collector
	isEnded  bool // nothing more can be read
	isBroken bool // a part that other parts build on could not be read
}

// token is one reference token of a pointer.
type token struct {
	key   string
	index int
	isKey bool
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
	for _, t := range r.path {
		b.WriteByte('/')
		if t.isKey {
			b.WriteString(escape(t.key))
		} else {
			b.WriteString(strconv.Itoa(t.index))
		}
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
		name, err := r.dec.ReadToken()
		if err != nil {
			r.fail(err)
			return false
		}
		key := name.String()
		r.path = append(r.path, token{key: key, isKey: true})
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
		if r.dec.PeekKind() == 0 {
			// No element follows: what is broken is the array.
			r.skipBroken()
			return false
		}
		r.path = append(r.path, token{index: i})
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
