package handlers

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/web/templates"
)

const (
	themeCookie = "theme"
	themeMaxAge = 365 * 24 * 3600
	needsMax    = 50 // requests shown on home and counted in the navigation
)

func (s *Server) pageRoutes(e *echo.Echo) {
	e.GET("/static/*", echo.WrapHandler(s.static))
	e.GET("/signin", s.signIn)
	e.POST("/signout", s.signOut, s.readForm)
	e.POST("/preferences", s.preferences, s.readForm)
	s.settingsRoutes(e)
	g := e.Group("", s.signedIn, s.readForm)
	g.GET("/", s.home)
	s.builderRoutes(g)
	s.policyPageRoutes(e)
	g.POST("/runs", s.submitForm)
	g.GET("/runs", s.runs)
	g.GET("/runs/:id", s.runPage)
	g.GET("/frag/runs/:id", s.runFragment)
	g.GET("/runs/:id/nodes/:node", s.nodePanel)
	g.GET("/runs/:id/export", s.exportRun)
	s.templatePages(g)
	g.POST("/runs/:id/start", s.startForm)
	g.GET("/runs/:id/plan", s.planPage)
	g.POST("/runs/:id/plan", s.planForm)
	g.POST("/runs/:id/pause", s.steerForm(func(h engine.Head, _ string) engine.Input { return &engine.Pause{Head: h} }))
	g.POST("/runs/:id/resume", s.steerForm(func(h engine.Head, _ string) engine.Input { return &engine.Resume{Head: h} }))
	g.POST("/runs/:id/cancel", s.steerForm(func(h engine.Head, why string) engine.Input { return &engine.Cancel{Head: h, Reason: why} }))
	g.GET("/approvals", s.approvals)
	g.GET("/approvals/:approval", s.approvals)
	g.POST("/approvals/:approval/decision", s.decideForm)
	g.POST("/approvals/:approval/outcome", s.attestForm)
}

// readForm reads a form whole before its handler does, within the limit, and
// takes secrets out of it (P26): what does not fit is refused, not cut.
func (s *Server) readForm(next echo.HandlerFunc) echo.HandlerFunc {
	return s.readFormWithin(FormBytesMax, next)
}

// readPolicyForm is readForm for a form that holds a whole policy document.
func (s *Server) readPolicyForm(next echo.HandlerFunc) echo.HandlerFunc {
	return s.readFormWithin(policyFormMax, next)
}

func (s *Server) readFormWithin(limit int64, next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method != http.MethodPost {
			return next(c)
		}
		r.Body = http.MaxBytesReader(c.Response(), r.Body, limit)
		values, err := c.FormParams()
		var big *http.MaxBytesError
		switch {
		case errors.As(err, &big):
			return tooLarge(limit)
		case err != nil:
			return malformed("the form could not be read", "send it again from its page")
		}
		for _, list := range values {
			for i := range list {
				list[i] = s.withoutSecrets(list[i])
			}
		}
		return next(c)
	}
}

func (s *Server) withoutSecrets(text string) string {
	if s.cfg.Redact == nil {
		return text
	}
	return s.cfg.Redact.Text(text)
}

// render sends a page.
func render(c echo.Context, status int, page templ.Component) error {
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	c.Response().WriteHeader(status)
	return page.Render(c.Request().Context(), c.Response())
}

// shell is what every page shows around its content.
func (s *Server) shell(c echo.Context, title, section string) templates.Shell {
	sh := templates.Shell{Title: title, Section: section, Now: s.now(), Assets: s.assets(false)}
	if cookie, err := c.Cookie(themeCookie); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		sh.Theme = cookie.Value
	}
	if v := viewer(c); v != nil {
		sh.User = v.User.Name
		sh.Admin = v.has("admin") && v.Token == ""
		sh.Waiting = len(s.needs(c))
	}
	return sh
}

func (s *Server) assets(graph bool) templates.Assets {
	a := templates.Assets{CSS: s.files.URL("app.css"), Live: s.files.URL("live.js"), Icon: s.files.URL("icon.svg")}
	if graph {
		a.GraphCSS, a.Graph = s.files.URL("graph.css"), s.files.URL("graph.js")
	}
	return a
}

// signIn takes the one-time token of the printed link, or explains how to get one.
func (s *Server) signIn(c echo.Context) error {
	token := c.QueryParam("token")
	page := templates.SignIn{Shell: s.shell(c, "Sign in", ""), Command: "sluice serve"}
	if token == "" {
		if viewer(c) != nil {
			return c.Redirect(http.StatusSeeOther, "/")
		}
		return render(c, http.StatusOK, templates.SignInPage(page))
	}
	u, err := s.cfg.Accounts.UseSignIn(c.Request().Context(), token)
	if err != nil {
		if viewer(c) != nil {
			return c.Redirect(http.StatusSeeOther, "/")
		}
		page.Problem = "This link has been used already or has expired."
		return render(c, http.StatusForbidden, templates.SignInPage(page))
	}
	if err := s.startSession(c, u); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/")
}

func (s *Server) signOut(c echo.Context) error {
	if err := s.endSession(c); err != nil {
		return err
	}
	s.sessions.WriteSessionCookie(c.Request().Context(), c.Response(), "", time.Time{})
	return c.Redirect(http.StatusSeeOther, "/signin")
}

// preferences keeps the theme without script.
func (s *Server) preferences(c echo.Context) error {
	theme := c.FormValue("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	c.SetCookie(&http.Cookie{Name: themeCookie, Value: theme, Path: "/", MaxAge: themeMaxAge, SameSite: http.SameSiteLaxMode, Secure: s.cfg.Secure})
	return c.Redirect(http.StatusSeeOther, back(c))
}

// back is the page a form came from, when it is one of ours.
func back(c echo.Context) string {
	ref := c.Request().Referer()
	if i := strings.Index(ref, "://"); i >= 0 {
		rest := ref[i+3:]
		if j := strings.IndexByte(rest, '/'); j >= 0 && rest[:j] == c.Request().Host && !strings.HasPrefix(rest[j:], "//") {
			return rest[j:]
		}
	}
	return "/"
}

// errorPage says what happened and what to do (P41).
func (s *Server) errorPage(c echo.Context, p *Problem) error {
	v := templates.ErrorPage{Shell: s.shell(c, p.Title, ""), Status: p.Status, Title: sentence(p.Detail), Text: sentence(p.Fix), Detail: p.Code}
	if p.Rule != "" {
		v.Detail += " " + p.Rule
	}
	if p.Who != "" {
		v.Who = s.person(c, p.Who).Name
	}
	if at, err := time.Parse(time.RFC3339Nano, p.When); err == nil {
		v.At = at.UnixMicro()
	}
	if p.Status == http.StatusUnauthorized {
		v.Action, v.ActionTo = "Sign in", "/signin"
	}
	return render(c, p.Status, templates.ErrorView(v))
}

func sentence(text string) string {
	if text == "" {
		return ""
	}
	_, n := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:n]) + text[n:]
}

// person names a principal for people.
func (s *Server) person(c echo.Context, id string) templates.Person {
	if v := viewer(c); v != nil && v.User.ID == id {
		return templates.Person{Name: v.User.Name, You: true}
	}
	if strings.HasPrefix(id, "user:") {
		if u, err := s.cfg.Accounts.User(c.Request().Context(), id); err == nil {
			return templates.Person{Name: u.Name}
		}
	}
	return templates.Person{Name: id}
}

// steerForm is a form that pauses, resumes or cancels a run.
func (s *Server) steerForm(in func(engine.Head, string) engine.Input) echo.HandlerFunc {
	return func(c echo.Context) error {
		sum, err := s.steerableRun(c)
		if err != nil {
			return err
		}
		if err := s.cfg.Engine.Send(c.Request().Context(), sum.ID, in(s.head(c), strings.TrimSpace(c.FormValue("reason")))); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, "/runs/"+sum.ID)
	}
}

func (s *Server) exportRun(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, "application/x-ndjson")
	c.Response().Header().Set("Content-Disposition", `attachment; filename="`+sum.ID+`.ndjson"`)
	c.Response().WriteHeader(http.StatusOK)
	return s.cfg.Audit.ExportRun(c.Request().Context(), sum.ID, c.Response())
}

// needs lists what waits for this very viewer: requests and questions.
func (s *Server) needs(c echo.Context) []templates.Need {
	v := viewer(c)
	ctx := c.Request().Context()
	var list []templates.Need
	open, _, err := s.cfg.Log.Approvals(ctx, ApprovalFilter{Open: true, Limit: needsMax})
	if err != nil {
		s.cfg.Logger.Error("list approvals", "err", err)
		return nil
	}
	for i := range open {
		if mayDecide(v, &open[i]) == "" {
			list = append(list, s.needOf(c, &open[i]))
		}
	}
	for _, q := range s.questions(ctx, v) {
		list = append(list, templates.Need{ID: q.id(), Title: q.title(), Tool: q.Tool, Goal: plain(q.goal),
			By: s.byWhom(c, q.requester), ExpiresAt: q.Expires, Question: true})
	}
	return list
}

func (s *Server) needOf(c echo.Context, a *Approval) templates.Need {
	n := templates.Need{ID: a.ID, Title: s.approvalTitle(c.Request().Context(), a), Tool: a.Tool,
		By: s.byWhom(c, a.Requester), ExpiresAt: a.ExpiresAt}
	if sum, err := s.cfg.Log.Run(c.Request().Context(), a.Run); err == nil {
		n.Goal = plain(sum.Goal)
	}
	return n
}

func (s *Server) byWhom(c echo.Context, id string) string {
	p := s.person(c, id)
	if p.You {
		return "you"
	}
	return p.Name
}

// mayDecide says why a viewer cannot decide a request, "" when they can. The
// core checks again (P23).
func mayDecide(v *Viewer, a *Approval) string {
	switch {
	case v.Token != "":
		return "Tokens can not decide."
	case !v.has("approver"):
		return "You are not an approver."
	case a.Requester == v.User.ID && !a.Self:
		return "You asked for this yourself. The policy wants another approver."
	}
	for _, who := range a.Approvers {
		if who == v.User.ID {
			return "You have approved already. Another approver has to decide too."
		}
	}
	for _, ask := range a.Asks {
		if len(ask.Roles) > 0 && !hasAny(v, ask.Roles) {
			return "Rule " + ask.Rule + " wants somebody with the role " + strings.Join(ask.Roles, " or ") + "."
		}
	}
	return ""
}

func hasAny(v *Viewer, roles []string) bool {
	for _, r := range roles {
		if v.has(r) {
			return true
		}
	}
	return false
}

// question is an outcome in question with the run it belongs to.
type question struct {
	engine.Question
	run, goal, requester string
}

// id names a question in URLs: dots occur in neither run nor step ids.
func (q *question) id() string { return questionID(q.run, q.Node, q.Attempt) }

func (q *question) title() string { return "Say whether " + q.Tool + " was done" }

// questions lists outcomes in question that the viewer may answer.
func (s *Server) questions(ctx context.Context, v *Viewer) []question {
	var list []question
	if v.Token != "" {
		return nil
	}
	for _, st := range []engine.Status{engine.Waiting, engine.Active, engine.Paused} {
		page, _, err := s.cfg.Log.Runs(ctx, RunFilter{Status: st, Limit: PageMax})
		if err != nil {
			s.cfg.Logger.Error("list runs", "err", err)
			return nil
		}
		for i := range page {
			if page[i].Requester != v.User.ID && !v.has("approver") {
				continue
			}
			for _, q := range page[i].Questions {
				list = append(list, question{q, page[i].ID, page[i].Goal, page[i].Requester})
			}
		}
	}
	return list
}
