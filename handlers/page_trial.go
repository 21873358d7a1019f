package handlers

import (
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/policy"
	"sluice/web/templates"
)

// tryDraft runs the dry run when the text means something. A text that says what
// the policy in force says changes nothing: it is only tried for the counts of
// its rules, when somebody asks.
func (s *Server) tryDraft(c echo.Context, w *policyWork) error {
	draft, _ := s.readPolicy(w.form.yaml)
	if draft == nil {
		return nil
	}
	w.tried = true
	if w.same = draft.Hash() == w.active.Hash; w.same && w.form.op != "try" {
		return nil
	}
	trial, err := s.cfg.Policies.Try(c.Request().Context(), draft, CallPage{Cursor: w.form.cursor, Limit: trialRows})
	w.trial = &trial
	return err
}

// trialView shows calls of runs that the viewer may see; others are counted and
// named by their tool alone.
func (s *Server) trialView(c echo.Context, w *policyWork) *templates.PolicyTrial {
	v := &templates.PolicyTrial{Same: w.same}
	t := w.trial
	if t == nil {
		return v
	}
	v.Calls, v.Unchanged, v.Reasked, v.Erased, v.Left, v.Since, v.Next = t.Calls, t.Unchanged, t.Reasked, t.Erased, t.Left, t.Since, t.Next
	v.Groups = trialGroups(t.Changes)
	for i := range t.List {
		one := &t.List[i]
		row := templates.TrialRow{From: one.From.String(), To: one.To.String(), Direction: string(one.From.Toward(one.To)), Tool: one.Tool,
			At: one.At, Rules: plain(strings.Join(one.Rules, ", ")), Why: plain(strings.Join(one.Reasons, " "))}
		if sum, err := s.cfg.Log.Run(c.Request().Context(), one.Run); err == nil && viewer(c).sees(sum.Requester) {
			row.What, row.Goal, row.Node, row.URL = callGist(one.Params), plain(sum.Goal), plain(one.Node), nodeURL(one.Run, one.Node)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

// trialGroups puts the counts of changes together by where they go; what would
// become looser and what would become tighter is said even of no call.
func trialGroups(changes []TrialChange) []templates.TrialGroup {
	words := map[policy.Direction][2]string{
		policy.Looser:    {"Looser", "allowed, or asked of fewer, than now"},
		policy.Otherwise: {"Asked otherwise", "asked of somebody else than now"},
		policy.Tighter:   {"Tighter", "asked or denied, other than now"},
	}
	var groups []templates.TrialGroup
	for _, d := range policy.Directions() {
		g := templates.TrialGroup{Direction: string(d), Title: words[d][0], About: words[d][1]}
		for _, change := range changes {
			if change.From.Toward(change.To) == d {
				g.Total += change.Count
				g.Counts = append(g.Counts, templates.TrialCount{From: change.From.String(), To: change.To.String(), Count: change.Count})
			}
		}
		if g.Total > 0 || d != policy.Otherwise {
			groups = append(groups, g)
		}
	}
	return groups
}

// countRules puts in how many recorded calls each rule took part in.
func countRules(tables []templates.PolicyTable, t *Trial) {
	for i := range tables {
		rows := tables[i].Rows
		for k := range rows {
			if t != nil && rows[k].Rule != "" {
				rows[k].Count = strconv.Itoa(t.Rules[rows[k].Rule])
			}
		}
	}
}
