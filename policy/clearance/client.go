package clearance

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Limits on one question.
const (
	AnswerBytesMax = 64 << 10
	headerBytesMax = 16 << 10
	nonceBytes     = 16
)

// Failure words. They are for people and the log; each of them denies.
const (
	Unreachable = "unreachable"  // no connection, or it broke
	Deadline    = "deadline"     // no answer in time
	Stopped     = "stopped"      // nobody needs the answer any more
	BadTLS      = "tls"          // the authority could not prove who it is
	Redirect    = "redirect"     // an answer that sends elsewhere is none
	BadStatus   = "status"       // another status than 200
	BadType     = "content type" // not application/json
	TooLarge    = "too large"    // more than AnswerBytesMax
	Malformed   = "malformed"    // not exactly the object that was asked for
	WrongNonce  = "nonce"        // an answer to another question
	BadAddress  = "address"      // neither https nor this machine
)

// Request is one question.
type Request struct {
	URL     string
	Tool    string
	Params  []byte // JSON object
	User    string
	Run     string
	Timeout time.Duration
}

// Answer is an authority's decision. With a Failure there is none, and Allow is
// false.
type Answer struct {
	Allow   bool
	Reason  string // the authority's words, cleaned and cut
	Failure string
	Nonce   string // of the question, in hex
}

// Client asks. It is safe for concurrent use.
type Client struct {
	secure *http.Client
	local  *http.Client // plain HTTP, to this machine only
}

// New builds a Client that trusts these roots; nil means those of the system.
func New(roots *x509.CertPool) *Client {
	anywhere := &net.Dialer{}
	here := &net.Dialer{Control: onlyLoopback}
	return &Client{secure: clientOf(anywhere, roots), local: clientOf(here, nil)}
}

// clientOf makes a client that follows nothing, keeps nothing, and passes no
// proxy: each question has a connection of its own.
func clientOf(d *net.Dialer, roots *x509.CertPool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: d.DialContext, DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: headerBytesMax,
			TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

var errElsewhere = errors.New("plain HTTP leads away from this machine")

// onlyLoopback looks at the address that is dialled: a name may mean anything.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return errElsewhere
	}
	return nil
}

// Ask puts one question and waits at most its Timeout.
func (c *Client) Ask(ctx context.Context, q Request) Answer {
	nonce, err := newNonce()
	if err != nil {
		return Answer{Failure: Unreachable}
	}
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	a := c.ask(ctx, q, nonce)
	a.Nonce = nonce
	return a
}

func (c *Client) ask(ctx context.Context, q Request, nonce string) Answer {
	client := c.clientFor(q.URL)
	if client == nil {
		return Answer{Failure: BadAddress}
	}
	req, err := question(ctx, q, nonce)
	if err != nil {
		return Answer{Failure: BadAddress}
	}
	res, err := client.Do(req)
	if err != nil {
		return Answer{Failure: why(ctx, err)}
	}
	defer func() { _ = res.Body.Close() }()
	if failure := unusable(res); failure != "" {
		return Answer{Failure: failure}
	}
	body, failure := readAnswer(ctx, res)
	if failure != "" {
		return Answer{Failure: failure}
	}
	return decode(body, nonce)
}

func (c *Client) clientFor(address string) *http.Client {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return nil
	case u.Scheme == "https":
		return c.secure
	case u.Scheme == "http":
		return c.local
	}
	return nil
}

func newNonce() (string, error) {
	var b [nonceBytes]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make nonce: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

func question(ctx context.Context, q Request, nonce string) (*http.Request, error) {
	body, err := json.Marshal(struct {
		Tool   string          `json:"tool"`
		Params json.RawMessage `json:"params"`
		User   string          `json:"user"`
		Run    string          `json:"run"`
		Nonce  string          `json:"nonce"`
	}{q.Tool, q.Params, q.User, q.Run, nonce})
	if err != nil {
		return nil, fmt.Errorf("write question: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.URL, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("write question: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "sluice-clearance")
	return req, nil
}

// why names what kept an answer away.
func why(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Deadline
	case ctx.Err() != nil:
		return Stopped
	case errors.Is(err, errElsewhere):
		return BadAddress
	case isTLS(err):
		return BadTLS
	}
	return Unreachable
}

func isTLS(err error) bool {
	var (
		unproven *tls.CertificateVerificationError
		record   tls.RecordHeaderError
		alert    tls.AlertError
	)
	return errors.As(err, &unproven) || errors.As(err, &record) || errors.As(err, &alert) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// unusable looks at everything that comes before the body.
func unusable(res *http.Response) string {
	kind, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return Redirect
	case res.StatusCode != http.StatusOK:
		return BadStatus
	case err != nil || kind != "application/json" || charset != "" && charset != "utf-8" || res.Header.Get("Content-Encoding") != "":
		return BadType
	case res.ContentLength > AnswerBytesMax:
		return TooLarge
	}
	return ""
}
