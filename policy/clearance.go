package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
)

// StageClearance is the stage of what an external authority has to allow
// (design §6). An ask there waits for machines, a deny there came from one.
const StageClearance = "clearance"

// ClearanceRule wants the word of an external authority where its When matches:
// without a well-formed, timely allow the call is denied (R47).
type ClearanceRule struct {
	ID       string `json:"id"`
	When     When   `json:"when"`
	URL      string `json:"url"`
	TimeoutS int    `json:"timeout_s,omitempty"`
}

// ClearFor is one clearance that a rule wants before the call may run.
type ClearFor struct {
	Rule     string `json:"rule"`
	URL      string `json:"url"`
	TimeoutS int    `json:"timeout_s"`
}

// Clearance is an authority's answer that a call holds, bound to exactly one
// attempt by Hash. An answer that failed in any way is held as a denial.
type Clearance struct {
	Rule      string `json:"rule"`
	URL       string `json:"url"`
	Hash      string `json:"hash"` // ClearanceBinding of the attempt it was given for
	Allow     bool   `json:"allow"`
	Reason    string `json:"reason,omitempty"`  // the authority's words
	Failure   string `json:"failure,omitempty"` // why there is no answer, a word for the log
	LatencyMS int64  `json:"latency_ms"`
}

type compiledClearance struct {
	want ClearFor
	when compiledWhen
}

func compileClearance(rules []ClearanceRule) []compiledClearance {
	out := make([]compiledClearance, len(rules))
	for i, rule := range rules {
		out[i] = compiledClearance{want: ClearFor{Rule: rule.ID, URL: rule.URL, TimeoutS: rule.TimeoutS}, when: compileWhen(rule.When)}
	}
	return out
}

// checkClearance is the third stage. Every rule that matches must be held as
// allowed; a held denial denies, and what is not held is still to be asked.
func (p *Policy) checkClearance(c *Call, d *Decision) {
	for i := range p.clearance {
		if want := &p.clearance[i].want; p.clearance[i].when.matches(c, d.Impact) {
			p.checkHeld(want, c, d)
		}
	}
	if d.Outcome == Deny {
		d.Clear = nil
	}
}

func (p *Policy) checkHeld(want *ClearFor, c *Call, d *Decision) {
	held := heldFor(want, c)
	switch {
	case held == nil && d.Outcome != Deny:
		d.Clear = append(d.Clear, *want)
		d.Outcome, d.Stage = Ask, StageClearance
		d.note(want.Rule, "Rule "+want.Rule+" needs the clearance of "+AuthorityHost(want.URL)+".")
	case held == nil:
	case held.Allow:
		d.note(want.Rule, "Rule "+want.Rule+": "+AuthorityHost(want.URL)+" cleared the call in "+strconv.FormatInt(held.LatencyMS, 10)+" ms.")
	default:
		d.deny(StageClearance, want.Rule, whyNotCleared(want, held))
	}
}

func whyNotCleared(want *ClearFor, held *Clearance) string {
	host := AuthorityHost(want.URL)
	switch {
	case held.Failure != "":
		return "Rule " + want.Rule + ": " + host + " gave no usable answer (" + held.Failure + "), which counts as a denial."
	case held.Reason != "":
		return "Rule " + want.Rule + ": " + host + " denied the call. It says: " + held.Reason
	}
	return "Rule " + want.Rule + ": " + host + " denied the call."
}

// heldFor finds the answer to one rule for exactly this attempt. A denial beats
// an allow should both be held.
func heldFor(want *ClearFor, c *Call) *Clearance {
	var found *Clearance
	hash := ""
	for i := range c.Cleared {
		held := &c.Cleared[i]
		if held.Rule != want.Rule || held.URL != want.URL {
			continue
		}
		if hash == "" {
			hash = ClearanceBinding(*c)
		}
		if held.Hash == hash && (found == nil || !held.Allow) {
			found = held
		}
	}
	return found
}

const clearanceDomain = "sluice clearance 1"

// ClearanceBinding is what a clearance is given for: SHA-256 over run, node,
// attempt, tool, canonical parameters, labels and key, so that one authority's
// yes serves one attempt and a retry asks again.
func ClearanceBinding(c Call) string {
	b := make([]byte, 0, hashBytesTypical)
	b = appendText(b, clearanceDomain)
	b = appendText(b, c.Run)
	b = appendText(b, c.Node)
	b = appendNumber(b, int64(c.Attempt))
	b = appendText(b, c.Tool.Name)
	b = appendParams(b, c.Params)
	b = appendText(b, c.Key)
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// AuthorityHost is the part of an authority's URL that people know it by.
func AuthorityHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "the authority"
	}
	return u.Host
}

// unionClear merges what two policies want: the same rule at the same place is
// asked once, in the shorter of the two times.
func unionClear(a, b []ClearFor) []ClearFor {
	out := append([]ClearFor(nil), a...)
	for _, want := range b {
		isKnown := false
		for i := range out {
			if out[i].Rule == want.Rule && out[i].URL == want.URL {
				out[i].TimeoutS, isKnown = min(out[i].TimeoutS, want.TimeoutS), true
			}
		}
		if !isKnown {
			out = append(out, want)
		}
	}
	return out
}
