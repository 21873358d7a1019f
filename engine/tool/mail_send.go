package tool

import (
	"context"
	"encoding/json"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

const mailTimeout = 60 * time.Second

const mailSendInput = `{
	"type": "object", "additionalProperties": false, "required": ["to", "subject", "body"],
	"properties": {
		"to": {"type": "array", "minItems": 1, "maxItems": 50, "description": "Who gets it: addresses, with or without a name. With cc at most 50.", "items": {"type": "string", "minLength": 3, "maxLength": 320}},
		"cc": {"type": "array", "maxItems": 50, "description": "Who gets a copy.", "items": {"type": "string", "minLength": 3, "maxLength": 320}},
		"subject": {"type": "string", "minLength": 1, "maxLength": 500, "description": "One line."},
		"body": {"type": "string", "maxLength": 262144, "description": "Plain text. The message with its headers has at most 1 MiB."}
	}}`

const mailSendOutput = `{
	"type": "object", "additionalProperties": false, "required": ["message_id", "accepted"],
	"properties": {
		"message_id": {"type": "string", "description": "The Message-ID header, without angle brackets."},
		"accepted": {"type": "array", "description": "The addresses that the mail server accepted: all that were named, each once.", "items": {"type": "string"}}
	}}`

func mailSend(h *host) entry {
	return entry{
		decl: plan.Tool{
			Tool: policy.Tool{
				Name: "mail.send", Effect: policy.Once, Impact: policy.Override, External: true,
				Sinks: []string{"body", "cc", "subject", "to"},
			},
			Summary: "Send one email, plain text, to named addresses.",
			Input:   json.RawMessage(mailSendInput), Output: json.RawMessage(mailSendOutput),
			Timeout: mailTimeout,
			Bytes:   InlineBytesMax,
		},
		run: h.sendMail,
	}
}

type mailParams struct {
	To      []string `json:"to"`
	CC      []string `json:"cc"`
	Subject string   `json:"subject"`
	Body    string   `json:"body"`
}

type mailSent struct {
	MessageID string   `json:"message_id"`
	Accepted  []string `json:"accepted"`
}

func (h *host) sendMail(ctx context.Context, r Request) ([]byte, error) {
	var params mailParams
	if err := decode(r.Params, &params); err != nil {
		return nil, err
	}
	if h.mail.Server == "" {
		if _, err := newLetter("nobody@localhost", params, r.Key); err != nil {
			return nil, err // what is wrong with the call is no secret
		}
		return nil, errUnavailable()
	}
	l, err := newLetter(h.mail.From, params, r.Key)
	if err != nil {
		return nil, err
	}
	text, err := l.text(h.now())
	if err != nil {
		return nil, err
	}
	to := l.recipients()
	if err := h.handOver(ctx, l.from.Address, to, text); err != nil {
		return nil, err
	}
	return encode(mailSent{MessageID: l.id, Accepted: to})
}
