package handlers

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"sluice/web/templates"
)

// versionPage shows one version beside the list of all.
func (s *Server) versionPage(c echo.Context) error {
	v, err := s.historyView(c)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.PolicyVersionPage(v))
}

func (s *Server) historyView(c echo.Context) (templates.PolicyHistory, error) {
	ctx := c.Request().Context()
	v := templates.PolicyHistory{Shell: s.shell(c, "Policies", "policies"), MayEdit: viewer(c).ownsPolicy() && viewer(c).Token == ""}
	v.Assets.PolicyCSS = s.files.URL("policy.css")
	n, err := versionParam(c)
	if err != nil {
		return v, err
	}
	shown, err := s.cfg.Policies.Version(ctx, n)
	if err != nil {
		return v, err
	}
	active, err := s.cfg.Policies.Active(ctx)
	if err != nil {
		return v, err
	}
	before, _ := strconv.Atoi(c.QueryParam("before")) // anything else is the first page
	list, err := s.cfg.Policies.Versions(ctx, max(before, 0), historyPage)
	if err != nil {
		return v, err
	}
	for i := range list {
		one := s.versionView(c, &list[i])
		one.Active, one.On = one.Version == active.Version, one.Version == n
		v.List = append(v.List, one)
	}
	if len(list) == historyPage && list[len(list)-1].Version > 1 {
		v.Older = "/policies/" + strconv.Itoa(n) + "?before=" + strconv.Itoa(list[len(list)-1].Version)
	}
	v.Shown, v.Text, v.Active, v.SameText = s.versionView(c, &shown), shown.Text, active.Version, active.Hash == shown.Hash
	v.Shown.Active = n == active.Version
	v.Shell.Title = "Policy version " + strconv.Itoa(n)
	return v, s.compareVersions(c, &v)
}

// compareVersions adds what changed against another version, the one it was
// made from when none is asked for.
func (s *Server) compareVersions(c echo.Context, v *templates.PolicyHistory) error {
	v.With = v.Shown.Base
	if with, err := strconv.Atoi(c.QueryParam("with")); err == nil && with >= 1 {
		v.With = with
	}
	if v.With < 1 || v.With == v.Shown.Version {
		v.With = 0
		return nil
	}
	other, err := s.cfg.Policies.Version(c.Request().Context(), v.With)
	if err != nil {
		return err
	}
	v.Diff = folded(diffLines(other.Text, v.Text))
	return nil
}

func (s *Server) revertForm(c echo.Context) error {
	n, err := versionParam(c)
	if err != nil {
		return err
	}
	made, err := s.revertPolicy(c, n, c.FormValue("reason"))
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/policies/"+strconv.Itoa(made.Version))
	}
	p := toProblem(err)
	if p.Code != "invalid" {
		return err
	}
	v, err := s.historyView(c)
	if err != nil {
		return err
	}
	v.Refused, v.Reason = sentence(p.Detail)+".", c.FormValue("reason")
	return render(c, p.Status, templates.PolicyVersionPage(v))
}
