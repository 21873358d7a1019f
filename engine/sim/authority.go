package sim

import (
	"strconv"
	"strings"

	"sluice/engine"
	"sluice/policy"
)

// clearanceOf is the rule of an authority that is asked about a tool.
func clearanceOf(id, tool string) policy.ClearanceRule {
	return policy.ClearanceRule{ID: id, When: policy.When{Tools: []string{tool}}, URL: "https://" + strings.ToLower(id) + ".example", TimeoutS: 2}
}

// clear draws what becomes of a question: mostly an allow, now and then a
// denial, an answer that is none, or silence.
func (w *World) clear(c engine.Clear) {
	name := c.Rule + " " + c.Node + "#" + strconv.Itoa(c.Attempt)
	took := 1 + w.draw(900, "authority", name)
	in := &engine.Cleared{Head: engine.Head{Actor: "system"}, Node: c.Node, Attempt: c.Attempt, Rule: c.Rule, URL: c.URL,
		Allow: true, LatencyMS: int64(took), Nonce: "n " + name}
	switch w.draw(12, "clearance", name) {
	case 0:
		in.Allow, in.Reason = false, "no"
	case 1:
		in.Allow, in.Failure = false, "malformed"
	case 2:
		took, in.Allow, in.Failure = 2000, false, "deadline"
	case 3:
		return // lost: the wall clock ends the run
	}
	w.launch(&flight{command: c, result: in, endsAt: w.now + int64(took)*ms})
}

// stopClearing drops questions that nobody needs answered any more.
func (w *World) stopClearing(prefix string) {
	for id := range w.flights {
		if strings.HasPrefix(id, prefix) {
			delete(w.flights, id)
		}
	}
}
