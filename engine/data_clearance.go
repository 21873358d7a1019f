package engine

import (
	"encoding/json"

	"sluice/policy"
)

func (d *clearAskData) append(e *enc) {
	e.open("", '{')
	e.str("hash", d.Hash)
	appendWants(e, "wants", d.Wants)
	d.Call.append(e, "call")
	appendDecision(e, "decision", d.Decision)
	e.close('}')
}

func appendWants(e *enc, k string, wants []policy.ClearFor) {
	e.open(k, '[')
	for i := range wants {
		e.open("", '{')
		e.str("rule", wants[i].Rule)
		e.str("url", wants[i].URL)
		e.int("timeout_s", int64(wants[i].TimeoutS))
		e.close('}')
	}
	e.close(']')
}

func (d *clearedData) append(e *enc) {
	e.open("", '{')
	appendClearance(e, &d.Clearance)
	e.open("input", '{')
	e.str("kind", d.Input.Kind)
	e.strOpt("nonce", d.Input.Nonce)
	e.close('}')
	e.close('}')
}

// appendClearance writes the fields into an object that is open.
func appendClearance(e *enc, c *policy.Clearance) {
	e.str("rule", c.Rule)
	e.str("url", c.URL)
	e.str("hash", c.Hash)
	e.bool("allow", c.Allow)
	e.strOpt("reason", c.Reason)
	e.strOpt("failure", c.Failure)
	e.int("latency_ms", c.LatencyMS)
}

func appendCleared(e *enc, list []policy.Clearance) {
	if len(list) == 0 {
		return
	}
	e.open("cleared", '[')
	for i := range list {
		e.open("", '{')
		appendClearance(e, &list[i])
		e.close('}')
	}
	e.close(']')
}

// readClearance reads what a fold needs of the two kinds.
func readClearance(k Kind, data []byte) (factData, error) {
	if k == ClearanceAnswered {
		d := &clearedData{}
		return d, json.Unmarshal(data, d)
	}
	var read struct {
		Hash  string            `json:"hash"`
		Wants []policy.ClearFor `json:"wants"`
	}
	err := json.Unmarshal(data, &read)
	return &clearAskData{Hash: read.Hash, Wants: read.Wants}, err
}

func (c *clearing) pack(p *packer) {
	p.int(int64(c.attempt))
	p.str(c.hash)
	p.int(int64(len(c.open)))
	for _, w := range c.open {
		p.strs([]string{w.Rule, w.URL})
		p.int(int64(w.TimeoutS))
	}
	p.int(int64(len(c.held)))
	for _, h := range c.held {
		p.strs([]string{h.Rule, h.URL, h.Hash, h.Reason, h.Failure})
		p.bool(h.Allow)
		p.int(h.LatencyMS)
		p.int(h.at)
	}
}

func (c *clearing) unpack(p *packer) {
	p.readN(&c.attempt)
	p.readStr(&c.hash)
	for range p.readLen() {
		var w policy.ClearFor
		p.readAll(&w.Rule, &w.URL)
		p.readN(&w.TimeoutS)
		c.open = append(c.open, w)
	}
	for range p.readLen() {
		var h clearance
		p.readAll(&h.Rule, &h.URL, &h.Hash, &h.Reason, &h.Failure)
		h.Allow = p.readBool()
		p.readInt(&h.LatencyMS)
		p.readInt(&h.at)
		c.held = append(c.held, h)
	}
}

// readAll reads a list of exactly so many texts.
func (p *packer) readAll(into ...*string) {
	var words []string
	p.readStrs(&words)
	if len(words) != len(into) {
		p.bad = true
		return
	}
	for i := range into {
		*into[i] = words[i]
	}
}
