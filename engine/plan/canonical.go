package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/policy"
)

// Canonical writes a JSON value as RFC 8785 does, so that equal values are equal
// bytes (P18). It refuses what would not survive: duplicate keys, invalid UTF-8,
// integers beyond ±2^53, numbers beyond a double, and nesting deeper than
// DepthMax. The result may share memory with raw.
func Canonical(raw []byte) ([]byte, error) {
	if isCanonicalScalar(raw) {
		return raw, nil
	}
	if err := checkValue(raw); err != nil {
		return nil, fmt.Errorf("canonicalise value: %w", err)
	}
	value := jsontext.Value(bytes.Clone(raw))
	if err := value.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonicalise value: %w", err)
	}
	return value, nil
}

// isCanonicalScalar recognises what most parameters are, without parsing.
func isCanonicalScalar(raw []byte) bool {
	switch {
	case len(raw) == 0:
		return false
	case raw[0] == '"':
		return isPlainString(raw)
	case raw[0] >= '1' && raw[0] <= '9':
		return len(raw) <= 15 && isInteger(string(raw))
	}
	switch string(raw) {
	case "0", "true", "false", "null", "{}", "[]":
		return true
	}
	return false
}

// isPlainString says whether a quoted string has only printable ASCII and no escapes.
func isPlainString(raw []byte) bool {
	if len(raw) < 2 || raw[len(raw)-1] != '"' {
		return false
	}
	for _, c := range raw[1 : len(raw)-1] {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// checkValue finds what canonicalising alone would bend in silence.
func checkValue(raw []byte) error {
	var found collector
	r := newReader(raw, &found)
	r.raw()
	r.end()
	if len(found.list) == 0 {
		return nil
	}
	first := found.list[0]
	text := strings.TrimSuffix(first.Message, ".")
	if first.Pointer == "" {
		return fmt.Errorf("%s", text)
	}
	return fmt.Errorf("%s: %s", clip(first.Pointer), text)
}

// Splice writes parameters, whose values are canonical, as one canonical object.
// Nothing is parsed again: it equals Canonical of the whole (P18). Names must
// differ and be valid UTF-8.
func Splice(params []policy.Param) []byte {
	byName := func(a, b policy.Param) int { return compareNames(a.Name, b.Name) }
	if !slices.IsSortedFunc(params, byName) {
		params = slices.SortedFunc(slices.Values(params), byName)
	}
	size := 2
	for i := range params {
		size += len(params[i].Name) + len(params[i].Value) + 4
	}
	out := append(make([]byte, 0, size), '{')
	for i := range params {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, params[i].Name)
		out = append(out, ':')
		out = append(out, params[i].Value...)
	}
	return append(out, '}')
}

// compareNames orders keys as RFC 8785 does, by UTF-16 code units. For ASCII
// that is the order of bytes.
func compareNames(a, b string) int {
	if isASCII(a) && isASCII(b) {
		return strings.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// appendString writes a JSON string as RFC 8785 does. Text that is not UTF-8
// gets replacement characters; nothing that was read from a document has any.
func appendString(out []byte, s string) []byte {
	quoted, err := jsontext.AppendQuote(out, s)
	if err == nil {
		return quoted
	}
	quoted, err = jsontext.AppendQuote(out, strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return append(out, `""`...)
	}
	return quoted
}
