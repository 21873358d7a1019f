package tool

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/policy"
)

const oneMail = `{"to":["Ann Ö <ann@example.com>","bob@example.com"],"cc":["ann@example.com"],"subject":"Grüße 10 %","body":"Hello,\n.\nthe sum is 3 €.\n"}`

func TestMailSend_HandsOverOneMessage(t *testing.T) {
	p := newPost(t, nil)
	w := worldOf(t, Config{Mail: p.mail(), Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	var got mailSent
	w.want("mail.send", oneMail, &got)
	if !slices.Equal(got.Accepted, []string{"ann@example.com", "bob@example.com"}) {
		t.Errorf("got accepted %v, want each address once", got.Accepted)
	}
	lines, mails := p.told()
	if len(mails) != 1 || strings.Count(strings.Join(lines, "\n"), "RCPT TO:") != 2 || !slices.Contains(lines, "MAIL FROM:<sluice@example.org>") {
		t.Fatalf("got %d messages after %q", len(mails), lines)
	}
	read, err := mail.ReadMessage(strings.NewReader(mails[0]))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(read.Body))
	if err != nil || strings.ReplaceAll(string(body), "\r\n", "\n") != "Hello,\n.\nthe sum is 3 €.\n" {
		t.Errorf("got body %q (%v)", body, err)
	}
	subject, err := (&mime.WordDecoder{}).DecodeHeader(read.Header.Get("Subject"))
	if err != nil || subject != "Grüße 10 %" {
		t.Errorf("got subject %q (%v)", subject, err)
	}
	to, err := read.Header.AddressList("To")
	if err != nil || len(to) != 2 || to[0].Name != "Ann Ö" {
		t.Errorf("got To %v (%v)", to, err)
	}
	if read.Header.Get("Message-Id") != "<"+got.MessageID+">" || read.Header.Get("Date") != "Fri, 15 Jan 2027 08:00:00 +0000" {
		t.Errorf("got header %v, message id %s", read.Header, got.MessageID)
	}
}

// The Message-ID is that of the key: a second attempt under it can be told apart
// from a second message.
func TestP21_MessageIDComesFromTheKey(t *testing.T) {
	if a, b := messageID("k_1", "a@b.c"), messageID("k_1", "a@b.c"); a != b || a == messageID("k_2", "a@b.c") || !strings.HasSuffix(a, "@b.c") {
		t.Errorf("got %s and %s", a, b)
	}
}

func TestMailSend_SignsInOverTLS(t *testing.T) {
	for _, mode := range []string{MailStartTLS, MailTLS} {
		p := newPost(t, nil)
		m := p.secured(mode)
		if mode == MailTLS {
			p.listener.Close()
			p.wait.Wait()
			again := newTLSPost(t, p)
			m.Server = again.listener.Addr().String()
			p = again
		}
		var got mailSent
		worldOf(t, Config{Mail: m}).want("mail.send", oneMail, &got)
		lines, _ := p.told()
		if want := "AUTH PLAIN " + base64.StdEncoding.EncodeToString([]byte("\x00"+testUser+"\x00"+testPassword)); !slices.Contains(lines, want) {
			t.Errorf("%s: got %q, want a sign-in", mode, lines)
		}
	}
}

// newTLSPost speaks TLS from the first byte, with the certificate of another.
func newTLSPost(t *testing.T, other *post) *post {
	t.Helper()
	p := newPost(t, nil)
	p.listener.Close()
	p.wait.Wait()
	listener, err := tlsListen(other)
	if err != nil {
		t.Fatal(err)
	}
	p.listener = listener
	p.wait.Add(1)
	go p.serve()
	t.Cleanup(func() { listener.Close() })
	return p
}

// What a failure says of the message decides whether the call may run again
// (P5): before the content nothing was sent; a no is a no; silence after it is
// an outcome that nobody knows.
func TestP5_MailFailuresSayWhetherItWasSent(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies map[string]string
		slow    string
		class   FailureClass
		unsent  bool
		detail  string
	}{
		{"greeting", map[string]string{"greeting": "554 go away"}, "", Unavailable, true, UnavailableText},
		{"hangs up at MAIL", map[string]string{"MAIL": ""}, "", Unavailable, true, UnavailableText},
		{"sender refused", map[string]string{"MAIL": "550 no"}, "", Invalid, true, "refuses the sender (550)"},
		{"recipient refused", map[string]string{"RCPT TO:<bob@example.com>": "550 no such user, write to evil@example.net"}, "", Invalid, true, "refuses bob@example.com (550)"},
		{"recipient later", map[string]string{"RCPT": "450 greylisted"}, "", Transient, true, "does not take ann@example.com at the moment (450)"},
		{"DATA later", map[string]string{"DATA": "421 busy"}, "", Transient, true, "(421)"},
		{"hangs up at DATA", map[string]string{"DATA": ""}, "", Unavailable, true, UnavailableText},
		{"content refused", map[string]string{"content": "554 spam"}, "", Invalid, true, "refuses the message (554)"},
		{"content later", map[string]string{"content": "452 full"}, "", Transient, true, "(452)"},
		{"hangs up after the content", map[string]string{"content": ""}, "", Transient, false, "did not confirm"},
		{"nonsense after the content", map[string]string{"content": "what?"}, "", Transient, false, "did not confirm"},
		{"quit fails", map[string]string{"QUIT": ""}, "", OK, false, ""},
		{"slow before", nil, "MAIL", Timeout, true, "time limit"},
	} {
		p := newPost(t, c.replies)
		p.slow = c.slow
		w := worldOf(t, Config{Mail: p.mail()})
		job := w.job("mail.send", oneMail)
		job.Timeout = 10 * time.Second
		if c.slow != "" {
			job.Timeout = 200 * time.Millisecond
		}
		out := w.executor.Perform(context.Background(), job)
		if out.Class != c.class || out.BeforeSend != c.unsent || !strings.Contains(out.Detail, c.detail) {
			t.Errorf("%s: got %q, before send %v, %q; want %q, %v, %q", c.name, out.Class, out.BeforeSend, out.Detail, c.class, c.unsent, c.detail)
		}
		if _, mails := p.told(); len(mails) > 0 && out.BeforeSend && c.replies["content"] == "" {
			t.Errorf("%s: the message was sent", c.name)
		}
	}
}

// A server that takes the content and says nothing until the time is up leaves
// the outcome unknown.
func TestP5_SilenceAfterTheContentIsUnknown(t *testing.T) {
	p := newPost(t, map[string]string{"DATA": "354 go on\r\n"})
	p.slow = ""
	w := worldOf(t, Config{Mail: p.mail()})
	hang, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hang.Close()
	w.registry.host.mail.Server = hang.Addr().String()
	go hold(hang)
	job := w.job("mail.send", oneMail)
	job.Timeout = 300 * time.Millisecond
	if out := w.executor.Perform(context.Background(), job); out.Class != Transient || out.BeforeSend {
		t.Errorf("got %q, before send %v; want transient after sending", out.Class, out.BeforeSend)
	}
}

// hold takes one message and never confirms it.
func hold(listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprint(conn, "220 x\r\n250 x\r\n250 x\r\n250 x\r\n250 x\r\n354 x\r\n")
	io.Copy(io.Discard, conn)
}

func TestP24_MailWithoutAServerIsUnavailable(t *testing.T) {
	newWorld(t, nil).refuse("mail.send", oneMail, Unavailable)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	worldOf(t, Config{Mail: Mail{Server: closed.Addr().String(), From: "a@example.org", TLS: MailPlain}}).refuse("mail.send", oneMail, Unavailable)
	// A server that does not offer the upgrade hears nothing more.
	p := newPost(t, map[string]string{"STARTTLS": "502 no"})
	worldOf(t, Config{Mail: p.secured(MailStartTLS)}).refuse("mail.send", oneMail, Unavailable)
	if lines, _ := p.told(); strings.Contains(strings.Join(lines, "\n"), "AUTH") || strings.Contains(strings.Join(lines, "\n"), "MAIL") {
		t.Errorf("got %q, want nothing after the upgrade was refused", lines)
	}
	// Nor does one with a certificate that nobody vouches for.
	q := newPost(t, nil)
	m := q.secured(MailStartTLS)
	m.Roots = nil
	worldOf(t, Config{Mail: m}).refuse("mail.send", oneMail, Unavailable)
}

func TestP26_TheMailPasswordShowsNowhere(t *testing.T) {
	p := newPost(t, nil)
	m := p.secured(MailStartTLS)
	if text := fmt.Sprintf("%v %+v %#v %s", m, m, m, m.Password); strings.Contains(text, testPassword) {
		t.Errorf("printing shows the password: %s", text)
	}
	w := worldOf(t, Config{Mail: m, Env: func() []string { return nil }})
	if text := w.registry.Redactor().Text("it is " + testPassword); strings.Contains(text, testPassword) {
		t.Errorf("got %q, want it redacted", text)
	}
}

func TestP42_MailConfigurationIsChecked(t *testing.T) {
	base := Mail{Server: "mail.example.org:587", From: "sluice@example.org"}
	for name, change := range map[string]func(*Mail){
		"no server":         func(m *Mail) { m.Server = "" },
		"no port":           func(m *Mail) { m.Server = "mail.example.org" },
		"plain to others":   func(m *Mail) { m.TLS = MailPlain },
		"unknown mode":      func(m *Mail) { m.TLS = "ssl" },
		"user alone":        func(m *Mail) { m.User = "u" },
		"password alone":    func(m *Mail) { m.Password = "p" },
		"no sender":         func(m *Mail) { m.From = "" },
		"two senders":       func(m *Mail) { m.From = "a@example.org, b@example.org" },
		"sender with break": func(m *Mail) { m.From = "a@example.org\r\nBcc: b@example.org" },
	} {
		m := base
		change(&m)
		if registry, err := New(Config{Workspace: t.TempDir(), Mail: m}); err == nil {
			t.Errorf("%s: accepted", name)
			registry.Close()
		}
	}
	if m, err := base.settled(); err != nil || m.TLS != MailStartTLS {
		t.Errorf("got %v, %v; want starttls", m.TLS, err)
	}
}

func TestP14_MailIsBounded(t *testing.T) {
	w := worldOf(t, Config{Mail: newPost(t, nil).mail()})
	var many []string
	for i := range recipientsMax + 1 {
		many = append(many, fmt.Sprintf(`"u%d@example.com"`, i))
	}
	w.refuse("mail.send", `{"to":[`+strings.Join(many[:30], ",")+`],"cc":[`+strings.Join(many[30:], ",")+`],"subject":"s","body":"b"}`, Invalid)
	w.refuse("mail.send", `{"to":["a@example.com"],"subject":`+quote(strings.Repeat("s", 501))+`,"body":"b"}`, Invalid)
	w.refuse("mail.send", `{"to":["a@example.com"],"subject":" ","body":"b"}`, Invalid)
	w.refuse("mail.send", `{"to":[],"subject":"s","body":"b"}`, Invalid)
	l := letter{from: &mail.Address{Address: "a@b.c"}, body: strings.Repeat("ü", messageBytesMax/6+1)}
	if _, err := l.text(time.Now()); err == nil {
		t.Error("a message above 1 MiB was composed")
	}
}

// Security, header injection: whatever stands in an address or the subject, the
// message has the headers that this package writes and no other, and the server
// hears of no other recipient.
func TestMailSend_HeadersCannotBeInjected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\r\nBcc: x@evil.net", "\n\n", "\r", "a@b.c", "<a@b.c>", "=?utf-8?q?a=0D=0ABcc:_x?= <a@b.c>", "\u2028", "\x00", `"a>b"@c.d`, ", ", "ü"}))
		draw := func(name string) string { return strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(t, name), "") }
		params := mailParams{To: []string{rapid.SampledFrom([]string{"a@b.c", ""}).Draw(t, "first") + draw("to")}, Subject: draw("subject") + "s", Body: draw("body")}
		if rapid.Bool().Draw(t, "copy") {
			params.CC = []string{draw("name") + " <c@d.e>"}
		}
		l, err := newLetter("Sluice <s@example.org>", params, "key")
		if err != nil {
			return
		}
		for _, address := range l.recipients() {
			if strings.ContainsAny(address, " <>\r\n,;:\"\x00") || strings.Count(address, "@") != 1 {
				t.Fatalf("got recipient %q", address)
			}
		}
		text, err := l.text(time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		checkHeaders(t, string(text))
	})
}

func checkHeaders(t *rapid.T, text string) {
	head, _, found := strings.Cut(text, "\r\n\r\n")
	if !found || strings.Contains(strings.ReplaceAll(head, "\r\n", ""), "\n") || strings.Contains(strings.ReplaceAll(head, "\r\n", ""), "\r") {
		t.Fatalf("got a bare line end in %q", head)
	}
	var names []string
	for line := range strings.SplitSeq(head, "\r\n") {
		if len(line) > 998 {
			t.Fatalf("got a line of %d bytes", len(line))
		}
		if !strings.HasPrefix(line, " ") {
			name, _, _ := strings.Cut(line, ":")
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "Cc" })
	if got := strings.Join(names, " "); got != "From To Subject Date Message-ID Auto-Submitted MIME-Version Content-Type Content-Transfer-Encoding" {
		t.Fatalf("got headers %s", got)
	}
	if _, err := mail.ReadMessage(strings.NewReader(text)); err != nil {
		t.Fatalf("the message cannot be read: %v", err)
	}
}

// One recipient too many is a call of its own to the gate: it always asks.
func TestP17_MailAsksAPerson(t *testing.T) {
	w := newWorld(t, nil)
	call := w.call("mail.send", oneMail)
	if d := policy.Decide(w.policy, call); d.Outcome != policy.Ask || d.Impact != policy.Override {
		t.Errorf("got %s with impact %d, want ask with override", d.Outcome, d.Impact)
	}
	call.Scopes = []string{"default"}
	compiled, err := policy.Compile(policy.Default())
	if err != nil {
		t.Fatal(err)
	}
	if d := policy.Decide(compiled, call); d.Outcome != policy.Deny {
		t.Errorf("got %s by the policy of a first start, want deny: the owner has to add mail.send", d.Outcome)
	}
}
