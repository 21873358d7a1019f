package templates

import "strings"

// plannerWords says who plans, wherever it is said in a line of its own.
func plannerWords(by string) string {
	if name, is := strings.CutPrefix(by, "model:"); is {
		return "Planned by model " + name
	}
	return "Built-in planner (no model)"
}
