package handlers

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/web/templates"
)

const recentRuns = 8

func (s *Server) home(c echo.Context) error {
	v, err := s.homeView(c)
	if err != nil {
		return err
	}
	v.Goal = plain(c.QueryParam("goal")) // from a link: nothing in it may hide
	if intent := c.QueryParam("intent"); intent == "operate" || intent == "override" {
		v.Intent = intent
	}
	return render(c, http.StatusOK, templates.HomePage(v))
}

func (s *Server) homeView(c echo.Context) (templates.Home, error) {
	v := templates.Home{Shell: s.shell(c, "Home", "home"), Intent: "observe", Key: rand.Text(), Planner: s.plannedBy(), Needs: append(s.needs(c), s.reviewNeeds(c)...)}
	f := RunFilter{Limit: recentRuns}
	if who := viewer(c); !who.sees("") {
		f.Owner = who.User.ID
	}
	page, _, err := s.cfg.Log.Runs(c.Request().Context(), f)
	if err != nil {
		return v, err
	}
	v.Runs = s.runRows(c, page)
	return v, nil
}

// submitForm creates a run from the home page. A refused goal comes back with
// the reason, and nothing that was typed is lost.
func (s *Server) submitForm(c echo.Context) error {
	body := submitBody{Goal: c.FormValue("goal"), Intent: c.FormValue("intent"), IdempotencyKey: c.FormValue("key"), Review: c.FormValue("review")}
	sum := sha256.Sum256([]byte(body.Intent + "\x00" + body.Review + "\x00" + body.Goal))
	id, _, err := s.submit(c, &body, hex.EncodeToString(sum[:]))
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/runs/"+id)
	}
	p := toProblem(err)
	if p.Code == "internal" {
		return err
	}
	v, failed := s.homeView(c)
	if failed != nil {
		return failed
	}
	v.Goal, v.Review, v.Problem = body.Goal, body.Review != "", sentence(p.Detail)+". "+sentence(p.Fix)+"."
	if p.Code == "conflict" { // the browser's Back, with other words in the old form
		v.Problem = "This form has already started another run. Nothing was started now: press Run to start this one too."
	}
	if body.Intent != "" {
		v.Intent = body.Intent
	}
	return render(c, p.Status, templates.HomePage(v))
}

func (s *Server) runRows(c echo.Context, page []engine.Summary) []templates.RunRow {
	mine := map[string]int{}
	who := viewer(c)
	open, _, err := s.cfg.Log.Approvals(c.Request().Context(), ApprovalFilter{Open: true, Limit: PageMax})
	if err != nil {
		s.cfg.Logger.Error("list approvals", "err", err)
	}
	for i := range open {
		if mayDecide(who, &open[i]) == "" {
			mine[open[i].Run]++
		}
	}
	rows := make([]templates.RunRow, len(page))
	for i := range page {
		r := &page[i]
		steps := 0
		for _, n := range r.Counts {
			steps += n
		}
		rows[i] = templates.RunRow{ID: r.ID, Goal: plain(goalWords(r)), Status: statusShown(r), Code: string(r.Code),
			Waiting: mine[r.ID] + len(r.Questions) + reviews(who, r), Intent: r.Intent.Name(), Steps: steps, Failed: r.Counts["failed"], Cost: costOf(r),
			CreatedAt: r.CreatedAt, EndedAt: r.EndedAt}
	}
	return rows
}

// reviews counts a plan that waits for the viewer to start it.
func reviews(who *Viewer, r *engine.Summary) int {
	if r.Review && mayReview(who, r.Requester) {
		return 1
	}
	return 0
}

func (s *Server) runs(c echo.Context) error {
	f := RunFilter{Status: engine.Status(c.QueryParam("status")), Code: engine.Code(c.QueryParam("code")),
		Query: strings.TrimSpace(c.QueryParam("q")), Cursor: c.QueryParam("cursor"), Limit: 40}
	if who := viewer(c); !who.sees("") {
		f.Owner = who.User.ID
	}
	page, next, err := s.cfg.Log.Runs(c.Request().Context(), f)
	if err != nil {
		return invalidFilter(err)
	}
	v := templates.Runs{Shell: s.shell(c, "Runs", "runs"), Query: f.Query, Rows: s.runRows(c, page)}
	v.Filters = runFilters(&f, v.Shell.Waiting)
	if next != "" {
		v.Next = runsURL(f.Status, f.Code, f.Query, next)
	}
	if f.Cursor != "" {
		v.First = runsURL(f.Status, f.Code, f.Query, "")
	}
	return render(c, http.StatusOK, templates.RunsPage(v))
}

// invalidFilter keeps a mistyped cursor from looking like a fault of the server.
func invalidFilter(err error) error {
	var refused *engine.Refusal
	if errors.As(err, &refused) {
		return malformed(refused.Message, "open the list again from its start")
	}
	return err
}

func runFilters(f *RunFilter, waiting int) []templates.Filter {
	choices := []struct {
		label  string
		status engine.Status
		code   engine.Code
	}{{"All", "", ""}, {"Waiting", engine.Waiting, ""}, {"Running", engine.Active, ""},
		{"Succeeded", "", engine.Success}, {"Partial", "", engine.PartialSuccess},
		{"Denied", "", engine.PermissionDenied}, {"Cancelled", "", engine.UserCancel}}
	list := make([]templates.Filter, len(choices))
	for i, ch := range choices {
		list[i] = templates.Filter{Label: ch.label, URL: runsURL(ch.status, ch.code, f.Query, ""),
			On: f.Status == ch.status && f.Code == ch.code}
		if ch.status == engine.Waiting {
			list[i].Count = waiting
		}
	}
	return list
}

func runsURL(st engine.Status, code engine.Code, query, cursor string) string {
	q := url.Values{}
	for k, v := range map[string]string{"status": string(st), "code": string(code), "q": query, "cursor": cursor} {
		if v != "" {
			q.Set(k, v)
		}
	}
	if len(q) == 0 {
		return "/runs"
	}
	return "/runs?" + q.Encode()
}
