package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of one message.
const (
	recipientsMax   = 50
	subjectBytesMax = 500
	messageBytesMax = 1 << 20 // with its headers, encoded
)

// letter is one message, checked.
type letter struct {
	from    *mail.Address
	to, cc  []*mail.Address
	subject string
	body    string
	id      string // without the angle brackets
}

// newLetter checks what a call asks for. Every error means that nothing was sent.
func newLetter(sender string, params mailParams, key string) (*letter, error) {
	from, err := mailAddress(sender)
	if err != nil {
		return nil, Fail(Invalid, err.Error())
	}
	l := &letter{from: from, subject: params.Subject, body: params.Body, id: messageID(key, from.Address)}
	if l.to, err = addresses(params.To); err == nil {
		l.cc, err = addresses(params.CC)
	}
	switch {
	case err != nil:
		return nil, Fail(Invalid, err.Error())
	case len(l.to) == 0:
		return nil, Fail(Invalid, "there is no recipient")
	case len(l.to)+len(l.cc) > recipientsMax:
		return nil, failf(Invalid, "there are %d recipients, at most %d get one message", len(l.to)+len(l.cc), recipientsMax)
	case strings.TrimSpace(l.subject) == "" || len(l.subject) > subjectBytesMax || hasControl(l.subject) || !utf8.ValidString(l.subject):
		return nil, failf(Invalid, "the subject is one line of 1 to %d bytes", subjectBytesMax)
	case !utf8.ValidString(l.body):
		return nil, Fail(Invalid, "the body is no valid text")
	}
	return l, nil
}

func addresses(texts []string) ([]*mail.Address, error) {
	var out []*mail.Address
	for _, text := range texts {
		address, err := mailAddress(text)
		if err != nil {
			return nil, err
		}
		out = append(out, address)
	}
	return out, nil
}

// messageID is the same for every attempt under one key, so that who receives a
// message twice can tell.
func messageID(key, sender string) string {
	sum := sha256.Sum256([]byte(key))
	_, domain, _ := strings.Cut(sender, "@")
	return hex.EncodeToString(sum[:16]) + "@" + domain
}

// recipients are the addresses to name to the server, each once.
func (l *letter) recipients() []string {
	var out []string
	seen := map[string]bool{}
	for _, list := range [][]*mail.Address{l.to, l.cc} {
		for _, address := range list {
			if !seen[address.Address] {
				seen[address.Address] = true
				out = append(out, address.Address)
			}
		}
	}
	return out
}

// text composes the message. Header values are encoded here and nowhere else.
func (l *letter) text(at time.Time) ([]byte, error) {
	var out bytes.Buffer
	header := func(name, value string) { out.WriteString(name + ": " + value + "\r\n") }
	header("From", l.from.String())
	header("To", joined(l.to))
	if len(l.cc) > 0 {
		header("Cc", joined(l.cc))
	}
	header("Subject", folded(mime.QEncoding.Encode("utf-8", l.subject)))
	header("Date", at.UTC().Format(time.RFC1123Z))
	header("Message-ID", "<"+l.id+">")
	header("Auto-Submitted", "auto-generated")
	header("MIME-Version", "1.0")
	header("Content-Type", "text/plain; charset=utf-8")
	header("Content-Transfer-Encoding", "quoted-printable")
	out.WriteString("\r\n")
	body := quotedprintable.NewWriter(&out)
	if _, err := body.Write([]byte(l.body)); err != nil {
		return nil, fmt.Errorf("encode body: %w", err)
	}
	if err := body.Close(); err != nil {
		return nil, fmt.Errorf("encode body: %w", err)
	}
	if out.Len() > messageBytesMax {
		return nil, failf(Invalid, "the message is larger than %d bytes", messageBytesMax)
	}
	return out.Bytes(), nil
}

// joined writes addresses one below the other: a line of mail has a limit.
func joined(list []*mail.Address) string {
	texts := make([]string, len(list))
	for i, address := range list {
		texts[i] = address.String()
	}
	return strings.Join(texts, ",\r\n ")
}

// folded breaks a long header value between its words.
func folded(value string) string {
	const lineBytes = 70
	var out strings.Builder
	line := 0
	for i, word := range strings.Split(value, " ") {
		switch {
		case i > 0 && line+len(word) > lineBytes && word != "":
			out.WriteString("\r\n ")
			line = 0
		case i > 0:
			out.WriteByte(' ')
		}
		out.WriteString(word)
		line += len(word) + 1
	}
	return out.String()
}
