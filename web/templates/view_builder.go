package templates

import "encoding/json"

// Builder is the page on which a plan is drawn, or written without script.
type Builder struct {
	Shell
	Boot     json.RawMessage // what the island starts from
	Gone     bool            // the draft that was asked for is not there
	Text     string          // the plan as text
	Intent   string          // "observe", "operate" or "override"
	Checked  bool            // the text was sent to be checked
	Findings []BuilderFinding
}

// BuilderFinding is one thing a check found.
type BuilderFinding struct {
	Rule    string
	Error   bool
	Step    string
	Pointer string
	Message string
	Fix     string
}
