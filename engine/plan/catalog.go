package plan

import (
	"encoding/json"
	"time"

	"sluice/policy"
)

// Tool is a tool's declaration: what planner, compiler and gate know of it
// (design §8). It carries no way to call the tool.
type Tool struct {
	policy.Tool
	Summary string          // one line for indexes, at most 120 bytes
	Input   json.RawMessage // JSON Schema 2020-12 of the parameters, an object
	Output  json.RawMessage // JSON Schema of the output; nil means "not an error"
	Trusted []string        // output fields (dot paths) declared trusted (P20)
	Timeout time.Duration   // per attempt
	Bytes   int             // output cap, bytes
}
