package fake

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Faults a server can show.
const (
	FaultDown     = "down"     // the connection is closed without an answer
	FaultStall    = "stall"    // silence before the first byte
	Fault401      = "401"      // the key is wrong
	Fault403      = "403"      // the key may not
	Fault404      = "404"      // there is no such model
	Fault429      = "429"      // too many requests, again after a second
	Fault429Date  = "429-date" // the same, with a date
	Fault429Long  = "429-long" // again after a day
	Fault500      = "500"      // the server fails by itself
	Fault502      = "502"      // what is behind it fails, with a page instead of JSON
	Fault503      = "503"      // it is overloaded
	FaultRedirect = "redirect" // it is elsewhere
	FaultPage     = "page"     // a web page where the answer should be
	FaultWhole    = "whole"    // the right answer, but not streamed; nothing is lost by it

	FaultStallMid  = "stall-mid"       // silence in the middle
	FaultTruncated = "truncated"       // the stream ends without saying so
	FaultCutRune   = "cut-rune"        // it ends inside a character
	FaultChunk     = "malformed-chunk" // one event in the middle is no JSON
	FaultError     = "error-mid"       // the server reports an error in the middle
	FaultSSE       = "malformed-sse"   // the stream is not of the protocol
	FaultDrip      = "drip"            // a byte now and then, for ever
	FaultHuge      = "huge"            // an answer without end
	FaultNoChoices = "no-choices"      // events that hold nothing
	FaultLength    = "length"          // the answer is cut at its limit of tokens
	FaultFilter    = "content-filter"  // the answer is withheld
	FaultRefusal   = "refusal"         // the model refuses

	FaultJSON   = "malformed-json" // the answer is no JSON
	FaultSchema = "wrong-schema"   // JSON of another form
	FaultProse  = "prose"          // the right answer between words
	FaultTwice  = "duplicate-keys" // JSON that says two things at once
	FaultEmpty  = "empty"          // no text at all
	FaultFence  = "fence"          // the right answer in a code fence; nothing is lost by it

	FaultNoUsage  = "usage-missing"  // the right answers, but what they used is not said,
	FaultNegUsage = "usage-negative" // is below zero
	FaultBigUsage = "usage-absurd"   // or is no number that there is
)

// Faults lists every fault.
func Faults() []string {
	return []string{FaultDown, FaultStall, Fault401, Fault403, Fault404, Fault429, Fault429Date, Fault429Long, Fault500, Fault502, Fault503,
		FaultRedirect, FaultPage, FaultWhole, FaultStallMid, FaultTruncated, FaultCutRune, FaultChunk, FaultError, FaultSSE, FaultDrip, FaultHuge,
		FaultNoChoices, FaultLength, FaultFilter, FaultRefusal, FaultJSON, FaultSchema, FaultProse, FaultTwice, FaultEmpty, FaultFence,
		FaultNoUsage, FaultNegUsage, FaultBigUsage}
}

// How faults that take time do so.
const (
	dripPause = 200 * time.Millisecond
	dayText   = "86400"
)

// refusals are the faults that are a status and a message. A server may repeat
// the key it was sent: these do.
var refusals = map[string]struct {
	status  int
	message string
}{
	Fault401:     {http.StatusUnauthorized, "Incorrect API key provided: "},
	Fault403:     {http.StatusForbidden, "Not allowed with this key: "},
	Fault404:     {http.StatusNotFound, "The model does not exist"},
	Fault429:     {http.StatusTooManyRequests, "Rate limit reached"},
	Fault429Date: {http.StatusTooManyRequests, "Rate limit reached"},
	Fault429Long: {http.StatusTooManyRequests, "Rate limit reached for "},
	Fault500:     {http.StatusInternalServerError, "The server had an error with "},
	Fault503:     {http.StatusServiceUnavailable, "Overloaded"},
}

// faultBefore shows the faults that come instead of an answer.
func (a *answering) faultBefore() bool {
	if r, refused := refusals[a.rule.Fault]; refused {
		a.retryAfter()
		refuse(a.w, r.status, r.message+strings.TrimPrefix(a.r.Header.Get("Authorization"), "Bearer "))
		return true
	}
	switch a.rule.Fault {
	case FaultDown:
		panic(http.ErrAbortHandler) // net/http's own way to close a connection without an answer
	case FaultStall:
		a.server.sleep(a.r.Context(), stallMax)
		panic(http.ErrAbortHandler)
	case Fault502:
		a.page(http.StatusBadGateway, "<h1>502 Bad Gateway</h1>")
	case FaultPage:
		a.page(http.StatusOK, "<!doctype html><title>Sign in</title><h1>Welcome</h1>")
	case FaultRedirect:
		a.w.Header().Set("Location", "/elsewhere")
		a.w.WriteHeader(http.StatusTemporaryRedirect)
	case FaultSSE:
		a.head()
		fmt.Fprint(a.w, "data: {\"choices\": [ this is no event\n\nevent: <html>\n\n")
	default:
		return false
	}
	return true
}

func (a *answering) retryAfter() {
	switch a.rule.Fault {
	case Fault429:
		a.w.Header().Set("Retry-After", "1")
	case Fault429Date:
		a.w.Header().Set("Retry-After", time.Now().Add(time.Second).UTC().Format(http.TimeFormat))
	case Fault429Long:
		a.w.Header().Set("Retry-After", dayText)
	}
}

func (a *answering) page(status int, html string) {
	a.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	a.w.WriteHeader(status)
	fmt.Fprint(a.w, html)
}

// faulty gives what becomes of the text under the faults that change it.
func (a *answering) faulty(text string) string {
	switch a.rule.Fault {
	case FaultJSON:
		return `{"answer": null, "plan": {"format": 1, "goal": "x", "steps": [ {"id": "a", "tool": `
	case FaultSchema:
		return `{"thoughts": "I would rather talk about something else.", "tool": "none"}`
	case FaultProse:
		return "Sure! Here is what you asked for:\n\n" + text + "\n\nIs there anything else?"
	case FaultTwice:
		return `{"answer": "one", "plan": null, "ruling": "conclude", "answer": "two"}`
	case FaultEmpty, FaultRefusal, FaultFilter:
		return ""
	case FaultFence:
		return "```json\n" + text + "\n```"
	}
	return text
}

// faultMid shows the faults that come in the middle.
func (a *answering) faultMid() bool {
	switch a.rule.Fault {
	case FaultTruncated:
	case FaultStallMid:
		a.server.sleep(a.r.Context(), stallMax)
	case FaultCutRune:
		fmt.Fprint(a.w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"gr\xc3")
		a.flush()
	case FaultChunk:
		fmt.Fprint(a.w, "data: {\"choices\":[{\"index\":0,\"delta\":{]}\n\n")
		return false
	case FaultError:
		fmt.Fprint(a.w, "data: {\"error\":{\"message\":\"worker died with "+a.r.Header.Get("Authorization")+"\",\"code\":502}}\n\n")
	case FaultDrip:
		a.drip()
	case FaultHuge:
		a.huge()
	default:
		return false
	}
	return true
}

// drip sends a little for as long as somebody listens.
func (a *answering) drip() {
	for a.server.sleep(a.r.Context(), dripPause) {
		a.event(map[string]any{"choices": []any{choice(" ", nil)}})
	}
}

// huge sends until nobody listens.
func (a *answering) huge() {
	filler := strings.Repeat("more and more and more ", 2_000)
	for a.r.Context().Err() == nil && a.server.ended.Err() == nil {
		a.event(map[string]any{"choices": []any{choice(filler, nil)}})
	}
}

// ending gives the reason an answer ends with.
func (a *answering) ending(finish string) string {
	switch a.rule.Fault {
	case FaultLength:
		return "length"
	case FaultFilter:
		return "content_filter"
	}
	return finish
}

// said is what the server says of usage, nil for nothing.
func (a *answering) said(text string) any {
	switch a.rule.Fault {
	case FaultNoUsage:
		return nil
	case FaultNegUsage:
		return map[string]int{"prompt_tokens": -7, "completion_tokens": -9_000_000}
	case FaultBigUsage:
		return map[string]float64{"prompt_tokens": 1e300, "completion_tokens": 9e18}
	}
	return a.usage(text)
}
