package handlers

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sluice/policy"
)

// What tells one call of a tool from another in one line of a list.
const (
	gistParams     = 3  // shown, the telling ones first
	gistRunes      = 48 // of one value
	gistItems      = 2  // of a list
	gistNoParams   = "without parameters"
	gistSeparation = " · "
)

// callGist is a call's parameters in short: "path: notes.txt · limit: 5". The
// only parameter of a call needs no name where its value speaks for itself.
func callGist(params []policy.Param) string {
	telling := []string{"path", "to", "url", "command", "pattern", "query"}
	order := slices.Clone(params)
	slices.SortStableFunc(order, func(a, b policy.Param) int { return tellingRank(telling, a.Name) - tellingRank(telling, b.Name) })
	if len(order) == 0 {
		return gistNoParams
	}
	if len(order) == 1 && slices.Contains(telling, order[0].Name) {
		return gistValue(order[0].Value)
	}
	var parts []string
	for _, p := range order[:min(len(order), gistParams)] {
		parts = append(parts, plain(p.Name)+": "+gistValue(p.Value))
	}
	if more := len(order) - gistParams; more > 0 {
		parts = append(parts, strconv.Itoa(more)+" more")
	}
	return strings.Join(parts, gistSeparation)
}

func tellingRank(telling []string, name string) int {
	if i := slices.Index(telling, name); i >= 0 {
		return i
	}
	return len(telling)
}

// gistValue is a value on one line: texts as they are, lists by their first items.
func gistValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return oneLine(text)
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return oneLine(string(raw))
	}
	shown := oneLine(strings.Join(list[:min(len(list), gistItems)], ", "))
	if more := len(list) - gistItems; more > 0 {
		shown += " and " + strconv.Itoa(more) + " more"
	}
	return shown
}

func oneLine(text string) string {
	return cutRunes(plain(strings.Join(strings.Fields(text), " ")), gistRunes)
}
