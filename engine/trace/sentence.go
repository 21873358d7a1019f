package trace

import (
	"encoding/json"
	"strconv"
	"strings"

	"sluice/engine"
)

// factWords are the fields a sentence may need of any fact's data.
type factWords struct {
	To       string   `json:"to"`
	Reason   string   `json:"reason"`
	Detail   string   `json:"detail"`
	Problem  string   `json:"problem"`
	Result   string   `json:"result"`
	Outcome  string   `json:"outcome"`
	Code     string   `json:"code"`
	Causes   []string `json:"causes"`
	Cause    string   `json:"cause"`
	By       string   `json:"by"`
	Added    []string `json:"added"`
	Changed  []string `json:"changed"`
	Removed  []string `json:"removed"`
	Parent   int      `json:"parent"`
	Version  int      `json:"version"`
	Tool     string   `json:"tool"`
	Dim      string   `json:"dimension"`
	Fallback string   `json:"fallback"`
	Replan   bool     `json:"replan"`
	Call     struct{ Tool string }
	clearWords
	Step     struct{ ID, Tool string }
	Decision struct{ Reasons []string }
	Input    struct {
		Goal, Class, Detail, Ruling string
		Intent                      int
	} `json:"input"`
}

// Sentence says in one line what a fact means. The data behind it stays one
// click away; an erased fact says so.
func Sentence(r *engine.Row) string {
	if r.Erased {
		return "Erased: its place in the chain is kept, its content is gone"
	}
	var w factWords
	if err := json.Unmarshal(r.Data, &w); err != nil {
		return string(r.Kind)
	}
	switch r.Kind {
	case engine.RunCreated:
		return "Run created: " + w.Input.Goal
	case engine.VersionAdded:
		return "Plan version " + strconv.Itoa(w.Version) + " by " + planner(w.By) + ": " + versionWords(&w)
	case engine.PlanSketched:
		return "Sketched step " + w.Step.ID + " (" + w.Step.Tool + "); nothing runs from it yet"
	case engine.AttemptStarted:
		return started(r, &w)
	case engine.AttemptEnded:
		if engine.ControlKind(r.Node) != "" {
			return controlEnded(&w)
		}
		return ended(&w)
	case engine.NodeChanged:
		return changed(&w)
	case engine.ClearanceRequested, engine.ClearanceAnswered:
		return clearance(r.Kind, &w)
	case engine.ApprovalRequested:
		return "Stopped for approval of " + w.Tool + reasons(w.Decision.Reasons)
	case engine.ApprovalDecided:
		return "Approval " + w.Result + because(w.Reason)
	}
	return otherSentence(r, &w)
}

func otherSentence(r *engine.Row, w *factWords) string {
	switch r.Kind {
	case engine.OutcomeAttested:
		return "A person says the outcome: " + strings.ReplaceAll(w.Outcome, "_", " ")
	case engine.InputUnknown:
		return "Outcome unknown after " + w.Cause + ": a person has to say what happened"
	case engine.InputTimer:
		return "A deadline came due"
	case engine.InputCancel:
		return "Cancel asked" + because(w.Reason)
	case engine.InputPause:
		return "Paused: nothing new starts"
	case engine.InputResume:
		return "Resumed"
	case engine.InputStart:
		return "The plan was started"
	case engine.InputReplace:
		return "Another plan was sent in place of the one under review"
	case engine.InputPolicy:
		return "Another policy is in force; the stricter of both counts"
	case engine.InputOrphan:
		return "A late result was kept, not used"
	case engine.BudgetWarned:
		return "80 % of " + strings.ReplaceAll(w.Dim, "_", " ") + " are used"
	case engine.RunHalting:
		return "Halting with " + w.Code + ": " + strings.Join(w.Causes, ", ")
	case engine.RunEnded:
		return "Ended with " + w.Code + because(strings.Join(w.Causes, ", "))
	case engine.RunErased:
		return "The run's content was erased" + because(w.Reason)
	}
	return string(r.Kind)
}

func versionWords(w *factWords) string {
	if w.Parent == 0 {
		return plural(len(w.Added), "step")
	}
	return strconv.Itoa(len(w.Added)) + " added, " + strconv.Itoa(len(w.Changed)) + " changed, " + strconv.Itoa(len(w.Removed)) + " removed"
}

func planner(by string) string {
	if by == "builtin" {
		return "built-in planner (no model)"
	}
	return by
}

func started(r *engine.Row, w *factWords) string {
	switch engine.ControlKind(r.Node) {
	case engine.KindPlanner:
		return "Planning started by " + planner(first(w.By, engine.BuiltinBy)) + instead(w.Fallback)
	case engine.KindReflection:
		return "Final reflection started by " + planner(first(w.By, engine.BuiltinBy)) + instead(w.Fallback)
	}
	return "Attempt " + strconv.Itoa(r.Attempt) + " of " + w.Call.Tool + " allowed and started"
}

func ended(w *factWords) string {
	switch w.To {
	case string(engine.NodeExecuted):
		return "Done and verified"
	case string(engine.NodeRetryable):
		return "Failed (" + w.Input.Class + "), will try again"
	case string(engine.NodeWaiting):
		return "No certain outcome (" + w.Input.Class + "): a person has to say what happened"
	case string(engine.NodeCancelled):
		return "Stopped"
	}
	if why := first(w.Problem, w.Input.Detail); why != "" {
		return "Failed: " + why + " (" + strings.ReplaceAll(w.Input.Class, "_", " ") + ")"
	}
	return "Failed: " + strings.ReplaceAll(w.Input.Class, "_", " ")
}

func changed(w *factWords) string {
	reason := strings.ReplaceAll(w.Reason, "_", " ")
	switch w.To {
	case string(engine.NodeFailed):
		if w.Reason == "denied" {
			return "Denied by the gate" + reasons(w.Decision.Reasons)
		}
		return "Failed: " + reason + because(w.Detail)
	case string(engine.NodeSkipped):
		return "Skipped: " + reason
	case string(engine.NodeCancelled):
		return "Cancelled: " + cancelWords(w)
	case string(engine.NodePending):
		return "Will try again"
	}
	return strings.ReplaceAll(w.To, "_", " ") + ": " + reason
}

func cancelWords(w *factWords) string {
	switch w.Reason {
	case "upstream":
		return "a step that it needs was not done" + because(strings.ReplaceAll(strings.ReplaceAll(w.Cause, ":", ": "), "_", " "))
	case "halt":
		return "the run ended before its turn" + because(strings.ReplaceAll(w.Cause, "_", " "))
	}
	return strings.ReplaceAll(w.Reason, "_", " ") + because(w.Cause)
}

func because(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func reasons(list []string) string { return because(strings.Join(list, "; ")) }

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
