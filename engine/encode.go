package engine

import (
	"strconv"
	"unicode/utf8"
)

// enc appends one JSON value, byte-equal to encoding/json without HTML
// escaping, at a fraction of its cost (P27). Methods named after a kind take
// the key first; an empty key is an array element.
type enc struct {
	b    []byte
	more bool // a comma is due before the next element
}

func (e *enc) key(k string) {
	if e.more {
		e.b = append(e.b, ',')
	}
	e.more = true
	if k != "" {
		e.b = append(e.b, '"')
		e.b = append(e.b, k...)
		e.b = append(e.b, '"', ':')
	}
}

func (e *enc) open(k string, bracket byte) {
	e.key(k)
	e.b = append(e.b, bracket)
	e.more = false
}

func (e *enc) close(bracket byte) {
	e.b = append(e.b, bracket)
	e.more = true
}

func (e *enc) str(k, v string) {
	e.key(k)
	e.b = appendString(e.b, v)
}

// strOpt leaves the key out when v is empty, as omitempty does.
func (e *enc) strOpt(k, v string) {
	if v != "" {
		e.str(k, v)
	}
}

func (e *enc) int(k string, v int64) {
	e.key(k)
	e.b = strconv.AppendInt(e.b, v, 10)
}

func (e *enc) intOpt(k string, v int64) {
	if v != 0 {
		e.int(k, v)
	}
}

func (e *enc) bool(k string, v bool) {
	e.key(k)
	e.b = strconv.AppendBool(e.b, v)
}

func (e *enc) boolOpt(k string, v bool) {
	if v {
		e.bool(k, v)
	}
}

// raw appends v, which must be compact JSON; nothing is null.
func (e *enc) raw(k string, v []byte) {
	e.key(k)
	if len(v) == 0 {
		e.b = append(e.b, "null"...)
		return
	}
	e.b = append(e.b, v...)
}

func (e *enc) rawOpt(k string, v []byte) {
	if len(v) > 0 {
		e.raw(k, v)
	}
}

// strs appends an array; nil is [] because readers want arrays, never null.
func (e *enc) strs(k string, v []string) {
	e.open(k, '[')
	for _, s := range v {
		e.str("", s)
	}
	e.close(']')
}

// strsOpt leaves the key out when v is empty.
func (e *enc) strsOpt(k string, v []string) {
	if len(v) > 0 {
		e.strs(k, v)
	}
}

const hexDigits = "0123456789abcdef"

// appendString escapes exactly what encoding/json escapes with EscapeHTML off.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[start:i]...), `\ufffd`...)
			i += size
			start = i
			continue
		}
		if r == '\u2028' || r == '\u2029' {
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hexDigits[r&0xF])
			i += size
			start = i
			continue
		}
		i += size
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
}
