package engine

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/engine/plan"
	"sluice/policy"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata; read the difference before accepting it")

// A transcript is a script and what the core answered: lines that start with
// "> " are played, all others are the answer. TestTranscripts plays each file
// and compares; names of files begin with the requirement they show.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d transcripts (%v), want at least 20", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(text) {
				t.Errorf("%s differs; run with -update and read what changed: %s", name, firstDifference(got, string(text)))
			}
		})
	}
}

// play gives the file back with the answers of today.
func play(t *testing.T, text string) string {
	t.Helper()
	p := &player{t: t, rules: &policy.Document{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "> "):
			p.out.WriteString(line + "\n")
			p.command(strings.TrimPrefix(line, "> "))
		case strings.HasPrefix(line, "#") || line == "":
			p.out.WriteString(line + "\n")
		}
	}
	return p.out.String()
}

// player plays one transcript.
type player struct {
	t     *testing.T
	out   strings.Builder
	rules *policy.Document // changes to the default policy
	scope []string
	steps []string
	r     *rig

	review string
	models Models
	budget map[string]int64
}

func (p *player) command(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "scope":
		p.scope = strings.Fields(rest)
	case "ask", "self", "kill", "cap", "clearance":
		p.policyLine(verb, rest)
	case "step":
		p.steps = append(p.steps, rest)
	case "many":
		p.many(rest)
	case "all":
		for _, v := range p.r.s.Nodes() {
			if v.State == NodeRunning && v.Kind == "tool" {
				p.step(p.input("done", v.ID+" "+rest))
			}
		}
	case "run":
		p.start(rest)
	case "review":
		p.review = ReviewPlan
	case "models", "budget":
		p.setting(verb, strings.Fields(rest))
	case "restart":
		p.restart()
	case "record":
		record, _ := p.r.s.ModelRecord(rest)
		fmt.Fprintf(&p.out, "  %s\n", record)
	case "publish":
		p.r.env.Current = testPolicy(p.t, p.change)
		p.step(&PolicyChanged{Head: p.r.head("user:9"), Policy: p.r.env.Current})
	default:
		p.step(p.input(verb, rest))
	}
}

// many reads "COUNT TOOL" and adds as many independent steps.
func (p *player) many(rest string) {
	count, tool := 0, ""
	if _, err := fmt.Sscan(rest, &count, &tool); err != nil {
		p.t.Fatalf("many %s: %v", rest, err)
	}
	for i := range count {
		p.steps = append(p.steps, fmt.Sprintf(`{"id":"s%d","tool":"%s","params":{"n":%d}}`, i, tool, i))
	}
}

// policyLine reads "ask TOOL QUORUM SECONDS", "self denied", "kill TOOL", "cap TOOL RANK".
func (p *player) policyLine(verb, rest string) {
	words := strings.Fields(rest)
	number := func(k int) int {
		n := 0
		if _, err := fmt.Sscan(words[k], &n); err != nil {
			p.t.Fatalf("%s %s: %v", verb, rest, err)
		}
		return n
	}
	switch verb {
	case "ask":
		p.rules.Approvals.Rules = append(p.rules.Approvals.Rules, policy.ApprovalRule{ID: fmt.Sprintf("R%d", len(p.rules.Approvals.Rules)+1),
			When: policy.When{Tools: words[:1]}, Per: "call", Quorum: number(1), Roles: []string{"approver"}, ExpiresS: int64(number(2))})
	case "self":
		p.rules.Approvals.Self = rest
	case "kill":
		p.rules.KillSwitches = words
	case "clearance": // ID TOOL
		clearFor(words[1], words[0])(p.rules)
	case "cap":
		p.rules.Scopes = map[string]policy.Scope{"default": {Caps: map[string]policy.Rank{words[0]: policy.Rank(number(1))}}}
	}
}

// change applies the policy lines so far to the default document.
func (p *player) change(d *policy.Document) {
	if p.rules.Approvals.Rules != nil {
		d.Approvals.Rules = p.rules.Approvals.Rules
	}
	if p.rules.Approvals.Self != "" {
		d.Approvals.Self = p.rules.Approvals.Self
	}
	d.KillSwitches, d.Clearance = p.rules.KillSwitches, p.rules.Clearance
	scope := d.Scopes["default"]
	if p.scope != nil {
		scope.Tools = p.scope
	}
	scope.Caps = p.rules.Scopes["default"].Caps
	d.Scopes["default"] = scope
}

// start reads "INTENT [MODE]"; without steps the planner is asked.
func (p *player) start(rest string) {
	intent, mode, _ := strings.Cut(rest, " ")
	ranks := map[string]policy.Rank{"observe": policy.Observe, "operate": policy.Operate, "override": policy.Override}
	rank, ok := ranks[intent]
	if !ok {
		p.t.Fatalf("no intent %q", intent)
	}
	env := testEnv(p.t, p.change)
	env.Models = p.models
	p.r = newRig(p.t, env)
	doc := ""
	if len(p.steps) > 0 {
		doc = steps(p.steps...)
	}
	in := p.r.create(doc)
	in.Intent, in.Budget = rank, p.budget
	if in.Review = p.review; mode != "" {
		in.Mode = mode
	}
	p.step(in)
}

func (p *player) step(in Input) {
	before := len(p.r.cmds)
	facts, err := p.r.step(in)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		fmt.Fprintf(&p.out, "  refused %s: %s; %s\n", refusal.Code, refusal.Message, refusal.Fix)
		return
	}
	for _, f := range facts {
		p.out.WriteString("  " + factLine(&f) + "\n")
	}
	p.commands(p.r.cmds[before:])
	p.out.WriteString("  = " + string(p.r.s.Status()))
	if sum := Summarise(p.r.s); sum.Code != "" {
		fmt.Fprintf(&p.out, " %s %v", sum.Code, sum.Causes)
	}
	p.out.WriteString("\n")
}

func (p *player) commands(list []Command) {
	for _, c := range list {
		switch c := c.(type) {
		case Perform:
			fmt.Fprintf(&p.out, "  -> perform %s %s %s\n", c.ID, c.Call.Tool.Name, c.Params)
		case Propose:
			fmt.Fprintf(&p.out, "  -> propose %s %q%s\n", c.ID, c.Goal, asked(c.By, c.Again, c.Records, c.Note))
		case Conclude:
			fmt.Fprintf(&p.out, "  -> conclude %s on %d steps%s\n", c.ID, len(c.Steps), asked(c.By, c.Again, c.Records, ""))
		case Clear:
			fmt.Fprintf(&p.out, "  -> clear %s#%d %s at %s %s %s\n", c.Node, c.Attempt, c.Rule, c.URL, c.Tool, c.Params)
		case Stop:
			fmt.Fprintf(&p.out, "  -> stop %s after %s\n", c.ID, c.Grace)
		}
	}
}

// restart drops the State and does what a shell does after kill -9 (P45).
func (p *player) restart() {
	p.r.s = fold(p.r.env, "r_1", p.r.facts)
	for _, u := range Unresolved(p.r.s) {
		u.Head = p.r.head("system")
		p.step(&u)
	}
	commands, withdrawn := Outstanding(p.r.s)
	for _, w := range withdrawn {
		w.Head = p.r.head("system")
		p.step(&w)
	}
	p.commands(commands)
}

// input reads the verbs that are inputs of their own.
func (p *player) input(verb, rest string) Input {
	words := strings.Fields(rest)
	first, tail, _ := strings.Cut(rest, " ")
	switch verb {
	case "done":
		return &AttemptDone{Head: p.r.head("tool:t"), Node: first, Attempt: p.r.node(first).Attempt, Output: []byte(tail)}
	case "late":
		attempt, output, _ := strings.Cut(tail, " ")
		return &AttemptDone{Head: p.r.head("tool:t"), Node: first, Attempt: int(attempt[0] - '0'), Output: []byte(output)}
	case "fail":
		return &AttemptDone{Head: p.r.head("tool:t"), Node: first, Attempt: p.r.node(first).Attempt, Class: Class(words[1]),
			Detail: "told by the tool", Unsent: len(words) > 2}
	case "cleared": // NODE RULE yes|no|FAILURE
		return p.cleared(words)
	case "approve":
		return p.r.verdict(first, Approve, "")
	case "deny":
		return p.r.verdict(first, Reject, tail)
	case "attest":
		return &Attest{Head: p.r.head("user:2"), Node: first, Attempt: p.r.node(first).Attempt, Outcome: words[1], Note: "looked"}
	case "cancel":
		return &Cancel{Head: p.r.head(requester), Reason: rest}
	case "pause":
		return &Pause{Head: p.r.head(requester)}
	case "resume":
		return &Resume{Head: p.r.head(requester)}
	case "start":
		return &Start{Head: p.r.head(first)}
	case "replace":
		return p.r.replace(p.r.s.Plan().Hash, steps(rest))
	}
	return p.control(verb, rest)
}

// control reads time and the answers of planner and reflection.
func (p *player) control(verb, rest string) Input {
	switch verb {
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.t.Fatal(err)
		}
		p.r.now += d.Microseconds() - 1000
		return &Timer{Head: p.r.head("system")}
	case "deadline":
		at, ok := p.r.s.Deadline()
		if !ok {
			p.t.Fatal("no deadline")
		}
		p.r.now = at
		return &Timer{Head: Head{At: at, Actor: "system"}}
	case "conclude":
		return &Concluded{Head: p.r.head("system"), Attempt: 1, Ruling: "conclude", Verdict: Verdict{Text: rest, By: "builtin", Claims: p.claims()}}
	case "answer":
		return &Planned{Head: p.r.head("system"), Attempt: 1, By: "builtin", Author: plan.Builtin, Answer: rest}
	case "unplanned":
		return &Planned{Head: p.r.head("system"), Attempt: 1, By: "builtin", Author: plan.Builtin, Unplanned: []Unplanned{{Clause: rest, Why: "no tool"}}}
	case "planned":
		clause, doc, _ := strings.Cut(rest, " | ")
		made, findings := plan.Parse([]byte(steps(doc)))
		if made == nil {
			p.t.Fatalf("%s: %+v", doc, findings)
		}
		in := &Planned{Head: p.r.head("system"), Attempt: 1, By: "builtin", Author: plan.Builtin, Plan: made}
		if clause != "all" {
			in.Unplanned = []Unplanned{{Clause: clause, Why: "no tool"}}
		}
		return in
	}
	if in := p.model(verb, rest); in != nil {
		return in
	}
	p.t.Fatalf("no verb %q", verb)
	return nil
}

// claims: one for each observation, and one that stands on nothing (R55).
func (p *player) claims() []Claim {
	list := []Claim{{Text: "unfounded", Observations: []string{"o_none"}}}
	for _, v := range p.r.s.Nodes() {
		if v.State == NodeExecuted && v.Kind == "tool" {
			list = append(list, Claim{Text: v.ID + " ran", Observations: []string{v.Observation}})
		}
	}
	return list
}
