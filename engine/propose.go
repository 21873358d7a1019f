package engine

import (
	"bytes"
	"encoding/json"
	"time"
	"unicode/utf8"

	"sluice/engine/plan"
)

// controlTimeout bounds a planner's or reflection's attempt.
const controlTimeout = 2 * time.Minute

// startControl dispatches a control node: a decide step in the same log (R6).
// It holds no Grant, because it calls no tool (P18).
func (s *State) startControl(id string) {
	n, _ := s.at(id)
	attempt := n.attempt + 1
	cmd := commandID(id, attempt)
	s.emit(AttemptStarted, id, attempt, &startedData{ID: cmd, Kind: "control", TimeoutMS: controlTimeout.Milliseconds()})
	s.command(s.controlCommand(id, attempt))
}

func (s *State) controlCommand(id string, attempt int) Command {
	if id == PlannerNode {
		return Propose{ID: commandID(id, attempt), Node: id, Attempt: attempt, By: BuiltinBy, Goal: s.run.goal, Scopes: s.run.scopes}
	}
	return Conclude{ID: commandID(id, attempt), Node: id, Attempt: attempt, By: BuiltinBy, Goal: s.run.goal,
		Steps: s.digests(), Unplanned: s.run.unplanned}
}

// takePlanned records the proposal as an observation and, where it compiles,
// adds it as version 1. What does not compile never runs.
func (s *State) takePlanned(in *Planned) {
	d := &endedData{
		Input: endedInput{Kind: "planned", By: clean(in.By), Answer: clean(in.Answer), Unplanned: cleanUnplanned(in.Unplanned)},
		To:    NodeExecuted, Method: "form",
		Observation: s.deriveID("o_", PlannerNode, in.Attempt, 0),
	}
	var compiled *plan.Compiled
	if in.Plan != nil {
		d.Input.Plan = marshal(in.Plan)
		var findings []plan.Finding
		compiled, findings = plan.Compile(in.Plan, plan.Env{Catalog: s.env.Catalog, Policy: s.env.Pinned,
			Scopes: s.run.scopes, Intent: s.run.intent, Requester: s.run.requester,
			Limits: s.limits(), Author: in.Author})
		if compiled == nil {
			d.Problem = "the plan does not compile"
			d.Input.Findings = marshal(findings)
			d.To = NodeFailed
		}
	}
	s.emit(AttemptEnded, PlannerNode, in.Attempt, d)
	if compiled != nil {
		s.addVersion(compiled, d.Input.By, d.Input.Unplanned)
	}
}

func (s *State) addVersion(c *plan.Compiled, by string, unplanned []Unplanned) {
	added := make([]string, len(c.Steps))
	for i := range c.Steps {
		added[i] = c.Steps[i].ID
	}
	findings := []byte("[]")
	if len(c.Findings) > 0 {
		findings = marshal(c.Findings)
	}
	s.emit(VersionAdded, "", 0, &versionData{
		Version: s.run.version + 1, Parent: s.run.version, Cause: "initial", By: by, Hash: c.Hash,
		Added: added, Findings: findings, Unplanned: unplanned, Plan: c.Canonical, compiled: c,
	})
}

// marshal encodes what is not on the hot path, without HTML escaping.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null")
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

func validJSON(raw []byte) bool { return utf8.Valid(raw) && json.Valid(raw) }

// compactJSON drops insignificant white space; nil stays nil.
func compactJSON(raw []byte) []byte {
	if len(raw) == 0 || !bytes.ContainsAny(raw, " \t\r\n") {
		return raw
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return nil
	}
	return b.Bytes()
}

func commandID(node string, attempt int) string {
	return node + "#" + itoa(attempt)
}
