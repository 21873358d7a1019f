package policy

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestR43_TruthTable: without rules that ask, a call is allowed if and only if
// the tool is in scope and its impact is at most min(intent, cap).
func TestR43_TruthTable(t *testing.T) {
	ranks := []Rank{0, 1, 50, 99, 100, 101, 199, 200}
	for _, inScope := range []bool{true, false} {
		for _, impact := range ranks {
			for _, intent := range ranks {
				for _, limit := range ranks {
					d := decideOne(t, inScope, impact, intent, limit)
					name := fmt.Sprintf("scope %v, impact %d, intent %d, cap %d", inScope, impact, intent, limit)
					wantAllowed := inScope && impact <= intent && impact <= limit
					if (d.Outcome == Allow) != wantAllowed {
						t.Errorf("%s: got %s, want allow = %v", name, d.Outcome, wantAllowed)
					}
					if d.Impact != impact || d.Limit != min(intent, limit) {
						t.Errorf("%s: got impact %d and limit %d (P37), want them always", name, d.Impact, d.Limit)
					}
					wantStage := map[bool]string{true: StageImpact, false: StageScope}[inScope]
					if !wantAllowed && d.Stage != wantStage {
						t.Errorf("%s: got stage %q, want %q", name, d.Stage, wantStage)
					}
				}
			}
		}
	}
}

func decideOne(t *testing.T, inScope bool, impact, intent, limit Rank) Decision {
	t.Helper()
	scope := Scope{Caps: map[string]Rank{"x.*": limit}}
	if inScope {
		scope.Tools = []string{"x.y"}
	}
	p := compiled(t, Document{Version: 1, Scopes: map[string]Scope{"s": scope}, Approvals: Approvals{Rules: []ApprovalRule{}}})
	c := callOf(Tool{Name: "x.y", Impact: impact})
	c.Intent, c.Scopes = intent, []string{"s"}
	return Decide(p, c)
}

// TestR43_ShortCircuit: a stage that denies ends the evaluation, so no later
// rule appears; impact alone is computed for the answer (P37), and once.
func TestR43_ShortCircuit(t *testing.T) {
	ranked := 0
	tool := Tool{Name: "mail.send", External: true, Impact: Override, ImpactOf: func([]Param) (Rank, bool) {
		ranked++
		return Override, true
	}}
	p := compiled(t, Default())
	c := callOf(tool)
	c.Approval, c.Intent = true, Observe
	wantOutcome(t, Decide(p, c), Deny, StageScope, RuleScope)
	if ranked != 1 {
		t.Errorf("denied by scope: ranked %d times, want once", ranked)
	}
	tool.Name, c.Tool = "git.send", tool
	c.Tool.Name = "git.send"
	wantOutcome(t, Decide(p, c), Deny, StageImpact, RuleImpact)
	c.Intent = Override
	wantOutcome(t, Decide(p, c), Ask, "", "A1", RulePlan)
	if ranked != 3 {
		t.Errorf("three decisions: ranked %d times, want three", ranked)
	}
}

func TestP16_KillSwitchDenies(t *testing.T) {
	p := edited(t, func(d *Document) { d.KillSwitches = []string{"file.*", "file.write"} })
	c := callOf(writer())
	d := Decide(p, c)
	wantOutcome(t, d, Deny, StageScope, RuleKillSwitch)
	if len(d.Reasons) != 2 {
		t.Errorf("got reasons %q, want one for each switch", d.Reasons)
	}
	wantOutcome(t, Decide(p, approved(c, "user:2")), Deny, StageScope, RuleKillSwitch)
	wantOutcome(t, Decide(p, callOf(reader())), Allow, "")
	c.Scopes = nil
	wantOutcome(t, Decide(p, c), Deny, StageScope, RuleKillSwitch, RuleScope)
	if p.InScope([]string{"default"}, "file.write") || !p.InScope([]string{"default"}, "sysinfo") {
		t.Error("InScope: a stopped tool must be out of sight, another one not")
	}
}

func TestR46_UnknownImpactRanksHighest(t *testing.T) {
	p := withRules(t, selfDenied)
	unknown := func([]Param) (Rank, bool) { return Observe, false }
	for name, tool := range map[string]Tool{
		"not known for these parameters": {Name: "file.x", Impact: Operate, ImpactOf: unknown},
		"declared below the scale":       {Name: "file.x", Impact: -1},
		"declared above the scale":       {Name: "file.x", Impact: 201},
		"computed below the scale":       {Name: "file.x", ImpactOf: func([]Param) (Rank, bool) { return -5, true }},
	} {
		t.Run(name, func(t *testing.T) {
			c := callOf(tool)
			d := Decide(p, c)
			wantOutcome(t, d, Allow, "", RuleUnknownImpact)
			if d.Impact != RankMax || d.ImpactName != "override" {
				t.Errorf("got impact %d (%s), want %d", d.Impact, d.ImpactName, RankMax)
			}
			c.Intent = Operate
			wantOutcome(t, Decide(p, c), Deny, StageImpact, RuleUnknownImpact, RuleImpact)
		})
	}
}

func TestR48_UnknownToolIsNeverAllowed(t *testing.T) {
	p := withRules(t, selfDenied)
	c := callOf(Tool{Name: "file.nope"})
	c.Known = false
	d := Decide(p, c)
	wantOutcome(t, d, Deny, StageImpact, RuleUnknownTool)
	if d.Impact != RankMax {
		t.Errorf("got impact %d, want %d", d.Impact, RankMax)
	}
	c.Intent = Operate
	wantOutcome(t, Decide(p, c), Deny, StageImpact, RuleUnknownTool, RuleImpact)
}

// TestR46_ParametersRankACall: resolved parameters rank as they are, unresolved
// ones as the most the tool can do (P11).
func TestR46_ParametersRankACall(t *testing.T) {
	p := withRules(t, selfDenied)
	tool := Tool{Name: "shell", Impact: Override, ImpactOf: func(params []Param) (Rank, bool) {
		if string(params[0].Value) == `"ls"` {
			return Observe, true
		}
		return Override, true
	}}
	c := callOf(tool)
	c.Params = []Param{{Name: "command", Value: []byte(`"ls"`)}}
	if d := Decide(p, c); d.Impact != Observe || d.Outcome != Allow {
		t.Errorf("ls: got %s with impact %d, want allow with 0", d.Outcome, d.Impact)
	}
	c.Partial = true
	wantOutcome(t, Decide(p, c), Deny, StageImpact, RuleImpact)
	c.Partial, c.Params[0].Value = false, []byte(`"rm x"`)
	d := Decide(p, c)
	wantOutcome(t, d, Deny, StageImpact, RuleImpact)
	if d.Limit != Operate || !strings.Contains(d.Reasons[0], "scope default sets for shell") {
		t.Errorf("rm: got limit %d and %q, want the cap of the scope named", d.Limit, d.Reasons)
	}
}

func TestP16_OverridesOfImpact(t *testing.T) {
	unknown := Tool{Name: "git.x", ImpactOf: func([]Param) (Rank, bool) { return 0, false }}
	cases := []struct {
		name  string
		rules map[string]ToolRule
		tool  Tool
		want  Rank
		cites []string
	}{
		{"raised freely", map[string]ToolRule{"file.write": {Impact: rankOf(150)}}, writer(), 150, []string{"tools/file.write"}},
		{"raised by pattern", map[string]ToolRule{"f*te": {Impact: rankOf(150)}}, writer(), 150, []string{"tools/f*te"}},
		{"lowered with a reason", map[string]ToolRule{"file.write": {Impact: rankOf(50), Reason: "scratch space"}}, writer(), 50, []string{"tools/file.write"}},
		{"not lowered without a reason", map[string]ToolRule{"file.write": {Impact: rankOf(50)}}, writer(), 100, []string{"tools/file.write"}},
		{"not lowered by blanks", map[string]ToolRule{"file.write": {Impact: rankOf(50), Reason: "  "}}, writer(), 100, []string{"tools/file.write"}},
		{"the same says nothing", map[string]ToolRule{"file.write": {Impact: rankOf(100)}}, writer(), 100, nil},
		{"another tool", map[string]ToolRule{"file.delete": {Impact: rankOf(0), Reason: "x"}}, writer(), 100, nil},
		{"the highest of several", map[string]ToolRule{"*": {Impact: rankOf(0), Reason: "x"}, "file.*": {Impact: rankOf(120)}, "file.write": {Impact: rankOf(60), Reason: "x"}},
			writer(), 120, []string{"tools/file.write", "tools/*", "tools/file.*"}},
		{"unknown is not lowered", map[string]ToolRule{"git.x": {Impact: rankOf(0), Reason: "x"}}, unknown, 200, []string{RuleUnknownImpact}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			p := edited(t, func(d *Document) { d.Tools, d.Approvals.Rules = tc.rules, []ApprovalRule{} })
			d := Decide(p, callOf(tc.tool))
			if d.Impact != tc.want || !reflect.DeepEqual(append([]string(nil), d.Rules...), tc.cites) {
				t.Errorf("got %d by %v (%q), want %d by %v", d.Impact, d.Rules, d.Reasons, tc.want, tc.cites)
			}
		})
	}
}

// TestR46_ExternalToolsRankAtOverride: requirements §23.6, and no policy lowers it.
func TestR46_ExternalToolsRankAtOverride(t *testing.T) {
	lowered := edited(t, func(d *Document) { d.Tools["git.send"] = ToolRule{Impact: rankOf(0), Reason: "we trust it"} })
	for name, p := range map[string]*Policy{"default": compiled(t, Default()), "lowered": lowered} {
		c := callOf(messenger())
		if d := Decide(p, c); d.Impact != Override || d.Outcome != Ask {
			t.Errorf("%s: got %s with impact %d, want ask with 200", name, d.Outcome, d.Impact)
		}
		c.Intent = Operate
		if d := Decide(p, c); d.Outcome != Deny || d.Stage != StageImpact {
			t.Errorf("%s at operate: got %s at %q, want deny at impact", name, d.Outcome, d.Stage)
		}
	}
}

func TestR45_LimitIsNeverAboveTheScale(t *testing.T) {
	c := callOf(reader())
	c.Intent = 1000
	if d := Decide(compiled(t, Default()), c); d.Limit != RankMax || d.Outcome != Allow {
		t.Errorf("intent 1000: got limit %d and %s, want 200 and allow", d.Limit, d.Outcome)
	}
	c.Intent = -1
	wantOutcome(t, Decide(compiled(t, Default()), c), Deny, StageImpact, RuleImpact)
}

func TestR44_NoPolicyDenies(t *testing.T) {
	for name, p := range map[string]*Policy{"nil": nil, "zero": {}} {
		d := Decide(p, callOf(reader()))
		wantOutcome(t, d, Deny, StageScope, RuleScope)
		if g, d := Authorise(p, p, callOf(reader())); g.Valid() || d.Outcome != Deny {
			t.Errorf("%s policy: got %v and %s from Authorise, want no grant and deny", name, g.Valid(), d.Outcome)
		}
	}
}

// TestP16_DecideIsPure: the same policy and call give the same decision, and
// nothing that a caller does to a decision changes the next one.
func TestP16_DecideIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := Compile(drawDocument(t))
		if err != nil {
			t.Fatalf("compile: %v", err)
		}
		c := drawCall(t)
		first := string(Decide(p, c).AppendJSON(nil))
		scribbled := Decide(p, c)
		for i := range scribbled.Asks {
			scribbled.Asks[i].Roles[0] = "nobody"
		}
		for i := range scribbled.Rules {
			scribbled.Rules[i] = "nothing"
		}
		if second := string(Decide(p, c).AppendJSON(nil)); second != first {
			t.Fatalf("got %s\nthen %s", first, second)
		}
	})
}

// TestP16_StrictestWins: adding a kill switch, a rule or a cap, or lowering the
// intent never makes a decision milder.
func TestP16_StrictestWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, c := drawDocument(t), drawCall(t)
		before := Decide(mustCompile(t, doc), c)
		switch rapid.IntRange(0, 4).Draw(t, "change") {
		case 0:
			doc.KillSwitches = append(doc.KillSwitches, drawGlob(t))
		case 1:
			if doc.Approvals.Rules != nil {
				extra := drawRule(t)
				extra.ID = "extra"
				doc.Approvals.Rules = append(doc.Approvals.Rules, extra)
			}
		case 2:
			for name, scope := range doc.Scopes {
				caps := cloneMap(scope.Caps)
				if caps == nil {
					caps = map[string]Rank{}
				}
				glob := drawGlob(t)
				if old, ok := caps[glob]; !ok || old > 50 {
					caps[glob] = 50
				}
				scope.Caps = caps
				doc.Scopes[name] = scope
			}
		case 3:
			c.Intent = Rank(rapid.IntRange(0, int(c.Intent)).Draw(t, "intent"))
		case 4:
			c.Approval = true
		}
		if after := Decide(mustCompile(t, doc), c); severity(after.Outcome) < severity(before.Outcome) {
			t.Fatalf("got %s after tightening, was %s", after.Outcome, before.Outcome)
		}
	})
}

func TestP16_ReasonsAreOneLineWhateverTheName(t *testing.T) {
	p := compiled(t, Default())
	for _, name := range []string{"a\nb", "x\u202Ey", "\xff", strings.Repeat("long", 100), ""} {
		c := callOf(Tool{Name: name})
		c.Scopes = []string{name, "default"}
		for _, reason := range Decide(p, c).Reasons {
			if len(reason) > 500 || strings.ContainsFunc(reason, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("name %q: got reason %q, want one short line of plain signs", name, reason)
			}
			if !strings.HasSuffix(reason, ".") {
				t.Errorf("name %q: got %q, want a sentence", name, reason)
			}
		}
	}
}
