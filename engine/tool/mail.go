package tool

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
)

// Secret is a value that never shows where a configuration is printed.
type Secret string

// String hides the value.
func (Secret) String() string { return "[redacted]" }

// GoString hides the value.
func (Secret) GoString() string { return "[redacted]" }

// MarshalText hides the value.
func (Secret) MarshalText() ([]byte, error) { return []byte("[redacted]"), nil }

// How the connection to the mail server is protected.
const (
	MailStartTLS = "starttls" // in the clear at first; nothing is sent before the upgrade
	MailTLS      = "tls"      // from the first byte
	MailPlain    = "none"     // only to this machine
)

// Mail says where mail.send hands its messages over. The zero value means that
// no mail is sent from here.
type Mail struct {
	Server   string // host:port
	From     string // "Sluice <sluice@example.org>"
	User     string // "" means without signing in
	Password Secret
	TLS      string         // "" means starttls
	Roots    *x509.CertPool // nil means those of the system
}

// Errors of a configuration.
var (
	errMailServer = errors.New("the mail server is written host:port")
	errMailPlain  = errors.New("TLS mode none is for a server on this machine only; use starttls or tls")
	errMailUser   = errors.New("a user of the mail server needs a password, and a password a user")
)

// settled checks what is configured and fills in what is left open.
func (m Mail) settled() (Mail, error) {
	if m.Server == "" {
		if m.From != "" || m.User != "" || m.Password != "" || m.TLS != "" {
			return m, errMailServer
		}
		return m, nil
	}
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil || host == "" || port == "" {
		return m, errMailServer
	}
	if m.TLS == "" {
		m.TLS = MailStartTLS
	}
	switch m.TLS {
	case MailStartTLS, MailTLS:
	case MailPlain:
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return m, errMailPlain
		}
	default:
		return m, fmt.Errorf("there is no TLS mode %q for mail; there are starttls, tls and none", m.TLS)
	}
	if (m.User == "") != (m.Password == "") {
		return m, errMailUser
	}
	if _, err := mailAddress(m.From); err != nil {
		return m, fmt.Errorf("the sender of mail: %w", err)
	}
	return m, nil
}

func (m Mail) host() string {
	host, _, _ := net.SplitHostPort(m.Server) // settled has split it
	return host
}

const (
	addressBytesMax = 320 // of an address with its name
	localBytesMax   = 64
	domainBytesMax  = 253
)

// mailAddress reads one address with or without a name. What a mail server could
// take for more than one address, or for a second line, is refused.
func mailAddress(text string) (*mail.Address, error) {
	if len(text) > addressBytesMax {
		return nil, fmt.Errorf("an address has at most %d bytes", addressBytesMax)
	}
	address, err := mail.ParseAddress(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no mail address", clip(text))
	}
	local, domain, _ := strings.Cut(address.Address, "@")
	switch {
	case !isDotAtom(local, localChars) || len(local) > localBytesMax, !isDotAtom(domain, domainChars) || len(domain) > domainBytesMax:
		return nil, fmt.Errorf("%q is no plain mail address of ASCII letters and digits", clip(text))
	case hasControl(address.Name):
		return nil, fmt.Errorf("the name in %q has control characters", clip(text))
	}
	return address, nil
}

const (
	letters     = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
	domainChars = letters
	localChars  = letters + "!#$%&'*+/=?^_`{|}~"
)

// isDotAtom says whether a text is parts of these characters joined by dots.
func isDotAtom(text, chars string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if part == "" || strings.Trim(part, chars) != "" {
			return false
		}
	}
	return true
}

// hasControl finds what could end a header line or hide in it.
func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufffd'
	})
}
