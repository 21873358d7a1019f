package plan

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

var errNotOrdered = errors.New("only two numbers or two strings have an order")

func isOp(op string) bool {
	switch op {
	case "eq", "ne", "lt", "le", "gt", "ge", "in", "exists":
		return true
	}
	return false
}

// guardProblem says what is wrong with a guard's op and value; "" is nothing.
func guardProblem(op string, value []byte) string {
	kind := byte(0)
	if trimmed := bytes.TrimSpace(value); len(trimmed) > 0 {
		kind = trimmed[0]
	}
	switch {
	case op == "":
		return "The guard has no op."
	case !isOp(op):
		return fmt.Sprintf("There is no op %s.", quote(op))
	case op == "exists" && value != nil:
		return "The op exists takes no value."
	case op != "exists" && value == nil:
		return fmt.Sprintf("The op %s needs a value.", op)
	case op == "in" && kind != '[':
		return "The op in needs an array."
	case isOrder(op) && kind != '"' && kind != '-' && (kind < '0' || kind > '9'):
		return fmt.Sprintf("The op %s compares numbers or strings.", op)
	}
	return ""
}

func isOrder(op string) bool { return op == "lt" || op == "le" || op == "gt" || op == "ge" }

// Holds answers the guard for the verified output of its step. Values are
// compared with their types: 1 is not "1", 1.0 is 1. A field that is missing
// does not exist; every other op on it is an error, as is an order between
// values that have none.
func (g *CompiledGuard) Holds(output []byte) (bool, error) {
	raw, ok := Field(output, g.Path)
	if g.Op == "exists" {
		return ok, nil
	}
	if !ok {
		return false, fmt.Errorf("guard on %q: %w", g.Field, ErrMissingField)
	}
	holds, err := g.compare(raw)
	if err != nil {
		return false, fmt.Errorf("guard on %q: %w", g.Field, err)
	}
	return holds, nil
}

func (g *CompiledGuard) compare(raw []byte) (bool, error) {
	switch g.Op {
	case "eq":
		return equal(raw, g.Value)
	case "ne":
		isEqual, err := equal(raw, g.Value)
		return err == nil && !isEqual, err
	case "in":
		return contains(g.Value, raw)
	}
	order, err := order(raw, g.Value)
	if err != nil {
		return false, err
	}
	switch g.Op {
	case "lt":
		return order < 0, nil
	case "le":
		return order <= 0, nil
	case "gt":
		return order > 0, nil
	case "ge":
		return order >= 0, nil
	}
	return false, fmt.Errorf("there is no op %q", g.Op)
}

// equal compares numbers by value, exactly when both are integers, and
// everything else by canonical form.
func equal(a, b []byte) (bool, error) {
	x, y := gjson.ParseBytes(a), gjson.ParseBytes(b)
	if x.Type != y.Type {
		return false, nil
	}
	if x.Type == gjson.Number {
		order, err := compareNumbers(x.Raw, y.Raw)
		return err == nil && order == 0, err
	}
	canonicalA, err := Canonical(a)
	if err != nil {
		return false, err
	}
	canonicalB, err := Canonical(b)
	return err == nil && bytes.Equal(canonicalA, canonicalB), err
}

func contains(array, value []byte) (bool, error) {
	var isFound bool
	var err error
	gjson.ParseBytes(array).ForEach(func(_, item gjson.Result) bool {
		isFound, err = equal([]byte(item.Raw), value)
		return !isFound && err == nil
	})
	return isFound && err == nil, err
}

func order(a, b []byte) (int, error) {
	x, y := gjson.ParseBytes(a), gjson.ParseBytes(b)
	switch {
	case x.Type == gjson.Number && y.Type == gjson.Number:
		return compareNumbers(x.Raw, y.Raw)
	case x.Type == gjson.String && y.Type == gjson.String:
		return strings.Compare(x.Str, y.Str), nil
	}
	return 0, errNotOrdered
}
