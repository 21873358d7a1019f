package handlers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine/plan"
	"sluice/policy"
	"sluice/policy/document"
	"sluice/web/templates"
)

const toolCallsPage = 25

// toolsPage is the catalogue under the policy in force.
func (s *Server) toolsPage(c echo.Context) error {
	counts, err := s.cfg.Policies.CountCalls(c.Request().Context())
	if err != nil {
		return err
	}
	view, err := s.catalogView(c)
	if err != nil {
		return err
	}
	v := templates.Tools{Shell: s.shell(c, "Tools", "tools")}
	v.Assets.PolicyCSS = s.files.URL("policy.css")
	for _, name := range s.cfg.Rules.Catalog().Names() {
		t, _ := s.cfg.Rules.Catalog().Lookup(name)
		row := view.row(t)
		row.Calls = counts[name]
		v.Rows = append(v.Rows, row)
	}
	return render(c, http.StatusOK, templates.ToolsPage(v))
}

// catalogView is what tools are shown against.
type catalogView struct {
	policy *policy.Policy
	doc    policy.Document
	active PolicyVersion
	kills  []document.Row
}

func (s *Server) catalogView(c echo.Context) (*catalogView, error) {
	active, err := s.cfg.Policies.Active(c.Request().Context())
	if err != nil {
		return nil, err
	}
	p := s.cfg.Rules.Policy()
	v := &catalogView{policy: p, doc: p.Document(), active: active}
	for i, glob := range v.doc.KillSwitches {
		v.kills = append(v.kills, document.Row{Pointer: "/kill_switches/" + strconv.Itoa(i), Key: glob})
	}
	return v, nil
}

func (v *catalogView) scopeNames() []string { return sortedKeys(v.doc.Scopes) }

// ask decides a call of which only the tool is known, as a plan's check does.
func (v *catalogView) ask(t *plan.Tool, intent policy.Rank, scope string) policy.Decision {
	return policy.Decide(v.policy, policy.Call{Tool: t.Tool, Known: true, Partial: true, Intent: intent, Scopes: []string{scope}})
}

func (v *catalogView) row(t *plan.Tool) templates.ToolRow {
	d := v.ask(t, policy.RankMax, "")
	row := templates.ToolRow{Name: t.Name, Summary: t.Summary, Effect: string(t.Effect), External: t.External, Impact: d.ImpactName}
	for _, name := range v.scopeNames() {
		for _, glob := range v.doc.Scopes[name].Tools {
			if policy.MatchName(glob, t.Name) {
				row.Scopes = append(row.Scopes, plain(name))
				break
			}
		}
	}
	_, row.Killed = killedBy(v.kills, t.Name)
	return row
}

// answers are what the policy says under every intent, in every scope that has
// the tool.
func (v *catalogView) answers(t *plan.Tool) []templates.ToolAnswer {
	intents := sortedKeys(v.doc.Intents)
	slices.SortStableFunc(intents, func(a, b string) int { return int(v.doc.Intents[a] - v.doc.Intents[b]) })
	scopes := v.row(t).Scopes
	if len(scopes) == 0 {
		scopes = []string{"default"}
	}
	var list []templates.ToolAnswer
	for _, intent := range intents {
		for _, scope := range scopes {
			d := v.ask(t, v.doc.Intents[intent], scope)
			why := plain(strings.Join(d.Reasons, " "))
			if why == "" {
				why = "Within the limit."
			}
			list = append(list, templates.ToolAnswer{Intent: plain(intent), Scope: scope, Answer: d.Answer().String(), Why: why})
		}
	}
	return list
}

func (s *Server) toolPage(c echo.Context) error { return s.showTool(c, http.StatusOK, "") }

func (s *Server) showTool(c echo.Context, status int, refused string) error {
	t, known := s.cfg.Rules.Catalog().Lookup(c.Param("tool"))
	if !known {
		return notFound("tool")
	}
	view, err := s.catalogView(c)
	if err != nil {
		return err
	}
	v := templates.ToolPage{Shell: s.shell(c, t.Name, "tools"), ToolRow: view.row(t), Declared: t.Impact.Name(), Depends: t.ImpactOf != nil,
		Timeout: t.Timeout.String(), Bytes: byteWords(t.Bytes), Trusted: t.Trusted, Sinks: t.Sinks, In: schemaRows(t.Input), Out: schemaRows(t.Output),
		Answers: view.answers(t), MayEdit: viewer(c).ownsPolicy() && viewer(c).Token == "", Version: view.active.Version,
		Refused: refused, Reason: c.FormValue("reason")}
	v.Assets.PolicyCSS = s.files.URL("policy.css")
	pointer, _ := killedBy(view.kills, t.Name)
	v.Own = pointer != ""
	calls, next, err := s.cfg.Policies.CallsOf(c.Request().Context(), t.Name, CallPage{Cursor: c.QueryParam("cursor"), Limit: toolCallsPage})
	if err != nil {
		return invalidFilter(err)
	}
	for i := range calls {
		v.Calls = append(v.Calls, s.toolCall(c, &calls[i]))
	}
	if next != "" {
		v.Older = "/tools/" + t.Name + "?cursor=" + next
	}
	return render(c, status, templates.ToolView(v))
}

// toolCall names the run only to who may see it.
func (s *Server) toolCall(c echo.Context, r *RecordedCall) templates.ToolCall {
	call := templates.ToolCall{Answer: string(r.Decision), At: r.At}
	if sum, err := s.cfg.Log.Run(c.Request().Context(), r.Run); err == nil && viewer(c).sees(sum.Requester) {
		call.Goal, call.Node, call.URL = plain(sum.Goal), r.Node, nodeURL(r.Run, r.Node)
		if call.Goal == "" {
			call.Goal = "(erased)"
		}
	}
	return call
}

func byteWords(n int) string {
	switch {
	case n <= 0:
		return "no limit"
	case n >= 1<<20:
		return strconv.Itoa(n>>20) + " MiB"
	}
	return strconv.Itoa(n>>10) + " KiB"
}

// switchForm throws a kill switch, or takes it back.
func (s *Server) switchForm(c echo.Context, stop bool) error {
	_, err := s.switchTool(c, stop, c.FormValue("reason"))
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/tools/"+c.Param("tool"))
	}
	p := toProblem(err)
	if p.Code != "invalid" && p.Code != "conflict" {
		return err
	}
	return s.showTool(c, p.Status, sentence(p.Detail)+".")
}
