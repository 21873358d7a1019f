package plan

// Severity of a finding: errors refuse the plan, warnings (R13) do not.
type Severity string

// The closed set of severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is one thing wrong with a plan (P38).
type Finding struct {
	Rule     string   `json:"rule"` // C01.., P08.., R13, or "json" for syntax
	Severity Severity `json:"severity"`
	Step     string   `json:"step,omitempty"`
	Pointer  string   `json:"pointer"` // RFC 6901 into the document as written
	Message  string   `json:"message"`
	Fix      string   `json:"fix"`
	Related  []string `json:"related,omitempty"` // step ids
	Policy   bool     `json:"-"`                 // C06, C08, C09, C11: see P12
}
