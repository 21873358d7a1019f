package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"sluice/engine"
	"sluice/store"
)

// errUnreachable says that server.json is there but nobody answers.
var errUnreachable = errors.New("the server does not answer")

const answerBytesMax = 64 << 20

// client speaks to the server that holds the data directory.
type client struct {
	info serverInfo
	http http.Client
}

// findServer gives a client for the running server, nil when there is none. A
// file left by a killed server is no server: its address must answer.
func findServer(ctx context.Context, data string) (*client, error) {
	raw, err := os.ReadFile(filepath.Join(data, serverFile))
	if err != nil {
		return nil, nil
	}
	c := &client{http: http.Client{Timeout: 60 * time.Second}}
	if json.Unmarshal(raw, &c.info) != nil || c.info.URL == "" {
		return nil, nil
	}
	ask, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := c.call(ask, request{http.MethodGet, "/api/v1/runs?limit=1", nil}, nil); err != nil {
		return nil, fmt.Errorf("%w at %s", errUnreachable, c.info.URL)
	}
	return c, nil
}

// serverOrData gives a client for the running server or, when there is none, the
// opened data directory, for the caller to close (P34).
func serverOrData(ctx context.Context, s streams, cfg config) (*client, *app, error) {
	server, unreachable := findServer(ctx, cfg.Data)
	if server != nil {
		return server, nil, nil
	}
	a, err := open(ctx, cfg, s.err)
	if errors.Is(err, store.ErrLocked) && unreachable != nil {
		return nil, nil, unreachable
	}
	return nil, a, err
}

// request is one call of the API; a nil body sends none.
type request struct {
	method, path string
	body         any
}

// call makes one request. A problem comes back as *engine.Refusal.
func (c *client) call(ctx context.Context, r request, into any) error {
	method, path, body := r.method, r.path, r.body
	var payload io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.info.URL+path, payload)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.info.Token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, answerBytesMax))
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return asRefusal(resp.StatusCode, raw)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// refusedPlan is a refusal that carries the findings of a plan.
type refusedPlan struct {
	*engine.Refusal
	findings json.RawMessage
}

// Unwrap implements errors.Unwrap.
func (r *refusedPlan) Unwrap() error { return r.Refusal }

func asRefusal(status int, raw []byte) error {
	var p struct {
		Code     string          `json:"code"`
		Detail   string          `json:"detail"`
		Fix      string          `json:"fix"`
		Findings json.RawMessage `json:"findings"`
	}
	if json.Unmarshal(raw, &p) != nil || p.Code == "" {
		return fmt.Errorf("%w: status %d", errUnreachable, status)
	}
	r := &engine.Refusal{Code: p.Code, Message: p.Detail, Fix: p.Fix}
	if len(p.Findings) > 0 {
		return &refusedPlan{r, p.Findings}
	}
	return r
}
