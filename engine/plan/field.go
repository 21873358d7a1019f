package plan

import (
	"errors"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

var (
	errEmptySegment = errors.New("a part between dots is empty")
	errLongField    = errors.New("the path is too long")
)

// SplitPath splits a field into keys and indexes (P9). Parts are separated by
// "."; "\." is a dot inside a key; there are no other operators, so every other
// character stands for itself. "" is the whole output and gives no parts.
func SplitPath(field string) ([]string, error) {
	if field == "" {
		return nil, nil
	}
	if len(field) > PathBytesMax {
		return nil, errLongField
	}
	if !strings.Contains(field, `\.`) {
		return splitPlain(field)
	}
	var path []string
	var part strings.Builder
	for i := 0; i < len(field); i++ {
		switch {
		case field[i] == '\\' && i+1 < len(field) && field[i+1] == '.':
			part.WriteByte('.')
			i++
		case field[i] == '.':
			path = append(path, part.String())
			part.Reset()
		default:
			part.WriteByte(field[i])
		}
	}
	return refuseEmpty(append(path, part.String()))
}

func splitPlain(field string) ([]string, error) { return refuseEmpty(strings.Split(field, ".")) }

func refuseEmpty(path []string) ([]string, error) {
	for _, part := range path {
		if part == "" {
			return nil, errEmptySegment
		}
	}
	return path, nil
}

// Field gives the JSON value at a path inside a JSON document, as written; an
// empty path gives raw itself. false means that nothing stands there.
func Field(raw []byte, path []string) ([]byte, bool) {
	if len(path) == 0 {
		return raw, len(raw) > 0
	}
	value := gjson.ParseBytes(raw)
	for _, part := range path {
		found, ok := child(value, part)
		if !ok {
			return nil, false
		}
		value = found
	}
	return []byte(value.Raw), true
}

// child finds one key or index. Keys are compared as they are: the operators
// that gjson's own paths have do not exist here (P9).
func child(parent gjson.Result, part string) (found gjson.Result, ok bool) {
	at := -1
	switch {
	case parent.IsArray():
		if at, ok = index(part); !ok {
			return found, false
		}
	case !parent.IsObject():
		return found, false
	}
	i := 0
	ok = false
	parent.ForEach(func(key, value gjson.Result) bool {
		if at < 0 && key.Str == part || at == i {
			found, ok = value, true
		}
		i++
		return !ok
	})
	return found, ok
}

// index reads an array index: decimal, without sign or leading zeros.
func index(part string) (int, bool) {
	if part == "" || len(part) > 9 || part[0] == '0' && part != "0" {
		return 0, false
	}
	for i := range len(part) {
		if part[i] < '0' || part[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(part)
	return n, err == nil
}
