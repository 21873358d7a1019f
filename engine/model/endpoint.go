package model

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sashabaranov/go-openai"
)

// Bounds of a call.
const (
	TimeoutDefault = 120 * time.Second
	TimeoutMax     = time.Hour
	silenceMax     = 30 * time.Second // between two pieces of an answer
	answerBytesMax = 4 << 20          // of a response, its framing included
	KeyBytesMin    = 8                // a shorter key could not be told from ordinary text
	KeyBytesMax    = 4 << 10
	nameBytesMax   = 200
	urlBytesMax    = 2 << 10
)

// Endpoint is where a model is reached.
type Endpoint struct {
	BaseURL string // "https://api.openai.com/v1", "http://127.0.0.1:11434/v1"
	Model   string
	Key     string        // "" where the server wants none
	Timeout time.Duration // of a whole call; 0: TimeoutDefault
	Silence time.Duration // without a byte; 0: silenceMax, for the first byte the whole Timeout
	Bytes   int64         // of a response; 0: answerBytesMax
}

// Check says what is wrong with an endpoint, in words for the person who set it.
func (e Endpoint) Check() error {
	switch {
	case e.Model == "" || len(e.Model) > nameBytesMax || strings.ContainsFunc(e.Model, isControl):
		return errors.New("the model needs a name of at most 200 bytes, as the server knows it")
	case e.Key != "" && len(e.Key) < KeyBytesMin || len(e.Key) > KeyBytesMax || strings.ContainsFunc(e.Key, isControl):
		return errors.New("a key has 8 to 4,096 bytes on one line; leave it empty for a server that wants none")
	case e.Timeout < 0 || e.Timeout > TimeoutMax:
		return errors.New("the timeout is between 1 and 3600 seconds")
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil || len(e.BaseURL) > urlBytesMax || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("the base URL starts with http:// or https:// and names a host, for instance http://127.0.0.1:11434/v1")
	}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions") {
		return errors.New("the base URL ends before /chat/completions, for instance https://api.openai.com/v1")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("the base URL holds no user, query or fragment; a key has a field of its own")
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// Client calls one endpoint. It is safe for concurrent use.
type Client struct {
	endpoint Endpoint
	api      *openai.Client
	pool     *http.Transport

	mu      sync.Mutex
	dialect dialect // what the server is known to take
}

// NewClient makes a client; nothing is sent yet.
func NewClient(e Endpoint) *Client {
	if e.Timeout == 0 {
		e.Timeout = TimeoutDefault
	}
	if e.Bytes == 0 {
		e.Bytes = answerBytesMax
	}
	pool := transport()
	cfg := openai.DefaultConfig(e.Key)
	cfg.BaseURL = strings.TrimRight(e.BaseURL, "/")
	cfg.HTTPClient = &wire{client: &http.Client{Transport: pool, CheckRedirect: stay}, bytes: e.Bytes}
	cfg.EmptyMessagesLimit = emptyLinesMax
	return &Client{endpoint: e, api: openai.NewClientWithConfig(cfg), pool: pool, dialect: firstDialect(e.Model)}
}

// emptyLinesMax bounds lines without data before one with: servers that think
// long send comments so that connections stay open. Size bounds the rest.
const emptyLinesMax = 1 << 20

// stay follows no redirect: a key goes to the host it was given for.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = 64 << 10
	t.MaxIdleConnsPerHost = 16
	return t
}

// Close frees idle connections.
func (c *Client) Close() { c.pool.CloseIdleConnections() }

// dialect is which of several forms of request a server takes.
type dialect struct {
	format    int  // of structured output
	noUsage   bool // does not know stream_options
	newTokens bool // wants max_completion_tokens
}

// Forms of structured output, most exact first. The schema stands in the prompt
// where the server does not take it.
const (
	formatSchema = iota
	formatObject
	formatPlain
)

// formatNames say the form in reports.
var formatNames = [...]string{"json_schema", "json_object", "prompt"}

// firstDialect knows what the client library insists on for OpenAI's own names.
func firstDialect(model string) dialect {
	var d dialect
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		d.newTokens = d.newTokens || strings.HasPrefix(model, prefix)
	}
	return d
}

// known gives the form of request that worked last.
func (c *Client) known() dialect {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dialect
}

func (c *Client) learn(d dialect) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialect = d
}

// next gives another form to try after a server refused d as a bad request,
// false when none is left. hint is the server's text, read and forgotten.
func (d dialect) next(hint string) (dialect, bool) {
	hint = strings.ToLower(hint)
	switch {
	case !d.newTokens && strings.Contains(hint, "max_completion_tokens"):
		d.newTokens = true
	case d.newTokens && strings.Contains(hint, "max_completion_tokens"):
		d.newTokens = false
	case !d.noUsage && strings.Contains(hint, "stream_options"):
		d.noUsage = true
	case d.format < formatPlain:
		d.format++
	case !d.noUsage:
		d.noUsage = true
	default:
		return d, false
	}
	return d, true
}
