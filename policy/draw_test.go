package policy

import (
	"slices"

	"pgregory.net/rapid"
)

// Few names and patterns, so that drawn documents and calls often meet.
func drawGlob(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "a.x", "a.*", "*", "*.x", "b*", "c.*.z"}).Draw(t, "glob")
}

func drawTool(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "a.x", "a.y", "b.x", "c.q.z", "d"}).Draw(t, "tool")
}

func drawRank(t *rapid.T) Rank {
	return rapid.SampledFrom([]Rank{0, 50, 100, 150, 200}).Draw(t, "rank")
}

func drawScope(t *rapid.T) Scope {
	var scope Scope
	for range rapid.IntRange(0, 3).Draw(t, "tools") {
		scope.Tools = append(scope.Tools, drawGlob(t))
	}
	for range rapid.IntRange(0, 2).Draw(t, "caps") {
		if scope.Caps == nil {
			scope.Caps = map[string]Rank{}
		}
		scope.Caps[drawGlob(t)] = drawRank(t)
	}
	return scope
}

func drawScopes(t *rapid.T) map[string]Scope {
	return map[string]Scope{"s0": drawScope(t), "s1": drawScope(t), "s2": drawScope(t)}
}

func drawScopeNames(t *rapid.T) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"s0", "s1", "s2", "s0", "s1", "s2", "s9"}), 0, 4).Draw(t, "names")
}

func drawRule(t *rapid.T) ApprovalRule {
	rule := ApprovalRule{ID: "r", Per: "call", Quorum: rapid.IntRange(0, 3).Draw(t, "quorum"), ExpiresS: 60}
	if rapid.Bool().Draw(t, "has impact") {
		rule.When.ImpactAtLeast = rankOf(drawRank(t))
	}
	if rapid.Bool().Draw(t, "has external") {
		rule.When.External = truth(rapid.Bool().Draw(t, "external"))
	}
	if rapid.Bool().Draw(t, "has tools") {
		rule.When.Tools = []string{drawGlob(t)}
	}
	if rapid.Bool().Draw(t, "has roles") {
		rule.Roles = []string{"approver", "admin"}
	}
	return rule
}

func drawDocument(t *rapid.T) Document {
	d := Document{Version: 1, Scopes: drawScopes(t), Tools: map[string]ToolRule{}}
	if rapid.Bool().Draw(t, "has intents") {
		d.Intents = map[string]Rank{"observe": 0, "operate": 100, "override": 200, "draft": 50}
	}
	for range rapid.IntRange(0, 2).Draw(t, "overrides") {
		rule := ToolRule{Impact: rankOf(drawRank(t))}
		if rapid.Bool().Draw(t, "has reason") {
			rule.Reason = rapid.SampledFrom([]string{"known to be safe", `a "quoted" <reason> – ü`, "# no comment"}).Draw(t, "reason")
		}
		d.Tools[drawGlob(t)] = rule
	}
	d.Approvals.Self = rapid.SampledFrom([]string{"", "allowed", "denied"}).Draw(t, "self")
	if rapid.Bool().Draw(t, "has rules") {
		d.Approvals.Rules = []ApprovalRule{}
		for i := range rapid.IntRange(0, 3).Draw(t, "rules") {
			rule := drawRule(t)
			rule.ID += string(rune('0' + i))
			d.Approvals.Rules = append(d.Approvals.Rules, rule)
		}
	}
	for i := range max(0, rapid.IntRange(-2, 2).Draw(t, "clearance")) {
		when := drawRule(t).When
		d.Clearance = append(d.Clearance, ClearanceRule{ID: "c" + string(rune('0'+i)), When: when, URL: "https://a.example", TimeoutS: 5})
	}
	if rapid.IntRange(0, 3).Draw(t, "has switch") == 0 {
		d.KillSwitches = []string{drawGlob(t)}
	}
	return d
}

func drawCall(t *rapid.T) Call {
	c := callOf(Tool{Name: drawTool(t), Impact: drawRank(t), External: rapid.IntRange(0, 3).Draw(t, "is external") == 0})
	c.Known = rapid.IntRange(0, 5).Draw(t, "is known") > 0
	c.Intent = drawRank(t)
	c.Scopes = drawScopeNames(t)
	c.Approval = rapid.Bool().Draw(t, "plan asks")
	if rapid.Bool().Draw(t, "is approved") {
		people := rapid.SliceOfN(rapid.SampledFrom([]string{"user:1", "user:2", "user:3", "token:4"}), 0, 3).Draw(t, "people")
		c = approved(c, slices.Clone(people)...)
	}
	for i := range max(0, rapid.IntRange(-1, 2).Draw(t, "cleared")) {
		held := cleared(c, "c"+string(rune('0'+i)), rapid.IntRange(0, 3).Draw(t, "is allowed") > 0)
		if rapid.IntRange(0, 3).Draw(t, "is for another") == 0 {
			held.Hash = "sha256:00"
		}
		c.Cleared = append(c.Cleared, held)
	}
	return c
}

func mustCompile(t *rapid.T, d Document) *Policy {
	p, err := Compile(d)
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return p
}
