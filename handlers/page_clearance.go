package handlers

import (
	"strconv"
	"strings"

	"sluice/engine"
	"sluice/policy"
	"sluice/web/templates"
)

// statusShown tells a run that waits for authorities alone from one that waits
// for people (P3 has one word for both).
func statusShown(sum *engine.Summary) string {
	isForPeople := len(sum.Waiting)+len(sum.Questions) > 0 || sum.Review
	if sum.Status == engine.Waiting && !isForPeople && sum.Counts[string(engine.NodeBlocked)] > 0 {
		return "clearing"
	}
	return string(sum.Status)
}

// clearanceLine says how the stage of the authorities stands in a decision.
func clearanceLine(call *callRecord, d *policy.Decision) templates.Gate {
	line := templates.Gate{Stage: "Clearance", Answer: "none", Text: "no rule asks"}
	switch {
	case d.Outcome == policy.Deny && d.Stage == policy.StageClearance:
		line.Answer, line.Text = "deny", ""
		for i := range call.Cleared {
			if !call.Cleared[i].Allow {
				line.Text = joined(line.Text, clearedWords(&call.Cleared[i]))
			}
		}
		if line.Text == "" {
			line.Text = plain(strings.Join(d.Reasons, "; "))
		}
	case d.Outcome == policy.Deny:
		line.Text = "not asked"
	case len(d.Clear) > 0:
		hosts := make([]string, len(d.Clear))
		for i, want := range d.Clear {
			hosts[i] = "rule " + want.Rule + " asks " + plain(policy.AuthorityHost(want.URL))
		}
		line.Answer, line.Text = "ask", strings.Join(hosts, ", ")
	case len(call.Cleared) > 0:
		line.Answer, line.Text = "allow", ""
		for i := range call.Cleared {
			line.Text = joined(line.Text, clearedWords(&call.Cleared[i]))
		}
	}
	return line
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// clearedWords say one answer with its rule, host and latency; the reason is in
// the authority's own words and marked as such.
func clearedWords(c *policy.Clearance) string {
	who := c.Rule + " (" + plain(policy.AuthorityHost(c.URL)) + ") in " + strconv.FormatInt(c.LatencyMS, 10) + " ms"
	switch {
	case c.Failure != "":
		return "no usable answer for " + who + ": " + plain(c.Failure)
	case c.Allow:
		who = "cleared by " + who
	default:
		who = "denied by " + who
	}
	if c.Reason != "" {
		who += ". It says: “" + plain(c.Reason) + "”"
	}
	return who
}

// clearedLines are what authorities said before people were asked.
func clearedLines(call *callRecord) []string {
	var lines []string
	for i := range call.Cleared {
		lines = append(lines, sentence(clearedWords(&call.Cleared[i]))+".")
	}
	return lines
}

// isClearedReason says whether a reason of a decision is about an answer that
// the packet shows in a place of its own.
func isClearedReason(call *callRecord, reason string) bool {
	for i := range call.Cleared {
		if strings.HasPrefix(reason, "Rule "+call.Cleared[i].Rule+": ") {
			return true
		}
	}
	return false
}
