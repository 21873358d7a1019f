package tool

import (
	"bufio"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// post is a mail server for tests. What it answers to a command can be set; what
// it was told is kept.
type post struct {
	t        *testing.T
	listener net.Listener
	tls      *tls.Config
	replies  map[string]string // by verb, or by the whole line; "" hangs up
	slow     string            // the verb it never answers

	mu    sync.Mutex
	lines []string
	mails []string
	wait  sync.WaitGroup
}

const testUser, testPassword = "robot", "correct-horse-battery"

func newPost(t *testing.T, replies map[string]string) *post {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &post{t: t, listener: listener, replies: replies}
	p.wait.Add(1)
	go p.serve()
	t.Cleanup(func() { listener.Close(); p.wait.Wait() })
	return p
}

// mail is the configuration that leads to the server.
func (p *post) mail() Mail {
	return Mail{Server: p.listener.Addr().String(), From: "Sluice <sluice@example.org>", TLS: MailPlain}
}

func (p *post) serve() {
	defer p.wait.Done()
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wait.Go(func() { p.talk(conn) })
	}
}

func (p *post) talk(conn net.Conn) {
	defer func() { conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return
	}
	in := bufio.NewReader(conn)
	say := func(text string) { conn.Write([]byte(text + "\r\n")) }
	say(p.answer("greeting", "220 post"))
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		p.note(line)
		verb, _, _ := strings.Cut(line, " ")
		reply := p.answer(line, p.answer(verb, usual[verb]))
		if p.slow == verb {
			in.ReadString('\n') // until the other side gives up
			return
		}
		if reply == "" {
			return
		}
		say(reply)
		switch {
		case verb == "STARTTLS" && strings.HasPrefix(reply, "2"):
			conn = tls.Server(conn, p.tls)
			in = bufio.NewReader(conn)
		case verb == "DATA" && strings.HasPrefix(reply, "354"):
			if !p.take(in) || p.answer("content", "250 taken") == "" {
				return
			}
			say(p.answer("content", "250 taken"))
		case verb == "QUIT":
			return
		}
	}
}

var usual = map[string]string{"EHLO": "250-post\r\n250-STARTTLS\r\n250 AUTH PLAIN", "HELO": "250 post", "STARTTLS": "220 go on", "AUTH": "235 yes", "MAIL": "250 yes", "RCPT": "250 yes",
	"DATA": "354 go on", "QUIT": "221 bye", "RSET": "250 yes", "*": "501 what"}

func (p *post) answer(about, otherwise string) string {
	if reply, is := p.replies[about]; is {
		return reply
	}
	return otherwise
}

// take reads the content up to the dot.
func (p *post) take(in *bufio.Reader) bool {
	var content strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return false
		}
		if line == ".\r\n" {
			break
		}
		content.WriteString(strings.TrimPrefix(line, "."))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mails = append(p.mails, content.String())
	return true
}

func (p *post) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, line)
}

// told gives what the server was told and the messages it took.
func (p *post) told() (lines, mails []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.lines...), append([]string{}, p.mails...)
}

// secured lets the server speak TLS, and gives a configuration that knows it.
func (p *post) secured(mode string) Mail {
	p.t.Helper()
	// The certificate that this package brings is for 127.0.0.1.
	https := httptest.NewUnstartedServer(http.NotFoundHandler())
	https.StartTLS()
	p.t.Cleanup(https.Close)
	p.tls = &tls.Config{Certificates: https.TLS.Certificates}
	m := p.mail()
	m.TLS, m.User, m.Password = mode, testUser, testPassword
	m.Roots = https.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return m
}

func tlsListen(p *post) (net.Listener, error) { return tls.Listen("tcp", "127.0.0.1:0", p.tls) }
