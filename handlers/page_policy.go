package handlers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/policy"
	"sluice/web/templates"
)

const (
	policyFormMax = 2 << 20 // bytes of the form: a document, percent-encoded, with its cells
	trialRows     = 25      // calls shown at once
	historyPage   = 30
	draftKind     = "policy"
	draftName     = "default"
)

func (s *Server) policyPageRoutes(e *echo.Echo) {
	g := e.Group("", s.signedIn, s.readPolicyForm)
	g.GET("/policies", s.policyPage)
	g.POST("/policies", s.publishForm)
	g.POST("/policies/edit", s.editForm)
	g.POST("/policies/draft", s.draftForm)
	g.POST("/policies/discard", s.discardForm)
	g.GET("/policies/:version", s.versionPage)
	g.POST("/policies/:version/revert", s.revertForm)
	g.GET("/tools", s.toolsPage)
	g.GET("/tools/:tool", s.toolPage)
	g.POST("/tools/:tool/kill", func(c echo.Context) error { return s.switchForm(c, true) })
	g.POST("/tools/:tool/revive", func(c echo.Context) error { return s.switchForm(c, false) })
}

// policyForm is what the page of the policy sends.
type policyForm struct {
	yaml, seen, tab, look, op, value, reason, cursor string
	base                                             int
	draft                                            string
	revision                                         int64
	cells                                            url.Values
	call                                             callForm
}

// readPolicyFormOf reads the form; browsers send line ends of their own.
func readPolicyFormOf(c echo.Context) policyForm {
	f := policyForm{yaml: strings.ReplaceAll(c.FormValue("yaml"), "\r\n", "\n"), seen: c.FormValue("seen"), tab: c.FormValue("tab"),
		look: c.FormValue("look"), op: c.FormValue("op"), value: c.FormValue("value"), reason: c.FormValue("reason"),
		cursor: c.FormValue("cursor"), draft: c.FormValue("draft"), cells: c.Request().Form, call: readCallForm(c)}
	f.base, _ = strconv.Atoi(c.FormValue("base")) // 0 is refused when it matters
	f.revision, _ = strconv.ParseInt(c.FormValue("revision"), 10, 64)
	return f
}

func seenOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// policyPage shows the viewer's own draft, or the policy in force.
func (s *Server) policyPage(c echo.Context) error {
	active, err := s.cfg.Policies.Active(c.Request().Context())
	if err != nil {
		return err
	}
	f := policyForm{yaml: active.Text, base: active.Version, tab: c.QueryParam("tab"), look: c.QueryParam("look")}
	w := &policyWork{active: active, form: f}
	if viewer(c).ownsPolicy() {
		if err := s.takeDraft(c, w); err != nil {
			return err
		}
		if err := s.tryDraft(c, w); err != nil {
			return err
		}
	}
	return s.showPolicy(c, http.StatusOK, w)
}

// policyWork is one answer of the page in the making.
type policyWork struct {
	active  PolicyVersion
	form    policyForm
	saved   int64
	refused string
	asking  bool // publishing was refused: its menu is open
	late    bool // the version in force came in between
	trial   *Trial
	tried   bool
	same    bool // the text says what the policy in force says
}

// takeDraft goes on with what this person saved last.
func (s *Server) takeDraft(c echo.Context, w *policyWork) error {
	ctx, owner := c.Request().Context(), viewer(c).User.ID
	list, err := s.cfg.Drafts.Drafts(ctx, owner, draftKind)
	if err != nil || len(list) == 0 {
		return err
	}
	d, err := s.cfg.Drafts.Draft(ctx, owner, list[0].ID)
	if err != nil {
		return err
	}
	w.form.yaml, w.form.draft, w.form.revision, w.saved = d.Doc, d.ID, d.Revision, d.UpdatedAt
	if base, err := strconv.Atoi(d.Base); err == nil {
		w.form.base = base
	}
	return nil
}

// work reads a form and what it is about.
func (s *Server) policyWork(c echo.Context) (*policyWork, error) {
	if _, err := policyOwner(c); err != nil {
		return nil, err
	}
	active, err := s.cfg.Policies.Active(c.Request().Context())
	if err != nil {
		return nil, err
	}
	w := &policyWork{active: active, form: readPolicyFormOf(c)}
	w.applyCells()
	return w, nil
}

// applyCells takes over what was typed into the tables, as long as they show
// the text that came with them.
func (w *policyWork) applyCells() {
	if w.form.seen == "" || w.form.seen != seenOf(w.form.yaml) {
		return
	}
	for _, t := range policyTables(w.form.yaml, w.form.yaml, nil) {
		for _, cell := range t.Loose {
			w.applyCell(cell)
		}
		for i := len(t.Rows) - 1; i >= 0; i-- { // from the end, so that removals leave the others in their places
			cells := t.Rows[i].Cells
			for k := len(cells) - 1; k >= 0; k-- { // a row's name last: its other cells are found by it
				w.applyCell(cells[k])
			}
		}
	}
}

func (w *policyWork) applyCell(cell templates.PolicyCell) {
	sent, isThere := w.form.cells[cell.Name]
	if !isThere || cell.Fixed || strings.TrimSpace(sent[0]) == cell.Value {
		return
	}
	w.change(cell.Name, sent[0])
}

func (w *policyWork) change(op, value string) {
	text, err := applyOp(w.form.yaml, op, value)
	if err != nil {
		w.refused = sentence(err.Error()) + "."
		return
	}
	w.form.yaml = text
}

// editForm is every change that publishes nothing: checking, a change in a
// table, a dry run.
func (s *Server) editForm(c echo.Context) error {
	w, err := s.policyWork(c)
	if err != nil {
		return err
	}
	switch {
	case w.form.op == "try":
		if err := s.tryDraft(c, w); err != nil {
			return err
		}
	case w.form.op != "" && w.form.op != "check":
		w.change(w.form.op, w.form.value+w.cellOf(w.form.op))
	}
	return s.showPolicy(c, http.StatusOK, w)
}

// cellOf is the text beside an add button, for a page without script.
func (w *policyWork) cellOf(op string) string {
	if w.form.value != "" || !strings.HasPrefix(op, opInsert+":") {
		return ""
	}
	return w.form.cells.Get("new:" + strings.TrimPrefix(op, opInsert+":"))
}

// draftForm saves; a draft that was saved elsewhere meanwhile is said, and
// nothing of either is lost.
func (s *Server) draftForm(c echo.Context) error {
	w, err := s.policyWork(c)
	if err != nil {
		return err
	}
	v, ctx := viewer(c), c.Request().Context()
	d := Draft{ID: w.form.draft, Kind: draftKind, Owner: v.User.ID, Name: draftName, Doc: w.form.yaml, Base: strconv.Itoa(w.form.base),
		Revision: w.form.revision, UpdatedBy: v.Principal()}
	if d.ID == "" {
		err = s.addDraft(ctx, d)
	} else {
		_, err = s.cfg.Drafts.SaveDraft(ctx, d)
	}
	var moved *DraftConflict
	switch {
	case errors.As(err, &moved):
		w.form.draft, w.form.revision = cmp.Or(w.form.draft, moved.ID), moved.Current
		w.refused = "A draft was saved in another window meanwhile. Yours is below and not saved; save again to replace the other one, or open the policy in a new window to see it first."
		return s.showPolicy(c, http.StatusConflict, w)
	case err != nil:
		return err
	}
	return c.Redirect(http.StatusSeeOther, policyPlace(&w.form))
}

// addDraft saves somebody's first draft of the policy. Another one from another
// window is not hidden behind it.
func (s *Server) addDraft(ctx context.Context, d Draft) error {
	list, err := s.cfg.Drafts.Drafts(ctx, d.Owner, draftKind)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return &DraftConflict{ID: list[0].ID, Current: list[0].Revision}
	}
	_, err = s.cfg.Drafts.AddDraft(ctx, d)
	return err
}

func policyPlace(f *policyForm) string {
	q := url.Values{}
	if f.tab != "" {
		q.Set("tab", f.tab)
	}
	if f.look != "" {
		q.Set("look", f.look)
	}
	if len(q) == 0 {
		return "/policies"
	}
	return "/policies?" + q.Encode()
}

func (s *Server) discardForm(c echo.Context) error {
	if _, err := policyOwner(c); err != nil {
		return err
	}
	if err := s.dropDraft(c, c.FormValue("draft")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/policies")
}

func (s *Server) dropDraft(c echo.Context, id string) error {
	if id == "" {
		return nil
	}
	v := viewer(c)
	err := s.cfg.Drafts.DeleteDraft(c.Request().Context(), Draft{ID: id, Kind: draftKind, Owner: v.User.ID, Name: draftName, UpdatedBy: v.Principal()})
	if err != nil && toProblem(err).Code == "not_found" {
		return nil
	}
	return err
}

// publishForm publishes what the page holds. What is refused comes back whole.
func (s *Server) publishForm(c echo.Context) error {
	w, err := s.policyWork(c)
	if err != nil {
		return err
	}
	made, err := s.publishPolicy(c, &policyBody{YAML: w.form.yaml, Reason: w.form.reason, Base: w.form.base})
	if err == nil {
		if err := s.dropDraft(c, w.form.draft); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, "/policies/"+strconv.Itoa(made.Version))
	}
	var p *Problem
	if !errors.As(err, &p) || p.Status >= http.StatusInternalServerError {
		return err
	}
	if p.Code == "conflict" {
		if w.active, err = s.cfg.Policies.Active(c.Request().Context()); err != nil {
			return err
		}
		w.form.base = w.active.Version // said now: publishing again is meant
		w.late = true
	} else {
		w.refused, w.asking = sentence(p.Detail)+". "+sentence(p.Fix)+".", true
	}
	if err := s.tryDraft(c, w); err != nil {
		return err
	}
	return s.showPolicy(c, p.Status, w)
}

// showPolicy renders the page. A text made from an older version is compared
// with the one in force, and the page says so.
func (s *Server) showPolicy(c echo.Context, status int, w *policyWork) error {
	v := s.editorView(c, w)
	if w.late || w.form.base != w.active.Version {
		shown := s.versionView(c, &w.active)
		v.Late = &shown
	}
	return render(c, status, templates.PolicyPage(v))
}

func (s *Server) editorView(c echo.Context, w *policyWork) templates.PolicyEditor {
	f := &w.form
	report := s.checkText(c.Request().Context(), f.yaml)
	v := templates.PolicyEditor{Shell: s.shell(c, "Policies", "policies"), MayEdit: viewer(c).ownsPolicy() && viewer(c).Token == "",
		Active: s.versionView(c, &w.active), Text: f.yaml, Base: f.base, Seen: seenOf(f.yaml), DraftID: f.draft, Revision: f.revision,
		SavedAt: w.saved, Tab: f.tab, Look: f.look, Refused: w.refused, Asking: w.asking, Reason: f.reason,
		Tables: policyTables(f.yaml, w.active.Text, report.Issues), Warnings: report.Warnings}
	v.Assets.Policy, v.Assets.PolicyCSS = s.files.URL("policy.js"), s.files.URL("policy.css")
	if v.Look != "tables" && v.Look != "yaml" {
		v.Look = "both"
	}
	v.Tab = knownTab(v.Tables, v.Tab)
	v.Call = s.tryCallView(&f.call, f.yaml, v.Tables)
	diff := diffLines(w.active.Text, f.yaml)
	v.Lines, v.Changes = codeLines(diff)
	v.Diff = folded(diff)
	for _, p := range report.Issues {
		v.Problems = append(v.Problems, templates.PolicyProblem{Line: p.Line, Col: p.Col, Pointer: p.Pointer, Message: plain(p.Message)})
		if p.Line >= 1 && p.Line <= len(v.Lines) {
			v.Lines[p.Line-1].Mark = "error"
		}
	}
	if w.tried {
		v.Trial = s.trialView(c, w)
		countRules(v.Tables, w.trial)
	}
	return v
}

// checkText checks a text against the tools and the people of this installation.
func (s *Server) checkText(ctx context.Context, text string) PolicyReport {
	compiled, report := CheckPolicy(text, s.cfg.Rules.Catalog())
	if compiled == nil {
		return report
	}
	people, err := s.cfg.Accounts.Users(ctx)
	if err != nil {
		s.cfg.Logger.Error("list users", "err", err)
		return report
	}
	report.Warnings = append(report.Warnings, lonelyRules(compiled, people)...)
	return report
}

// lonelyRules ask for more approvers than there are: such a call waits until it
// expires, and is denied then.
func lonelyRules(p *policy.Policy, people []User) []string {
	var warnings []string
	doc := p.Document()
	for i := range doc.Approvals.Rules {
		rule := &doc.Approvals.Rules[i]
		able := 0
		for k := range people {
			v := &Viewer{User: people[k]}
			if v.has("approver") && (len(rule.Roles) == 0 || hasAny(v, rule.Roles)) {
				able++
			}
		}
		if wants := max(rule.Quorum, 1); able < wants && len(warnings) < policyWarningsMax {
			warnings = append(warnings, "Rule "+plain(rule.ID)+" wants "+plural(wants, "approver")+", and "+strconv.Itoa(able)+
				" here may answer: what it asks would wait until it expires, and be denied.")
		}
	}
	return warnings
}

func knownTab(tables []templates.PolicyTable, tab string) string {
	for i := range tables {
		if tables[i].ID == tab {
			return tab
		}
	}
	return "rules"
}

func (s *Server) versionView(c echo.Context, v *PolicyVersion) templates.PolicyVersion {
	return templates.PolicyVersion{Version: v.Version, Who: s.person(c, v.Actor), At: v.At, Reason: plain(v.Reason), Base: v.Base, Hash: v.Hash}
}
