package engine

import (
	"slices"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

// Limits on what an authority answers.
const (
	ClearanceReasonMax = 1 << 10
	clearanceWordMax   = 128 // failure words and nonces
)

// clearHolds is how long a yes may wait, for people or a resume, before it is
// asked for again: an effect happens on fresh words.
const clearHolds = 5 * time.Minute

// Clear asks an external authority about a call (R47). Answer: Cleared.
type Clear struct {
	ID      string
	Node    string
	Attempt int
	Rule    string
	URL     string
	Tool    string
	Params  []byte // canonical JSON object
	User    string // the requester of the run
	Run     string
	Timeout time.Duration
}

// CommandID implements Command.
func (c Clear) CommandID() string { return c.ID }

// Cleared is an authority's answer, or that there is none it could be: anything
// but a well-formed, timely allow denies.
type Cleared struct {
	Head
	Node      string
	Attempt   int
	Rule      string
	URL       string
	Allow     bool
	Reason    string // the authority's words
	Failure   string // why there is no answer; "" when there is one
	LatencyMS int64
	Nonce     string
}

// clearing is what a node asks authorities for its next attempt.
type clearing struct {
	attempt int
	hash    string // policy.ClearanceBinding
	open    []policy.ClearFor
	held    []clearance
}

type clearance struct {
	policy.Clearance
	at int64 // µs UTC
}

type clearAskData struct {
	Hash     string            `json:"hash"`
	Wants    []policy.ClearFor `json:"wants"`
	Call     *callData         `json:"call,omitempty"`
	Decision *policy.Decision  `json:"decision,omitempty"`
}

type clearedData struct {
	policy.Clearance
	Input clearedInput `json:"input"`
}

type clearedInput struct {
	Kind  string `json:"kind"` // "cleared"
	Nonce string `json:"nonce,omitempty"`
}

// askAuthorities stops a ready node until every authority has answered (T6).
// All are asked at once. The shell gives each its time and always returns an
// answer; should one be lost all the same, the run's wall clock ends it (R16).
func (s *State) askAuthorities(i int, c Perform, d *policy.Decision) {
	data := &clearAskData{Hash: policy.ClearanceBinding(c.Call), Wants: d.Clear, Call: s.callData(&c.Call), Decision: d}
	s.emit(ClearanceRequested, c.Node, c.Attempt, data)
	for _, want := range d.Clear {
		s.command(s.clearCommand(i, want, c.Params))
	}
}

func (s *State) clearCommand(i int, want policy.ClearFor, params []byte) Clear {
	step, attempt := &s.plan.Steps[i], s.nodes[i].clear.attempt
	return Clear{ID: ClearID(step.ID, attempt, want.Rule, want.URL), Node: step.ID, Attempt: attempt,
		Rule: want.Rule, URL: want.URL, Tool: step.Tool, Params: params, User: s.run.requester, Run: s.run.id,
		Timeout: time.Duration(want.TimeoutS) * time.Second}
}

// clearID is what the ids of all questions about an attempt begin with; a Stop
// that names it ends them all.
func clearID(node string, attempt int) string { return "clear " + commandID(node, attempt) + " " }

// ClearID names one question.
func ClearID(node string, attempt int, rule, url string) string {
	return clearID(node, attempt) + rule + " " + url
}

// clearOwed are the questions still open, to be asked again after a restart.
func (s *State) clearOwed(i int) []Command {
	params, problem := s.resolve(i)
	if problem != "" {
		return nil // it was resolved before: outputs never change
	}
	var cmds []Command
	for _, want := range s.nodes[i].clear.open {
		cmds = append(cmds, s.clearCommand(i, want, plan.Splice(params)))
	}
	return cmds
}

// stopClearing ends questions that nobody needs answered any more.
func (s *State) stopClearing(i int) {
	step, n := &s.plan.Steps[i], &s.nodes[i]
	id := clearID(step.ID, n.clear.attempt)
	s.command(Stop{ID: "stop clear " + commandID(step.ID, n.clear.attempt), Node: step.ID, Attempt: n.clear.attempt, Clearing: id})
}

// acceptCleared takes each answer once and only while it is asked for: a late
// one changes nothing.
func (s *State) acceptCleared(in *Cleared) error {
	n, i := s.at(in.Node)
	if n == nil || i < 0 || n.state != blocked || n.clear.attempt != in.Attempt || n.clear.find(in.Rule, in.URL) < 0 {
		return refuse("conflict", "nobody waits for this answer any more: "+in.Rule+" about "+in.Node, "nothing is left to do")
	}
	return nil
}

func (c *clearing) find(rule, url string) int {
	return slices.IndexFunc(c.open, func(w policy.ClearFor) bool { return w.Rule == rule && w.URL == url })
}

func (s *State) takeCleared(in *Cleared) {
	n, _ := s.at(in.Node)
	failure := short(in.Failure, clearanceWordMax)
	s.emit(ClearanceAnswered, in.Node, in.Attempt, &clearedData{
		Clearance: policy.Clearance{Rule: in.Rule, URL: in.URL, Hash: n.clear.hash, Allow: in.Allow && failure == "",
			Reason: short(in.Reason, ClearanceReasonMax), Failure: failure, LatencyMS: max(in.LatencyMS, 0)},
		Input: clearedInput{Kind: "cleared", Nonce: short(in.Nonce, clearanceWordMax)}})
}

// short bounds a text from outside that is never longer when all is well.
func short(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return clean(text)
}

func (s *State) foldClearAsked(f *Fact, d *clearAskData) {
	n, i := s.at(f.Node)
	if n == nil || i < 0 || n.state != ready || len(d.Wants) == 0 {
		s.broken("clearance for a node that is not ready")
		return
	}
	if n.clear.attempt != f.Attempt {
		n.clear = clearing{}
	}
	c := &n.clear
	c.attempt, c.hash, c.open = f.Attempt, d.Hash, slices.Clone(d.Wants)
	c.held = slices.DeleteFunc(c.held, func(h clearance) bool { return c.find(h.Rule, h.URL) >= 0 })
	s.move(i, blocked, "T6")
}

// foldCleared: with the last answer the node goes on to the gate (T7), which
// sees all of them.
func (s *State) foldCleared(f *Fact, d *clearedData) {
	n, i := s.at(f.Node)
	k := -1
	if n != nil && i >= 0 && n.state == blocked {
		k = n.clear.find(d.Rule, d.URL)
	}
	if k < 0 {
		s.broken("answer to no open clearance")
		return
	}
	n.clear.open = slices.Delete(n.clear.open, k, k+1)
	n.clear.held = append(n.clear.held, clearance{d.Clearance, f.At})
	if len(n.clear.open) == 0 {
		s.move(i, pending, "T7")
		s.wake(i)
	}
}

// cleared are the answers a call of an attempt holds. A yes that waited too long
// is left out of a new attempt, so that the gate wants it again.
func (n *node) cleared(attempt int, now int64) []policy.Clearance {
	if n.clear.attempt != attempt {
		return nil
	}
	var list []policy.Clearance
	for _, h := range n.clear.held {
		if !h.Allow || attempt == n.attempt || now <= h.at+clearHolds.Microseconds() {
			list = append(list, h.Clearance)
		}
	}
	return list
}
