package plan

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

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
