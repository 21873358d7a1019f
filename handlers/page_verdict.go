package handlers

import (
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/trace"
	"sluice/web/templates"
)

// verdictView shows why a run ended, what it found, what it left and what a
// person can do next; every claim leads to the observations behind it (R55).
func (s *Server) verdictView(c echo.Context, sum *engine.Summary, state *engine.State, story *trace.Story) *templates.Verdict {
	v := &templates.Verdict{Code: string(sum.Code), Causes: s.causeWords(c, sum)}
	steps := planNodes(state)
	v.Foot = []string{plural(len(steps), "step"), plural(sum.PlanVersion, "plan version"),
		plural(int(sum.Budget["side_effects"].Spent), "side effect")}
	for _, u := range sum.Unplanned {
		v.Unplanned = append(v.Unplanned, templates.Unplanned{Clause: clauseWords(u.Clause), Why: plain(u.Why)})
	}
	s.account(c, v, story.Account(state), s.ruleBook(c.Request().Context(), state))
	if sum.Verdict != nil {
		if v.By = sum.Verdict.By; v.By != engine.BuiltinBy || v.Summary == "" {
			v.Text = plain(sum.Verdict.Text)
		}
		addClaims(v, sum.Verdict.Claims, state)
	}
	if len(v.Claims) == 0 {
		v.Done = doneSteps(steps)
	}
	return v
}

// clauseWords shows a part of a goal without the word that tied it to the one before.
func clauseWords(clause string) string {
	text := strings.TrimSpace(clause)
	for _, joint := range []string{"and then ", "and ", "then ", "but "} {
		if len(text) > len(joint) && strings.EqualFold(text[:len(joint)], joint) {
			text = text[len(joint):]
			break
		}
	}
	return plain(sentence(strings.TrimLeft(text, " ,")))
}

// account shows how the run went, in the words of its facts.
func (s *Server) account(c echo.Context, v *templates.Verdict, a trace.Account, book *ruleBook) {
	v.Summary, v.Words = plain(a.Text), plain(a.Detail)
	v.Findings, v.Fixes = plainAll(a.Findings), plainAll(a.Fixes)
	if a.Actor != "" {
		v.Who, v.At = s.actor(c, a.Actor), a.At
	}
	for i := range a.Steps {
		w := &a.Steps[i]
		v.Left = append(v.Left, s.leftView(c, w, book))
		if v.Again == "" && w.Denied != nil && strings.Contains(w.Fix, "at the intent") {
			v.Again = w.Denied.ImpactName
		}
	}
}

func (s *Server) leftView(c echo.Context, w *trace.Why, book *ruleBook) templates.Left {
	l := templates.Left{Node: w.Node, Tool: w.Tool, Why: plain(w.Text), Detail: plain(w.Detail), Fix: plain(w.Fix), At: w.At, Seq: w.Seq, Root: w.Root,
		Failed: w.State == engine.NodeFailed}
	if w.Denied != nil {
		l.Detail, l.Rules = book.words(l.Detail, w.Denied, w.At), book.decidedBy(w.Denied, w.Tool, w.At)
	}
	if strings.HasPrefix(w.Actor, "user:") || strings.HasPrefix(w.Actor, "token:") {
		l.Who = s.actor(c, w.Actor)
	}
	return l
}

// heldView says of one step why it was not done or does not run yet, nil where
// there is nothing to say.
func (s *Server) heldView(c echo.Context, state *engine.State, node string, story *trace.Story) *templates.Left {
	n, _ := state.Node(node)
	w, ok := story.Of(state, &n)
	if !ok {
		return nil
	}
	l := s.leftView(c, &w, s.ruleBook(c.Request().Context(), state))
	return &l
}

var answerWords = map[string]string{string(engine.Approved): "Approved", string(engine.Counted): "Approved, more were asked", string(engine.Denied): "Denied",
	string(engine.Expired): "Not answered in time", string(engine.Voided): "No longer needed"}

// answerViews are the answers to a step's requests, who gave them, when and why.
func (s *Server) answerViews(c echo.Context, about []nodeRecord) []templates.Answer {
	var list []templates.Answer
	for i := range about {
		r := &about[i]
		if r.row.Kind != engine.ApprovalDecided || r.row.Erased {
			continue
		}
		a := templates.Answer{Word: answerWords[r.data.Result], Reason: plain(r.data.Reason), At: r.row.At, Seq: r.row.Seq, URL: "/approvals/" + r.data.ID}
		if strings.HasPrefix(r.row.Actor, "user:") {
			a.Who = s.actor(c, r.row.Actor)
		}
		list = append(list, a)
	}
	return list
}

// nowWords says what a run that has not ended waits for, and who paused it.
func (s *Server) nowWords(c echo.Context, state *engine.State, story *trace.Story) string {
	text, actor, at := story.Now(state)
	if actor != "" {
		text = strings.Replace(text, "Paused.", "Paused by "+s.actor(c, actor)+" at "+clock(at)+".", 1)
	}
	return plain(text)
}

// actor names who acted for people: by name where it is a person.
func (s *Server) actor(c echo.Context, principal string) string {
	if p := s.person(c, principal); p.Name != principal {
		return p.Name
	}
	if name, ok := strings.CutPrefix(principal, "token:"); ok {
		return "the token " + name
	}
	return principal
}

func plainAll(list []string) []string {
	for i := range list {
		list[i] = plain(list[i])
	}
	return list
}

// addClaims numbers the observations in the order in which claims cite them.
func addClaims(v *templates.Verdict, claims []engine.Claim, state *engine.State) {
	owner := map[string]string{}
	for _, n := range state.Nodes() {
		if n.Observation != "" {
			owner[n.Observation] = n.ID
		}
	}
	number := map[string]int{}
	for _, claim := range claims {
		cl := templates.Claim{Text: plain(claim.Text)}
		if len(claim.Observations) == 1 {
			cl.Title = titleOf(owner[claim.Observations[0]])
		}
		for _, o := range claim.Observations {
			if number[o] == 0 {
				number[o] = len(number) + 1
			}
			cl.Cites = append(cl.Cites, templates.Cite{N: number[o], Observation: o, Node: owner[o]})
		}
		v.Claims = append(v.Claims, cl)
	}
	if n := len(v.Claims); n > 0 {
		v.Linked = strconv.Itoa(n) + " of " + plural(n, "claim") + " linked to verified outputs"
	}
}

// doneSteps are the steps that were done where no claim speaks of them, as in a
// run that was cancelled: what was changed stays changed.
func doneSteps(steps []engine.NodeView) []templates.Left {
	var list []templates.Left
	for i := range steps {
		if n := &steps[i]; n.State == engine.NodeExecuted {
			list = append(list, templates.Left{Node: n.ID, Tool: n.Step.Tool, Why: "Done and verified. " + effectLeft(n), At: n.EndedAt})
		}
	}
	return list
}

func effectLeft(n *engine.NodeView) string {
	if n.Step.Effect == "read" {
		return "It only read."
	}
	return "What it changed stays changed."
}

// titleOf reads a step's id as the heading of what it found.
func titleOf(id string) string {
	return sentence(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return r
	}, id))
}

// causeWords says causes in words.
func (s *Server) causeWords(c echo.Context, sum *engine.Summary) []string {
	words := make([]string, len(sum.Causes))
	for i, cause := range sum.Causes {
		words[i] = causeWord(cause)
		if who, ok := strings.CutPrefix(cause, "cancelled by "); ok {
			words[i] = "cancelled by " + s.actor(c, who)
		}
	}
	return words
}

func causeWord(c string) string {
	switch c {
	case "gate":
		return "the gate denied a step"
	case "rejected":
		return "a person denied a step"
	case "expired":
		return "an approval expired"
	case "unplanned":
		return "a part of the goal was not planned"
	case "nothing_planned":
		return "nothing in the goal could be planned"
	case "plan_rejected":
		return "the proposed plan did not compile"
	case "plan_contract":
		return "the plan's own contract was not met"
	case "aborted":
		return "a person aborted a step"
	case "cancel":
		return "a step was stopped"
	case "review":
		return "nobody started the plan in time"
	case "planner":
		return "the planner was not available"
	}
	if word, is := budgetWords[c]; is {
		return "the budget of " + word + " is used up"
	}
	if len(c) > 7 && c[:7] == "failed:" {
		return "a step failed: " + failureWord(c[7:])
	}
	return c
}

func failureWord(class string) string {
	switch class {
	case "unavailable":
		return "the tool is not available"
	case "not_found":
		return "what it names does not exist"
	case "conflict":
		return "it conflicts with what is there"
	case "contract":
		return "its output misses its contract"
	case "timeout":
		return "it did not end in time"
	case "transient":
		return "it kept failing"
	}
	return "its parameters or result are not valid"
}
