package compute

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits of one evaluation.
const (
	CodeBytesMax  = 64 << 10
	ValueBytesMax = 256 << 10  // of the value as JSON: what resolved parameters may hold (P14)
	StepsMax      = 20_000_000 // of the Starlark machine
	LogLinesMax   = 50         // that print keeps
	LogBytesMax   = 200        // of one such line
)

// Value is what a program gave back.
type Value struct {
	JSON []byte
	Log  []string // what it printed, cut to the limits
}

// Evaluate runs a program on a JSON value; no input is null. An error is meant
// for people and for who wrote the program: it says what is wrong and where.
func Evaluate(code string, input []byte) (Value, error) { return EvaluateWith(code, input, nil) }

// EvaluateWith is Evaluate with a second JSON value, which the program knows as
// args: what it is to do, beside what it is to do it on.
func EvaluateWith(code string, input, args []byte) (Value, error) {
	if len(code) > CodeBytesMax {
		return Value{}, fmt.Errorf("the code is larger than %d bytes", CodeBytesMax)
	}
	argument, err := read(input)
	if err != nil {
		return Value{}, fmt.Errorf("input: %w", err)
	}
	argument.Freeze()
	second, err := read(args)
	if err != nil {
		return Value{}, fmt.Errorf("args: %w", err)
	}
	second.Freeze()
	var value Value
	thread := &starlark.Thread{Name: fileName, Print: func(_ *starlark.Thread, text string) { value.keep(text) },
		Load: func(*starlark.Thread, string) (starlark.StringDict, error) { return nil, errLoad }}
	thread.SetMaxExecutionSteps(StepsMax)
	thread.OnMaxSteps = func(t *starlark.Thread) { t.Cancel(errSteps.Error()) }
	result, err := run(thread, code, given{argument, second})
	if err != nil {
		return Value{}, explain(err)
	}
	value.JSON, err = write(result)
	return value, err
}

// fileName is what the language calls the program; it never shows.
const fileName = "code"

var (
	errSteps  = fmt.Errorf("the program took more than %d steps", StepsMax)
	errLoad   = errors.New("load is not available: a program stands by itself")
	errNoMain = errors.New("write one expression over input, or define main(input)")
)

// options leave out what makes programs hard to bound or to read: no while, no
// recursion.
func options() *syntax.FileOptions {
	return &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}
}

// given are the values a program works on.
type given struct{ input, args starlark.Value }

func run(thread *starlark.Thread, code string, on given) (starlark.Value, error) {
	known := builtins()
	known["args"] = on.args
	expression, err := options().ParseExpr(fileName, code, 0)
	if err == nil {
		known["input"] = on.input
		return starlark.EvalExprOptions(options(), thread, expression, known)
	}
	globals, err := starlark.ExecFileOptions(options(), thread, fileName, code, known)
	if err != nil {
		return nil, err
	}
	main, ok := globals["main"].(*starlark.Function)
	if !ok {
		return nil, errNoMain
	}
	if main.NumParams() != 1 || main.HasVarargs() || main.HasKwargs() {
		return nil, fmt.Errorf("%s: main takes one parameter, input", place(main.Position()))
	}
	return starlark.Call(thread, main, starlark.Tuple{on.input}, nil)
}

// explain says where in the program an error happened.
func explain(err error) error {
	var parse syntax.Error
	var names resolve.ErrorList
	var evaluation *starlark.EvalError
	switch {
	case errors.As(err, &parse):
		return fmt.Errorf("%s: %s", place(parse.Pos), parse.Msg)
	case errors.As(err, &names) && len(names) > 0:
		return fmt.Errorf("%s: %s", place(names[0].Pos), names[0].Msg)
	case errors.As(err, &evaluation):
		message := strings.TrimPrefix(evaluation.Msg, "Starlark computation cancelled: ")
		if at, ok := position(evaluation.CallStack); ok {
			return fmt.Errorf("%s: %s", place(at), message)
		}
		return errors.New(message)
	}
	return err
}

// position is the innermost place in the program itself.
func position(stack starlark.CallStack) (syntax.Position, bool) {
	for i := len(stack) - 1; i >= 0; i-- {
		if at := stack[i].Pos; at.Filename() == fileName && at.Line > 0 {
			return at, true
		}
	}
	return syntax.Position{}, false
}

func place(at syntax.Position) string { return fmt.Sprintf("line %d, column %d", at.Line, at.Col) }

// keep adds a printed line while there is room.
func (v *Value) keep(text string) {
	if len(v.Log) >= LogLinesMax {
		return
	}
	if len(text) > LogBytesMax {
		text = text[:LogBytesMax]
	}
	v.Log = append(v.Log, strings.ToValidUTF8(text, ""))
}
