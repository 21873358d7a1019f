package handlers

import (
	"context"
	"encoding/json"

	"sluice/policy"
)

// callTitle is a call as a verb sentence: what will happen, first (ui.md §1).
func callTitle(tool string, call *callRecord) string {
	path := call.param("path")
	switch tool {
	case "file.delete":
		return "Delete " + orSomething(path, "a file") + " from the workspace"
	case "file.write":
		return "Write " + orSomething(path, "a file") + " in the workspace"
	case "file.patch":
		return "Change " + orSomething(path, "a file") + " in the workspace"
	case "mail.send":
		return mailTitle(call)
	case "file.read":
		return "Read " + orSomething(path, "a file") + " in the workspace"
	case "file.list":
		return "List " + orSomething(path, "the workspace")
	case "file.search":
		return "Search " + orSomething(path, "the workspace")
	}
	if path != "" {
		return "Call " + tool + " on " + path
	}
	return "Call " + tool
}

func orSomething(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// undoWords say whether a call can be taken back.
func undoWords(tool string) string {
	switch tool {
	case "file.delete":
		return "Cannot be undone."
	case "file.write":
		return "Replaces what is there; the old content is not kept."
	case "file.patch":
		return "The old text is not kept; the edits below show it."
	case "mail.send":
		return "Cannot be undone: who got it keeps it."
	}
	return ""
}

func reversible(tool string, effect policy.Effect) bool {
	return effect == policy.Read
}

// expiryWords say what happens when nobody answers.
func expiryWords(tool string) string {
	switch tool {
	case "file.delete":
		return "then denied, nothing is deleted"
	case "file.write":
		return "then denied, nothing is written"
	case "file.patch":
		return "then denied, nothing is changed"
	case "mail.send":
		return "then denied, nothing is sent"
	}
	return "then denied, nothing is done"
}

func approveWords(tool string) string {
	switch tool {
	case "file.delete":
		return "deletes exactly this file, once. A change asks again."
	case "file.write":
		return "writes exactly this content, once. A change asks again."
	case "file.patch":
		return "makes exactly these edits, once. A change asks again."
	case "mail.send":
		return "sends exactly this message, once. A change asks again."
	}
	return "makes exactly this call, once. A change asks again."
}

// asked reads the gate input of a request from its fact.
func (s *Server) asked(ctx context.Context, a *Approval) record {
	var r record
	rows, err := s.cfg.Log.Rows(ctx, a.Run, a.Seq-1, 1)
	if err != nil || len(rows) == 0 || rows[0].Erased {
		return r
	}
	_ = json.Unmarshal(rows[0].Data, &r) // what cannot be read shows as absent
	return r
}

func (s *Server) approvalTitle(ctx context.Context, a *Approval) string {
	return callTitle(a.Tool, s.asked(ctx, a).Call)
}

// riskFlags are what an approver should look at twice.
func riskFlags(call *callRecord) (flags []flagWords) {
	if call == nil {
		return nil
	}
	for i := range call.Params {
		p := &call.Params[i]
		for _, l := range p.Labels {
			if l == string(policy.LabelUntrusted) {
				source, _, _ := sourceOf(p.Source)
				flags = append(flags, flagWords{"Untrusted value.", p.Name + " was read from " + source + "."})
			}
		}
		if hides(p.Value) {
			flags = append(flags, flagWords{"Hidden characters.", p.Name + " contains characters that do not show; they are written out here."})
		}
	}
	return flags
}

type flagWords struct{ title, text string }
