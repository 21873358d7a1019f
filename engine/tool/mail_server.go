package tool

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/smtp"
	"net/textproto"
	"sync/atomic"
)

// handOver gives a message to the mail server. All recipients are named before
// any content goes out, and one refused stops it: people approved the message to
// all of them. Whatever goes wrong before the content is a failure before any
// effect; after it only the server's own word says whether the message was
// taken (P5).
func (h *host) handOver(ctx context.Context, from string, to []string, text []byte) error {
	s := &session{mail: h.mail}
	conn, err := s.dial(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return ended(ctx, true)
	case err != nil:
		return errUnavailable()
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // ends a wait for the server
	defer stop()
	err = s.converse(conn, from, to, text)
	var failure *Failure
	switch {
	case err == nil:
		return nil
	case !s.given.Load() && ctx.Err() != nil:
		return ended(ctx, true)
	case errors.As(err, &failure):
		return err
	case s.given.Load():
		return &Failure{Class: Transient, Detail: "the message was handed over, but the server did not confirm it"}
	}
	return errUnavailable()
}

// session is one conversation with the mail server.
type session struct {
	mail  Mail
	given atomic.Bool // content may have reached the server
}

// repliesBytesMax bounds all that a server may say in one conversation.
const repliesBytesMax = 1 << 20

// brief is a connection that gives up on a server that never stops talking.
type brief struct {
	net.Conn
	left int
}

func (b *brief) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTalk
	}
	return n, err
}

var errTalk = errors.New("the server says more than a mail server has to say")

var errNotLocal = errors.New("the server is on another machine")

// dial connects, and for the TLS mode none makes sure that a name such as
// localhost did not lead elsewhere.
func (s *session) dial(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.mail.Server)
	if err != nil {
		return nil, err
	}
	address, isTCP := conn.RemoteAddr().(*net.TCPAddr)
	if s.mail.TLS == MailPlain && (!isTCP || !address.IP.IsLoopback()) {
		return nil, errors.Join(errNotLocal, conn.Close())
	}
	conn = &brief{Conn: conn, left: repliesBytesMax}
	if s.mail.TLS != MailTLS {
		return conn, nil
	}
	secure := tls.Client(conn, s.tls())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

func (s *session) tls() *tls.Config {
	return &tls.Config{ServerName: s.mail.host(), RootCAs: s.mail.Roots, MinVersion: tls.VersionTLS12}
}

func (s *session) converse(conn net.Conn, from string, to []string, text []byte) error {
	client, err := smtp.NewClient(conn, s.mail.host())
	if err != nil {
		return err
	}
	if err := s.open(client); err != nil {
		return err
	}
	if err := client.Mail(from); err != nil {
		return refused(err, "the sender")
	}
	for _, address := range to {
		if err := client.Rcpt(address); err != nil {
			return refused(err, clip(address))
		}
	}
	return s.give(client, text)
}

// open secures the connection and signs in. Without the upgrade that is asked
// for nothing more is said.
func (s *session) open(client *smtp.Client) error {
	if s.mail.TLS == MailStartTLS {
		if err := client.StartTLS(s.tls()); err != nil {
			return err
		}
	}
	if s.mail.User == "" {
		return nil
	}
	return client.Auth(smtp.PlainAuth("", s.mail.User, string(s.mail.Password), s.mail.host()))
}

// give sends the content and waits for the server's word about it.
func (s *session) give(client *smtp.Client, text []byte) error {
	content, err := client.Data()
	if err != nil {
		return refused(err, "the message")
	}
	s.given.Store(true)
	if _, err := content.Write(text); err != nil {
		return err
	}
	if err := content.Close(); err != nil {
		return refused(err, "the message")
	}
	_ = client.Quit() // the message is the server's now; how it says goodbye changes nothing
	return nil
}

// refused turns a server's no into a failure: it took nothing. The text of its
// reply is not passed on; anything but a reply stays what it is.
func refused(err error, what string) error {
	var reply *textproto.Error
	switch {
	case !errors.As(err, &reply):
		return err
	case reply.Code >= 400 && reply.Code < 500:
		return failf(Transient, "the mail server does not take %s at the moment (%d)", what, reply.Code)
	case reply.Code >= 500 && reply.Code < 600:
		return failf(Invalid, "the mail server refuses %s (%d)", what, reply.Code)
	}
	return err
}
