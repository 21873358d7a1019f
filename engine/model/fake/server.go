package fake

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Bounds of the server.
const (
	bodyBytesMax = 16 << 20
	seenMax      = 1_000 // requests kept for tests
	stallMax     = 10 * time.Minute
)

// Options of a server.
type Options struct {
	Script   Script
	Latency  time.Duration // before the first byte of each answer
	Jitter   float64       // share of Latency by which it differs, drawn from Seed
	Seed     uint64
	Fault    string // shown by every answer
	NoSchema bool   // refuses response_format, as older servers do
	NoUsage  bool   // says nothing of usage and refuses stream_options
	Key      string // wanted as bearer token; "" takes any

	Asked func(role string) // called with each request that is read; may be nil
}

// Server is the scripted model. It is an http.Handler; Close ends what stalls.
type Server struct {
	opt   Options
	mux   *http.ServeMux
	ended context.Context
	end   context.CancelFunc

	mu    sync.Mutex
	dice  *rand.Rand
	used  []int // by rule
	seen  []Seen
	count int
}

// Seen is one request as it came.
type Seen struct {
	Role string
	Body string // JSON, whole
	Auth string
}

// New makes a server.
func New(opt Options) *Server {
	s := &Server{opt: opt, mux: http.NewServeMux(), dice: rand.New(rand.NewPCG(opt.Seed, 1)), used: make([]int, len(opt.Script.Rules))}
	if s.opt.Script.Model == "" {
		s.opt.Script.Model = "demo"
	}
	s.ended, s.end = context.WithCancel(context.Background())
	s.mux.HandleFunc("GET /v1/models", s.models)
	s.mux.HandleFunc("POST /v1/chat/completions", s.chat)
	return s
}

// Close ends answers that stall.
func (s *Server) Close() { s.end() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Seen gives the requests so far, oldest first.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.seen...)
}

// Calls says how many answers were asked for.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	if !s.admits(r) {
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list",
		"data": []map[string]any{{"id": s.opt.Script.Model, "object": "model", "owned_by": "sluice fakemodel"}}})
}

func (s *Server) admits(r *http.Request) bool {
	return s.opt.Key == "" || r.Header.Get("Authorization") == "Bearer "+s.opt.Key
}

// question is what the server reads of a request.
type question struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Format *struct {
		Type   string `json:"type"`
		Schema *struct {
			Name string `json:"name"`
		} `json:"json_schema"`
	} `json:"response_format"`
	MaxTokens     int `json:"max_tokens"`
	NewTokens     int `json:"max_completion_tokens"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// role reads which of Sluice's two prompts a request is.
func (q *question) role() string {
	for _, m := range q.Messages {
		switch {
		case m.Role != "system":
		case strings.Contains(m.Content, `"ruling"`):
			return Reflection
		case strings.Contains(m.Content, `{"ok": true}`):
			return check
		}
	}
	return Planner
}

// prompt is the first user message: the question itself, also when it is asked again.
func (q *question) prompt() string {
	for _, m := range q.Messages {
		if m.Role == "user" {
			return m.Content
		}
	}
	return ""
}

// last is the last user message: what rules are matched with.
func (q *question) last() string {
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role == "user" {
			return q.Messages[i].Content
		}
	}
	return ""
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyBytesMax))
	var q question
	if err != nil || json.Unmarshal(raw, &q) != nil || len(q.Messages) == 0 {
		refuse(w, http.StatusBadRequest, "the body is not a chat completion request")
		return
	}
	s.note(Seen{Role: q.role(), Body: string(raw), Auth: r.Header.Get("Authorization")})
	if s.opt.Asked != nil {
		s.opt.Asked(q.role())
	}
	switch {
	case !s.admits(r):
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided")
		return
	case s.opt.NoSchema && q.Format != nil:
		refuse(w, http.StatusBadRequest, "response_format is not supported")
		return
	case s.opt.NoUsage && q.StreamOptions != nil:
		refuse(w, http.StatusBadRequest, "unknown field stream_options")
		return
	case q.Model != s.opt.Script.Model:
		refuse(w, http.StatusNotFound, "The model does not exist")
		return
	}
	rule := s.choose(&q)
	if !s.sleep(r.Context(), s.latency()) {
		return
	}
	a := answering{server: s, w: w, r: r, question: &q, rule: rule}
	a.send()
}

func (s *Server) note(seen Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if len(s.seen) < seenMax {
		s.seen = append(s.seen, seen)
	}
}

// choose takes the first rule that fits and is not used up.
func (s *Server) choose(q *question) Rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	chosen := Rule{}
	for i := range s.opt.Script.Rules {
		rule := &s.opt.Script.Rules[i]
		if rule.fits(q.role(), q.last()) && (rule.Times == 0 || s.used[i] < rule.Times) {
			s.used[i]++
			chosen = *rule
			break
		}
	}
	if chosen.Fault == "" {
		chosen.Fault = s.opt.Fault
	}
	return chosen
}

func (s *Server) latency() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opt.Latency + time.Duration(float64(s.opt.Latency)*s.opt.Jitter*(2*s.dice.Float64()-1))
}

// sleep waits; false: whoever waits is gone.
func (s *Server) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-s.ended.Done():
	}
	return false
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": status}})
}
