package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/engine/trace"
)

// factsChunk is how many rows are read at once while folding or streaming.
const factsChunk = 2000

// fold projects a run up to a sequence number; 0 or less is the head.
func (s *Server) fold(ctx context.Context, run string, at int64) (*trace.Projector, error) {
	p := trace.NewProjector(run)
	for {
		rows, err := s.cfg.Log.Rows(ctx, run, p.Seq(), factsChunk)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			if at > 0 && rows[i].Seq > at {
				return p, nil
			}
			p.Apply(rows[i].Fact)
		}
		if len(rows) == 0 {
			return p, nil
		}
	}
}

// sequence reads a query parameter that counts facts.
func sequence(c echo.Context, name string) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, malformed(name+" is not a sequence number", "send a whole number, 0 or more")
	}
	return n, nil
}

// apiFacts gives facts after a sequence number, as JSON or, when the client
// asks for it, as server-sent events that go on while the run lives (P40).
func (s *Server) apiFacts(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	after, err := sequence(c, "after")
	if err != nil {
		return err
	}
	if strings.Contains(c.Request().Header.Get("Accept"), "text/event-stream") {
		return s.streamFacts(c, &sum, after)
	}
	limit := factsChunk
	if n, err := strconv.Atoi(c.QueryParam("limit")); err == nil && n > 0 {
		limit = min(n, factsChunk)
	}
	rows, err := s.cfg.Log.Rows(c.Request().Context(), sum.ID, after, limit)
	if err != nil {
		return err
	}
	b := []byte(`{"facts":[`)
	for i := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = rows[i].AppendJSON(b)
	}
	b = append(b, "]}\n"...)
	return c.JSONBlob(http.StatusOK, b)
}

// streamFacts sends every fact once, in order, then waits for more; a client
// that comes back says where it was with Last-Event-ID (R106).
func (s *Server) streamFacts(c echo.Context, sum *engine.Summary, after int64) error {
	if n, err := strconv.ParseInt(c.Request().Header.Get("Last-Event-ID"), 10, 64); err == nil {
		after = max(after, n)
	}
	if sum.Status == engine.Ended && after >= sum.Seq {
		return c.NoContent(http.StatusNoContent) // tells an EventSource not to come back
	}
	run := sum.ID
	ctx, cancel := context.WithCancel(c.Request().Context())
	defer cancel()
	defer s.sockets.enter(sessionKey(c.Request(), s), cancel)() // signing out ends streams too
	woken, stop := s.cfg.Engine.Watch(run)
	defer stop()
	w := c.Response()
	w.Header().Set(echo.HeaderContentType, "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for {
		rows, err := s.cfg.Log.Rows(ctx, run, after, factsChunk)
		if err != nil {
			return nil // the stream has begun: ending it is the only answer left
		}
		ended := false
		for i := range rows {
			after = rows[i].Seq
			ended = ended || rows[i].Kind == engine.RunEnded
			if _, err := fmt.Fprintf(w, "id: %d\nevent: fact\ndata: %s\n\n", after, rows[i].AppendJSON(nil)); err != nil {
				return nil
			}
		}
		w.Flush()
		if ended {
			return nil
		}
		if len(rows) > 0 {
			continue // a page may be cut short: only an empty one is the end
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Server) apiGraph(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	at, err := sequence(c, "at")
	if err != nil {
		return err
	}
	p, err := s.fold(c.Request().Context(), sum.ID, at)
	if err != nil {
		return err
	}
	return sendJSON(c, http.StatusOK, map[string]any{"run": sum.ID, "seq": p.Seq(), "view": p.View()})
}

func (s *Server) apiBlob(c echo.Context) error {
	sum, err := s.visibleRun(c)
	if err != nil {
		return err
	}
	data, err := s.cfg.Audit.Blob(c.Request().Context(), sum.ID, c.Param("sha"))
	if err != nil {
		return err
	}
	c.Response().Header().Set("Content-Disposition", "attachment")
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, data)
}
