package trace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sluice/engine"
)

const fixesMax = 4

// Account is how a run ended: what happened, in whose words, and what a person
// can do next. It is read off facts, never off a claim.
type Account struct {
	Text     string   `json:"text"`            // one or two sentences
	Detail   string   `json:"detail"`          // the words of who stopped it, "" for none
	Actor    string   `json:"actor,omitempty"` // who stopped it, "" where nobody did
	At       int64    `json:"-"`               // µs UTC, 0 where Actor is ""
	Steps    []Why    `json:"steps"`           // what was not done, in the order of the plan
	Findings []string `json:"findings"`        // why a proposed plan was not taken
	Fixes    []string `json:"fixes"`           // at most a few, the most useful first
}

// Account tells how an ended run went.
func (s *Story) Account(state *engine.State) Account {
	sum := engine.Summarise(state)
	a := Account{Text: tally(state, &sum), Steps: []Why{}, Findings: []string{}, Fixes: []string{}}
	for _, n := range state.Nodes() {
		if n.Step == nil {
			continue
		}
		if w, ok := s.Of(state, &n); ok {
			a.Steps = append(a.Steps, w)
			a.fix(w.Fix)
		}
	}
	if sum.Code == engine.UserCancel {
		s.stopped(&a)
	}
	for _, c := range sum.Causes {
		s.cause(state, &sum, c, &a)
	}
	if len(sum.Unplanned) > 0 {
		a.fix("Say the part that was not planned in other words, one thing at a time. It can also be drawn in the builder, or planned by a model.")
	}
	if sum.Code == engine.InternalFault {
		a.Text, a.Detail = "Sluice met a state that must not occur and stopped the run. Nothing further was started.", strings.Join(sum.Causes, "; ")
		a.fix("Export the log of this run and report it; it holds what is needed to find the fault.")
	}
	return a
}

func (a *Account) fix(text string) {
	if text != "" && !slices.Contains(a.Fixes, text) && len(a.Fixes) < fixesMax {
		a.Fixes = append(a.Fixes, text)
	}
}

// tally says how many steps were done, and what became of the others.
func tally(state *engine.State, sum *engine.Summary) string {
	c, steps := sum.Counts, 0
	for _, n := range c { // order-free: a sum does not depend on the order
		steps += n
	}
	done := c[string(engine.NodeExecuted)]
	switch {
	case steps == 0:
		return ""
	case done == 1 && steps == 1:
		return "The one step is verified."
	case done == steps:
		return "All " + strconv.Itoa(done) + " steps are verified."
	}
	text := strconv.Itoa(done) + " of " + plural(steps, "step") + " verified"
	if done == 0 {
		text = "No step was done"
	}
	var rest []string
	for _, p := range []struct {
		state engine.NodeState
		word  string
	}{{engine.NodeFailed, "failed"}, {engine.NodeCancelled, "cancelled"}, {engine.NodeSkipped, "not needed"}} {
		if n := c[string(p.state)]; n > 0 && (done > 0 || n < steps) {
			rest = append(rest, strconv.Itoa(n)+" "+p.word)
		}
	}
	if len(rest) > 0 {
		text += ", " + strings.Join(rest, ", ")
	}
	return text + "."
}

// stopped says who cancelled, when and with what words.
func (s *Story) stopped(a *Account) {
	for i := range s.run {
		r := &s.run[i]
		if r.Kind != engine.InputCancel {
			continue
		}
		a.Actor, a.At, a.Detail = r.Actor, r.At, wordsOf(r).Reason
		a.fix("What was done before stays done; the log has it. Run it again for the rest.")
		return
	}
}

// cause adds what one cause of the end means and what helps.
func (s *Story) cause(state *engine.State, sum *engine.Summary, cause string, a *Account) {
	switch cause {
	case "nothing_planned":
		a.Text = "Nothing was done: no part of the goal is something a tool here does."
	case "plan_rejected":
		a.Text = "Nothing was done: the proposed plan did not pass the checks that come before the first step."
		s.findings(state, a)
	case "plan_contract":
		a.fix("Every step was done, but their results together are not what the plan promises. Compare them with the plan's contract.")
	case "planner":
		a.Text = "Nothing was done: the planner could not be reached."
		a.fix("Test the model under Settings, or take it out: the built-in planner (no model) plans plain requests without one.")
	case "review":
		a.Text = "Nothing was done: nobody started the plan in time."
		a.fix("Submit it again and start the plan while it waits.")
	}
	if spend, ok := sum.Budget[cause]; ok {
		words := strings.ReplaceAll(strings.TrimSuffix(cause, "_ms"), "_", " ")
		a.Text = strings.TrimSpace("The budget of " + words + " (" + limitWords(cause, spend.Limit) + ") was used up. " + a.Text)
		a.fix("Submit it again with less to do. The limit is that of the run's profile, unless the run was sent with a lower one.")
	}
}

func limitWords(dimension string, limit int64) string {
	switch dimension {
	case "wall_clock_ms":
		return strconv.FormatInt(limit/1000, 10) + " s"
	case "cost_micro_usd":
		return "$" + strconv.FormatFloat(float64(limit)/1e6, 'f', 2, 64)
	}
	return strconv.FormatInt(limit, 10)
}

// findings are what the checks said of the last plan that was proposed.
func (s *Story) findings(state *engine.State, a *Account) {
	for _, n := range state.Nodes() {
		r, ok := s.newest[n.ID]
		if n.Step != nil || !ok {
			continue
		}
		var list []struct{ Severity, Step, Message, Fix string }
		if raw := wordsOf(&r).Input.Findings; len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
			continue
		}
		a.Findings = a.Findings[:0]
		for _, f := range list {
			if f.Severity != "warning" {
				a.Findings = append(a.Findings, f.Message)
				a.fix(f.Fix)
			}
		}
	}
}

// Now says what a run that has not ended waits for, "" while it works.
func (s *Story) Now(state *engine.State) (text, actor string, at int64) {
	sum := engine.Summarise(state)
	switch {
	case sum.Status == engine.Paused:
		for i := range s.run {
			if r := &s.run[i]; r.Kind == engine.InputPause {
				actor, at = r.Actor, r.At
			}
		}
		text = "Paused. What was running goes on to its end, nothing new starts"
		if len(sum.Waiting) > 0 {
			text += ", and an approval given now takes effect when somebody resumes the run"
		}
		return text + ".", actor, at
	case sum.Review:
		return "The plan waits for somebody to start it. Nothing has run yet.", "", 0
	case len(sum.Questions) > 0:
		return "It is not known whether " + nodeList(questionNodes(&sum)) + " happened. A person has to look and say so; until then nothing that needs it goes on.", "", 0
	case sum.Status == engine.Waiting && len(sum.Waiting) > 0:
		return nodeList(waitingNodes(state)) + " waits for a person to answer. Everything else is done or needs that.", "", 0
	case sum.Status == engine.Waiting:
		return "An external authority has to answer first.", "", 0
	}
	return "", "", 0
}

func waitingNodes(state *engine.State) []string {
	var list []string
	for _, a := range state.Approvals() {
		if a.Result == "" {
			list = append(list, a.Node)
		}
	}
	return list
}

func questionNodes(sum *engine.Summary) []string {
	var list []string
	for i := range sum.Questions {
		list = append(list, sum.Questions[i].Node)
	}
	return list
}

func nodeList(list []string) string {
	if len(list) > 3 {
		return strings.Join(list[:3], ", ") + " and " + strconv.Itoa(len(list)-3) + " more"
	}
	return strings.Join(list, " and ")
}
