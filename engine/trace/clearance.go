package trace

import (
	"strconv"
	"strings"

	"sluice/engine"
	"sluice/policy"
)

// clearWords are the fields of facts about clearance.
type clearWords struct {
	Wants []struct {
		Rule string `json:"rule"`
		URL  string `json:"url"`
	} `json:"wants"`
	Rule      string `json:"rule"`
	URL       string `json:"url"`
	Allow     bool   `json:"allow"`
	Failure   string `json:"failure"`
	LatencyMS int64  `json:"latency_ms"`
}

// clearance says who was asked, or what was answered and how fast. A reason is
// in the authority's own words.
func clearance(k engine.Kind, w *factWords) string {
	if k == engine.ClearanceRequested {
		asked := make([]string, len(w.Wants))
		for i, want := range w.Wants {
			asked[i] = authority(want.Rule, want.URL)
		}
		return "Clearance of " + w.Call.Tool + " asked: " + strings.Join(asked, ", ")
	}
	took := authority(w.Rule, w.URL) + " in " + strconv.FormatInt(w.LatencyMS, 10) + " ms"
	switch {
	case w.Failure != "":
		return "No usable answer from " + took + because(w.Failure) + ": counts as a denial"
	case w.Allow:
		return "Cleared by " + took + says(w.Reason)
	}
	return "Clearance denied by " + took + says(w.Reason)
}

func authority(rule, url string) string { return rule + " at " + policy.AuthorityHost(url) }

func says(reason string) string {
	if reason == "" {
		return ""
	}
	return ", which says: “" + reason + "”"
}
