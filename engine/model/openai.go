package model

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/sashabaranov/go-openai"

	"sluice/engine"
)

// errOverall is the cause of a call's end when its whole time is over.
var errOverall = errors.New("took too long")

// Call implements Caller. It is bounded by ctx, by the endpoint's timeout, by
// silence and by size, and asks once: again only for another form of request.
func (c *Client) Call(ctx context.Context, r Request) (Reply, error) {
	ctx, free := context.WithTimeoutCause(ctx, c.endpoint.Timeout, errOverall)
	defer free()
	d := c.known()
	for {
		reply, err := c.once(ctx, r, d)
		var refused *badRequest
		if !errors.As(err, &refused) {
			if err == nil {
				c.learn(d)
			}
			return reply, err
		}
		next, more := d.next(refused.hint)
		if !more {
			return Reply{}, &Failure{Class: engine.ClassInvalid, Detail: "the model server refused the request as malformed (400)", Answered: true}
		}
		d = next
	}
}

// badRequest is a server's refusal of a form of request.
type badRequest struct{ hint string }

func (b *badRequest) Error() string { return "the request was refused" }

func (c *Client) once(ctx context.Context, r Request, d dialect) (Reply, error) {
	ctx, w := watched(ctx, &c.endpoint)
	defer w.stop()
	messages := withSchema(r, d)
	stream, err := c.api.CreateChatCompletionStream(ctx, c.request(&r, messages, d))
	if err != nil {
		return Reply{}, c.classify(ctx, w, err)
	}
	defer stream.Close()
	reply, err := readStream(stream, &r, w)
	if reply.Usage.InputTokens == 0 && reply.Usage.OutputTokens == 0 {
		reply.Usage = estimate(messages, len(reply.Text))
	}
	if err != nil {
		err = c.classify(ctx, w, err)
		var f *Failure
		if errors.As(err, &f) {
			f.Usage = reply.Usage
		}
		return Reply{}, err
	}
	return reply, nil
}

func (c *Client) request(r *Request, messages []Message, d dialect) openai.ChatCompletionRequest {
	q := openai.ChatCompletionRequest{Model: c.endpoint.Model, Stream: true}
	for _, m := range messages {
		q.Messages = append(q.Messages, openai.ChatCompletionMessage{Role: m.Role, Content: m.Text})
	}
	if !d.noUsage {
		q.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if d.newTokens {
		q.MaxCompletionTokens = int(r.MaxOutput)
	} else {
		q.MaxTokens = int(r.MaxOutput) //lint:ignore SA1019 local servers take this name only, see dialect
	}
	if r.Schema == nil {
		return q
	}
	switch d.format {
	case formatSchema:
		q.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: r.SchemaName, Schema: schemaText(r.Schema)}}
	case formatObject:
		q.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return q
}

// schemaText hands a schema to the library as it is.
type schemaText json.RawMessage

// MarshalJSON implements json.Marshaler.
func (s schemaText) MarshalJSON() ([]byte, error) { return s, nil }

// withSchema puts the schema into the prompt where the server does not take it.
func withSchema(r Request, d dialect) []Message {
	if r.Schema == nil || d.format == formatSchema || len(r.Messages) == 0 {
		return r.Messages
	}
	messages := append([]Message(nil), r.Messages...)
	messages[0].Text += "\nThe answer satisfies this JSON Schema:\n" + string(r.Schema) + "\n"
	return messages
}

// classify says what kind of failure an error is. Only our own words leave it.
func (c *Client) classify(ctx context.Context, w *watch, err error) error {
	err = c.sortOut(ctx, err)
	var f *Failure
	if errors.As(err, &f) {
		f.RetryAfter, f.Answered = w.retryAfter, w.isAnswered
	}
	return err
}

func (c *Client) sortOut(ctx context.Context, err error) error {
	var own *Failure
	var api *openai.APIError
	var raw *openai.RequestError
	cause := context.Cause(ctx)
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, errTooLarge):
		return failure(engine.ClassInvalid, "the answer of the model server is larger than its limit of "+sizeText(c.endpoint.Bytes))
	case errors.Is(err, errTooLong):
		return failure(engine.ClassInvalid, "the answer of the model server is far longer than the limit of tokens that it was given")
	case errors.Is(err, errPage):
		return failure(engine.ClassUnavailable, "the model server sent a web page instead of an answer; the base URL may be wrong (most end in /v1)")
	case errors.Is(err, errMoved):
		return failure(engine.ClassUnavailable, "the model server redirects elsewhere; set the base URL it redirects to")
	case errors.Is(cause, errSilent):
		return failure(engine.ClassTimeout, "the model server went silent")
	case errors.Is(cause, errOverall), errors.Is(cause, context.DeadlineExceeded):
		return failure(engine.ClassTimeout, "the model server took longer than its timeout")
	case errors.Is(cause, context.Canceled):
		return failure(engine.ClassStopped, "the call was stopped")
	case errors.As(err, &api) && api.HTTPStatusCode != 0:
		return byStatus(api.HTTPStatusCode, api.Message)
	case errors.As(err, &raw):
		return byStatus(raw.HTTPStatusCode, string(raw.Body))
	case errors.As(err, &api):
		return failure(engine.ClassTransient, "the model server reported an error within its answer")
	}
	return byTransport(err)
}

func byTransport(err error) error {
	var netErr net.Error
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	var op *net.OpError
	var dns *net.DNSError
	var untrusted *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	switch {
	case errors.As(err, &untrusted):
		return failure(engine.ClassUnavailable, "the certificate of the model server is not trusted on this machine")
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &noTLS):
		return failure(engine.ClassUnavailable, "the model server does not speak TLS: its base URL starts with http://")
	case errors.As(err, &syntax), errors.As(err, &mistyped), errors.Is(err, openai.ErrTooManyEmptyStreamMessages):
		return failure(engine.ClassTransient, "the model server sent a stream that is not of its protocol")
	case errors.As(err, &dns):
		return failure(engine.ClassUnavailable, "the host of the model server is not known")
	case errors.As(err, &netErr) && netErr.Timeout():
		return failure(engine.ClassTimeout, "the model server could not be reached in time")
	case errors.As(err, &op) && op.Op == "dial":
		return failure(engine.ClassUnavailable, "the model server cannot be reached")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.As(err, &op):
		return failure(engine.ClassTransient, "the connection to the model server broke")
	}
	return failure(engine.ClassTransient, "the call of the model server failed")
}

func byStatus(status int, hint string) error {
	switch {
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity, status == http.StatusNotImplemented:
		return &badRequest{hint}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return failure(engine.ClassUnavailable, "the model server does not accept the key")
	case status == http.StatusNotFound:
		return failure(engine.ClassUnavailable, "the model server does not know the model, or the base URL is wrong (most end in /v1)")
	case status == http.StatusPaymentRequired:
		return failure(engine.ClassUnavailable, "the account at the model server is out of credit")
	case status == http.StatusTooManyRequests:
		return failure(engine.ClassTransient, "the model server asks to slow down (429)")
	case status == http.StatusRequestEntityTooLarge:
		return failure(engine.ClassInvalid, "the prompt is larger than the model server takes")
	case status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return failure(engine.ClassTransient, "the model server failed by itself ("+http.StatusText(status)+")")
	}
	return failure(engine.ClassInvalid, "the model server refused the request ("+http.StatusText(status)+")")
}

func sizeText(bytes int64) string {
	if bytes%(1<<20) == 0 {
		return strconv.FormatInt(bytes>>20, 10) + " MiB"
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}
