package planner

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sluice/engine/plan"
)

// Limits on a goal. A goal beyond one is unplanned as a whole: nothing is cut off.
const (
	GoalBytesMax = 8 << 10
	ClausesMax   = 64
)

// By names this planner wherever it acts (P38, P39).
const By = "builtin"

// Planner proposes plans from goals in words. Both fields are read only; a nil
// Index means that every tool of the catalogue is a candidate.
type Planner struct {
	Index     Index
	Catalog   *plan.Catalog
	Templates Templates // nil: none
}

// Proposal is the planner's answer to a goal (P38): a plan, or a direct answer
// to a goal that needs no tool (P39), and what no step covers.
type Proposal struct {
	Plan      *plan.Plan // nil when nothing was planned
	Answer    string     // "" unless the goal needs no tool
	Unplanned []Unplanned
	By        string
	Template  string // "name@2" when the plan is an instance of it
}

// MarshalJSON writes the shape of P38: answer is null when there is none.
func (p Proposal) MarshalJSON() ([]byte, error) {
	wire := struct {
		Plan      *plan.Plan  `json:"plan"`
		Answer    *string     `json:"answer"`
		Unplanned []Unplanned `json:"unplanned"`
		By        string      `json:"by"`
		Template  string      `json:"template,omitempty"`
	}{Plan: p.Plan, Unplanned: p.Unplanned, By: p.By, Template: p.Template}
	if p.Answer != "" {
		wire.Answer = &p.Answer
	}
	return json.Marshal(wire)
}

// Unplanned is a part of the goal that no step covers, and why.
type Unplanned struct {
	Clause string `json:"clause"`
	Why    string `json:"why"`
}

// Propose plans a goal. It has no effects; the same goal and catalogue give the
// same proposal.
func (p *Planner) Propose(goal string) Proposal {
	if why := refuse(goal); why != "" {
		return Proposal{Unplanned: []Unplanned{{Clause: excerpt(goal), Why: why}}, By: By}
	}
	for _, whole := range []func(string) (Proposal, bool){p.fillTemplate, p.calculate, p.sendMail} {
		if proposal, is := whole(goal); is {
			return proposal
		}
	}
	clauses := splitClauses(goal, tokenize(goal))
	if len(clauses) > ClausesMax {
		why := fmt.Sprintf("the goal has %d clauses, at most %d are planned", len(clauses), ClausesMax)
		return Proposal{Unplanned: []Unplanned{{Clause: excerpt(goal), Why: why}}, By: By}
	}
	if reply := p.reply(clauses); reply != "" {
		return Proposal{Answer: reply, Unplanned: []Unplanned{}, By: By}
	}
	b := newBuilder(p, goal)
	for _, ph := range withoutStatements(connect(clauses)) {
		b.clause(ph)
	}
	return b.proposal()
}

func refuse(goal string) string {
	switch {
	case len(goal) > GoalBytesMax:
		return fmt.Sprintf("the goal has %d bytes, at most %d are read", len(goal), GoalBytesMax)
	case !utf8.ValidString(goal) || strings.ContainsRune(goal, 0):
		return "the goal is no valid text"
	case strings.TrimSpace(goal) == "":
		return "the goal is empty"
	}
	return ""
}

// excerptBytesMax bounds what is quoted of a goal that is refused as a whole.
const excerptBytesMax = 200

func excerpt(goal string) string {
	goal = strings.ToValidUTF8(goal, "�")
	if len(goal) <= excerptBytesMax {
		return strings.TrimSpace(goal)
	}
	return strings.ToValidUTF8(goal[:excerptBytesMax], "") + "…"
}
