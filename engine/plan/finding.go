package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Severity of a finding: errors refuse the plan, warnings (R13) do not.
type Severity string

// The closed set of severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// FindingsMax bounds the findings of one document; what is beyond is counted.
const FindingsMax = 1000

// Finding is one thing wrong with a plan (P38).
type Finding struct {
	Rule     string   `json:"rule"` // C01.., P08.., R13, or "json" for syntax
	Severity Severity `json:"severity"`
	Step     string   `json:"step"`
	Pointer  string   `json:"pointer"` // RFC 6901 into the document as written
	Message  string   `json:"message"`
	Fix      string   `json:"fix"`
	Related  []string `json:"related"` // step ids
	Policy   bool     `json:"-"`       // C06, C08, C09, C11: see P12
}

// MarshalJSON writes every member, as P38 shows it: no step is "", no related
// steps are [].
func (f Finding) MarshalJSON() ([]byte, error) {
	type wire Finding
	w := wire(f)
	if w.Related == nil {
		w.Related = []string{}
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // whoever encodes around it decides
	err := encoder.Encode(w)
	return bytes.TrimSpace(out.Bytes()), err
}

// Refused says whether any of the findings refuses the plan.
func Refused(findings []Finding) bool {
	for i := range findings {
		if findings[i].Severity == Error {
			return true
		}
	}
	return false
}

// collector gathers findings in the order of their discovery.
type collector struct {
	list     []Finding
	more     int      // found beyond FindingsMax
	worst    Severity // the severest of those
	hasError bool
}

// add takes a finding; one without a severity is an error.
func (c *collector) add(f Finding) {
	if f.Severity == "" {
		f.Severity = Error
	}
	c.hasError = c.hasError || f.Severity == Error
	if len(c.list) < FindingsMax {
		c.list = append(c.list, f)
		return
	}
	c.more++
	if c.worst != Error {
		c.worst = f.Severity
	}
}

// findings ends the collection: what was only counted is said in one last finding.
func (c *collector) findings() []Finding {
	if c.more == 0 {
		return c.list
	}
	return append(c.list[:len(c.list):len(c.list)], Finding{
		Rule: "P14", Severity: c.worst, Pointer: "",
		Message: fmt.Sprintf("%d more findings are not listed; the first %d are.", c.more, FindingsMax),
		Fix:     "Correct the listed findings and check again.",
	})
}
