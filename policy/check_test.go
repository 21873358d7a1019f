package policy

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestP16_DefaultCompiles(t *testing.T) {
	if issues := Check(Default()); len(issues) > 0 {
		t.Fatalf("got issues %v, want none", issues)
	}
	p := compiled(t, Default())
	if !p.SelfApproval() {
		t.Error("a first start is a single-operator install: self-approval is allowed (P16)")
	}
	for _, tool := range []string{"sysinfo", "disk_usage", "net_info", "process_list", "env_list", "file.read", "git.log", "compute", "shell"} {
		if !p.InScope([]string{"default"}, tool) {
			t.Errorf("%s is not in the scope default", tool)
		}
	}
}

func many(n int, name func(i int) string) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = name(i)
	}
	return texts
}

func oneRule(change func(*ApprovalRule)) func(*Document) {
	return func(d *Document) { change(&d.Approvals.Rules[0]) }
}

// TestP16_RefusedDocuments: each mistake is found where it is, and says what to do.
func TestP16_RefusedDocuments(t *testing.T) {
	cases := []struct {
		name    string
		change  func(*Document)
		pointer string
		says    string
	}{
		{"no version", func(d *Document) { d.Version = 0 }, "/version", "Write version: 1"},
		{"another version", func(d *Document) { d.Version = 2 }, "/version", "Version 2 is not known"},
		{"intent missing", func(d *Document) { delete(d.Intents, "operate") }, "/intents", "Add operate: 100"},
		{"intent moved", func(d *Document) { d.Intents["observe"] = 10 }, "/intents/observe", "always has rank 0"},
		{"intent off the scale", func(d *Document) { d.Intents["more"] = 201 }, "/intents/more", "not on the scale"},
		{"intent below the scale", func(d *Document) { d.Intents["less"] = -1 }, "/intents/less", "not on the scale"},
		{"two names for a rank", func(d *Document) { d.Intents["write"] = 100 }, "/intents/write", "already named operate"},
		{"intent like a number", func(d *Document) { d.Intents["50"] = 50 }, "/intents/50", "Start the name with a letter"},
		{"intent with a space", func(d *Document) { d.Intents["a b"] = 50 }, "/intents/a b", "not a name for an intent"},
		{"scope without a name", func(d *Document) { d.Scopes[""] = Scope{} }, "/scopes/", "not a name for a scope"},
		{"scope with a slash", func(d *Document) { d.Scopes["a/b~"] = Scope{} }, "/scopes/a~1b~0", "not a name for a scope"},
		{"empty tool", func(d *Document) { d.Scopes["s"] = Scope{Tools: []string{"a", ""}} }, "/scopes/s/tools/1", "A tool name is empty"},
		{"question mark", func(d *Document) { d.Scopes["s"] = Scope{Tools: []string{"file.?"}} }, "/scopes/s/tools/0", "Patterns know only *"},
		{"brackets", func(d *Document) { d.Scopes["s"] = Scope{Tools: []string{"[ab]"}} }, "/scopes/s/tools/0", "Patterns know only *"},
		{"braces", func(d *Document) { d.KillSwitches = []string{"{a,b}"} }, "/kill_switches/0", "Patterns know only *"},
		{"backslash", func(d *Document) { d.KillSwitches = []string{`a\*`} }, "/kill_switches/0", "Patterns know only *"},
		{"space in a tool", func(d *Document) { d.KillSwitches = []string{"x", "a b"} }, "/kill_switches/1", "Patterns know only *"},
		{"a long tool", func(d *Document) { d.KillSwitches = []string{strings.Repeat("a", 129)} }, "/kill_switches/0", "longer than 128"},
		{"cap on a bad pattern", func(d *Document) { d.Scopes["s"] = Scope{Caps: map[string]Rank{"a?": 0}} }, "/scopes/s/caps/a?", "Patterns know only *"},
		{"cap off the scale", func(d *Document) { d.Scopes["s"] = Scope{Caps: map[string]Rank{"a": 300}} }, "/scopes/s/caps/a", "Rank 300"},
		{"override of nothing", func(d *Document) { d.Tools["a"] = ToolRule{Reason: "x"} }, "/tools/a", "states no impact"},
		{"override off the scale", func(d *Document) { d.Tools["a"] = ToolRule{Impact: rankOf(-1)} }, "/tools/a/impact", "Rank -1"},
		{"override of a bad pattern", func(d *Document) { d.Tools["a b"] = ToolRule{Impact: rankOf(0)} }, "/tools/a b", "Patterns know only *"},
		{"a long reason", func(d *Document) { d.Tools["a"] = ToolRule{Impact: rankOf(0), Reason: strings.Repeat("x", 1025)} }, "/tools/a/reason", "longer than 1024"},
		{"a reason with a control sign", func(d *Document) { d.Tools["a"] = ToolRule{Impact: rankOf(0), Reason: "a\x1b[0m"} }, "/tools/a/reason", "plain text"},
		{"a reason that turns around", func(d *Document) { d.Tools["a"] = ToolRule{Impact: rankOf(0), Reason: "a\u202Eb"} }, "/tools/a/reason", "plain text"},
		{"self", func(d *Document) { d.Approvals.Self = "yes" }, "/approvals/self", "allowed or denied"},
		{"rule without an id", oneRule(func(r *ApprovalRule) { r.ID = "" }), "/approvals/rules/0/id", "has no id"},
		{"rule with a bad id", oneRule(func(r *ApprovalRule) { r.ID = "a/b" }), "/approvals/rules/0/id", "not a name for a rule"},
		{"rule of the gate", oneRule(func(r *ApprovalRule) { r.ID = "kill_switch" }), "/approvals/rules/0/id", "rule of the gate itself"},
		{"id used twice", func(d *Document) { d.Approvals.Rules = append(d.Approvals.Rules, d.Approvals.Rules[0]) }, "/approvals/rules/1/id", "id of an earlier rule"},
		{"per plan", oneRule(func(r *ApprovalRule) { r.Per = "plan" }), "/approvals/rules/0/per", "not yet available"},
		{"per day", oneRule(func(r *ApprovalRule) { r.Per = "day" }), "/approvals/rules/0/per", "Write per: call"},
		{"no quorum", oneRule(func(r *ApprovalRule) { r.Quorum = -1 }), "/approvals/rules/0/quorum", "Use 1 to"},
		{"a crowd", oneRule(func(r *ApprovalRule) { r.Quorum = 101 }), "/approvals/rules/0/quorum", "Use 1 to 100"},
		{"expired at once", oneRule(func(r *ApprovalRule) { r.ExpiresS = -1 }), "/approvals/rules/0/expires_s", "Use 1 to 2592000"},
		{"valid too long", oneRule(func(r *ApprovalRule) { r.ExpiresS = 2_592_001 }), "/approvals/rules/0/expires_s", "Use 1 to 2592000"},
		{"no roles", oneRule(func(r *ApprovalRule) { r.Roles = []string{} }), "/approvals/rules/0/roles", "No role is named"},
		{"unknown role", oneRule(func(r *ApprovalRule) { r.Roles = []string{"approver", "boss"} }), "/approvals/rules/0/roles/1", "boss is not a role"},
		{"a role twice", oneRule(func(r *ApprovalRule) { r.Roles = []string{"admin", "admin"} }), "/approvals/rules/0/roles/1", "named twice"},
		{"impact off the scale", oneRule(func(r *ApprovalRule) { r.When.ImpactAtLeast = rankOf(201) }), "/approvals/rules/0/when/impact_at_least", "Rank 201"},
		{"rule about no tool", oneRule(func(r *ApprovalRule) { r.When.Tools = []string{} }), "/approvals/rules/0/when/tools", "would never ask"},
		{"rule about a bad pattern", oneRule(func(r *ApprovalRule) { r.When.Tools = []string{"a?"} }), "/approvals/rules/0/when/tools/0", "Patterns know only *"},
		{"too many tools", func(d *Document) { d.Scopes["s"] = Scope{Tools: many(1001, strconv.Itoa)} }, "/scopes/s/tools", "1001 entries"},
		{"too many switches", func(d *Document) { d.KillSwitches = many(1001, strconv.Itoa) }, "/kill_switches", "the limit is 1000"},
		{"too many rules", func(d *Document) { d.Approvals.Rules = make([]ApprovalRule, 1001) }, "/approvals/rules", "1001 entries"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d := Default()
			tc.change(&d)
			issues := Check(d)
			if len(issues) != 1 || issues[0].Pointer != tc.pointer || !strings.Contains(issues[0].Message, tc.says) {
				t.Fatalf("got %+v, want one at %s with %q", issues, tc.pointer, tc.says)
			}
			var invalid *InvalidError
			if p, err := Compile(d); p != nil || !errors.As(err, &invalid) || !slices.Equal(invalid.Issues, issues) {
				t.Errorf("Compile: got %v and %v, want no policy and the issues", p, err)
			}
		})
	}
}

func TestP16_LimitsAreReached(t *testing.T) {
	d := Default()
	d.Scopes["full"] = Scope{Tools: many(EntriesMax, func(i int) string { return "tool" + strconv.Itoa(i) })}
	d.KillSwitches = []string{strings.Repeat("a", NameBytesMax)}
	d.Tools["x"] = ToolRule{Impact: rankOf(0), Reason: strings.Repeat("x", ReasonBytesMax)}
	rule := &d.Approvals.Rules[0]
	rule.Quorum, rule.ExpiresS, rule.Roles = QuorumMax, ExpiresSMax, Roles()
	if issues := Check(d); len(issues) > 0 {
		t.Errorf("got %v at the limits, want none", issues)
	}
}

func TestP16_EveryIssueIsFound(t *testing.T) {
	d := Default()
	d.Version, d.KillSwitches, d.Approvals.Self = 9, []string{"?", "ok", "["}, "maybe"
	pointers := []string{}
	for _, issue := range Check(d) {
		pointers = append(pointers, issue.Pointer)
	}
	if want := []string{"/version", "/approvals/self", "/kill_switches/0", "/kill_switches/2"}; !slices.Equal(pointers, want) {
		t.Errorf("got %v, want %v", pointers, want)
	}
	_, err := Compile(d)
	if err == nil || !strings.Contains(err.Error(), "/version: Version 9") || !strings.Contains(err.Error(), "3 more") {
		t.Errorf("got error %v, want the first issue and the number of others", err)
	}
}

// TestP16_OmittedTermsHaveDefaults: what a rule leaves open is filled in, and
// shows in the document of the compiled policy.
func TestP16_OmittedTermsHaveDefaults(t *testing.T) {
	p := compiled(t, Document{Version: 1, Approvals: Approvals{Rules: []ApprovalRule{{ID: "R"}}}})
	rule := p.Document().Approvals.Rules[0]
	if rule.Per != "call" || rule.Quorum != 1 || rule.ExpiresS != 86_400 || !slices.Equal(rule.Roles, []string{"approver"}) {
		t.Errorf("got %+v, want per call, 1 approver, 24 hours (requirements §23.2)", rule)
	}
	for name, want := range map[string]Rank{"observe": 0, "operate": 100, "override": 200} {
		if got, ok := p.RankOf(name); !ok || got != want {
			t.Errorf("intent %s: got %d and %v, want %d", name, got, ok, want)
		}
	}
}

// TestP16_LoweringNeedsAReason: where the tools are known, a document that
// lowers one without a reason is refused before it is published.
func TestP16_LoweringNeedsAReason(t *testing.T) {
	tools := []Tool{reader(), writer(), deleter(), messenger()}
	cases := []struct {
		name    string
		rules   map[string]ToolRule
		pointer string
	}{
		{"raised", map[string]ToolRule{"file.*": {Impact: rankOf(200)}}, ""},
		{"the same", map[string]ToolRule{"file.write": {Impact: rankOf(100)}}, ""},
		{"lowered with a reason", map[string]ToolRule{"file.write": {Impact: rankOf(0), Reason: "scratch"}}, ""},
		{"lowered", map[string]ToolRule{"file.write": {Impact: rankOf(99)}}, "/tools/file.write"},
		{"lowered by pattern", map[string]ToolRule{"*.delete": {Impact: rankOf(199)}}, "/tools/*.delete"},
		{"lowered for blanks", map[string]ToolRule{"file.write": {Impact: rankOf(0), Reason: " "}}, "/tools/file.write"},
		{"external", map[string]ToolRule{"git.send": {Impact: rankOf(150), Reason: "trusted"}}, "/tools/git.send/impact"},
		{"no impact", map[string]ToolRule{"file.write": {Reason: "x"}}, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d := Default()
			d.Tools = tc.rules
			issues := CheckAgainst(d, tools)
			if tc.pointer == "" && len(issues) != 0 {
				t.Errorf("got %v, want none", issues)
			}
			if tc.pointer != "" && (len(issues) != 1 || issues[0].Pointer != tc.pointer) {
				t.Errorf("got %v, want one at %s", issues, tc.pointer)
			}
		})
	}
}

// TestP16_PolicyIsImmutable: neither the document it came from nor one it gives
// out reaches into it.
func TestP16_PolicyIsImmutable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDocument(t)
		p := mustCompile(t, d)
		c := drawCall(t)
		before := string(Decide(p, c).AppendJSON(nil))
		canonical := string(p.Canonical())
		for _, touched := range []Document{d, p.Document()} {
			scribble(touched)
		}
		p.Canonical()[0] = 'x'
		if after := string(Decide(p, c).AppendJSON(nil)); after != before {
			t.Fatalf("got %s after the document changed, was %s", after, before)
		}
		if got := string(Canonical(p.Document())); got != canonical || string(p.Canonical()) != canonical {
			t.Fatalf("got the document %s, was %s", got, canonical)
		}
	})
}

func scribble(d Document) {
	for name, scope := range d.Scopes {
		for i := range scope.Tools {
			scope.Tools[i] = "scribbled"
		}
		for glob := range scope.Caps {
			scope.Caps[glob] = 1
		}
		delete(d.Scopes, name)
	}
	for name, rule := range d.Tools {
		*rule.Impact = 7
		delete(d.Tools, name)
	}
	for i := range d.Approvals.Rules {
		rule := &d.Approvals.Rules[i]
		for j := range rule.Roles {
			rule.Roles[j] = "viewer"
		}
		if rule.When.ImpactAtLeast != nil {
			*rule.When.ImpactAtLeast = 7
		}
		if rule.When.External != nil {
			*rule.When.External = !*rule.When.External
		}
		for j := range rule.When.Tools {
			rule.When.Tools[j] = "scribbled"
		}
		rule.ID = "scribbled"
	}
	for i := range d.KillSwitches {
		d.KillSwitches[i] = "*"
	}
	for name := range d.Intents {
		d.Intents[name] = 7
	}
}

func TestR45_IntentsAreARegistry(t *testing.T) {
	p := edited(t, func(d *Document) { d.Intents["draft"] = 50 })
	if rank, ok := p.RankOf("draft"); !ok || rank != 50 {
		t.Errorf("draft: got %d and %v, want 50", rank, ok)
	}
	if _, ok := p.RankOf("admin"); ok {
		t.Error("admin: got a rank, want none")
	}
	for rank, want := range map[Rank]string{0: "observe", 50: "draft", 100: "operate", 150: "150", 200: "override"} {
		if got := p.NameOf(rank); got != want {
			t.Errorf("rank %d: got %s, want %s", rank, got, want)
		}
	}
	c := callOf(Tool{Name: "file.x", Impact: 50})
	if d := Decide(p, c); d.ImpactName != "draft" {
		t.Errorf("got impact name %s, want draft", d.ImpactName)
	}
}
