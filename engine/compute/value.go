package compute

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.starlark.net/starlark"
)

const (
	integerMax = 1 << 53 // beyond it a JSON reader may bend an integer (P27)
	depthMax   = 62      // of a value: P14 leaves 64 with the object around it
)

// read turns JSON into a value of the language; nothing is null.
func read(raw []byte) (starlark.Value, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return starlark.None, nil
	}
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	value, err := readNext(decoder)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return value, nil
}

func readNext(d *jsontext.Decoder) (starlark.Value, error) {
	if d.StackDepth() > depthMax {
		return nil, fmt.Errorf("it nests deeper than %d", depthMax)
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	switch token.Kind() {
	case 'n':
		return starlark.None, nil
	case 't', 'f':
		return starlark.Bool(token.Bool()), nil
	case '"':
		return starlark.String(token.String()), nil
	case '0':
		return readNumber(token.String())
	case '[':
		return readList(d)
	}
	return readDict(d)
}

// readNumber gives an int for what is written as one, else a float.
func readNumber(text string) (starlark.Value, error) {
	if !strings.ContainsAny(text, ".eE") {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n > integerMax || n < -integerMax {
			return nil, fmt.Errorf("the integer %.30s is beyond ±2^53", text)
		}
		return starlark.MakeInt64(n), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %.30s is beyond the range of a double", text)
	}
	return starlark.Float(x), nil
}

func readList(d *jsontext.Decoder) (starlark.Value, error) {
	var items []starlark.Value
	for d.PeekKind() != ']' {
		item, err := readNext(d)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := d.ReadToken()
	return starlark.NewList(items), err
}

func readDict(d *jsontext.Decoder) (starlark.Value, error) {
	dict := starlark.NewDict(0)
	for d.PeekKind() != '}' {
		key, err := readNext(d)
		if err != nil {
			return nil, err
		}
		value, err := readNext(d)
		if err != nil {
			return nil, err
		}
		if err := dict.SetKey(key, value); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return dict, err
}

// writer turns a value into JSON and knows where in it it stands.
type writer struct {
	out  []byte
	path []string
}

func write(value starlark.Value) ([]byte, error) {
	w := &writer{path: []string{"the value"}}
	if err := w.value(value); err != nil {
		return nil, err
	}
	return w.out, nil
}

// refuse names the place: "the value.rows.0: ...".
func (w *writer) refuse(format string, args ...any) error {
	return fmt.Errorf("%.100s: %s", strings.Join(w.path, "."), fmt.Sprintf(format, args...))
}

func (w *writer) value(value starlark.Value) error {
	if len(w.path) > depthMax+1 {
		return fmt.Errorf("the value nests deeper than %d", depthMax)
	}
	if len(w.out) > ValueBytesMax {
		return fmt.Errorf("the value is larger than %d bytes", ValueBytesMax)
	}
	switch v := value.(type) {
	case starlark.NoneType:
		w.out = append(w.out, "null"...)
	case starlark.Bool:
		w.out = strconv.AppendBool(w.out, bool(v))
	case starlark.Int:
		return w.integer(v)
	case starlark.Float:
		return w.float(float64(v))
	case starlark.String:
		return w.text(string(v))
	case *starlark.List, starlark.Tuple:
		return w.list(v.(starlark.Indexable))
	case *starlark.Dict:
		return w.dict(v)
	case *starlark.Set:
		return w.refuse("a set has no order; return sorted(...) of it")
	default:
		return w.refuse("a value of type %s cannot be JSON", value.Type())
	}
	return nil
}

func (w *writer) integer(v starlark.Int) error {
	n, fits := v.Int64()
	if !fits || n > integerMax || n < -integerMax {
		return w.refuse("an integer beyond ±2^53 would lose digits; return it as str(...)")
	}
	w.out = strconv.AppendInt(w.out, n, 10)
	return nil
}

// float writes a double as RFC 8785 does.
func (w *writer) float(x float64) error {
	switch size := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return w.refuse("%v is no number in JSON", starlark.Float(x))
	case size > integerMax && size < 1e21:
		return w.refuse("an integer beyond ±2^53 would lose digits; return it as str(...)")
	}
	number := jsontext.Value(strconv.FormatFloat(x, 'g', -1, 64))
	if err := number.Canonicalize(); err != nil {
		return w.refuse("%v is no number in JSON", starlark.Float(x))
	}
	w.out = append(w.out, number...)
	return nil
}

func (w *writer) text(s string) error {
	if !utf8.ValidString(s) {
		return w.refuse("the text is not UTF-8")
	}
	if len(s) > ValueBytesMax {
		return fmt.Errorf("the value is larger than %d bytes", ValueBytesMax)
	}
	var err error
	w.out, err = jsontext.AppendQuote(w.out, s)
	return err
}

func (w *writer) list(items starlark.Indexable) error {
	w.out = append(w.out, '[')
	for i := range items.Len() {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.below(strconv.Itoa(i), items.Index(i)); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *writer) dict(dict *starlark.Dict) error {
	w.out = append(w.out, '{')
	for i, item := range dict.Items() {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		key, ok := item[0].(starlark.String)
		if !ok {
			return w.refuse("a key is of type %s, and only strings can be keys", item[0].Type())
		}
		if err := w.text(string(key)); err != nil {
			return err
		}
		w.out = append(w.out, ':')
		if err := w.below(string(key), item[1]); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *writer) below(name string, value starlark.Value) error {
	w.path = append(w.path, name)
	err := w.value(value)
	w.path = w.path[:len(w.path)-1]
	return err
}
