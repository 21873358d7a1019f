package tool

import (
	"bytes"
	"encoding/json"
	"math"

	strict "github.com/go-json-experiment/json"
)

// decode reads parameters into v. Unknown members, duplicate keys and other
// spellings of a key are refused as the tool's schema refuses them.
func decode(params []byte, v any) error {
	if err := strict.Unmarshal(params, v, strict.RejectUnknownMembers(true)); err != nil {
		return Fail(Invalid, "parameters do not fit the tool")
	}
	return nil
}

// encode writes an output as JSON without the escapes meant for HTML.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// numberMax is the largest integer that canonical JSON keeps exactly (P27).
const numberMax = 1 << 53

// bounded keeps a counter of the system within exact JSON integers.
func bounded(n uint64) uint64 { return min(n, numberMax) }

// hundredths rounds a measured share to two decimals; what is no number is 0.
func hundredths(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return math.Round(x*100) / 100
}

// between says whether n lies in a range, bounds included.
func between(n, low, high int64) bool { return n >= low && n <= high }
