package trace

import "sluice/engine"

// instead says why the built-in planner acts where a model was asked.
func instead(fallback string) string {
	switch fallback {
	case "":
		return ""
	case "answers":
		return ", because the model's answers could not be used"
	}
	return ", because the model could not be reached"
}

// controlEnded is the sentence of a planner's or reflection's attempt.
func controlEnded(w *factWords) string {
	switch {
	case w.To == string(engine.NodeExecuted) && w.Replan:
		return "Looked at the results and asked for more steps"
	case w.To == string(engine.NodeExecuted) && w.Input.Ruling == "replan":
		return "Asked for more steps; none are granted" + because(w.Problem)
	case w.To == string(engine.NodeExecuted):
		return "Done and verified"
	case w.Input.Class == "" && w.Fallback != "":
		return "The answer cannot be used again" + because(firstLine(w.Problem)) + "; the built-in planner (no model) takes over"
	case w.Input.Class == "" && w.To == string(engine.NodeRetryable):
		return "The answer cannot be used" + because(firstLine(w.Problem)) + "; the model is told and asked again"
	case w.Fallback != "":
		return "The call failed (" + w.Input.Class + "); the built-in planner (no model) takes over"
	}
	return ended(w)
}

func firstLine(s string) string {
	for i := range s {
		if s[i] == '\n' {
			return s[:i]
		}
	}
	return s
}
