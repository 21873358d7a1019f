package compute

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// document draws any JSON value that canonical JSON can hold.
func document(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(),
		rapid.Int64Range(-integerMax, integerMax).AsAny(),
		rapid.Float64Range(-1e15, 1e15).AsAny(), rapid.Float64Range(1e-300, 1e-5).AsAny(), rapid.Float64Range(1e21, 1e300).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	below := document(depth - 1)
	return rapid.OneOf(append(leaves, rapid.SliceOfN(below, 0, 4).AsAny(), rapid.MapOfN(rapid.String(), below, 0, 4).AsAny())...)
}

// What goes in comes out byte for byte: canonical JSON survives the program.
func TestCompute_JSONInAndOutIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(document(3).Draw(t, "document"))
		if err != nil {
			t.Fatal(err)
		}
		want := jsontext.Value(raw)
		if err := want.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		got, err := Evaluate("input", want)
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if string(got.JSON) != string(want) {
			t.Fatalf("got %s, want %s", got.JSON, want)
		}
	})
}
