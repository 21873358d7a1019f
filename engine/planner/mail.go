package planner

import (
	"regexp"
	"strings"
)

// letter is a goal that is one email with everything in it: who gets it, the
// subject and the text. With a part missing nothing is guessed.
var (
	letterForm = regexp.MustCompile(`(?is)^(?:please\s+)?(?:send|write)\s+(?:an?\s+)?(?:e-?mail|mail|message)\s+to\s+(` + addresses + `)\s+with\s+(?:the\s+)?subject\s+(.+?)\s+` +
		`(?:saying|and\s+(?:the\s+)?(?:body|text|message))\s+(.+?)\s*$`)
	addressEach = regexp.MustCompile(oneAddress)
)

const (
	oneAddress = `[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+`
	addresses  = oneAddress + `(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)` + oneAddress + `)*`
)

// sendMail plans such a goal.
func (p *Planner) sendMail(goal string) (Proposal, bool) {
	found := letterForm.FindStringSubmatch(goal)
	if _, is := p.Catalog.Lookup("mail.send"); !is || found == nil {
		return Proposal{}, false
	}
	subject, subjectOK := unquoted(found[2])
	body, bodyOK := unquoted(found[3])
	if !subjectOK || !bodyOK {
		return Proposal{}, false
	}
	b := newBuilder(p, goal)
	b.draft.add(spec{tool: "mail.send", name: "mail", act: true, given: map[string]any{
		"to": addressEach.FindAllString(found[1], -1), "subject": subject, "body": body,
	}})
	return b.proposal(), true
}

// unquoted takes a text out of its quotes. One that has quotes elsewhere, or
// none and several lines, may end where nobody can tell.
func unquoted(text string) (string, bool) {
	text = strings.TrimRight(text, ",:")
	inner := strings.TrimSuffix(text, ".")
	for open, closing := range closers { // order-free: one pair at most fits
		if rest, is := strings.CutPrefix(inner, string(open)); is {
			inside, ends := strings.CutSuffix(rest, string(closing))
			return inside, ends && inside != "" && !strings.ContainsRune(inside, closing)
		}
	}
	for open := range closers { // order-free: any will do
		if open != '\'' && open != '’' && strings.ContainsRune(text, open) {
			return "", false
		}
	}
	return text, text != "" && !strings.ContainsAny(text, "\r\n")
}
