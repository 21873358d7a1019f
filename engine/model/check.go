package model

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// Report is what works of an endpoint, found by trying.
type Report struct {
	Reached   bool   `json:"reached"`
	Listed    string `json:"listed"`     // "yes", "no" or "unknown": whether the server lists the model
	Answers   bool   `json:"answers"`    // a call gave an answer
	Streams   bool   `json:"streams"`    // in more than one piece
	Structure string `json:"structure"`  // how structured output is asked for: "json_schema", "json_object", "prompt"; "" when none worked
	Usage     bool   `json:"usage"`      // the server says what was used
	LatencyMS int64  `json:"latency_ms"` // of the call
	FirstMS   int64  `json:"first_ms"`   // until its first piece
	Problem   string `json:"problem"`    // why it does not work, "" when it does
}

// OK says that the endpoint can be used.
func (r *Report) OK() bool { return r.Answers && r.Structure != "" }

// checkTimeout bounds each of the two requests of a check.
const checkTimeout = 60 * time.Second

const (
	checkSystem = `You are asked to prove that you answer in JSON. Answer with {"ok": true} and nothing around it.`
	checkSchema = `{"type":"object","additionalProperties":false,"required":["ok"],"properties":{"ok":{"type":"boolean"}}}`
)

// Check tries an endpoint: whether it is reached, lists the model, answers in
// pieces and in the form asked for, and says what it used.
func Check(ctx context.Context, e Endpoint) Report {
	e.Timeout = min(e.Timeout, checkTimeout)
	if e.Timeout <= 0 {
		e.Timeout = checkTimeout
	}
	c := NewClient(e)
	defer c.Close()
	report := Report{Listed: c.listed(ctx)}
	started := time.Now()
	pieces := 0
	reply, err := c.Call(ctx, Request{Messages: []Message{{System, checkSystem}, {User, "Answer now."}},
		SchemaName: "check", Schema: json.RawMessage(checkSchema), MaxOutput: checkTokens,
		OnText: func(string) {
			if pieces++; pieces == 1 {
				report.FirstMS = time.Since(started).Milliseconds()
			}
		}})
	report.LatencyMS = time.Since(started).Milliseconds()
	report.Streams = pieces > 1
	var f *Failure
	if errors.As(err, &f) {
		report.Problem = f.Detail + c.nearby(ctx)
		report.Reached = report.Listed != "unknown" || f.Answered
		return report
	}
	report.Reached, report.Answers, report.Usage = true, true, !reply.Usage.Estimated
	var answer struct{ OK *bool }
	switch err := strict(bare(reply.Text), &answer, "ok"); {
	case reply.Cut:
		report.Problem = "the answer to a small question was cut off; the model may think too long for its limit"
	case err != nil:
		report.Problem = "the answer is not the JSON that was asked for"
	case answer.OK == nil:
		report.Problem = "the answer is JSON, but not of the form that was asked for"
	default:
		report.Structure = formatNames[c.known().format]
	}
	return report
}

// checkTokens leaves models that think before they answer room to do so.
const checkTokens = 2_000

// listed asks for the list of models; not all servers have one.
func (c *Client) listed(ctx context.Context) string {
	ctx, free := context.WithTimeoutCause(ctx, c.endpoint.Timeout, errOverall)
	defer free()
	list, err := c.api.ListModels(ctx)
	if err != nil {
		return "unknown"
	}
	for _, m := range list.Models {
		if m.ID == c.endpoint.Model {
			return "yes"
		}
	}
	return "no"
}

// nearby names the usual path of a server where the base URL leaves it out and
// the server is found there.
func (c *Client) nearby(ctx context.Context) string {
	e := c.endpoint
	e.BaseURL = strings.TrimRight(e.BaseURL, "/")
	if strings.HasSuffix(e.BaseURL, usualPath) || ctx.Err() != nil {
		return ""
	}
	e.BaseURL += usualPath
	other := NewClient(e)
	defer other.Close()
	if other.listed(ctx) == "unknown" {
		return ""
	}
	return "; a model server answers at " + e.BaseURL + ": set that as the base URL"
}

const usualPath = "/v1"
