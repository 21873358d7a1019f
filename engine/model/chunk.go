package model

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/sashabaranov/go-openai"

	"sluice/engine"
)

// chunk is what is read of one event of a stream. Of what a server says beside
// the answer nothing can spoil it: usage is read apart, and forgivingly.
type chunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
}

// usageMax is more tokens than a call can use: beyond it nothing is believed.
const usageMax = 1 << 27

// saidUsage reads what a server says a call used: false where that is nothing,
// or nothing that can be.
func saidUsage(raw json.RawMessage) (Usage, bool) {
	var said struct {
		In  float64 `json:"prompt_tokens"`
		Out float64 `json:"completion_tokens"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &said) != nil {
		return Usage{}, false
	}
	for _, n := range []float64{said.In, said.Out} {
		if n < 0 || n > usageMax || n != math.Trunc(n) {
			return Usage{}, false
		}
	}
	return Usage{InputTokens: int64(said.In), OutputTokens: int64(said.Out)}, said.In+said.Out > 0
}

// reading is an answer that comes in.
type reading struct {
	request *Request
	text    strings.Builder
	usage   Usage
	finish  openai.FinishReason
	refused bool
}

// readStream takes a stream to its end. An end without a finish reason and
// without [DONE] is a truncated stream, whatever has come.
func readStream(stream *openai.ChatCompletionStream, r *Request, w *watch) (Reply, error) {
	in := reading{request: r}
	err := in.all(stream)
	if in.finish == "" && in.text.Len() > 0 && w.isDone() {
		in.finish = openai.FinishReasonStop // some servers say no more than [DONE]
	}
	reply := Reply{Text: in.text.String(), Usage: in.usage}
	if err == nil {
		err = in.ended(&reply)
	}
	return reply, err
}

func (in *reading) all(stream *openai.ChatCompletionStream) error {
	for {
		line, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var part chunk
		if err := json.Unmarshal(line, &part); err != nil {
			return err
		}
		if in.isTooLong() {
			return errTooLong
		}
		in.take(&part)
	}
}

func (in *reading) take(part *chunk) {
	if u, said := saidUsage(part.Usage); said {
		in.usage = u
	}
	for i := range part.Choices {
		choice := &part.Choices[i]
		if choice.Index != 0 {
			continue
		}
		if choice.FinishReason != "" {
			in.finish = openai.FinishReason(choice.FinishReason)
		}
		in.refused = in.refused || choice.Delta.Refusal != ""
		in.text.WriteString(choice.Delta.Content)
		if in.request.OnText != nil && choice.Delta.Content != "" {
			in.request.OnText(choice.Delta.Content)
		}
	}
}

// A server that ignores the limit of an answer is left when it is far beyond:
// what is read is paid for.
const (
	tokenBytesMax = 8
	answerSlack   = 4 << 10
)

func (in *reading) isTooLong() bool {
	most := in.request.MaxOutput
	return most > 0 && int64(in.text.Len()) > most*tokenBytesMax+answerSlack
}

// finishError is what some servers say where one behind them failed.
const finishError = "error"

func (in *reading) ended(reply *Reply) error {
	switch in.finish {
	case "":
		return failure(engine.ClassTransient, "the answer of the model server broke off before its end")
	case finishError:
		return failure(engine.ClassTransient, "the model server reported an error within its answer")
	case openai.FinishReasonLength:
		reply.Cut = true
	case openai.FinishReasonContentFilter:
		return failure(engine.ClassInvalid, "the model server withheld the answer (content filter)")
	}
	if in.refused && strings.TrimSpace(reply.Text) == "" {
		return failure(engine.ClassInvalid, "the model refused to answer")
	}
	return nil
}
