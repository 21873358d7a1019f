package handlers

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/policy"
)

// Viewer is who makes a request.
type Viewer struct {
	User    User
	Token   string // principal of the token, "" for a session of a person
	Ceiling policy.Rank
}

// Principal is the actor that facts name (P25).
func (v *Viewer) Principal() string {
	if v.Token != "" {
		return v.Token
	}
	return v.User.ID
}

func (v *Viewer) has(role string) bool { return slices.Contains(v.User.Roles, role) }

// sees: owners, approvers of the run's requests, auditors and admins (P35).
func (v *Viewer) sees(owner string) bool {
	return owner == v.User.ID || v.has("approver") || v.has("auditor") || v.has("admin")
}

// LocalToken is the server's own token in DATA/server.json: it acts for user 1
// and cannot decide (P36a).
const LocalToken = "token:local"

const viewerKey = "viewer"

func viewer(c echo.Context) *Viewer {
	v, _ := c.Get(viewerKey).(*Viewer)
	return v
}

// authenticate finds who asks: a bearer token or a session. Routes that need
// somebody refuse when it finds nobody.
func (s *Server) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		v, err := s.identify(c.Request())
		if err != nil {
			return err
		}
		if v != nil {
			c.Set(viewerKey, v)
		}
		return next(c)
	}
}

func (s *Server) identify(r *http.Request) (*Viewer, error) {
	if auth := r.Header.Get("Authorization"); auth != "" {
		secret, ok := strings.CutPrefix(auth, "Bearer ")
		if !ok {
			return nil, unauthorised("the Authorization header is not a bearer token")
		}
		return s.identifyToken(r.Context(), secret)
	}
	user := s.sessionUser(r)
	if user == "" {
		return nil, nil
	}
	u, err := s.cfg.Accounts.User(r.Context(), user)
	if err != nil {
		return nil, nil // the person is gone: treat as signed out
	}
	return &Viewer{User: u, Ceiling: policy.RankMax}, nil
}

func (s *Server) identifyToken(ctx context.Context, secret string) (*Viewer, error) {
	if s.isLocal(secret) {
		u, err := s.cfg.Accounts.User(ctx, "user:1")
		if err != nil {
			return nil, err
		}
		return &Viewer{User: u, Token: LocalToken, Ceiling: policy.RankMax}, nil
	}
	t, err := s.cfg.Accounts.Token(ctx, secret)
	if err != nil {
		return nil, unauthorised("the token is not valid")
	}
	return &Viewer{User: t.User, Token: t.ID, Ceiling: t.Ceiling}, nil
}

func unauthorised(detail string) *Problem {
	p := problem("denied", detail, "sign in with the link that sluice serve prints, or send a valid token")
	p.Status, p.Title = http.StatusUnauthorized, http.StatusText(http.StatusUnauthorized)
	return p
}

// signedIn wants somebody: pages send people to the sign-in page, the API answers 401.
func (s *Server) signedIn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if viewer(c) != nil {
			return next(c)
		}
		if isAPI(c) || c.Request().Method != http.MethodGet || c.IsWebSocket() {
			return unauthorised("nobody is signed in")
		}
		return c.Redirect(http.StatusSeeOther, "/signin")
	}
}

// people wants a session: tokens never decide (P23, P42a).
func people(c echo.Context) (*Viewer, error) {
	v := viewer(c)
	if v.Token != "" {
		return nil, problem("denied", "tokens can not decide", "sign in and decide in the browser")
	}
	return v, nil
}

// visibleRun gives a run that the viewer may see; others do not exist for them.
func (s *Server) visibleRun(c echo.Context) (engine.Summary, error) {
	id := c.Param("id")
	if !strings.HasPrefix(id, "r_") || len(id) > 64 {
		return engine.Summary{}, notFound("run")
	}
	sum, err := s.cfg.Log.Run(c.Request().Context(), id)
	if err != nil {
		return engine.Summary{}, err
	}
	if !viewer(c).sees(sum.Requester) {
		return engine.Summary{}, notFound("run")
	}
	return sum, nil
}

func isAPI(c echo.Context) bool { return strings.HasPrefix(c.Request().URL.Path, "/api/") }
