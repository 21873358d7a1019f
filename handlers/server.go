package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/labstack/echo/v4"

	"sluice/engine"
	"sluice/web/static"
)

// Limits on requests (P14, P41).
const (
	BodyBytesMax    = 4 << 20   // a plan with what surrounds it
	FormBytesMax    = 256 << 10 // a browser form
	HeaderBytesMax  = 64 << 10
	drainBytesMax   = 32 << 20 // of a refused body
	PageMax         = 200      // rows of one API page
	sessionLifetime = 30 * 24 * time.Hour
)

// contentPolicy is the CSP of every page (P43).
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Config wires a Server.
type Config struct {
	Engine    Engine
	Log       Log
	Accounts  Accounts
	Audit     Audit
	Planner   Planner
	Models    Models
	Rules     Rules
	Drafts    Drafts
	Policies  Policies
	Templates Templates
	// Redact takes secrets out of what people send (P26); nil leaves all as it is.
	Redact   Redactor
	Sessions scs.Store
	// LocalSecret is the token of DATA/server.json (P36a).
	LocalSecret string
	// Program and DataDir stand in the commands that check the log without these pages.
	Program, DataDir string
	// Secure marks cookies for TLS only.
	Secure bool
	Logger *slog.Logger
}

// Server is the HTTP side of Sluice.
type Server struct {
	cfg      Config
	echo     *echo.Echo
	sessions *scs.SessionManager
	local    [sha256.Size]byte
	sockets  sockets
	files    *static.Files
	static   http.Handler
}

// New builds the Server with every route. It fails only when the binary was
// built without its bundles.
func New(cfg Config) (*Server, error) {
	files, err := static.New()
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, echo: echo.New(), sessions: newSessions(cfg), local: sha256.Sum256([]byte(cfg.LocalSecret)),
		files: files, static: files}
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.fail
	s.echo.Use(s.guardHeaders, survive, limitBody, s.authenticate)
	s.routes()
	return s, nil
}

func newSessions(cfg Config) *scs.SessionManager {
	m := scs.New()
	m.Store = cfg.Sessions
	m.Lifetime = sessionLifetime
	m.Cookie.Name = "sluice_session"
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Secure = cfg.Secure
	m.Cookie.Path = "/"
	return m
}

// Handler is the whole server: cross-origin requests that change something are
// refused before anything looks at them.
func (s *Server) Handler() http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(s.refuseForeign))
	return guard.Handler(s.echo)
}

// refuseForeign answers a request that another site made the browser send.
func (s *Server) refuseForeign(w http.ResponseWriter, r *http.Request) {
	c := s.echo.NewContext(r, w)
	refuse := func(echo.Context) error {
		return sendProblem(c, problem("denied", "the request does not come from this site's own pages", "open the page from this address"))
	}
	if err := s.guardHeaders(refuse)(c); err != nil {
		s.cfg.Logger.Error("send error", "path", r.URL.Path, "err", err)
	}
}

// Route is one way in.
type Route struct{ Method, Path string }

// Routes lists every way in, so that a test can try each as everybody.
func (s *Server) Routes() []Route {
	var list []Route
	for _, r := range s.echo.Routes() {
		list = append(list, Route{r.Method, r.Path})
	}
	return list
}

// Close ends every open socket: they would outlive a server that stops.
func (s *Server) Close() { s.sockets.closeEvery() }

func (s *Server) routes() {
	e := s.echo
	e.GET("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	e.GET("/readyz", func(c echo.Context) error { return c.String(http.StatusOK, "ok\n") })
	s.apiRoutes(e.Group("/api/v1", s.signedIn))
	e.GET("/ws", s.socket, s.signedIn)
	s.pageRoutes(e)
}

func (s *Server) isLocal(secret string) bool {
	if s.cfg.LocalSecret == "" {
		return false
	}
	sum := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(sum[:], s.local[:]) == 1
}

// guardHeaders sets what every answer carries.
func (s *Server) guardHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if !strings.HasPrefix(c.Request().URL.Path, "/static/") {
			h.Set("Cache-Control", "no-store")
		}
		return next(c)
	}
}

// survive turns a fault of a handler into an error that is logged and shown,
// instead of a connection that ends without a word.
func survive(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			switch r := recover(); r {
			case nil:
			case http.ErrAbortHandler:
				panic(r)
			default:
				err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
			}
		}()
		return next(c)
	}
}

// limitBody bounds what a handler can read (R-limits): a body above 4 MiB gets
// 413 naming the limit.
func limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.ContentLength > BodyBytesMax {
			// Take in a moderate excess, so that a client still sending it can read the answer.
			_, _ = io.CopyN(io.Discard, r.Body, drainBytesMax)
			return tooLarge(BodyBytesMax)
		}
		r.Body = http.MaxBytesReader(c.Response(), r.Body, BodyBytesMax)
		return next(c)
	}
}

// fail turns an error into a problem for programs and a page for people.
func (s *Server) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		err = tooLarge(big.Limit)
	}
	p := toProblem(err)
	if p.Status >= http.StatusInternalServerError {
		s.cfg.Logger.Error("serve request", "method", c.Request().Method, "path", c.Path(), "err", err)
	}
	var sent error
	if isAPI(c) || strings.HasPrefix(c.Request().URL.Path, "/ws") {
		sent = sendProblem(c, p)
	} else {
		sent = s.errorPage(c, p)
	}
	if sent != nil {
		s.cfg.Logger.Error("send error", "path", c.Path(), "err", sent)
	}
}

func sendProblem(c echo.Context, p *Problem) error {
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	if p.RetryAfter > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.FormatInt(p.RetryAfter, 10))
	}
	c.Response().WriteHeader(p.Status)
	return writeJSON(c.Response(), p)
}

// sessionUser reads the session cookie without starting one.
func (s *Server) sessionUser(r *http.Request) string {
	cookie, err := r.Cookie(s.sessions.Cookie.Name)
	if err != nil {
		return ""
	}
	ctx, err := s.sessions.Load(r.Context(), cookie.Value)
	if err != nil {
		return ""
	}
	return s.sessions.GetString(ctx, "user")
}

// startSession signs a person in under a fresh session token; the one the
// browser came with ends (session fixation).
func (s *Server) startSession(c echo.Context, u User) error {
	if err := s.endSession(c); err != nil {
		return err
	}
	ctx, err := s.sessions.Load(c.Request().Context(), "")
	if err != nil {
		return err
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return err
	}
	s.sessions.Put(ctx, "user", u.ID)
	token, expiry, err := s.sessions.Commit(ctx)
	if err != nil {
		return err
	}
	s.sessions.WriteSessionCookie(ctx, c.Response(), token, expiry)
	return nil
}

// endSession ends the session a request came with, and its sockets.
func (s *Server) endSession(c echo.Context) error {
	cookie, err := c.Request().Cookie(s.sessions.Cookie.Name)
	if err != nil {
		return nil
	}
	ctx, err := s.sessions.Load(c.Request().Context(), cookie.Value)
	if err != nil {
		return err
	}
	if err := s.sessions.Destroy(ctx); err != nil {
		return err
	}
	s.sockets.closeAll(cookie.Value)
	return nil
}

func (s *Server) now() int64 { return s.cfg.Engine.Now() }

func (s *Server) head(c echo.Context) engine.Head {
	return engine.Head{At: s.now(), Actor: viewer(c).Principal()}
}
