package clearance

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// asked is a question as an authority reads it.
type asked struct {
	Tool   string          `json:"tool"`
	Params json.RawMessage `json:"params"`
	User   string          `json:"user"`
	Run    string          `json:"run"`
	Nonce  string          `json:"nonce"`
}

// authority is a server on this machine that answers questions.
func authority(t *testing.T, answer func(w http.ResponseWriter, q asked)) string {
	t.Helper()
	s := httptest.NewServer(handler(t, answer))
	t.Cleanup(s.Close)
	return s.URL
}

func handler(t *testing.T, answer func(w http.ResponseWriter, q asked)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q asked
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil || r.Method != http.MethodPost {
			t.Errorf("got %s and %v, want a POST of the question", r.Method, err)
		}
		answer(w, q)
	})
}

func say(text string) func(http.ResponseWriter, asked) {
	return func(w http.ResponseWriter, q asked) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, strings.ReplaceAll(text, "NONCE", q.Nonce))
	}
}

func question1(address string) Request {
	return Request{URL: address, Tool: "file.write", Params: []byte(`{"path":"notes.txt"}`), User: "user:1", Run: "r_1", Timeout: 5 * time.Second}
}

func ask(t *testing.T, answer func(http.ResponseWriter, asked)) Answer {
	t.Helper()
	return New(nil).Ask(t.Context(), question1(authority(t, answer)))
}

func TestR47_AWellFormedAllowAllows(t *testing.T) {
	var seen asked
	a := ask(t, func(w http.ResponseWriter, q asked) {
		seen = q
		say(`{"nonce":"NONCE","reason":"within hours","allow":true}`+"\n")(w, q)
	})
	if !a.Allow || a.Reason != "within hours" || a.Failure != "" || a.Nonce != seen.Nonce {
		t.Errorf("got %+v", a)
	}
	if seen.Tool != "file.write" || string(seen.Params) != `{"path":"notes.txt"}` || seen.User != "user:1" || seen.Run != "r_1" || len(seen.Nonce) != 2*nonceBytes {
		t.Errorf("the authority was asked %+v", seen)
	}
	if b := ask(t, say(`{"allow":true,"nonce":"NONCE"}`)); !b.Allow || b.Nonce == a.Nonce {
		t.Errorf("got %+v, want an allow to a question with another nonce than %s", b, a.Nonce)
	}
	if no := ask(t, say(`{"allow":false,"reason":"too late","nonce":"NONCE"}`)); no.Allow || no.Reason != "too late" || no.Failure != "" {
		t.Errorf("got %+v, want a denial with its reason", no)
	}
}

// TestR47_AnythingElseDenies: each answer below is close to an allow, and none is one.
func TestR47_AnythingElseDenies(t *testing.T) {
	status := func(code int) func(http.ResponseWriter, asked) {
		return func(w http.ResponseWriter, q asked) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"allow":true,"nonce":%q}`, q.Nonce)
		}
	}
	typed := func(kind string) func(http.ResponseWriter, asked) {
		return func(w http.ResponseWriter, q asked) {
			w.Header().Set("Content-Type", kind)
			_, _ = fmt.Fprintf(w, `{"allow":true,"nonce":%q}`, q.Nonce)
		}
	}
	cases := []struct {
		name   string
		answer func(http.ResponseWriter, asked)
		want   string
	}{
		{"allow as text", say(`{"allow":"true","nonce":"NONCE"}`), Malformed},
		{"allow as number", say(`{"allow":1,"nonce":"NONCE"}`), Malformed},
		{"allow as null", say(`{"allow":null,"nonce":"NONCE"}`), Malformed},
		{"no allow", say(`{"nonce":"NONCE"}`), Malformed},
		{"Allow in another case", say(`{"Allow":true,"nonce":"NONCE"}`), Malformed},
		{"allow twice", say(`{"allow":false,"allow":true,"nonce":"NONCE"}`), Malformed},
		{"nonce twice", say(`{"allow":true,"nonce":"x","nonce":"NONCE"}`), Malformed},
		{"a key too many", say(`{"allow":true,"nonce":"NONCE","extra":1}`), Malformed},
		{"reason as null", say(`{"allow":true,"nonce":"NONCE","reason":null}`), Malformed},
		{"reason as object", say(`{"allow":true,"nonce":"NONCE","reason":{}}`), Malformed},
		{"trailing bytes", say(`{"allow":true,"nonce":"NONCE"}x`), Malformed},
		{"two objects", say(`{"allow":true,"nonce":"NONCE"}{"allow":true,"nonce":"NONCE"}`), Malformed},
		{"a list", say(`[{"allow":true,"nonce":"NONCE"}]`), Malformed},
		{"bare true", say(`true`), Malformed},
		{"nothing", say(``), Malformed},
		{"cut off", say(`{"allow":true,"nonce":"NONCE"`), Malformed},
		{"invalid UTF-8", say("{\"allow\":true,\"nonce\":\"NONCE\",\"reason\":\"\xff\"}"), Malformed},
		{"no nonce", say(`{"allow":true}`), Malformed},
		{"another nonce", say(`{"allow":true,"nonce":"00000000000000000000000000000000"}`), WrongNonce},
		{"empty nonce", say(`{"allow":true,"nonce":""}`), WrongNonce},
		{"longer nonce", say(`{"allow":true,"nonce":"NONCE0"}`), WrongNonce},
		{"too large", say(`{"allow":true,"nonce":"NONCE","reason":"` + strings.Repeat("x", AnswerBytesMax) + `"}`), TooLarge},
		{"text", typed("text/plain"), BadType}, {"no type", typed(""), BadType},
		{"another charset", typed("application/json; charset=utf-16"), BadType}, {"json of another kind", typed("application/problem+json"), BadType},
		{"created", status(201), BadStatus}, {"no content", status(204), BadStatus}, {"forbidden", status(403), BadStatus}, {"broken", status(500), BadStatus},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if a := ask(t, tc.answer); a.Allow || a.Failure != tc.want {
				t.Errorf("got %+v, want a denial by %q", a, tc.want)
			}
		})
	}
}

func TestR47_ARedirectIsNotFollowed(t *testing.T) {
	var reached atomic.Bool
	elsewhere := authority(t, func(w http.ResponseWriter, q asked) {
		reached.Store(true)
		say(`{"allow":true,"nonce":"NONCE"}`)(w, q)
	})
	for _, code := range []int{301, 302, 303, 307, 308} {
		a := ask(t, func(w http.ResponseWriter, _ asked) {
			w.Header().Set("Location", elsewhere)
			w.WriteHeader(code)
		})
		if a.Allow || a.Failure != Redirect {
			t.Errorf("%d: got %+v", code, a)
		}
	}
	if reached.Load() {
		t.Error("the redirect was followed")
	}
}

func TestR47_SlowAuthoritiesDeny(t *testing.T) {
	slow := map[string]func(release <-chan struct{}) func(http.ResponseWriter, asked){
		"no header": func(release <-chan struct{}) func(http.ResponseWriter, asked) {
			return func(http.ResponseWriter, asked) { <-release }
		},
		"half a body": func(release <-chan struct{}) func(http.ResponseWriter, asked) {
			return func(w http.ResponseWriter, q asked) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"allow":true,`)
				w.(http.Flusher).Flush()
				<-release
			}
		},
	}
	for name, answer := range slow {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			q := question1(authority(t, answer(release)))
			t.Cleanup(func() { close(release) }) // before the server is closed
			q.Timeout = 50 * time.Millisecond
			if a := New(nil).Ask(t.Context(), q); a.Allow || a.Failure != Deadline {
				t.Errorf("got %+v", a)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := New(nil).Ask(ctx, question1(authority(t, say(`{}`)))); a.Failure != Stopped {
		t.Errorf("got %+v of a question that nobody needs", a)
	}
}

// TestR47_NoMoreIsReadThanTheLimit: an endless body ends where the limit is.
func TestR47_NoMoreIsReadThanTheLimit(t *testing.T) {
	a := ask(t, func(w http.ResponseWriter, q asked) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"allow":true,"nonce":%q}`, q.Nonce)
		block := []byte(strings.Repeat(" ", 32<<10))
		for range 1 << 15 { // a gigabyte, if somebody reads it
			if _, err := w.Write(block); err != nil {
				return
			}
		}
		t.Error("the whole body was taken")
	})
	if a.Allow || a.Failure != TooLarge {
		t.Errorf("got %+v", a)
	}
}

func TestR47_WhoCannotBeReachedDenies(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	_ = l.Close()
	if a := New(nil).Ask(t.Context(), question1(address)); a.Allow || a.Failure != Unreachable {
		t.Errorf("got %+v", a)
	}
	for _, bad := range []string{"", "ftp://a.example", "http://192.0.2.1:9/", "https://me:pw@127.0.0.1/", "://"} {
		if a := New(nil).Ask(t.Context(), question1(bad)); a.Allow || a.Failure != BadAddress {
			t.Errorf("%q: got %+v", bad, a)
		}
	}
}

func TestR47_AuthoritiesProveWhoTheyAre(t *testing.T) {
	s := httptest.NewTLSServer(handler(t, say(`{"allow":true,"nonce":"NONCE"}`)))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	if a := New(nil).Ask(t.Context(), question1(s.URL)); a.Allow || a.Failure != BadTLS {
		t.Errorf("got %+v of an authority that nobody vouches for", a)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	if a := New(roots).Ask(t.Context(), question1(s.URL)); !a.Allow {
		t.Errorf("got %+v of an authority that is vouched for", a)
	}
	plainServer := strings.Replace(authority(t, say(`{}`)), "http:", "https:", 1)
	if a := New(roots).Ask(t.Context(), question1(plainServer)); a.Allow || a.Failure != BadTLS {
		t.Errorf("got %+v without TLS", a)
	}
}

func TestR47_NoProxyAndNoCookies(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("NO_PROXY", "")
	c := New(nil)
	count := 0
	address := authority(t, func(w http.ResponseWriter, q asked) {
		count++
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
		say(`{"allow":true,"nonce":"NONCE"}`)(w, q)
	})
	for range 2 {
		if a := c.Ask(t.Context(), question1(address)); !a.Allow {
			t.Errorf("got %+v", a)
		}
	}
	if c.local.Jar != nil || c.secure.Jar != nil || count != 2 {
		t.Errorf("%d questions, or cookies are kept", count)
	}
}

func TestR47_ReasonsAreVisibleText(t *testing.T) {
	a := ask(t, say(`{"allow":false,"nonce":"NONCE","reason":" a\u202eb\u0000\n\tc\u200b\u001b[31m "}`))
	if a.Reason != "ab  c[31m" {
		t.Errorf("got %q", a.Reason)
	}
	long := ask(t, say(`{"allow":false,"nonce":"NONCE","reason":"`+strings.Repeat("ü", ReasonBytesMax)+`"}`))
	if len(long.Reason) > ReasonBytesMax || long.Reason == "" {
		t.Errorf("got %d bytes", len(long.Reason))
	}
}
