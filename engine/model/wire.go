package model

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// What ends a response from our side.
var (
	errSilent   = errors.New("silent")
	errTooLarge = errors.New("larger than its limit")
	errMoved    = errors.New("redirected")
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
	resp.Body = &body{ReadCloser: resp.Body, watch: seen, left: w.bytes}
	if resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode < http.StatusBadRequest {
		resp.Body.Close()
		return nil, errMoved
	}
	return resp, nil
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
	}
	return n, err
}
