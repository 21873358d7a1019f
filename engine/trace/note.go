package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"sluice/engine"
)

// NoteMax is the most characters a card's note has room for (mock/tokens).
const NoteMax = 14

// note is the short result on a card.
func note(v engine.NodeView) string {
	switch v.State {
	case engine.NodeExecuted:
		if v.Blob != nil {
			return "large output"
		}
		return fit(countOf(v.Output))
	case engine.NodeRetryable, engine.NodeRunning:
		if v.Attempt > 1 && v.Step != nil {
			return "try " + strconv.Itoa(v.Attempt) + " of " + strconv.Itoa(v.Step.Retries+1)
		}
		return ""
	case engine.NodeBlocked:
		return "clearance"
	case engine.NodeFailed:
		return fit(failureNote(v))
	case engine.NodeSkipped, engine.NodeCancelled:
		return fit(causeNote(v.Cause))
	}
	return ""
}

func failureNote(v engine.NodeView) string {
	if v.Cause == "gate" {
		return "denied"
	}
	return strings.ReplaceAll(string(v.Class), "_", " ")
}

func causeNote(cause string) string {
	switch cause {
	case "guard":
		return "guard false"
	case "sibling":
		return "not needed"
	case "gate":
		return "upstream"
	case "halt:" + string(engine.BudgetExhausted):
		return "no budget"
	}
	if i := strings.IndexByte(cause, ':'); i >= 0 {
		return "upstream"
	}
	return cause
}

// countOf says how many entries the output's first list has.
func countOf(output []byte) string {
	d := json.NewDecoder(bytes.NewReader(output))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return ""
		}
		if len(raw) > 0 && raw[0] == '[' {
			var list []json.RawMessage
			if json.Unmarshal(raw, &list) != nil {
				return ""
			}
			name, _ := key.(string)
			return counted(len(list), strings.ReplaceAll(name, "_", " "))
		}
	}
	return ""
}

// counted says "1 mount" and "4 mounts" of a list named mounts.
func counted(n int, name string) string {
	if n == 1 {
		if stem, ok := strings.CutSuffix(name, "ies"); ok {
			name = stem + "y"
		} else if stem, ok := strings.CutSuffix(name, "ches"); ok {
			name = stem + "ch"
		} else {
			name = strings.TrimSuffix(name, "s")
		}
	}
	return strconv.Itoa(n) + " " + name
}

// fit drops whole words until the note fits.
func fit(s string) string {
	for utf8.RuneCountInString(s) > NoteMax {
		i := strings.LastIndexByte(s, ' ')
		if i < 0 {
			return string([]rune(s)[:NoteMax-1]) + "…"
		}
		s = s[:i]
	}
	return s
}
