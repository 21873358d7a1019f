package main

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestP43_EveryAnswerCarriesTheExactPolicy: pages, problems and files alike.
func TestP43_EveryAnswerCarriesTheExactPolicy(t *testing.T) {
	const want = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	w := newWorld(t)
	o := w.operator()
	foreign := o.request(http.MethodPost, "/runs", nil)
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	for name, got := range map[string]*answer{"home": o.get("/"), "runs": o.get("/runs"), "sign-in": w.nobody().get("/signin"),
		"missing page": o.get("/nothing"), "problem": o.get("/api/v1/runs/r_none"), "static": o.get("/static/app.css"), "foreign": o.do(foreign)} {
		if csp := got.header.Values("Content-Security-Policy"); len(csp) != 1 || csp[0] != want {
			t.Errorf("%s: got policy %q, want %q", name, csp, want)
		}
		if sniff := got.header.Get("X-Content-Type-Options"); sniff != "nosniff" {
			t.Errorf("%s: got X-Content-Type-Options %q, want nosniff", name, sniff)
		}
	}
}

// TestP43_CrossSitePostsAreRefused: what another site makes the browser send
// changes nothing (security.md: CSRF).
func TestP43_CrossSitePostsAreRefused(t *testing.T) {
	s := newScene(t)
	before := s.content()
	headers := []map[string]string{
		{"Sec-Fetch-Site": "cross-site"},
		{"Sec-Fetch-Site": "same-site"},
		{"Origin": "https://evil.example"},
		{"Origin": "null"},
		{"Origin": "http://127.0.0.1:1"},
		{"Origin": "https://evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"},
	}
	for _, h := range headers {
		for _, path := range []string{"/runs", "/runs/" + s.run + "/cancel", "/approvals/" + s.approval + "/decision", "/signout",
			"/preferences", "/api/v1/runs", "/api/v1/approvals/" + s.approval} {
			r := s.root.request(http.MethodPost, path, strings.NewReader("goal=x&decision=approve&hash="+s.hash))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			for k, v := range h {
				r.Header.Set(k, v)
			}
			if p := s.root.problemOf(http.StatusForbidden, s.root.do(r)); p.Code != "denied" {
				t.Errorf("POST %s with %v: got code %q, want denied", path, h, p.Code)
			}
		}
	}
	if after := s.content(); after != before {
		t.Errorf("a cross-site request changed what is stored:\n%s\n%s", before, after)
	}
	if got := s.root.get("/").status; got != http.StatusOK {
		t.Errorf("afterwards: got %d, want the session alive", got)
	}
	for _, h := range []map[string]string{{"Sec-Fetch-Site": "same-origin"}, {"Origin": s.base}} {
		r := s.root.request(http.MethodPost, "/preferences", strings.NewReader("theme=dark"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for k, v := range h {
			r.Header.Set(k, v)
		}
		if got := s.root.do(r).status; got != http.StatusSeeOther {
			t.Errorf("own page with %v: got %d, want 303", h, got)
		}
	}
}

// TestP35_SignInLinkWorksOnce, and gives a session of its own each time.
func TestP35_SignInLinkWorksOnce(t *testing.T) {
	w := newWorld(t)
	link, err := w.app.store.CreateSignIn(w.Context(), 1, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	first := w.nobody().get("/signin?token=" + link)
	if first.status != http.StatusSeeOther || len(first.cookies) != 1 {
		t.Fatalf("first use: got %d and %d cookies, want 303 and one", first.status, len(first.cookies))
	}
	cookie := first.cookies[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" {
		t.Errorf("got cookie %v, want HttpOnly, SameSite=Lax, Path=/", cookie)
	}
	second := w.nobody().get("/signin?token=" + link)
	if second.status != http.StatusForbidden || len(second.cookies) != 0 {
		t.Errorf("second use: got %d and %d cookies, want 403 and none", second.status, len(second.cookies))
	}
	for _, bad := range []string{"x", strings.Repeat("a", 5000), "%00", "' OR 1=1"} {
		if got := w.nobody().get("/signin?token=" + strings.ReplaceAll(bad, " ", "+")); got.status != http.StatusForbidden || len(got.cookies) != 0 {
			t.Errorf("link %.20q: got %d, want 403", bad, got.status)
		}
	}
	if got := w.nobody().get("/signin").status; got != http.StatusOK {
		t.Errorf("sign-in page: got %d, want 200", got)
	}
}

// TestP35_SessionChangesAtSignIn: a session known before is worth nothing after
// (security.md: session fixation), and one that somebody made up is never taken over.
func TestP35_SessionChangesAtSignIn(t *testing.T) {
	w := newWorld(t)
	before := w.operator()
	again := func(session string) *caller {
		link, err := w.app.store.CreateSignIn(w.Context(), 1, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		c := &caller{world: w, name: "again", session: session}
		got := c.get("/signin?token=" + link)
		if len(got.cookies) != 1 {
			t.Fatalf("got %d cookies, want one", len(got.cookies))
		}
		c.session = got.cookies[0].Value
		return c
	}
	after := again(before.session)
	if after.session == before.session {
		t.Error("the session did not change at sign-in")
	}
	if got := before.get("/api/v1/runs").status; got != http.StatusUnauthorized {
		t.Errorf("old session: got %d, want 401", got)
	}
	if got := after.get("/api/v1/runs").status; got != http.StatusOK {
		t.Errorf("new session: got %d, want 200", got)
	}
	const fixed = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	if c := again(fixed); c.session == fixed {
		t.Error("a made-up session became a real one")
	}
	if got := (&caller{world: w, name: "fixed", session: fixed}).get("/api/v1/runs").status; got != http.StatusUnauthorized {
		t.Errorf("made-up session: got %d, want 401", got)
	}
}

// TestP35_SignOutEndsTheSession for good.
func TestP35_SignOutEndsTheSession(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	got := o.form("/signout", "")
	if got.status != http.StatusSeeOther || len(got.cookies) != 1 || got.cookies[0].MaxAge >= 0 {
		t.Fatalf("got %d and cookies %v, want 303 and a cookie that ends", got.status, got.cookies)
	}
	if got := o.get("/api/v1/runs").status; got != http.StatusUnauthorized {
		t.Errorf("after sign-out: got %d, want 401", got)
	}
	again := w.operator()
	again.get("/signout")
	if got := again.get("/api/v1/runs").status; got != http.StatusOK {
		t.Errorf("after a GET of the sign-out page: got %d, want the session alive", got)
	}
}

// TestP42_ThemeCookieTakesKnownWordsOnly, and the way back stays on this site.
func TestP42_ThemeCookieTakesKnownWordsOnly(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	for theme, want := range map[string]string{"dark": "dark", "light": "light", "<script>": "", "": ""} {
		if got := o.form("/preferences", "theme="+theme); len(got.cookies) != 1 || got.cookies[0].Value != want {
			t.Errorf("theme %q: got %v, want %q", theme, got.cookies, want)
		}
	}
	host := strings.TrimPrefix(w.base, "http://")
	for referer, want := range map[string]string{w.base + "/runs?q=x": "/runs?q=x", "https://evil.example/x": "/", "http://" + host + "//evil.example": "/", "": "/"} {
		r := o.request(http.MethodPost, "/preferences", strings.NewReader("theme=dark"))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Referer", referer)
		if got := o.do(r).header.Get("Location"); got != want {
			t.Errorf("from %q: got %q, want %q", referer, got, want)
		}
	}
}
