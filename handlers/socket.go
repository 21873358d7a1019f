package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"
)

// Limits of a socket (ui.md §3.3).
const (
	socketQueue     = 256 // messages that may wait for a slow browser
	socketReadMax   = 16 << 10
	socketSubsMax   = 8
	socketPing      = 20 * time.Second
	socketWriteWait = 10 * time.Second
	tellEvery       = 400 * time.Millisecond // between two "something changed" messages
)

// sameOrigin wants a present Origin that names this very host (P40, CSWSH).
func sameOrigin(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && u.Host != "" && u.Host == r.Host
}

// socket is one browser tab.
type socket struct {
	server *Server
	viewer *Viewer
	conn   *websocket.Conn
	out    chan []byte
	ctx    context.Context
	cancel context.CancelFunc
	subs   map[string]context.CancelFunc
	wait   sync.WaitGroup
}

func (s *Server) socket(c echo.Context) error {
	if !sameOrigin(c.Request()) {
		return problem("denied", "the request does not come from this site's own pages", "open the page from this address")
	}
	up := websocket.Upgrader{CheckOrigin: sameOrigin, WriteBufferSize: 16 << 10}
	conn, err := up.Upgrade(c.Response(), c.Request(), nil)
	if err != nil {
		return nil // the upgrader has answered
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.Request().Context()))
	k := &socket{server: s, viewer: viewer(c), conn: conn, out: make(chan []byte, socketQueue),
		ctx: ctx, cancel: cancel, subs: map[string]context.CancelFunc{}}
	leave := s.sockets.enter(sessionKey(c.Request(), s), k.cancel)
	defer leave()
	if k.viewer.Token == "" && s.sessionUser(c.Request()) == "" {
		k.cancel() // signed out while the socket was opening
	}
	k.wait.Add(2)
	go k.write()
	go k.tell()
	k.read()
	k.cancel()
	k.wait.Wait()
	return nil
}

// hello is the only thing a browser says.
type hello struct {
	T    string `json:"t"`
	Subs []struct {
		Run      string `json:"run"`
		After    int64  `json:"after"`
		AfterSeq int64  `json:"after_seq"` // the same, as ui.md §3.3 spells it
	} `json:"subs"`
}

func (k *socket) read() {
	k.conn.SetReadLimit(socketReadMax)
	k.alive()
	k.conn.SetPongHandler(func(string) error { k.alive(); return nil })
	for {
		_, raw, err := k.conn.ReadMessage()
		if err != nil {
			return
		}
		k.alive()
		var h hello
		if json.Unmarshal(raw, &h) != nil || h.T != "hello" {
			k.close(websocket.CloseUnsupportedData, "only hello is understood")
			return
		}
		for _, sub := range h.Subs[:min(len(h.Subs), socketSubsMax)] {
			k.subscribe(sub.Run, sub.After+sub.AfterSeq)
		}
	}
}

func (k *socket) alive() { _ = k.conn.SetReadDeadline(time.Now().Add(3 * socketPing)) }

// subscribe replaces a subscription of the same run. Who may not see the run
// learns no more than that it is not there.
func (k *socket) subscribe(run string, after int64) {
	if stop := k.subs[run]; stop != nil {
		stop()
		delete(k.subs, run)
	}
	sum, err := k.server.cfg.Log.Run(k.ctx, run)
	if err != nil || !k.viewer.sees(sum.Requester) || len(k.subs) >= socketSubsMax || after < 0 {
		k.send(map[string]any{"t": "err", "run": run, "code": "not_found"})
		return
	}
	ctx, cancel := context.WithCancel(k.ctx)
	k.subs[run] = cancel
	k.wait.Add(1)
	go func() {
		defer k.wait.Done()
		f := &follower{socket: k, run: run, after: after, created: sum.CreatedAt}
		f.follow(ctx)
	}()
}

// send queues a message; a browser that does not keep up is let go and
// resumes by sequence number.
func (k *socket) send(v any) bool {
	raw, err := json.Marshal(v)
	if err != nil {
		return false
	}
	select {
	case k.out <- raw:
		return true
	case <-k.ctx.Done():
		return false
	default:
		k.close(websocket.CloseTryAgainLater, "too slow, resume")
		return false
	}
}

func (k *socket) close(code int, text string) {
	msg := websocket.FormatCloseMessage(code, text)
	_ = k.conn.WriteControl(websocket.CloseMessage, msg, time.Now().Add(time.Second))
	k.cancel()
}

func (k *socket) write() {
	defer k.wait.Done()
	defer k.conn.Close()
	ping := time.NewTicker(socketPing)
	defer ping.Stop()
	for {
		select {
		case raw := <-k.out:
			_ = k.conn.SetWriteDeadline(time.Now().Add(socketWriteWait))
			if k.conn.WriteMessage(websocket.TextMessage, raw) != nil {
				k.cancel()
				return
			}
		case <-ping.C:
			if k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(socketWriteWait)) != nil {
				k.cancel()
				return
			}
		case <-k.ctx.Done():
			return
		}
	}
}

// tell says that lists may have changed, at most a few times a second; the
// page fetches what it shows.
func (k *socket) tell() {
	defer k.wait.Done()
	woken, stop := k.server.cfg.Engine.Watch("")
	defer stop()
	for {
		select {
		case <-woken:
		case <-k.ctx.Done():
			return
		}
		k.send(map[string]any{"t": "inv", "k": []string{"approvals", "runs"}})
		select {
		case <-time.After(tellEvery):
		case <-k.ctx.Done():
			return
		}
	}
}
