package handlers

import (
	"context"
	"net/http"
	"sync"
)

// sockets knows which sockets a session has open, so that signing out closes
// them (security.md: revoke on logout).
type sockets struct {
	mu   sync.Mutex
	next int
	open map[string]map[int]context.CancelFunc
}

// enter registers a socket; the function it gives removes it again.
func (s *sockets) enter(session string, cancel context.CancelFunc) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[string]map[int]context.CancelFunc{}
	}
	if s.open[session] == nil {
		s.open[session] = map[int]context.CancelFunc{}
	}
	s.next++
	id := s.next
	s.open[session][id] = cancel
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open[session], id)
		if len(s.open[session]) == 0 {
			delete(s.open, session)
		}
	}
}

// closeAll ends every socket of a session.
func (s *sockets) closeAll(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.open[session] {
		cancel()
	}
}

// closeEvery ends all sockets.
func (s *sockets) closeEvery() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, set := range s.open {
		for _, cancel := range set {
			cancel()
		}
	}
}

// sessionKey names a session for the registry: its cookie, or nothing for a
// token, which cannot sign out.
func sessionKey(r *http.Request, s *Server) string {
	cookie, err := r.Cookie(s.sessions.Cookie.Name)
	if err != nil {
		return ""
	}
	return cookie.Value
}
