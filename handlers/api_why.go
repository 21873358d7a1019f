package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// apiWhy is GET /runs/:id/why: what the verdict page says about a run, from its
// facts. While the run goes on it says what each step waits for.
func (s *Server) apiWhy(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	p, _, story, err := s.foldStory(c.Request().Context(), sum.ID, "")
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, story.Account(p.State()))
}
