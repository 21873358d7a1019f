package compute

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// builtins are the names a program has beside the language's own. All are pure.
func builtins() starlark.StringDict {
	known := starlark.StringDict{}
	for name, fn := range map[string]builtin{
		"parse_date": parseDate, "format_date": formatDate, "days_between": daysBetween,
		"csv": parseCSV, "sum": sum, "round": round,
	} { // order-free: fills a map
		known[name] = starlark.NewBuiltin(name, fn)
	}
	return known
}

type builtin = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

const (
	dateForm   = "2006-01-02"
	daySeconds = 86_400
	daysMax    = 2_932_896 // 9999-12-31
	daysMin    = -719_162  // 0001-01-01
)

// days reads a date: "2026-01-02", or the number of days since 1970-01-01.
func days(value starlark.Value) (int64, error) {
	switch v := value.(type) {
	case starlark.Int:
		if n, ok := v.Int64(); ok && n >= daysMin && n <= daysMax {
			return n, nil
		}
		return 0, errors.New("the day is outside the years 1 to 9999")
	case starlark.String:
		at, err := time.Parse(dateForm, string(v))
		if err != nil || at.Year() < 1 {
			return 0, fmt.Errorf("%.40q is no date of the form 2026-01-02", string(v))
		}
		return at.Unix() / daySeconds, nil
	}
	return 0, fmt.Errorf("a date is a string or a number of days, not %s", value.Type())
}

// parseDate: parse_date("2026-01-02") is the number of days since 1970-01-01.
func parseDate(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var text starlark.String
	if err := starlark.UnpackArgs(b.Name(), args, named, "date", &text); err != nil {
		return nil, err
	}
	n, err := days(text)
	return starlark.MakeInt64(n), err
}

// formatDate: the date of a number of days.
func formatDate(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var day starlark.Int
	if err := starlark.UnpackArgs(b.Name(), args, named, "days", &day); err != nil {
		return nil, err
	}
	n, err := days(day)
	if err != nil {
		return nil, err
	}
	return starlark.String(time.Unix(n*daySeconds, 0).UTC().Format(dateForm)), nil
}

// daysBetween: days_between(from, to), negative when to is earlier.
func daysBetween(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var from, to starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, named, "from", &from, "to", &to); err != nil {
		return nil, err
	}
	first, err := days(from)
	if err != nil {
		return nil, err
	}
	last, err := days(to)
	return starlark.MakeInt64(last - first), err
}

// parseCSV: a list of dicts named by the first line, or, without a header, a
// list of lists. All cells are strings.
func parseCSV(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var text string
	separator, isHeaded := ",", true
	if err := starlark.UnpackArgs(b.Name(), args, named, "text", &text, "separator?", &separator, "header?", &isHeaded); err != nil {
		return nil, err
	}
	mark, size := utf8.DecodeRuneInString(separator)
	if size == 0 || size != len(separator) || strings.ContainsRune("\r\n\"\ufffd", mark) {
		return nil, errors.New("csv: the separator is one character")
	}
	reader := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	reader.Comma = mark
	var header []string
	rows := []starlark.Value{}
	for {
		cells, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return starlark.NewList(rows), nil
		}
		if err != nil {
			return nil, fmt.Errorf("csv: %w", err)
		}
		if isHeaded && header == nil {
			header = cells
			continue
		}
		row, err := csvRow(header, cells)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}

func csvRow(header, cells []string) (starlark.Value, error) {
	if header == nil {
		items := make([]starlark.Value, len(cells))
		for i, cell := range cells {
			items[i] = starlark.String(cell)
		}
		return starlark.NewList(items), nil
	}
	row := starlark.NewDict(len(header))
	for i, name := range header {
		if err := row.SetKey(starlark.String(name), starlark.String(cells[i])); err != nil {
			return nil, err
		}
	}
	if row.Len() != len(header) {
		return nil, errors.New("csv: two columns have one name; use header=False")
	}
	return row, nil
}

// sum: the sum of numbers, exact for ints.
func sum(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var items starlark.Iterable
	if err := starlark.UnpackArgs(b.Name(), args, named, "items", &items); err != nil {
		return nil, err
	}
	var total starlark.Value = starlark.MakeInt(0)
	for item := range starlark.Elements(items) {
		switch item.(type) {
		case starlark.Int, starlark.Float:
		default:
			return nil, fmt.Errorf("sum: %s is no number", item.Type())
		}
		var err error
		if total, err = starlark.Binary(syntax.PLUS, total, item); err != nil {
			return nil, err
		}
	}
	return total, nil
}

const digitsMax = 12

// round: round(x) is an int, round(x, digits) a float; halves go away from zero.
func round(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
	var value starlark.Value
	digits := -1
	if err := starlark.UnpackArgs(b.Name(), args, named, "x", &value, "digits?", &digits); err != nil {
		return nil, err
	}
	x, isNumber := starlark.AsFloat(value)
	switch {
	case !isNumber || math.IsNaN(x) || math.IsInf(x, 0):
		return nil, errors.New("round: x is no number")
	case digits > digitsMax || len(args)+len(named) > 1 && digits < 0:
		return nil, fmt.Errorf("round: digits are 0 to %d", digitsMax)
	case digits < 0 && value.Type() == "int":
		return value, nil
	case digits < 0:
		return starlark.NumberToInt(starlark.Float(math.Round(x)))
	}
	scale := math.Pow10(digits)
	if rounded := math.Round(x*scale) / scale; !math.IsInf(rounded, 0) {
		return starlark.Float(rounded), nil
	}
	return starlark.Float(x), nil // too large to have digits behind the point
}
