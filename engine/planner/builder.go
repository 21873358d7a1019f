package planner

import (
	"encoding/json"
	"slices"
	"strings"

	"sluice/engine/plan"
)

// builder plans the clauses of one goal in order. What a clause may refer back
// to ("it", "the newest one", "which of them") is kept here.
type builder struct {
	planner   *Planner
	goal      string
	draft     draft
	unplanned []Unplanned
	remarks   []Unplanned // statements that ask for nothing

	offered  map[string]bool // candidates for the clause at hand; nil is all
	base     []string        // what the last verb with its objects came after
	last     []string        // steps of the last planned clause
	listing  string          // the last file.list
	picked   string          // the last file.list, when one entry of it is meant
	matches  string          // the last file.search
	searched string          // and where it looked
	found    string          // the last git.find
	path     string          // the last file named
	topic    *topic          // the last topic planned

	aside aside

	guard     *plan.Guard // the condition the clause stands under
	condition string      // its words
	broken    string      // why the condition cannot be planned; its clauses fall with it
}

func newBuilder(p *Planner, goal string) *builder {
	return &builder{planner: p, goal: goal, draft: draft{ids: map[string]bool{}}}
}

// clause plans one phrase or notes why not. A negated phrase yields nothing.
func (b *builder) clause(p phrase) {
	if (p.opens || p.fresh) && !p.otherwise {
		b.guard, b.broken = nil, ""
	}
	if p.condition {
		b.readCondition(p)
		return
	}
	if p.otherwise && !b.flip() {
		return
	}
	if p.negated {
		b.remember(p)
		return
	}
	if len(p.body) == 0 && !p.hasVerb {
		return
	}
	if b.broken != "" {
		b.decline(p, b.broken)
		return
	}
	if p.isChatter() {
		return
	}
	b.offered = b.candidates(p)
	saved := b.save()
	ids, why := b.plan(p)
	if len(ids) == 0 {
		*b = saved
		if p.goesElsewhere() {
			b.broken = elsewhereText
		}
	}
	if why != "" {
		b.note(p, why)
	}
	if len(ids) == 0 {
		return
	}
	if !p.inherited {
		b.base = b.last
	}
	b.draft.order(len(saved.draft.steps), p, b.base)
	if p.inherited {
		ids = append(slices.Clone(b.last), ids...)
	}
	b.last, b.aside = ids, aside{}
}

const elsewhereText = "this is to happen on another machine, which no tool here reaches"

// goesElsewhere says whether a phrase leads to another machine: what follows in
// the sentence would be done there, not here.
func (p *phrase) goesElsewhere() bool {
	if p.class != verbOther || p.negated {
		return false
	}
	switch p.verb.text {
	case "ssh", "telnet", "rdp", "mosh", "connect":
		return true
	case "log", "login", "sign":
		return slices.ContainsFunc(p.tokens, func(t token) bool { return t.text == "into" || t.text == "onto" || t.text == "login" })
	}
	return false
}

// remember keeps the file that a negated clause names, so that a later "it" is
// not taken for another one.
func (b *builder) remember(p phrase) {
	files := read(p).files()
	if len(files) != 1 {
		return
	}
	b.aside.path = files[0].path
	for _, t := range p.tokens {
		b.aside.meant = b.aside.meant || t.text == "instead" || t.text == "rather" || t.text == "longer"
	}
}

// aside is a file that a negated clause named. It is meant by a later "it" when
// the negation was about what is done with it: "instead of reading a.txt".
type aside struct {
	path  string
	meant bool
}

// it gives the file that "it" means, for reading; "" when that is not clear.
func (b *builder) it() string {
	if b.path == "" {
		return b.aside.path
	}
	return b.path
}

// itForGood is it for a change: with two files named it is never clear.
func (b *builder) itForGood() string {
	switch {
	case b.aside.path == "":
		return b.path
	case b.path == "" && b.aside.meant:
		return b.aside.path
	}
	return ""
}

// plan chooses the rule for a phrase by its verb. It gives the steps that answer
// the phrase and why a part of it is not planned.
func (b *builder) plan(p phrase) (ids []string, why string) {
	r := read(p)
	if at(r.body, 0).text == "do" && at(r.body, 1).text == "what" {
		return nil, "instructions found in data are not followed"
	}
	if r.asksHow() {
		return nil, "this asks for an explanation, which needs a model"
	}
	if r.isLater() {
		return nil, "nothing here runs later or on a schedule"
	}
	if r.isTyped() {
		if ids, why, is := b.planCommandLine(r); is {
			return ids, why
		}
	}
	switch p.class {
	case verbDelete:
		return b.planDelete(r)
	case verbWrite:
		return b.planWrite(r)
	case verbCopy:
		return b.planCopy(r)
	case verbCompare:
		return b.planCompare(r)
	case verbDigest:
		return b.planDigest(r)
	case verbRun:
		return b.planCommand(r)
	case verbPatch:
		if len(r.files()) == 1 && r.verb.text == "replace" && r.text("content", "contents", "everything", "text") && r.has(wordSet("content everything whole entire text")) {
			return b.planWrite(r) // all of it: that is writing
		}
		return b.planPatch(r)
	case verbCompute:
		return nil, b.missing("compute", "arithmetic")
	case verbOther:
		if r.verb.text == "log" && len(r.files()) == 1 {
			return b.planWrite(r)
		}
		if ids, why, is := b.planCommandLine(r); is {
			return ids, why
		}
		return nil, "no tool here does this"
	}
	return b.planLook(r)
}

// asksHow tells "how do I list files" and "what is a kernel" from questions about
// this machine.
func (r *reading) asksHow() bool {
	first, second, third := at(r.body, 0).text, at(r.body, 1).text, at(r.body, 2).text
	if !r.question && first != "how" {
		return false
	}
	asksWay := first == "how" && (second == "to" || (second == "do" || second == "can" || second == "would" || second == "should" || second == "could") && (third == "i" || third == "you" || third == "one"))
	return asksWay || first == "are" && second == "you" || first == "what" && second == "is" && (third == "a" || third == "an") || first == "whats" && (second == "a" || second == "an")
}

// missing says why a clause falls whose tool is not in the catalogue, or has no
// rule that could fill its parameters.
func (b *builder) missing(tool, what string) string {
	if _, is := b.planner.Catalog.Lookup(tool); is {
		return what + " needs a model or a plan written by hand"
	}
	return what + " needs the tool " + tool + ", which is not available here"
}

// offers says whether a tool may be planned for the clause at hand.
func (b *builder) offers(tool string) bool {
	_, is := b.planner.Catalog.Lookup(tool)
	return is && (b.offered == nil || b.offered[tool])
}

// note lists a phrase as unplanned. A statement that asks for nothing counts
// only when nothing else was asked.
func (b *builder) note(p phrase, why string) {
	u := Unplanned{Clause: b.words(p), Why: why}
	if p.isRemark() || p.class != verbOther && len(p.body) > 0 && !p.inherited && len(read(p).left()) == 0 {
		b.remarks = append(b.remarks, u)
		return
	}
	b.unplanned = append(b.unplanned, u)
}

func (b *builder) decline(p phrase, why string) {
	b.unplanned = append(b.unplanned, Unplanned{Clause: b.words(p), Why: why})
}

// words gives a clause as the goal has it.
func (b *builder) words(p phrase) string {
	return strings.Trim(b.goal[p.start:p.end], " \t\r\n,;:")
}

// isRemark tells a statement ("the server feels slow today") from a request.
func (p phrase) isRemark() bool {
	if p.hasVerb || p.inherited || len(p.tokens) == 0 {
		return false
	}
	for _, t := range withoutMarks(p.tokens) {
		switch t.text {
		case "i", "my", "we", "our", "the", "it", "this", "that", "there", "im", "ive", "someone", "somebody", "they", "he", "she", "its", "these", "you":
			return true
		case "and", "but", "so", "because", "since", "although", "yesterday", "today":
			continue
		}
		return false
	}
	return false
}

func (b *builder) proposal() Proposal {
	out := Proposal{Unplanned: b.unplanned, By: By}
	if len(b.draft.steps) == 0 {
		out.Unplanned = append(out.Unplanned, b.remarks...)
	} else {
		b.draft.justify()
		out.Plan = &plan.Plan{Format: plan.Format, Goal: b.goal, Steps: b.draft.steps}
	}
	if len(out.Unplanned) == 0 {
		out.Unplanned = []Unplanned{}
		if out.Plan == nil {
			out.Unplanned = append(out.Unplanned, Unplanned{Clause: excerpt(b.goal), Why: "nothing is asked for that a tool could do"})
		}
	}
	return out
}

// literal writes a parameter's value; strings and numbers always encode.
func literal(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("planner: a literal does not encode: " + err.Error())
	}
	return raw
}
