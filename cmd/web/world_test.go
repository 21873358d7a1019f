package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/engine"
	"sluice/handlers"
	"sluice/policy"
	"sluice/store"
)

const (
	localSecret = "local_secret_of_this_test"
	restWithin  = 30 * time.Second
)

// world is the whole program over a data directory of its own, served by a test server.
type world struct {
	*testing.T
	app  *app
	http *handlers.Server
	base string
	logs *safeBuffer
}

// safeBuffer takes log lines from many goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// testConfig is a configuration in a directory of its own, with some files to work on.
func testConfig(t *testing.T) config {
	t.Helper()
	data := t.TempDir()
	cfg := config{Data: data, Workspace: filepath.Join(data, "workspace"), Listen: "127.0.0.1:0"}
	writeFile(t, filepath.Join(cfg.Workspace, "notes.txt"), "first line\nsecond line\n")
	return cfg
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newWorld is a world with the default configuration. Its test runs beside others.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return worldOf(t, testConfig(t))
}

// worldOf opens the program and closes it with the test.
func worldOf(t *testing.T, cfg config) *world {
	t.Helper()
	w := &world{T: t, logs: &safeBuffer{}}
	a, err := open(t.Context(), cfg, w.logs)
	if err != nil {
		t.Fatalf("open %s: %v", cfg.Data, err)
	}
	w.app = a
	w.serve()
	return w
}

func (w *world) serve() {
	w.Helper()
	a := w.app
	h, err := a.pages(localSecret)
	if err != nil {
		w.Fatal(err)
	}
	w.http = h
	server := httptest.NewUnstartedServer(h.Handler())
	server.Listener = narrow{server.Listener}
	server.Config.MaxHeaderBytes = handlers.HeaderBytesMax
	server.Start()
	w.base = server.URL
	w.Cleanup(func() {
		server.CloseClientConnections()
		h.Close()
		server.Close()
		a.close()
	})
}

// narrow gives connections small buffers, so that a reader who stops reading is noticed.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(8 << 10)
	}
	return c, err
}

// caller is somebody who sends requests: by session, by token, or nobody.
type caller struct {
	*world
	name    string
	session string
	token   string
	user    string // principal
}

func (w *world) nobody() *caller { return &caller{world: w, name: "nobody"} }

// person signs a user in by a link of their own.
func (w *world) person(id int64) *caller {
	w.Helper()
	link, err := w.app.store.CreateSignIn(w.Context(), id, time.Hour)
	if err != nil {
		w.Fatal(err)
	}
	c := &caller{world: w, name: "user " + strconv.FormatInt(id, 10), user: "user:" + strconv.FormatInt(id, 10)}
	got := c.send(http.MethodGet, "/signin?token="+link, nil)
	for _, cookie := range got.cookies {
		if cookie.Name == "sluice_session" {
			c.session = cookie.Value
		}
	}
	if got.status != http.StatusSeeOther || c.session == "" {
		w.Fatalf("sign in: got %d and session %q, want 303 and a session", got.status, c.session)
	}
	return c
}

// operator is user 1, who has every role.
func (w *world) operator() *caller {
	w.Helper()
	return w.person(1)
}

// stranger adds a user with the given roles and signs them in.
func (w *world) stranger(name string, roles ...store.Role) *caller {
	w.Helper()
	u, err := w.app.store.AddUser(w.Context(), name, roles)
	if err != nil {
		w.Fatal(err)
	}
	c := w.person(u.ID)
	c.name = name
	return c
}

// apiToken makes a token of a user.
func (w *world) apiToken(user int64, ceiling policy.Rank) *caller {
	w.Helper()
	id, secret, err := w.app.store.AddToken(w.Context(), "test", ceiling, user)
	if err != nil {
		w.Fatal(err)
	}
	return &caller{world: w, name: "token", token: secret, user: "token:" + id}
}

// answer is a response, read whole.
type answer struct {
	status  int
	header  http.Header
	body    []byte
	cookies []*http.Cookie
}

func (a *answer) text() string { return string(a.body) }

// request builds a request as the caller would send it.
func (c *caller) request(method, path string, body io.Reader) *http.Request {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), method, c.base+path, body)
	if err != nil {
		c.Fatal(err)
	}
	if c.session != "" {
		r.AddCookie(&http.Cookie{Name: "sluice_session", Value: c.session})
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r
}

func (c *caller) do(r *http.Request) *answer {
	c.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		c.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	return &answer{resp.StatusCode, resp.Header, raw, resp.Cookies()}
}

func (c *caller) send(method, path string, body io.Reader) *answer {
	c.Helper()
	return c.do(c.request(method, path, body))
}

func (c *caller) get(path string) *answer {
	c.Helper()
	return c.send(http.MethodGet, path, nil)
}

// post sends a JSON text as it is.
func (c *caller) post(path, body string) *answer {
	c.Helper()
	r := c.request(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return c.do(r)
}

// form sends a browser form.
func (c *caller) form(path, values string) *answer {
	c.Helper()
	r := c.request(http.MethodPost, path, strings.NewReader(values))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", c.base)
	return c.do(r)
}

// want fails unless the answer has the status, and reads its JSON into into.
func (c *caller) want(status int, a *answer, into any) {
	c.Helper()
	if a.status != status {
		c.Fatalf("%s: got status %d, want %d: %.600s", c.name, a.status, status, a.body)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		c.Fatalf("read %.400s: %v", a.body, err)
	}
}

// shape is what tests read of a run (P39).
type shape struct {
	ID          string         `json:"id"`
	Goal        string         `json:"goal"`
	Status      string         `json:"status"`
	Code        *string        `json:"code"`
	Causes      []string       `json:"causes"`
	Requester   string         `json:"requester"`
	Seq         int64          `json:"seq"`
	PlanVersion int            `json:"plan_version"`
	Counts      map[string]int `json:"counts"`
	Waiting     []string       `json:"waiting"`
}

func (s *shape) code() string {
	if s.Code == nil {
		return ""
	}
	return *s.Code
}

// submit creates a run and gives its id.
func (c *caller) submit(body string) string {
	c.Helper()
	var made struct {
		ID string `json:"id"`
	}
	c.want(http.StatusAccepted, c.post("/api/v1/runs", body), &made)
	return made.ID
}

// rest waits until a run ends or waits for a person.
func (c *caller) rest(id string) *shape {
	c.Helper()
	return c.until(id, atRest)
}

// end waits until a run has ended.
func (c *caller) end(id string) *shape {
	c.Helper()
	return c.until(id, func(s engine.Status) bool { return s == engine.Ended })
}

// until waits for commits of a run until its status is as wanted, and gives the
// run as the API has it then.
func (c *caller) until(id string, is func(engine.Status) bool) *shape {
	c.Helper()
	woken, stop := c.app.shell.Watch(id)
	defer stop()
	ctx, cancel := context.WithTimeout(c.Context(), restWithin)
	defer cancel()
	for {
		known, err := c.app.store.Run(ctx, id)
		if err != nil {
			c.Fatal(err)
		}
		if is(known.Status) {
			break
		}
		select {
		case <-woken:
		case <-ctx.Done():
			c.Fatalf("run %s is not as wanted after %v: %+v", id, restWithin, known.Summary)
		}
	}
	var r shape
	c.want(http.StatusOK, c.get("/api/v1/runs/"+id), &r)
	return &r
}

// runToRest submits and waits.
func (c *caller) runToRest(body string) *shape {
	c.Helper()
	return c.rest(c.submit(body))
}

// problemOf reads an answer that must be a problem (P41).
func (c *caller) problemOf(status int, a *answer) *handlers.Problem {
	c.Helper()
	var p handlers.Problem
	c.want(status, a, &p)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		c.Errorf("got content type %q, want application/problem+json: %.300s", got, a.body)
	}
	if p.Type == "" || p.Title == "" || p.Status != status || p.Detail == "" || p.Code == "" {
		c.Errorf("got %.400s, want type, title, status %d, detail and code (RFC 9457, P41)", a.body, status)
	}
	return &p
}
