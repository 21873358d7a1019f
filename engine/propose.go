package engine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/engine/plan"
	"sluice/policy"
)

// takePlanned records the proposal as an observation and, where it compiles,
// adds it as a version. What does not compile never runs: a model is told why
// and asked again, at most twice (R12, V20).
func (s *State) takePlanned(in *Planned) {
	c := s.answering(KindPlanner, in.Node)
	d := s.controlEnded(c, in.Attempt, answer{kind: "planned", by: in.By, usage: in.Usage, class: in.Class, detail: in.Detail, wait: in.Wait, raw: in.Raw, problem: in.Problem})
	d.Input.Answer, d.Input.Template = head(clean(in.Answer), RawBytesMax), clean(in.Template)
	d.Input.Unplanned = cleanUnplanned(in.Unplanned[:min(len(in.Unplanned), UnplannedMax)])
	compiled := s.compileAnswer(c, in, d)
	if d.To != NodeExecuted {
		s.giveUp(c, d)
	}
	s.emit(AttemptEnded, c.id, in.Attempt, d)
	if compiled != nil {
		s.addVersion(compiled, d.Input.By, d.Input.Unplanned)
	}
}

// compileAnswer gives what a proposal compiles to; what is wrong with it goes
// into d. Policy findings are none of a model's business: they are warnings in
// its plans, and never part of what it is told (P12).
func (s *State) compileAnswer(c *control, in *Planned, d *endedData) *plan.Compiled {
	author := in.Author
	if isModel(d.Input.By) {
		author = plan.Model
	}
	switch {
	case d.To != NodeExecuted:
		return nil
	case in.Plan == nil || len(in.Plan.Steps) == 0 && (s.run.version > 0 || author == plan.Model):
		if author == plan.Model && s.run.version == 0 && in.Answer == "" && len(in.Unplanned) == 0 {
			d.To, d.Problem = NodeFailed, "The answer has neither steps nor a direct answer."
		}
		return nil
	}
	d.Input.Plan = marshal(in.Plan) // as its author wrote it (P28)
	whole, asked := in.Plan, []plan.Finding(nil)
	if s.run.version > 0 && author == plan.Model {
		whole, asked = s.askForAdded(in.Plan)
	}
	env := plan.Env{Catalog: s.env.Catalog, Policy: s.env.Pinned, Scopes: s.run.scopes, Intent: s.run.intent,
		Requester: s.run.requester, Limits: s.limits(), Author: author}
	var compiled *plan.Compiled
	var findings []plan.Finding
	if s.run.version > 0 {
		compiled, findings = plan.Graft(s.extensible(), whole, env)
	} else {
		compiled, findings = plan.Compile(whole, env)
	}
	if compiled == nil {
		d.To, d.Problem = NodeFailed, "the plan does not compile"
		d.Input.Findings = marshal(findings)
		if isModel(c.by) {
			d.Problem, d.Input.Raw = Wrong(findings), kept(in.Raw, d.Input.Plan)
		}
		return nil
	}
	compiled.Findings = append(compiled.Findings, asked...)
	return compiled
}

// askForAdded makes every step that changes something, or carries words out of
// here, ask a person when a model adds it to a plan: its author has read what tools found, and nobody else has
// seen the step (P22). The findings tell people that the wish is not the model's.
func (s *State) askForAdded(p *plan.Plan) (*plan.Plan, []plan.Finding) {
	asking := *p
	asking.Steps = slices.Clone(p.Steps)
	var asked []plan.Finding
	for i := range asking.Steps {
		step := &asking.Steps[i]
		tool, known := s.env.Catalog.Lookup(step.Tool)
		if !known || tool.Effect == policy.Read && !tool.External || step.Approval {
			continue
		}
		step.Approval = true
		asked = append(asked, plan.Finding{Rule: "P22", Severity: plan.Warning, Step: step.ID, Pointer: "/steps/" + itoa(i), Policy: true,
			Message: "A model added this step while the run was under way, so a person is asked before it runs.", Fix: "Read what it would do before you approve it."})
	}
	return &asking, asked
}

// extensible is the plan as more steps may be added to it: a person's bound on
// its steps holds, one that a planner wrote for its own plan does not.
func (s *State) extensible() *plan.Compiled {
	if s.run.planBy != BuiltinBy && !isModel(s.run.planBy) {
		return s.plan
	}
	c := *s.plan
	c.MaxSteps = 0
	return &c
}

// kept is what of an unusable answer is recorded and shown to its author again.
func kept(raw string, doc []byte) string {
	if raw == "" {
		raw = string(doc)
	}
	return head(clean(raw), RawBytesMax)
}

// head cuts text at a limit.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// Wrong says what refuses a plan, word for word: rule, place and message of each
// error. Policy findings are left out (P12).
func Wrong(findings []plan.Finding) string {
	var b strings.Builder
	for i := range findings {
		f := &findings[i]
		if f.Severity != plan.Error || f.Policy {
			continue
		}
		line := f.Rule + " " + f.Pointer + ": " + f.Message + " " + f.Fix + "\n"
		if b.Len()+len(line) > ProblemBytesMax {
			break
		}
		b.WriteString(line)
	}
	if b.Len() == 0 {
		return "The plan cannot be used."
	}
	return clean(strings.TrimSuffix(b.String(), "\n"))
}

func (s *State) addVersion(c *plan.Compiled, by string, unplanned []Unplanned) {
	cause, first := "initial", 0
	if s.plan != nil {
		cause, first = causeReplan, len(s.plan.Steps)
		unplanned = slices.Concat(s.run.unplanned, unplanned)
	}
	added := make([]string, 0, len(c.Steps)-first)
	for i := first; i < len(c.Steps); i++ {
		added = append(added, c.Steps[i].ID)
	}
	findings := []byte("[]")
	if len(c.Findings) > 0 {
		findings = marshal(c.Findings)
	}
	s.emit(VersionAdded, "", 0, &versionData{
		Version: s.run.version + 1, Parent: s.run.version, Cause: cause, By: by, Hash: c.Hash,
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
