package plan

import "encoding/json"

// Format is the plan form this package writes (P8).
const Format = 1

// Limits on a plan document (P14).
const (
	StepsMax         = 10_000  // steps per version
	DocumentBytesMax = 4 << 20 // 413 beyond
	DepthMax         = 64      // JSON nesting
	RefsMax          = 64      // references per step
	ParamsBytesMax   = 256 << 10
	PathBytesMax     = 4096
)

// Plan is form 1 as written (P8). Zero values mean "not stated".
type Plan struct {
	Format   int       `json:"format"`
	Goal     string    `json:"goal"`
	MaxSteps int       `json:"max_steps,omitempty"`
	Contract *Contract `json:"contract,omitempty"`
	Steps    []Step    `json:"steps"`

	origin *origin // where its parts stand in another form; nil for form 1
}

// Step is one declared step (P8).
type Step struct {
	ID        string                     `json:"id"`
	Tool      string                     `json:"tool"`
	Params    map[string]json.RawMessage `json:"params,omitempty"`
	Refs      map[string]Ref             `json:"param_refs,omitempty"`
	DependsOn []string                   `json:"depends_on,omitempty"`
	Join      Join                       `json:"join,omitempty"`
	Guard     *Guard                     `json:"guard,omitempty"`
	Approval  bool                       `json:"approval,omitempty"`
	Contract  *Contract                  `json:"contract,omitempty"`
	TimeoutS  *float64                   `json:"timeout_s,omitempty"` // seconds, > 0, ≤ 86400
	Retries   *int                       `json:"retries,omitempty"`   // 0..10
	Class     Class                      `json:"class,omitempty"`     // checked, then dropped (P11)
	Why       string                     `json:"why,omitempty"`       // justifies a duplicate (C17)
	// Labels of literals by parameter name, set by who built the plan in
	// process (the built-in planner); never read from a document. A name that
	// is absent has the default of the plan's author (P20).
	Labels map[string]string `json:"-"`
}

// Ref fills a parameter from the verified output of an earlier step (P9).
type Ref struct {
	Step     string `json:"step"`
	Field    string `json:"field"`              // dot path; "" is the whole output
	Template string `json:"template,omitempty"` // exactly one {{value}}
}

// Guard is a deterministic predicate over an earlier step's verified output (P9).
type Guard struct {
	Ref   Ref             `json:"ref"`
	Op    string          `json:"op"` // eq ne lt le gt ge in exists
	Value json.RawMessage `json:"value,omitempty"`
}

// Contract is what an output must satisfy (P9). Checks come later and are refused now.
type Contract struct {
	Schema json.RawMessage `json:"schema,omitempty"`
	Checks []any           `json:"checks,omitempty"`
}

// Join says when a step with predecessors is ready (R19, R20, R22).
type Join string

// The closed set of joins.
const (
	AllOf   Join = "all_of"
	AnyOf   Join = "any_of"
	AllDone Join = "all_done"
)

// Class is derived from the tool, never believed (P11).
type Class string

// The closed set of classes (R5).
const (
	Fetch     Class = "fetch"
	Transform Class = "transform"
	Decide    Class = "decide"
	Act       Class = "act"
)
