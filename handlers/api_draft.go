package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"sluice/engine"
)

// draftNameMax is in characters.
const draftNameMax = 120

// Drafts keeps unfinished work of people. Every method is about one owner's
// drafts: those of others are not found.
type Drafts interface {
	// Drafts lists drafts of a kind ("plan", "policy" or "" for both) without
	// their documents, the one saved last first.
	Drafts(ctx context.Context, owner, kind string) ([]Draft, error)
	Draft(ctx context.Context, owner, id string) (Draft, error)
	AddDraft(ctx context.Context, d Draft) (Draft, error)
	// SaveDraft saves over d.Revision. *DraftConflict: it moved on.
	SaveDraft(ctx context.Context, d Draft) (Draft, error)
	// DeleteDraft deletes d.Revision, or whatever is there when that is 0.
	DeleteDraft(ctx context.Context, d Draft) error
}

// Draft is unfinished work of one person. Doc is text as it was written,
// readable or not.
type Draft struct {
	ID, Kind, Owner, Name string
	Doc                   string
	View                  string // what the editor keeps beside the document, JSON or ""
	Base                  string // what it was made from, free text
	Revision              int64
	UpdatedBy             string // principal
	CreatedAt, UpdatedAt  int64  // µs UTC
}

// DraftConflict says who saved another revision, and when.
type DraftConflict struct {
	ID      string // of the draft that is in the way of a new one, "" for the same
	Current int64
	Who     string
	At      int64 // µs UTC
}

// Error implements error.
func (e *DraftConflict) Error() string {
	return fmt.Sprintf("the draft is at revision %d", e.Current)
}

// draftWire is a draft on the wire; lists leave doc and view out.
type draftWire struct {
	ID        string  `json:"id"`
	Kind      string  `json:"kind"`
	Name      string  `json:"name"`
	Doc       *string `json:"doc,omitempty"`
	View      *string `json:"view,omitempty"`
	Base      string  `json:"base"`
	Revision  int64   `json:"revision"`
	UpdatedBy string  `json:"updated_by"`
	CreatedAt string  `json:"created_at"`
	UpdatedAt string  `json:"updated_at"`
}

func toDraftWire(d *Draft, whole bool) draftWire {
	w := draftWire{ID: d.ID, Kind: d.Kind, Name: d.Name, Base: d.Base, Revision: d.Revision, UpdatedBy: d.UpdatedBy,
		CreatedAt: engine.WireTime(d.CreatedAt), UpdatedAt: engine.WireTime(d.UpdatedAt)}
	if whole {
		w.Doc, w.View = &d.Doc, &d.View
	}
	return w
}

// draftBody is POST and PUT; what a PUT leaves out stays as it is.
type draftBody struct {
	Kind     string  `json:"kind"`
	Name     *string `json:"name"`
	Doc      *string `json:"doc"`
	View     *string `json:"view"`
	Base     *string `json:"base"`
	Revision int64   `json:"revision"`
}

func (s *Server) draftRoutes(g *echo.Group) {
	g.GET("/drafts", s.apiDrafts)
	g.POST("/drafts", s.apiAddDraft)
	g.GET("/drafts/:draft", s.apiDraft)
	g.PUT("/drafts/:draft", s.apiSaveDraft)
	g.DELETE("/drafts/:draft", s.apiDeleteDraft)
}

func (s *Server) apiDrafts(c echo.Context) error {
	kind := c.QueryParam("kind")
	if kind != "" && kind != "plan" && kind != "policy" {
		return malformed("kind is not plan or policy", "send one of the two, or leave it out")
	}
	list, err := s.cfg.Drafts.Drafts(c.Request().Context(), viewer(c).User.ID, kind)
	if err != nil {
		return err
	}
	drafts := make([]draftWire, len(list))
	for i := range list {
		drafts[i] = toDraftWire(&list[i], false)
	}
	return sendJSON(c, http.StatusOK, map[string]any{"drafts": drafts})
}

func (s *Server) apiAddDraft(c echo.Context) error {
	var body draftBody
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	if body.Kind != "plan" && body.Kind != "policy" {
		p := problem("invalid", "kind is not plan or policy", "say which of the two the draft is")
		p.Pointer = "/kind"
		return p
	}
	v := viewer(c)
	if bad := draftHand(v, body.Kind); bad != nil {
		return bad
	}
	d := Draft{Kind: body.Kind, Owner: v.User.ID, UpdatedBy: v.Principal()}
	if bad := body.apply(&d); bad != nil {
		return bad
	}
	d, err := s.cfg.Drafts.AddDraft(c.Request().Context(), d)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/api/v1/drafts/"+d.ID)
	return sendDraft(c, http.StatusCreated, &d, false)
}

// draftHand refuses a token that writes a policy: what the policy's page opens as
// somebody's own draft is from their own hand.
func draftHand(v *Viewer, kind string) *Problem {
	if kind == "policy" && v.Token != "" {
		return problem("denied", "tokens can not write drafts of the policy", "sign in and write it in the browser")
	}
	return nil
}

// apply puts what the body says into a draft.
func (b *draftBody) apply(d *Draft) *Problem {
	for _, part := range []struct{ from, to *string }{{b.Name, &d.Name}, {b.Doc, &d.Doc}, {b.View, &d.View}, {b.Base, &d.Base}} {
		if part.from != nil {
			*part.to = *part.from
		}
	}
	d.Name = strings.TrimSpace(d.Name)
	if n := utf8.RuneCountInString(d.Name); n == 0 || n > draftNameMax {
		p := problem("invalid", "a draft's name has 1 to 120 characters", "give it a short name")
		p.Pointer = "/name"
		return p
	}
	return nil
}

func sendDraft(c echo.Context, status int, d *Draft, whole bool) error {
	c.Response().Header().Set("ETag", `"`+strconv.FormatInt(d.Revision, 10)+`"`)
	return sendJSON(c, status, toDraftWire(d, whole))
}

// ownDraft gives a draft of the viewer; those of others do not exist for them.
func (s *Server) ownDraft(c echo.Context, id string) (Draft, error) {
	if !strings.HasPrefix(id, "d_") || len(id) > 64 {
		return Draft{}, notFound("draft")
	}
	d, err := s.cfg.Drafts.Draft(c.Request().Context(), viewer(c).User.ID, id)
	var refused *engine.Refusal
	if errors.As(err, &refused) && refused.Code == "not_found" {
		return d, notFound("draft")
	}
	return d, err
}

func (s *Server) apiDraft(c echo.Context) error {
	d, err := s.ownDraft(c, c.Param("draft"))
	if err != nil {
		return err
	}
	return sendDraft(c, http.StatusOK, &d, true)
}

func (s *Server) apiSaveDraft(c echo.Context) error {
	var body draftBody
	if _, err := s.readJSON(c, &body); err != nil {
		return err
	}
	revision, bad := draftRevision(c, body.Revision)
	if bad != nil {
		return bad
	}
	d, err := s.ownDraft(c, c.Param("draft"))
	if err != nil {
		return err
	}
	if bad := draftHand(viewer(c), d.Kind); bad != nil {
		return bad
	}
	if bad := body.apply(&d); bad != nil {
		return bad
	}
	d.Revision, d.UpdatedBy = revision, viewer(c).Principal()
	d, err = s.cfg.Drafts.SaveDraft(c.Request().Context(), d)
	if err != nil {
		return draftProblem(err)
	}
	return sendDraft(c, http.StatusOK, &d, false)
}

func (s *Server) apiDeleteDraft(c echo.Context) error {
	var body draftBody
	if err := s.readOptional(c, &body); err != nil {
		return err
	}
	revision, bad := draftRevision(c, body.Revision)
	if bad != nil {
		return bad
	}
	d, err := s.ownDraft(c, c.Param("draft"))
	if err != nil {
		return err
	}
	if bad := draftHand(viewer(c), d.Kind); bad != nil {
		return bad
	}
	d.Revision = revision
	if err := s.cfg.Drafts.DeleteDraft(c.Request().Context(), d); err != nil {
		return draftProblem(err)
	}
	return c.NoContent(http.StatusNoContent)
}

// draftRevision is the revision a change is made over: the body's, or If-Match.
func draftRevision(c echo.Context, body int64) (int64, *Problem) {
	n, err := body, error(nil)
	if match := c.Request().Header.Get("If-Match"); n == 0 && match != "" {
		n, err = strconv.ParseInt(strings.Trim(strings.TrimPrefix(match, "W/"), `"`), 10, 64)
	}
	if err != nil || n < 1 {
		p := problem("invalid", "the change does not say which revision it is made over", "send revision, or If-Match with the ETag that was read")
		p.Pointer = "/revision"
		return 0, p
	}
	return n, nil
}

// draftProblem says of a conflict what is there now, who saved it and when.
func draftProblem(err error) error {
	var moved *DraftConflict
	if !errors.As(err, &moved) {
		return err
	}
	p := problem("conflict", "the draft was saved elsewhere since you opened it: it is at revision "+strconv.FormatInt(moved.Current, 10),
		"load that revision, or keep yours as a new draft; nothing was overwritten")
	p.Revision, p.Who, p.When = moved.Current, moved.Who, engine.WireTime(moved.At)
	return p
}
