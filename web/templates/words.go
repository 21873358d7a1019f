package templates

import (
	"strings"
)

// look is how one state is shown: always icon, word and tone together.
type look struct{ Icon, Word, Tone string }

// nodeLook gives the look of a node state (P2).
func nodeLook(state string, mine bool) look {
	switch state {
	case "ready":
		return look{"ready", "Ready", "ready"}
	case "running":
		return look{"play", "Running", "running"}
	case "waiting_human":
		return look{"hand", waitingWord(mine), "waiting"}
	case "blocked":
		return look{"pause", "Blocked", "blocked"}
	case "executed":
		return look{"check", "Done", "done"}
	case "failed_retryable":
		return look{"retry", "Retrying", "retrying"}
	case "failed":
		return look{"cross", "Failed", "failed"}
	case "skipped":
		return look{"skip", "Skipped", "skipped"}
	case "cancelled":
		return look{"ban", "Cancelled", "cancelled"}
	}
	return look{"pending", "Pending", "pending"}
}

func waitingWord(mine bool) string {
	if mine {
		return "Waiting for you"
	}
	return "Waiting for approval"
}

// runLook gives the look of a run: its status (P3), or its code once it ended (P6).
func runLook(status, code string, mine bool) look {
	switch status {
	case "planning":
		return look{"play", "Planning", "running"}
	case "running":
		return look{"play", "Running", "running"}
	case "waiting":
		return look{"hand", waitingWord(mine), "waiting"}
	case "clearing":
		return look{"clock", "Waiting for clearance", "waiting"}
	case "paused":
		return look{"pause", "Paused", "blocked"}
	}
	return codeLook(code)
}

// codeLook gives the look of a termination code. What needs a person's next
// step rather than a repair is neutral; red is left for what went wrong.
func codeLook(code string) look {
	switch code {
	case "SUCCESS":
		return look{"check", "Success", "done"}
	case "PARTIAL_SUCCESS":
		return look{"half", "Partial success", "neutral"}
	case "USER_CANCEL":
		return look{"ban", "Cancelled", "cancelled"}
	case "IMPOSSIBLE", "MISSING_INFO", "AMBIGUOUS_INTENT", "CONFIRM_REQUIRED", "REVIEW_REQUIRED", "LOW_CONFIDENCE", "SOURCE_CONFLICT":
		return look{"info", codeWord(code), "neutral"}
	case "":
		return look{"info", "Ended", "neutral"}
	}
	return look{"cross", codeWord(code), "failed"}
}

// codeWord turns PERMISSION_DENIED into "Permission denied".
func codeWord(code string) string {
	if code == "" {
		return ""
	}
	words := strings.ToLower(strings.ReplaceAll(code, "_", " "))
	return strings.ToUpper(words[:1]) + words[1:]
}

// packetLook gives the look of a packet state.
func packetLook(state string) look {
	switch state {
	case StateOpen:
		return look{"hand", "Waiting for you", "waiting"}
	case StateOthers:
		return look{"hand", "Waiting for approval", "waiting"}
	case StateCounted:
		return look{"hand", "Waiting for others", "waiting"}
	case StateApproved:
		return look{"check", "Approved once", "done"}
	case StateDenied:
		return look{"ban", "Denied", "failed"}
	case StateExpired:
		return look{"clock", "Expired", "neutral"}
	case StateAttested:
		return look{"check", "Answered", "done"}
	}
	return look{"ban", "No longer needed", "cancelled"}
}

// kindOfFact gives a fact's icon and tone in the log.
func kindOfFact(row FactRow) look {
	switch {
	case row.Kind == "attempt.started":
		return look{"play", "", "running"}
	case row.Kind == "attempt.ended" && strings.HasPrefix(row.Summary, "Failed"),
		row.Kind == "node.changed" && (strings.HasPrefix(row.Summary, "Failed") || strings.HasPrefix(row.Summary, "Denied")):
		return look{"cross", "", "failed"}
	case row.Kind == "attempt.ended" && strings.HasPrefix(row.Summary, "No certain outcome"):
		return look{"hand", "", "waiting"}
	case row.Kind == "attempt.ended" && strings.HasPrefix(row.Summary, "Stopped"), row.Kind == "node.changed" && strings.HasPrefix(row.Summary, "Cancelled"):
		return look{"ban", "", "cancelled"}
	case row.Kind == "attempt.ended":
		return look{"check", "", "done"}
	case strings.HasPrefix(row.Kind, "approval.") || row.Kind == "outcome.attested" || row.Kind == "input.outcome_unknown":
		return look{"hand", "", "waiting"}
	case strings.HasPrefix(row.Kind, "clearance."):
		return look{"clock", "", "waiting"}
	case row.Kind == "run.ended":
		return look{"log", "", "neutral"}
	case row.Kind == "input.cancel":
		return look{"ban", "", "cancelled"}
	case row.Kind == "version.added":
		return look{"graph", "", "ready"}
	}
	return look{"pending", "", "pending"}
}

// gateLook gives the look of one gate stage.
func gateLook(answer string) look {
	switch answer {
	case "allow":
		return look{"check", "allowed", "done"}
	case "ask":
		return look{"hand", "asks", "waiting"}
	case "deny":
		return look{"ban", "denied", "failed"}
	}
	return look{"minus", "not configured", "neutral"}
}

// answerKind is the colour of an answer, which may name who is asked.
func answerKind(answer string) string {
	if strings.HasPrefix(answer, "clearance") {
		return "ask"
	}
	return answer
}

// answerMark tells a question to an authority from one to people.
func answerMark(answer string) string {
	if strings.HasPrefix(answer, "clearance") {
		return "seal"
	}
	return gateLook(answer).Icon
}

// toolIcon picks a pictogram by tool family; control nodes go by kind.
func toolIcon(kind, tool string) string {
	switch kind {
	case "planner":
		return "fork"
	case "reflection":
		return "reflect"
	}
	switch tool {
	case "sysinfo":
		return "cpu"
	case "disk_usage":
		return "drive"
	case "net_info":
		return "net"
	case "process_list", "file.list":
		return "list"
	case "env_list":
		return "key"
	case "file.delete":
		return "trash"
	case "file.write", "file.patch":
		return "pencil"
	case "file.search":
		return "search"
	case "shell":
		return "terminal"
	case "compute":
		return "func"
	}
	switch family, _, _ := strings.Cut(tool, "."); family {
	case "git":
		return "git"
	case "file":
		return "file"
	case "web", "http":
		return "globe"
	case "mail":
		return "mail"
	}
	return "terminal"
}

// tally is one entry of the counts bar.
type tally struct {
	State, Word string
	look
}

// tallies lists the counts in the order of the bar.
func tallies() []tally {
	list := []tally{
		{State: "executed", Word: "done"}, {State: "running", Word: "running"}, {State: "waiting_human", Word: "waiting"},
		{State: "failed_retryable", Word: "retrying"}, {State: "failed", Word: "failed"}, {State: "skipped", Word: "skipped"},
		{State: "cancelled", Word: "cancelled"}, {State: "blocked", Word: "blocked"}, {State: "ready", Word: "ready"},
		{State: "pending", Word: "to come"},
	}
	for i := range list {
		list[i].look = nodeLook(list[i].State, true)
	}
	return list
}

// initials gives the two letters of an avatar.
func initials(name string) string {
	out := ""
	for _, word := range strings.Fields(name) {
		if len(out) < 2 {
			out += strings.ToUpper(string([]rune(word)[:1]))
		}
	}
	if out == "" {
		return "?"
	}
	return out
}

// kindName names a node's kind to a person.
func kindName(kind string) string {
	switch kind {
	case "planner":
		return "Planner"
	case "reflection":
		return "Reflection"
	}
	return "Tool"
}
