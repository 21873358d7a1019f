package trace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// Story collects, while a run is folded, the facts that say why a step stands
// where it stands. What it tells is for people: no model sees any of it (P24).
type Story struct {
	newest map[string]engine.Row // by step: the fact that settled it
	run    []engine.Row          // who stopped the run, and with what words
}

// Why is what kept one step from being done, or keeps it still.
type Why struct {
	Node   string           `json:"node"`
	State  engine.NodeState `json:"state"`
	Tool   string           `json:"tool"`
	Text   string           `json:"text"`               // one sentence
	Detail string           `json:"detail"`             // the words of the tool, the gate or the person; "" for none
	Fix    string           `json:"fix"`                // what a person can do about it, "" for nothing
	Actor  string           `json:"actor,omitempty"`    // who decided, "" where nobody did
	At     int64            `json:"-"`                  // µs UTC, 0 where no fact says it
	Seq    int64            `json:"seq,omitempty"`      // of that fact
	Denied *policy.Decision `json:"decision,omitempty"` // of the gate's refusal
	Root   string           `json:"root,omitempty"`     // the earlier step that is the reason
}

// NewStory starts before the first fact.
func NewStory() *Story { return &Story{newest: map[string]engine.Row{}} }

// Take looks at one fact; the others it leaves.
func (s *Story) Take(r *engine.Row) {
	switch r.Kind {
	case engine.AttemptEnded, engine.NodeChanged, engine.ApprovalDecided, engine.OutcomeAttested:
		s.newest[r.Node] = *r
	case engine.InputCancel, engine.InputPause:
		s.run = append(s.run, *r)
	}
}

// whyWords are the fields of a fact's data that a reason may need.
type whyWords struct {
	Reason   string           `json:"reason"`
	Detail   string           `json:"detail"`
	Problem  string           `json:"problem"`
	Result   string           `json:"result"`
	Note     string           `json:"note"`
	Decision *policy.Decision `json:"decision"`
	Call     struct {
		Intent policy.Rank `json:"intent"`
	} `json:"call"`
	Input struct {
		Class    string          `json:"class"`
		Detail   string          `json:"detail"`
		Findings json.RawMessage `json:"findings"`
	} `json:"input"`
}

func wordsOf(r *engine.Row) whyWords {
	var w whyWords
	if !r.Erased {
		_ = json.Unmarshal(r.Data, &w) // what cannot be read shows as absent
	}
	return w
}

// Of says why a step was not done, or why it does not run now. A step that is
// done or at work has no Why.
func (s *Story) Of(state *engine.State, n *engine.NodeView) (Why, bool) {
	w := Why{Node: n.ID, State: n.State}
	if n.Step != nil {
		w.Tool = n.Step.Tool
	}
	if r, ok := s.newest[n.ID]; ok {
		w.Actor, w.At, w.Seq = r.Actor, r.At, r.Seq
	}
	switch n.State {
	case engine.NodeFailed:
		s.failed(n, &w)
	case engine.NodeCancelled:
		s.cancelled(state, n, &w)
	case engine.NodeSkipped:
		skipped(state, n, &w)
	case engine.NodePending, engine.NodeReady, engine.NodeRetryable, engine.NodeBlocked:
		s.held(state, n, &w)
	default:
		return w, false
	}
	return w, w.Text != ""
}

func (s *Story) failed(n *engine.NodeView, w *Why) {
	r, ok := s.newest[n.ID]
	if !ok {
		w.Text = "It failed."
		return
	}
	d := wordsOf(&r)
	switch r.Kind {
	case engine.NodeChanged:
		s.refused(&d, w)
	case engine.OutcomeAttested:
		w.Text, w.Detail = "A person gave it up because its outcome was not known.", d.Note
		w.Fix = "Look at what really happened outside before you run it again."
	default:
		tried := ""
		if n.Attempt > 1 {
			tried = " after " + strconv.Itoa(n.Attempt) + " attempts"
		}
		w.Text = toolName(w.Tool) + " failed" + tried + ": " + classWords(d.Input.Class) + "."
		w.Detail, w.Fix = first(d.Problem, d.Input.Detail), classFix(d.Input.Class, w.Tool)
	}
}

// refused: the step failed before anything was called.
func (s *Story) refused(d *whyWords, w *Why) {
	switch d.Reason {
	case "denied":
		w.Actor, w.Denied = "", d.Decision
		w.Text = "The gate denied it before it ran."
		if d.Decision != nil {
			w.Detail, w.Fix = strings.Join(d.Decision.Reasons, " "), denialFix(d, w.Tool)
		}
	case "no_candidate":
		w.Text = "None of its candidates was done."
	case "params_invalid":
		w.Text, w.Detail = "Its values, once known, do not fit what "+toolName(w.Tool)+" takes. Nothing was called.", d.Detail
		w.Fix = "Correct the step that gives the value, or the reference to it, and run the plan again."
	case "unresolved_reference":
		w.Text, w.Detail = "A value that it needs was not there. Nothing was called.", d.Detail
		w.Fix = "Look at the step that should give the value, correct the reference and run the plan again."
	default:
		w.Text, w.Detail = "It failed: "+strings.ReplaceAll(d.Reason, "_", " ")+".", d.Detail
	}
}

func denialFix(w *whyWords, tool string) string {
	d := w.Decision
	switch {
	case d.Stage == policy.StageClearance:
		return "Ask whoever runs that authority; nobody here can answer in its place."
	case d.Stage == policy.StageImpact && d.Limit == w.Call.Intent:
		return "If that is meant, submit it again at the intent " + d.ImpactName + ". Where a rule asks, it still stops for a person."
	case d.Stage == policy.StageImpact:
		return "A policy owner can raise the cap. Until then no intent is high enough."
	case slices.Contains(d.Rules, policy.RuleKillSwitch):
		return "Somebody switched " + tool + " off. Ask a policy owner whether it may go on again."
	case d.Stage == policy.StageScope:
		return "A policy owner can put " + tool + " into the scope. Until then no run of this scope may use it."
	}
	return ""
}

func (s *Story) cancelled(state *engine.State, n *engine.NodeView, w *Why) {
	r, ok := s.newest[n.ID]
	d := wordsOf(&r)
	switch {
	case ok && r.Kind == engine.ApprovalDecided && d.Result == string(engine.Denied):
		w.Text, w.Detail = "A person denied it.", d.Reason
		w.Fix = "Ask them, change what was asked for, and submit it again."
	case ok && r.Kind == engine.ApprovalDecided && d.Result == string(engine.Expired):
		w.Actor = ""
		w.Text = "Nobody answered in time, and silence means no."
		w.Fix = "Submit it again and tell an approver; the rule in the policy says how long there is to answer."
	case ok && r.Kind == engine.OutcomeAttested:
		w.Text, w.Detail = "A person gave it up because its outcome was not known.", d.Note
		w.Fix = "Look at what really happened outside before you run it again."
	default:
		w.Actor = ""
		s.upstream(state, n, w)
	}
}

// upstream: the step was never tried, because of an earlier one or of the run.
func (s *Story) upstream(state *engine.State, n *engine.NodeView, w *Why) {
	w.Root = s.root(state, n)
	switch {
	case w.Root != "":
		w.Text = "It was never tried, because it needs " + w.Root + ", which was not done."
	case strings.HasPrefix(n.Cause, "halt:") || n.Cause == "cancel" || n.Cause == string(engine.UserCancel):
		w.Text = "The run ended before its turn came."
		if n.StartedAt != 0 {
			w.Text = "It was stopped with the run."
		}
	default:
		w.Text = "It was not tried."
	}
}

// root names the nearest earlier step that was not done, the furthest back where
// several hang on each other.
func (s *Story) root(state *engine.State, n *engine.NodeView) string {
	found, at := "", n
	for range len(state.Nodes()) {
		if at.Step == nil {
			return found
		}
		var next *engine.NodeView
		for _, d := range at.Step.Deps {
			p, _ := state.Node(state.Plan().Steps[d.From].ID)
			if p.State == engine.NodeFailed || p.State == engine.NodeCancelled {
				next = &p
				break
			}
		}
		if next == nil {
			return found
		}
		found, at = next.ID, next
	}
	return found
}

func skipped(state *engine.State, n *engine.NodeView, w *Why) {
	w.Actor = ""
	switch {
	case n.Cause == "sibling":
		w.Text = "It was not needed: another candidate was enough."
	case n.Step != nil && n.Step.Guard != nil:
		w.Text, w.Detail = "Its condition did not hold.", guardWords(state, n.Step.Guard)
	default:
		w.Text = "It was not needed, because a step before it was not."
	}
}

// guardWords show a condition with the value it was held against.
func guardWords(state *engine.State, g *plan.CompiledGuard) string {
	from := state.Plan().Steps[g.From].ID
	text := from + "." + g.Field + " " + g.Op + " " + string(g.Value)
	path, err := plan.SplitPath(g.Field)
	if err != nil {
		return text
	}
	p, _ := state.Node(from)
	if value, ok := plan.Field(p.Output, path); ok && len(value) <= 200 {
		return "Asked: " + text + ". Found: " + string(value) + "."
	}
	return text
}

// held says what a step that is not over waits for.
func (s *Story) held(state *engine.State, n *engine.NodeView, w *Why) {
	w.Actor, w.At, w.Seq = "", 0, 0
	switch {
	case state.Status() == engine.Paused:
		w.Text, w.Fix = "The run is paused, so nothing new starts.", "Resume the run."
	case state.Reviewing():
		w.Text, w.Fix = "The plan waits for somebody to start it.", "Start the plan, change it or cancel."
	case n.State == engine.NodeBlocked:
		w.Text = "It waits for the answer of an external authority."
	case n.State == engine.NodeRetryable:
		w.Text = "It failed and will be tried again by itself."
	case n.State == engine.NodeReady:
		w.Text = "It is ready and waits for a free place."
	default:
		w.Text = waitsFor(state, n)
	}
}

func waitsFor(state *engine.State, n *engine.NodeView) string {
	if n.Step == nil {
		return ""
	}
	var open []string
	for _, d := range n.Step.Deps {
		p, _ := state.Node(state.Plan().Steps[d.From].ID)
		switch p.State {
		case engine.NodeExecuted, engine.NodeFailed, engine.NodeSkipped, engine.NodeCancelled:
		case engine.NodeWaiting:
			open = append(open, p.ID+", which waits for a person")
		default:
			open = append(open, p.ID)
		}
	}
	if len(open) == 0 {
		return ""
	}
	return "It waits for " + strings.Join(open, " and ") + "."
}

func toolName(tool string) string { return first(tool, "The call") }

func classWords(class string) string {
	switch class {
	case "unavailable":
		return "it is not available on this machine or could not be reached"
	case "not_found":
		return "what it names does not exist"
	case "conflict":
		return "it conflicts with what is there"
	case "contract":
		return "its answer is not what the plan expects of it"
	case "timeout":
		return "it did not end in time"
	case "transient":
		return "it kept failing in a way that may pass"
	case "stopped":
		return "it was stopped"
	}
	return "its values or its result are not valid"
}

func classFix(class, tool string) string {
	switch class {
	case "unavailable":
		return "Make what " + tool + " needs available, then run it again."
	case "not_found":
		return "Check the name for a typing error, and look at what is there, then run it again."
	case "conflict":
		return "Look at what stands there now, then decide whether to run it again."
	case "contract":
		return "Compare the result in the step's record with the contract, and correct whichever is wrong."
	case "timeout", "transient":
		return "Run it again later. A step of a drawn plan can be given more time and more attempts."
	case "invalid":
		return "Correct the values of this step and run it again."
	}
	return ""
}
