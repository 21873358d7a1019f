package templates

import "strings"

// plannerWords says who plans, wherever it is said in a line of its own.
func plannerWords(by string) string {
	if name, is := strings.CutPrefix(by, "model:"); is {
		return "Planned by model:" + name
	}
	return "Built-in planner (no model)"
}

func byName(n Node) string {
	switch {
	case n.By != "builtin":
		return n.By
	case n.Kind == "reflection":
		return "Built-in report (no model)"
	}
	return "Built-in planner (no model)"
}

// fallbackText says which roles the built-in planner took over.
func fallbackText(roles []string) string {
	what := "planned this"
	switch {
	case len(roles) == 2:
		what = "planned this and wrote the answer"
	case roles[0] == "executor":
		what = "wrote the answer"
	}
	return "The model did not answer as it should: the built-in planner (no model) " + what + "."
}

func fallbackWhy(why string) string {
	if why == "answers" {
		return "The model's answers could not be used, so the built-in planner (no model) acted."
	}
	return "The model did not answer, so the built-in planner (no model) acted."
}
