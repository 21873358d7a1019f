package clearance

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// ReasonBytesMax bounds what is kept of an authority's reason.
const ReasonBytesMax = 1 << 10

// readAnswer reads a body up to the limit and not further.
func readAnswer(ctx context.Context, res *http.Response) (body []byte, failure string) {
	body, err := io.ReadAll(io.LimitReader(res.Body, AnswerBytesMax+1))
	switch {
	case len(body) > AnswerBytesMax:
		return nil, TooLarge
	case err != nil:
		return nil, why(ctx, err)
	}
	return body, ""
}

var errForm = errors.New("the answer has another form")

// fields are what an answer may say, each at most once.
type fields struct {
	allow, reason, nonce *string
}

// decode takes exactly {"allow": bool, "reason"?: string, "nonce": string}.
func decode(body []byte, nonce string) Answer {
	f, err := readFields(body)
	if err != nil || f.allow == nil || f.nonce == nil {
		return Answer{Failure: Malformed}
	}
	if subtle.ConstantTimeCompare([]byte(*f.nonce), []byte(nonce)) != 1 {
		return Answer{Failure: WrongNonce}
	}
	a := Answer{Allow: *f.allow == "true"}
	if f.reason != nil {
		a.Reason = plain(*f.reason)
	}
	return a
}

// readFields goes through the tokens itself: keys are compared byte by byte,
// and nothing is converted. Duplicate keys and invalid UTF-8 are errors of the
// decoder.
func readFields(body []byte) (fields, error) {
	var f fields
	d := jsontext.NewDecoder(bytes.NewReader(body))
	open, err := d.ReadToken()
	if err != nil || open.Kind() != '{' {
		return f, errForm
	}
	for d.PeekKind() == '"' {
		if err := f.read(d); err != nil {
			return f, err
		}
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != '}' {
		return f, errForm
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return f, errForm
	}
	return f, nil
}

// read takes one key and its value.
func (f *fields) read(d *jsontext.Decoder) error {
	key, err := d.ReadToken()
	if err != nil {
		return errForm
	}
	name := key.String()
	value, err := d.ReadToken()
	if err != nil {
		return errForm
	}
	text, kind := value.String(), value.Kind()
	switch {
	case name == "allow" && (kind == 't' || kind == 'f'):
		f.allow = &text
	case name == "reason" && kind == '"':
		f.reason = &text
	case name == "nonce" && kind == '"':
		f.nonce = &text
	default:
		return errForm
	}
	return nil
}

// plain makes a reason one line of visible text: signs that move the cursor,
// turn the direction or show nothing do not reach people.
func plain(reason string) string {
	if len(reason) > ReasonBytesMax {
		reason = strings.ToValidUTF8(reason[:ReasonBytesMax], "")
	}
	reason = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, reason)
	return strings.TrimSpace(reason)
}
