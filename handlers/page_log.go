package handlers

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/trace"
	"sluice/web/templates"
)

const logPage = 200 // facts on one page of the log view

// logFilter is what a reader of the log asks to see; its zero value is all.
type logFilter struct{ step, kind, query string }

func logFilterOf(c echo.Context) logFilter {
	return logFilter{c.QueryParam("step"), c.QueryParam("kind"), strings.ToLower(strings.TrimSpace(c.QueryParam("q")))}
}

func (f *logFilter) none() bool { return f.step == "" && f.kind == "" && f.query == "" }

func (f *logFilter) takes(r *engine.Row) bool {
	if f.step != "" && r.Node != f.step || f.kind != "" && kindGroup(r.Kind) != f.kind {
		return false
	}
	return f.query == "" || strings.Contains(strings.ToLower(trace.Sentence(r)+" "+r.Actor+" "+r.Node+" "+string(r.Kind)), f.query)
}

// kindGroups are the questions that a reader has of a log.
var kindGroups = []templates.Choice{{Value: "calls", Text: "Calls and results"}, {Value: "decisions", Text: "Approvals and denials"},
	{Value: "plan", Text: "Plans"}, {Value: "run", Text: "The run itself"}}

func kindGroup(k engine.Kind) string {
	switch k {
	case engine.AttemptStarted, engine.AttemptEnded, engine.InputUnknown, engine.InputOrphan:
		return "calls"
	case engine.ApprovalRequested, engine.ApprovalDecided, engine.ClearanceRequested, engine.ClearanceAnswered,
		engine.OutcomeAttested, engine.InputPolicy, engine.NodeChanged:
		return "decisions"
	case engine.VersionAdded, engine.PlanSketched, engine.InputStart, engine.InputReplace:
		return "plan"
	}
	return "run"
}

func (s *Server) logView(c echo.Context, state *engine.State) (*templates.Log, error) {
	run, f := state.ID(), logFilterOf(c)
	after, err := sequence(c, "after")
	if err != nil {
		return nil, err
	}
	at, err := sequence(c, "at")
	if err != nil {
		return nil, err
	}
	if at > 0 && after == 0 && f.none() {
		after = (at - 1) / logPage * logPage
	}
	log := &templates.Log{Export: "/runs/" + run + "/export", At: at, Step: f.step, Kind: f.kind, Query: strings.TrimSpace(c.QueryParam("q")),
		Kinds: kindGroups, Steps: logSteps(state), Filtered: !f.none(), Self: strings.TrimPrefix(logURL(run, f, after), "/runs/"+run+"?")}
	if v := viewer(c); v.has("auditor") || v.has("admin") {
		log.Program, log.Data = shellWord(s.cfg.Program), shellWord(s.cfg.DataDir)
	}
	last, err := s.logRows(c, log, logSpan{run, after, f})
	if err != nil {
		return nil, err
	}
	if len(log.Rows) == logPage {
		log.Next = logURL(run, f, last)
	}
	if after > 0 {
		before := max(after-logPage, 0)
		if !f.none() {
			before = 0
		}
		log.Prev = logURL(run, f, before)
	}
	log.Proof, err = s.proof(c.Request().Context(), run)
	return log, err
}

// logSpan is the part of a run's log that a page shows.
type logSpan struct {
	run    string
	after  int64
	filter logFilter
}

// logRows fills one page with the facts that the filter takes, and gives the
// last one's place.
func (s *Server) logRows(c echo.Context, log *templates.Log, span logSpan) (int64, error) {
	after, book := span.after, s.ruleBook(c.Request().Context(), nil)
	for len(log.Rows) < logPage {
		rows, err := s.cfg.Log.Rows(c.Request().Context(), span.run, after, logPage)
		if err != nil || len(rows) == 0 {
			return after, err
		}
		for i := range rows {
			after = rows[i].Seq
			if span.filter.takes(&rows[i]) {
				row := factRow(&rows[i])
				row.Policy = book.ofFact(&rows[i]).link()
				log.Rows = append(log.Rows, row)
			}
			if len(log.Rows) == logPage {
				break
			}
		}
	}
	return after, nil
}

// logSteps are the nodes a reader can choose, the plan's steps in their order.
func logSteps(state *engine.State) []string {
	nodes := state.Nodes()
	list := make([]string, 0, len(nodes))
	for i := range nodes {
		list = append(list, nodes[i].ID)
	}
	return slices.Clip(list)
}

func logURL(run string, f logFilter, after int64) string {
	q := url.Values{"view": {"log"}}
	for k, v := range map[string]string{"step": f.step, "kind": f.kind, "q": f.query} { // order-free: Encode sorts
		if v != "" {
			q.Set(k, v)
		}
	}
	if after > 0 {
		q.Set("after", strconv.FormatInt(after, 10))
	}
	return "/runs/" + run + "?" + q.Encode()
}

// shellWord quotes a path where a shell would read it otherwise.
func shellWord(path string) string {
	plainRune := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@", r)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !plainRune(r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
