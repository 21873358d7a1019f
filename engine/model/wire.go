package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// What ends a response from our side.
var (
	errSilent   = errors.New("silent")
	errTooLarge = errors.New("larger than its limit")
	errTooLong  = errors.New("longer than was asked for")
	errMoved    = errors.New("redirected")
	errPage     = errors.New("a web page")
)

// wire sends a request and watches the response: its size, and how long it is
// silent. The watch is found in the context of the request.
type wire struct {
	client *http.Client
	bytes  int64
}

// watch ends a call that stays silent.
type watch struct {
	end     context.CancelCauseFunc
	timer   *time.Timer
	silence time.Duration

	retryAfter time.Duration // what the server asks to wait; 0: nothing
	tail       []byte        // the last bytes read
	isAnswered bool
}

type watchKey struct{}

// watched gives a context that ends when no byte has come for a while: for the
// first one the whole timeout is left, because a large prompt takes its time.
func watched(ctx context.Context, e *Endpoint) (context.Context, *watch) {
	ctx, end := context.WithCancelCause(ctx)
	w := &watch{end: end, silence: e.Silence}
	before := e.Silence
	if w.silence == 0 {
		w.silence, before = silenceMax, e.Timeout
	}
	w.timer = time.AfterFunc(before, func() { end(errSilent) })
	return context.WithValue(ctx, watchKey{}, w), w
}

// tailBytes hold the last line of a stream.
const tailBytes = 32

func (w *watch) noteTail(p []byte) {
	w.tail = append(w.tail, p[max(len(p)-tailBytes, 0):]...)
	w.tail = w.tail[max(len(w.tail)-tailBytes, 0):]
}

// isDone says that the stream said that it is whole.
func (w *watch) isDone() bool { return bytes.HasSuffix(bytes.TrimSpace(w.tail), []byte("[DONE]")) }

func (w *watch) stop() {
	w.timer.Stop()
	w.end(nil)
}

// Do implements the library's HTTP port.
func (w *wire) Do(r *http.Request) (*http.Response, error) {
	resp, err := w.client.Do(r) //nolint:bodyclose // who reads it closes it
	if err != nil {
		return nil, err
	}
	seen, _ := r.Context().Value(watchKey{}).(*watch)
	if seen != nil {
		seen.isAnswered = true
	}
	resp.Body = &body{ReadCloser: resp.Body, watch: seen, left: w.bytes}
	if resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode < http.StatusBadRequest {
		resp.Body.Close()
		return nil, errMoved
	}
	if seen == nil {
		return resp, nil
	}
	if resp.StatusCode != http.StatusOK {
		seen.retryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
		return resp, nil
	}
	return asStream(resp)
}

// retryAfter reads how long a server asks to wait, in seconds or as a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), waitSecondsMax)) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), waitSecondsMax*time.Second)
}

// waitSecondsMax is a number that stays exact: the core waits far less.
const waitSecondsMax = 7 * 24 * 3600

// asStream makes one event of an answer that comes in one piece, as servers send
// it that do not stream, and refuses a web page.
func asStream(resp *http.Response) (*http.Response, error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/html" {
		resp.Body.Close()
		return nil, errPage
	}
	if kind != "application/json" {
		return resp, nil
	}
	rest := bufio.NewReader(resp.Body)
	if first, err := rest.Peek(1); err != nil || first[0] != '{' {
		resp.Body = &rebody{rest, resp.Body} // events under another name
		return resp, nil
	}
	raw, err := io.ReadAll(rest)
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	resp.Body = &rebody{bytes.NewReader(oneEvent(raw)), resp.Body}
	return resp, nil
}

// rebody reads elsewhere and closes what it came from.
type rebody struct {
	io.Reader
	io.Closer
}

// oneEvent writes a whole answer as a stream of one event. What is none stays as
// it is: an error within it is found by who reads it.
func oneEvent(raw []byte) []byte {
	var whole struct {
		Choices []struct {
			Message      json.RawMessage `json:"message"`
			FinishReason string          `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage,omitempty"`
	}
	if json.Unmarshal(raw, &whole) != nil || len(whole.Choices) == 0 {
		return raw
	}
	if whole.Choices[0].FinishReason == "" {
		whole.Choices[0].FinishReason = "stop" // an object that closes is whole
	}
	event, err := json.Marshal(map[string]any{"usage": whole.Usage, "choices": []any{
		map[string]any{"index": 0, "delta": whole.Choices[0].Message, "finish_reason": whole.Choices[0].FinishReason}}})
	if err != nil {
		return raw
	}
	return slices.Concat([]byte("data: "), event, []byte("\n\ndata: [DONE]\n\n"))
}

// body is a response that is read within limits.
type body struct {
	io.ReadCloser
	watch *watch
	left  int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if n > 0 && b.watch != nil {
		b.watch.timer.Reset(b.watch.silence)
		b.watch.noteTail(p[:n])
	}
	return n, err
}
