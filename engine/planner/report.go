package planner

import (
	"encoding/json"
	"fmt"
	"strings"
)

// StepResult is how one step of a plan ended, as the report needs it.
type StepResult struct {
	ID          string
	Tool        string
	State       string // of the node (P2); only "executed" supports a claim
	Output      []byte // verified JSON, nil unless executed
	Observation string // "o_…", what a claim points to (R55)
	Failure     string // class of the failure, "" unless failed
}

// ReportInput is everything a report is made of: committed state, no text of a
// model and no reasons of the gate.
type ReportInput struct {
	Goal      string
	Steps     []StepResult // in the order of the plan
	Unplanned []Unplanned
}

// Verdict is a report in words: a text, and its claims with what each stands on.
type Verdict struct {
	Text   string
	Claims []Claim
	By     string
}

// Claim is one statement and the observations it stands on (R55).
type Claim struct {
	Text         string
	Observations []string
}

// Limits on the text of a report.
const (
	namesMax     = 10  // entries listed by name
	lineBytesMax = 160 // of a quoted line
	linesMax     = 8   // of a quoted text
)

// Report says what was found and done, from verified outputs alone, and what was
// not. It is the plain twin of an aggregator.
func Report(in ReportInput) Verdict {
	v := Verdict{Claims: []Claim{}, By: By}
	var done, open []string
	for _, s := range in.Steps {
		if s.State != "executed" {
			open = append(open, notDone(s))
			continue
		}
		text := sentence(s)
		done = append(done, text)
		if s.Observation != "" {
			v.Claims = append(v.Claims, Claim{Text: text, Observations: []string{s.Observation}})
		}
	}
	for _, u := range in.Unplanned {
		open = append(open, fmt.Sprintf("Not planned: %q: %s.", clip(u.Clause), strings.TrimSuffix(u.Why, ".")))
	}
	lines := append(done, open...)
	if len(lines) == 0 {
		lines = []string{"Nothing was done."}
	}
	v.Text = strings.Join(lines, "\n")
	return v
}

// notDone says plainly that a step has no result. Why the gate or a person
// refused is not for a report (P24); the record shows it.
func notDone(s StepResult) string {
	switch {
	case s.State == "skipped":
		return fmt.Sprintf("Skipped: %s (%s), its condition did not hold.", s.ID, s.Tool)
	case s.State == "failed" && failureTexts[s.Failure] != "":
		return fmt.Sprintf("Not done: %s (%s), %s.", s.ID, s.Tool, failureTexts[s.Failure])
	}
	return fmt.Sprintf("Not done: %s (%s).", s.ID, s.Tool)
}

// failureTexts are the failures that say something about the call itself.
var failureTexts = map[string]string{"not_found": "what it names was not found", "invalid": "its parameters do not fit", "conflict": "something changed meanwhile"}

// sentence states what one output says.
func sentence(s StepResult) string {
	if write, is := writers[s.Tool]; is {
		if text, ok := write(s.Output); ok {
			return text
		}
	}
	return fmt.Sprintf("%s (%s): %s", s.ID, s.Tool, gist(s.Output))
}

// writers turn the outputs of the shipped tools into sentences. One that cannot
// read an output gives way to the generic form.
var writers = map[string]func([]byte) (string, bool){
	"sysinfo": aboutSystem, "disk_usage": aboutDisks, "net_info": aboutNetwork, "process_list": aboutProcesses, "env_list": aboutEnvironment,
	"git.find": aboutRepositories, "git.status": aboutStatus, "git.log": aboutLog, "git.diff": aboutDiff,
	"file.read": aboutReading, "file.list": aboutListing, "file.search": aboutSearch, "file.write": aboutWriting, "file.delete": aboutDeletion,
	"file.patch": aboutPatch, "compute": aboutValue, "mail.send": aboutMail,
}

// gist shows an output that no writer knows: short ones whole, of others what
// they are made of.
func gist(output []byte) string {
	var object map[string]json.RawMessage
	if len(output) > lineBytesMax && json.Unmarshal(output, &object) == nil {
		s := shape{Properties: map[string]shape{}}
		for name := range object { // order-free: names sorts
			s.Properties[name] = shape{}
		}
		return fmt.Sprintf("a result of %s with %s", plural(len(object), "field"), listNames(s.names(), len(object)))
	}
	return clip(string(output))
}

// clip shortens a line for quoting and keeps it one line.
func clip(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if len(text) <= lineBytesMax {
		return text
	}
	return strings.ToValidUTF8(text[:lineBytesMax], "") + "…"
}

// listNames joins names and says how many more there are.
func listNames(names []string, total int) string {
	shown := names[:min(len(names), namesMax)]
	out := strings.Join(shown, ", ")
	if more := total - len(shown); more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// plural counts a noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "s"):
		return fmt.Sprintf("%d %ses", n, noun)
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	case strings.HasSuffix(noun, "ry"), strings.HasSuffix(noun, "ty"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// size writes bytes in the unit that reads best; binary units.
func size(n float64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for n >= 1024 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	if i == 0 && n == 1 {
		return "1 byte"
	}
	if i == 0 || n >= 100 {
		return fmt.Sprintf("%.0f %s", n, units[i])
	}
	return fmt.Sprintf("%.1f %s", n, units[i])
}

// percent writes a share without needless decimals.
func percent(n float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") + " %" }
