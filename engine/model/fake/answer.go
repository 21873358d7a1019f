package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// answering is one answer on its way.
type answering struct {
	server   *Server
	w        http.ResponseWriter
	r        *http.Request
	question *question
	rule     Rule
}

func (a *answering) send() {
	if a.faultBefore() {
		return
	}
	text := a.rule.answer(a.question.role(), a.question.prompt())
	switch a.rule.Fault {
	case FaultJSON:
		text = `{"answer": null, "plan": {"format": 1, "goal": "x", "steps": [ {"id": "a", "tool": `
	case FaultSchema:
		text = `{"thoughts": "I would rather talk about something else.", "tool": "none"}`
	}
	if !a.question.Stream {
		a.whole(text)
		return
	}
	finish := "stop"
	if most := 4 * (a.question.MaxTokens + a.question.NewTokens); most > 0 && len(text) > most {
		text, finish = strings.ToValidUTF8(text[:most], ""), "length"
	}
	a.stream(text, finish)
}

// faultBefore shows the faults that come instead of an answer.
func (a *answering) faultBefore() bool {
	switch a.rule.Fault {
	case FaultDown:
		panic(http.ErrAbortHandler) // net/http's own way to close a connection without an answer
	case Fault429:
		a.w.Header().Set("Retry-After", "1")
		refuse(a.w, http.StatusTooManyRequests, "Rate limit reached")
	case Fault500:
		refuse(a.w, http.StatusInternalServerError, "The server had an error")
	case FaultStall:
		a.server.sleep(a.r.Context(), stallMax)
		panic(http.ErrAbortHandler)
	case FaultSSE:
		a.head()
		fmt.Fprint(a.w, "data: {\"choices\": [ this is no event\n\nevent: <html>\n\n")
	default:
		return false
	}
	return true
}

func (a *answering) head() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.WriteHeader(http.StatusOK)
	a.flush()
}

func (a *answering) flush() { _ = http.NewResponseController(a.w).Flush() }

// stream sends the text in pieces as a server does.
func (a *answering) stream(text, finish string) {
	a.head()
	delay := time.Duration(a.rule.DelayMS) * time.Millisecond
	for i, piece := range pieces(text, a.rule.Piece) {
		if !a.server.sleep(a.r.Context(), delay) {
			return
		}
		a.event(map[string]any{"choices": []any{choice(piece, nil)}})
		if i == 1 && a.faultMid() {
			return
		}
	}
	if a.rule.Fault == FaultHuge {
		a.huge()
		return
	}
	a.event(map[string]any{"choices": []any{choice("", finish)}})
	if a.question.StreamOptions != nil && a.question.StreamOptions.IncludeUsage {
		a.event(map[string]any{"choices": []any{}, "usage": a.usage(text)})
	}
	fmt.Fprint(a.w, "data: [DONE]\n\n")
}

// faultMid shows the faults that come in the middle.
func (a *answering) faultMid() bool {
	switch a.rule.Fault {
	case FaultTruncated:
		return true
	case FaultStallMid:
		a.server.sleep(a.r.Context(), stallMax)
		return true
	}
	return false
}

// huge sends until nobody listens.
func (a *answering) huge() {
	filler := strings.Repeat("more and more and more ", 2_000)
	for a.r.Context().Err() == nil && a.server.ended.Err() == nil {
		a.event(map[string]any{"choices": []any{choice(filler, nil)}})
	}
}

func choice(piece string, finish any) map[string]any {
	delta := map[string]any{}
	if piece != "" {
		delta["content"] = piece
	}
	return map[string]any{"index": 0, "delta": delta, "finish_reason": finish}
}

func (a *answering) event(fields map[string]any) {
	fields["id"], fields["object"], fields["model"] = "chatcmpl-fake", "chat.completion.chunk", a.question.Model
	raw, err := json.Marshal(fields)
	if err != nil {
		return
	}
	fmt.Fprintf(a.w, "data: %s\n\n", raw)
	a.flush()
}

func (a *answering) usage(text string) map[string]int {
	in := 0
	for _, m := range a.question.Messages {
		in += (len(m.Content) + 3) / 4
	}
	out := (len(text) + 3) / 4
	return map[string]int{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

func (a *answering) whole(text string) {
	a.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(a.w).Encode(map[string]any{"id": "chatcmpl-fake", "object": "chat.completion", "model": a.question.Model,
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop"}},
		"usage":   a.usage(text)})
}

// pieces cuts a text, never inside a character.
func pieces(text string, size int) []string {
	if size == 0 {
		size = min(pieceDefault, 1+len(text)/3)
	}
	var out []string
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
		if b.Len() >= size {
			out = append(out, b.String())
			b.Reset()
		}
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
