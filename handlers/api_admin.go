package handlers

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// auditor wants somebody who may read everything.
func auditor(c echo.Context) error {
	v := viewer(c)
	if v.has("auditor") || v.has("admin") {
		return nil
	}
	return problem("denied", "only auditors and admins read the whole log", "ask an auditor")
}

func (s *Server) apiVerify(c echo.Context) error {
	if err := auditor(c); err != nil {
		return err
	}
	report, err := s.cfg.Audit.Verify(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, report)
}

func (s *Server) apiExport(c echo.Context) error {
	if err := auditor(c); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, "application/x-ndjson")
	c.Response().Header().Set("Content-Disposition", `attachment; filename="sluice-audit.ndjson"`)
	c.Response().WriteHeader(http.StatusOK)
	return s.cfg.Audit.Export(c.Request().Context(), c.Response())
}

// apiErase erases a run's content for good; its place in the chain stays (P27).
func (s *Server) apiErase(c echo.Context) error {
	var body struct {
		Reason string `json:"reason"`
	}
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	v := viewer(c)
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	if v.Token != "" && v.Token != LocalToken || !v.has("admin") {
		return problem("denied", "only an admin may erase a run", "ask an admin")
	}
	reason := strings.TrimSpace(body.Reason)
	if reason == "" || len(reason) > 1000 {
		return problem("invalid", "erasing needs a reason of at most 1,000 bytes", "say why")
	}
	if sum.Status != "ended" {
		return problem("conflict", "the run has not ended", "cancel it first")
	}
	if err := s.cfg.Audit.Erase(c.Request().Context(), sum.ID, reason, v.Principal()); err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, map[string]any{"id": sum.ID, "erased": true, "already": isErased(&sum)})
}
