package policy

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func drawReach(t *rapid.T) reach {
	return reach{isGranted: rapid.Bool().Draw(t, "granted"), isUnknown: rapid.Bool().Draw(t, "unknown"), limit: drawRank(t)}
}

// TestR44_MergeIsAnAlgebra: several scopes merge by union of tools and minimum
// of caps, whatever their order and grouping.
func TestR44_MergeIsAnAlgebra(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawReach(t), drawReach(t), drawReach(t)
		if a.merge(b) != b.merge(a) {
			t.Fatalf("not commutative: %+v and %+v", a, b)
		}
		if a.merge(b).merge(c) != a.merge(b.merge(c)) {
			t.Fatalf("not associative: %+v, %+v, %+v", a, b, c)
		}
		if a.merge(a) != a {
			t.Fatalf("not idempotent: %+v", a)
		}
		if a.merge(nothing()) != a {
			t.Fatalf("nothing is not neutral: %+v", a)
		}
	})
}

// TestR44_ScopesByDefinition compares a merged reach with the definition: the
// union of the tools and the lowest of the matching caps of the named scopes.
func TestR44_ScopesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := Document{Version: 1, Scopes: drawScopes(t)}
		names, tool := drawScopeNames(t), drawTool(t)
		want := nothing()
		for _, name := range names {
			scope, ok := doc.Scopes[name]
			want.isUnknown = want.isUnknown || !ok
			for _, glob := range scope.Tools {
				want.isGranted = want.isGranted || naiveMatch(glob, tool)
			}
			for glob, limit := range scope.Caps {
				if naiveMatch(glob, tool) {
					want.limit = min(want.limit, limit)
				}
			}
		}
		p := mustCompile(t, doc)
		if got := p.reach(names, tool); got != want {
			t.Fatalf("got %+v, want %+v for %s in %v", got, want, tool, names)
		}
		if got := p.InScope(names, tool); got != (want.isGranted && !want.isUnknown) {
			t.Fatalf("InScope: got %v for %+v", got, want)
		}
	})
}

// naiveMatch is the definition of a glob: a star stands for any text.
func naiveMatch(glob, name string) bool {
	if glob == "" {
		return name == ""
	}
	if glob[0] != '*' {
		return name != "" && name[0] == glob[0] && naiveMatch(glob[1:], name[1:])
	}
	return naiveMatch(glob[1:], name) || name != "" && naiveMatch(glob, name[1:])
}

func TestP16_GlobsKnowOnlyTheStar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringMatching(`[ab.*]{0,8}`).Draw(t, "glob")
		name := rapid.StringMatching(`[ab.]{0,8}`).Draw(t, "name")
		g := newGlob(glob)
		if got, want := g.match(name), naiveMatch(glob, name); got != want {
			t.Fatalf("%q against %q: got %v, want %v", glob, name, got, want)
		}
	})
}

// TestR44_MonotoneInScopes: one more scope grants at least as many tools and
// never raises a cap; order and repetition do not show in the decision.
func TestR44_MonotoneInScopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := mustCompile(t, drawDocument(t))
		c := drawCall(t)
		before := p.reach(c.Scopes, c.Tool.Name)
		after := p.reach(append(c.Scopes[:len(c.Scopes):len(c.Scopes)], "s1"), c.Tool.Name)
		if before.isGranted && !after.isGranted || after.limit > before.limit {
			t.Fatalf("one more scope: got %+v, was %+v", after, before)
		}
		reversed := c
		reversed.Scopes = nil
		for i := len(c.Scopes) - 1; i >= 0; i-- {
			reversed.Scopes = append(reversed.Scopes, c.Scopes[i])
		}
		a, b := Decide(p, c), Decide(p, reversed)
		if a.Outcome != b.Outcome || a.Stage != b.Stage || a.Limit != b.Limit {
			t.Fatalf("scopes reversed: got %s/%s/%d, was %s/%s/%d", b.Outcome, b.Stage, b.Limit, a.Outcome, a.Stage, a.Limit)
		}
	})
}

func TestR44_DefaultDeny(t *testing.T) {
	p := compiled(t, Default())
	cases := []struct {
		name   string
		scopes []string
		tool   string
		says   string
	}{
		{"no scope", nil, "sysinfo", "No scope is given"},
		{"a tool of no scope", []string{"default"}, "mail.send", "mail.send is not in the scope default."},
		{"an unknown scope", []string{"ops"}, "sysinfo", "no scope ops"},
		{"an unknown scope beside a good one", []string{"default", "ops"}, "sysinfo", "no scope ops"},
		{"several scopes without it", []string{"default", "default"}, "mail.send", "none of the scopes default, default"},
		{"a name that only starts alike", []string{"default"}, "sysinfo2", "not in the scope"},
		{"a name without the dot", []string{"default"}, "filewrite", "not in the scope"},
		{"an empty name", []string{"default"}, "", "not in the scope"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := callOf(Tool{Name: tc.tool, Impact: Operate})
			c.Scopes = tc.scopes
			d := Decide(p, c)
			wantOutcome(t, d, Deny, StageScope, RuleScope)
			if d.Impact != Operate || !strings.Contains(strings.Join(d.Reasons, " "), tc.says) {
				t.Errorf("got impact %d and %q, want 100 (P37) and %q", d.Impact, d.Reasons, tc.says)
			}
		})
	}
}

// TestR44_CapsOfAnotherScopeHold: a cap holds wherever its glob matches, also
// for a tool that only another scope grants.
func TestR44_CapsOfAnotherScopeHold(t *testing.T) {
	p := compiled(t, Document{Version: 1, Approvals: Approvals{Rules: []ApprovalRule{}}, Scopes: map[string]Scope{
		"wide":   {Tools: []string{"file.*"}},
		"narrow": {Tools: []string{"sysinfo"}, Caps: map[string]Rank{"file.*": Observe, "file.write": 50}},
	}})
	c := callOf(writer())
	c.Scopes = []string{"wide"}
	wantOutcome(t, Decide(p, c), Allow, "")
	c.Scopes = []string{"wide", "narrow"}
	d := Decide(p, c)
	wantOutcome(t, d, Deny, StageImpact, RuleImpact)
	if d.Limit != Observe || !strings.Contains(d.Reasons[0], "scope narrow sets for file.*") {
		t.Errorf("got limit %d and %q, want 0 by the tightest cap", d.Limit, d.Reasons)
	}
}
