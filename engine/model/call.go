package model

import (
	"context"
	"encoding/json"
	"time"

	"sluice/engine"
)

// Caller makes one call of a model: the whole seam between Sluice and providers.
type Caller interface {
	// Call streams one answer. The error is a *Failure.
	Call(ctx context.Context, r Request) (Reply, error)
}

// Role of a message.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// Message is one turn of a prompt.
type Message struct{ Role, Text string }

// Request is one call.
type Request struct {
	Messages   []Message
	SchemaName string
	Schema     json.RawMessage // of the answer; nil: free text
	MaxOutput  int64           // tokens; 0: the server's own limit
	OnText     func(string)    // called with each piece as it comes; may be nil
}

// Reply is a whole answer.
type Reply struct {
	Text  string
	Cut   bool // the answer ended at MaxOutput
	Usage Usage
}

// Usage is what a call used.
type Usage struct {
	InputTokens  int64
	OutputTokens int64
	Estimated    bool // the server did not say; worked out from the texts
}

// Failure is why a call gave no answer. Its text is for operators and holds
// nothing that a server, a prompt or a key said.
type Failure struct {
	Class  engine.Class // transient, timeout, unavailable, invalid or stopped
	Detail string
	Usage  Usage // what was used before it failed

	RetryAfter time.Duration // how long the server asks to wait; 0: nothing
	Answered   bool          // something answered, whatever it said
}

// Error implements error.
func (f *Failure) Error() string { return string(f.Class) + ": " + f.Detail }

func failure(class engine.Class, detail string) *Failure {
	return &Failure{Class: class, Detail: detail}
}

// EstimateTokens says about how many tokens a text has: four bytes a token is
// close for English and JSON alike, and a little high for neither.
func EstimateTokens(text string) int64 { return int64(len(text)+3) / 4 }

func estimate(messages []Message, output int) Usage {
	u := Usage{OutputTokens: int64(output+3) / 4, Estimated: true}
	for _, m := range messages {
		u.InputTokens += EstimateTokens(m.Text)
	}
	return u
}
