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
	text := a.faulty(a.rule.answer(a.question.role(), a.question.prompt()))
	finish := "stop"
	if most := 4 * (a.question.MaxTokens + a.question.NewTokens); most > 0 && len(text) > most {
		text, finish = strings.ToValidUTF8(text[:most], ""), "length"
	}
	if a.rule.Fault == FaultLength {
		text = strings.ToValidUTF8(text[:len(text)/2], "")
	}
	if !a.question.Stream || a.rule.Fault == FaultWhole {
		a.whole(text, a.ending(finish))
		return
	}
	a.stream(text, a.ending(finish))
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
	shown := pieces(text, a.rule.Piece)
	if a.rule.Fault == FaultNoChoices {
		shown = nil
	}
	for i, piece := range shown {
		if !a.server.sleep(a.r.Context(), delay) {
			return
		}
		a.event(map[string]any{"choices": []any{choice(piece, nil)}})
		if i == 1 && a.faultMid() {
			return
		}
	}
	switch a.rule.Fault {
	case FaultNoChoices:
		a.event(map[string]any{"choices": []any{}})
	case FaultRefusal:
		a.event(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"refusal": "I can not help with that."}, "finish_reason": finish}}})
	default:
		a.event(map[string]any{"choices": []any{choice("", finish)}})
	}
	if said := a.said(text); said != nil && a.question.StreamOptions != nil && a.question.StreamOptions.IncludeUsage {
		a.event(map[string]any{"choices": []any{}, "usage": said})
	}
	fmt.Fprint(a.w, "data: [DONE]\n\n")
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

func (a *answering) whole(text, finish string) {
	a.w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(a.w).Encode(map[string]any{"id": "chatcmpl-fake", "object": "chat.completion", "model": a.question.Model,
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": finish}},
		"usage":   a.said(text)})
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
