package engine

import (
	"strings"
	"unicode/utf8"
)

// clean makes text from outside what its fact will read back as: a fold and a
// live State must see the same words.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// cut bounds a detail and shows that it was cut.
func cut(s string) string {
	if len(s) <= DetailBytesMax {
		return clean(s)
	}
	return strings.ToValidUTF8(s[:DetailBytesMax], "") + "…"
}

func cleanUnplanned(list []Unplanned) []Unplanned {
	out := make([]Unplanned, len(list))
	for i, u := range list {
		out[i] = Unplanned{Clause: clean(u.Clause), Why: clean(u.Why)}
	}
	return out
}

func cleanBlob(b *Blob) *Blob {
	if b == nil {
		return nil
	}
	return &Blob{SHA256: clean(b.SHA256), Size: b.Size, Type: clean(b.Type), Head: clean(b.Head), Tail: clean(b.Tail)}
}

func isText(texts ...string) bool {
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return false
		}
	}
	return true
}

// known keeps classes to the closed set: a tool does not invent one, nor says
// what only the core says.
func (c Class) known() Class {
	switch c {
	case ClassNone, ClassTransient, ClassTimeout, ClassInvalid, ClassNotFound, ClassConflict, ClassUnavailable, ClassStopped:
		return c
	}
	return ClassInvalid
}
