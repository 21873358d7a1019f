package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sluice/engine/trace"
)

const messageWithin = 20 * time.Second

// tab is a browser tab: a socket, and a run as its messages tell it.
type tab struct {
	*caller
	conn *websocket.Conn
	run  string
	seq  int64
	view trace.View
}

// news is one message of the server.
type news struct {
	T     string        `json:"t"`
	Run   string        `json:"run"`
	From  int64         `json:"from"`
	Seq   int64         `json:"seq"`
	E     []trace.Event `json:"e"`
	View  *trace.View   `json:"view"`
	Code  string        `json:"code"`
	K     []string      `json:"k"`
	Plays bool          `json:"catching_up"`
}

// dial opens a socket as the caller would, with the given headers.
func (c *caller) dial(headers map[string]string) (*websocket.Conn, *http.Response, error) {
	c.Helper()
	r := c.request(http.MethodGet, "/ws", nil)
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	conn, resp, err := websocket.DefaultDialer.DialContext(c.Context(), "ws"+strings.TrimPrefix(c.base, "http")+"/ws", r.Header)
	if resp != nil && resp.Body != nil {
		defer resp.Body.Close()
	}
	return conn, resp, err
}

// open is a tab on this site's own page.
func (c *caller) open() *tab {
	c.Helper()
	conn, _, err := c.dial(map[string]string{"Origin": c.base})
	if err != nil {
		c.Fatalf("open socket as %s: %v", c.name, err)
	}
	c.Cleanup(func() { _ = conn.Close() })
	return &tab{caller: c, conn: conn}
}

func (b *tab) say(text string) {
	b.Helper()
	if err := b.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		b.Fatalf("send %.80s: %v", text, err)
	}
}

// follow subscribes to a run from where the tab stands.
func (b *tab) follow(run string) {
	b.Helper()
	b.run = run
	b.say(fmt.Sprintf(`{"t":"hello","subs":[{"run":%q,"after":%d}]}`, run, b.seq))
}

// at puts the tab where a page stands that was rendered at a sequence number.
func (b *tab) at(run string, seq int64) {
	b.Helper()
	b.seq, b.view = seq, trace.View{}
	if seq > 0 {
		b.view = b.graph(run, seq)
	}
}

// graph is the fold at a sequence number, as the API gives it.
func (c *caller) graph(run string, seq int64) trace.View {
	c.Helper()
	var g struct {
		Seq  int64
		View trace.View
	}
	c.want(http.StatusOK, c.get(fmt.Sprintf("/api/v1/runs/%s/graph?at=%d", run, seq)), &g)
	if g.Seq != seq {
		c.Fatalf("graph at %d: got seq %d", seq, g.Seq)
	}
	return g.View
}

func (b *tab) next() (*news, error) {
	_ = b.conn.SetReadDeadline(time.Now().Add(messageWithin))
	_, raw, err := b.conn.ReadMessage()
	if err != nil {
		return nil, err
	}
	var n news
	return &n, json.Unmarshal(raw, &n)
}

// until reads messages and applies them until the tab has reached a sequence
// number; it fails on a gap, a duplicate, or a state that is not the fold.
func (b *tab) until(seq int64) []*news {
	b.Helper()
	var batches []*news
	for b.seq < seq {
		n, err := b.next()
		if err != nil {
			b.Fatalf("at %d of %d: %v", b.seq, seq, err)
		}
		if n.T != "ev" && n.T != "snap" {
			continue
		}
		b.apply(n)
		batches = append(batches, n)
	}
	return batches
}

func (b *tab) apply(n *news) {
	b.Helper()
	if n.Run != b.run || n.Seq <= b.seq {
		b.Fatalf("got %s of %s to %d, want news of %s beyond %d", n.T, n.Run, n.Seq, b.run, b.seq)
	}
	if n.T == "snap" {
		b.view = *n.View
	} else {
		if n.From != b.seq {
			b.Fatalf("got a batch from %d, want from %d: a gap or a duplicate", n.From, b.seq)
		}
		for i := range n.E {
			apply(&b.view, &n.E[i])
		}
	}
	b.seq = n.Seq
	got, want := asJSON(b.T, b.view), asJSON(b.T, b.graph(b.run, n.Seq))
	if got != want {
		b.Errorf("state at %d differs from the fold\n got %s\nwant %s", n.Seq, got, want)
	}
}

// isTimeout tells a socket that stayed open from one that was closed.
func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// apply is what a page does with an event.
func apply(v *trace.View, e *trace.Event) {
	switch e.K {
	case "node_added":
		v.Nodes = append(v.Nodes, *e.Node)
	case "node_set":
		i := slices.IndexFunc(v.Nodes, func(n trace.Node) bool { return n.ID == e.Node.ID })
		v.Nodes[i] = *e.Node
	case "removed":
		v.Nodes = slices.DeleteFunc(v.Nodes, func(n trace.Node) bool { return n.ID == e.ID })
	case "node":
		i := slices.IndexFunc(v.Nodes, func(n trace.Node) bool { return n.ID == e.ID })
		if i < 0 {
			return
		}
		n := &v.Nodes[i]
		n.State, n.Attempt, n.Note, n.Started, n.Ended = e.State, e.Attempt, e.Note, e.Started, e.Ended
		n.Approval, n.Expires, n.Unknown = e.Approval, e.Expires, e.Unknown
		n.By, n.Fallback, n.Usage = e.By, e.Fallback, e.Usage
	case "run":
		v.Run = *e.Run
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
