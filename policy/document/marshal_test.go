package document

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"sluice/policy"
)

// first is what a first start writes for its owner to read and edit.
const first = `version: 1
intents:
  observe: 0
  operate: 100
  override: 200
scopes:
  default:
    tools: [sysinfo, disk_usage, net_info, process_list, env_list, "file.*", "git.*", compute, shell]
    caps:
      shell: operate
tools:
  file.delete:
    impact: override
approvals:
  self: allowed
  rules:
    - id: A1
      when:
        impact_at_least: override
      per: call
      quorum: 1
      roles: [approver]
      expires_s: 86400
kill_switches: []
# reserved: conditions, flows, models, guards, waivers, budgets
`

func TestP16_FirstStartGolden(t *testing.T) {
	if got := string(Marshal(policy.Default())); got != first {
		t.Errorf("got:\n%s\nwant:\n%s", got, first)
	}
	if got := parsed(t, first); !reflect.DeepEqual(got, policy.Default()) {
		t.Errorf("got %+v, want the default", got)
	}
}

func drawName(t *rapid.T) string {
	return rapid.OneOf(rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9_.-]{0,8}`),
		rapid.SampledFrom([]string{"true", "no", "null", "NaN", "y", "1", "1e3", "0x1f", "2026-01-01", "a"})).Draw(t, "name")
}

func drawGlobs(t *rapid.T) []string {
	glob := rapid.OneOf(rapid.Map(rapid.Custom(drawName), func(name string) string { return name + "*" }), rapid.Custom(drawName),
		rapid.SampledFrom([]string{"*", "-", "#a", "a:b", "&x", "%z", "@w", "<<", "=", "~", ",", "a,b", "|", ">", ":"}))
	return rapid.SliceOfNDistinct(glob, 0, 4, rapid.ID[string]).Draw(t, "globs")
}

func drawRank(t *rapid.T) policy.Rank {
	return policy.Rank(rapid.IntRange(0, 200).Draw(t, "rank"))
}

func drawRule(t *rapid.T) policy.ApprovalRule {
	var rule policy.ApprovalRule
	if rapid.Bool().Draw(t, "has impact") {
		rank := drawRank(t)
		rule.When.ImpactAtLeast = &rank
	}
	if rapid.Bool().Draw(t, "has external") {
		external := rapid.Bool().Draw(t, "external")
		rule.When.External = &external
	}
	if globs := drawGlobs(t); len(globs) > 0 {
		rule.When.Tools = globs
	}
	rule.Per = rapid.SampledFrom([]string{"", "call"}).Draw(t, "per")
	rule.Quorum = rapid.IntRange(0, 100).Draw(t, "quorum")
	rule.ExpiresS = int64(rapid.IntRange(0, 2_592_000).Draw(t, "expires"))
	if rapid.Bool().Draw(t, "has roles") {
		rule.Roles = []string{"approver", "admin"}
	}
	return rule
}

func drawDocument(t *rapid.T) policy.Document {
	d := policy.Document{Version: 1}
	if rapid.Bool().Draw(t, "has intents") {
		d.Intents = map[string]policy.Rank{"observe": 0, "operate": 100, "override": 200, "yes": 50, "null": 60}
	}
	if rapid.Bool().Draw(t, "has scopes") {
		d.Scopes = map[string]policy.Scope{}
		for range rapid.IntRange(0, 3).Draw(t, "scopes") {
			scope := policy.Scope{}
			if rapid.Bool().Draw(t, "has tools") {
				scope.Tools = append([]string{}, drawGlobs(t)...)
			}
			if rapid.Bool().Draw(t, "has caps") {
				scope.Caps = map[string]policy.Rank{}
				for _, glob := range drawGlobs(t) {
					scope.Caps[glob] = drawRank(t)
				}
			}
			d.Scopes[drawName(t)] = scope
		}
	}
	if rapid.Bool().Draw(t, "has overrides") {
		d.Tools = map[string]policy.ToolRule{}
		for _, glob := range drawGlobs(t) {
			rank := drawRank(t)
			reason := rapid.OneOf(rapid.StringMatching(`[ -~äß–€"\\':#{}]{0,12}`), rapid.SampledFrom([]string{"", " ", "true", "\U0001F600", "'"})).Draw(t, "reason")
			d.Tools[glob] = policy.ToolRule{Impact: &rank, Reason: reason}
		}
	}
	for i := range max(0, rapid.IntRange(-2, 2).Draw(t, "clearance")) {
		url := rapid.SampledFrom([]string{"https://a.example/clear?x=1&y=%20", "http://127.0.0.1:9/", "http://[::1]:9", "http://localhost"}).Draw(t, "url")
		d.Clearance = append(d.Clearance, policy.ClearanceRule{ID: "C" + string(rune('0'+i)), When: drawRule(t).When, URL: url,
			TimeoutS: rapid.IntRange(0, 30).Draw(t, "timeout")})
	}
	d.Approvals.Self = rapid.SampledFrom([]string{"", "allowed", "denied"}).Draw(t, "self")
	if rapid.Bool().Draw(t, "has rules") {
		d.Approvals.Rules = []policy.ApprovalRule{}
		for i := range rapid.IntRange(0, 3).Draw(t, "rules") {
			rule := drawRule(t)
			rule.ID = "R" + string(rune('0'+i))
			d.Approvals.Rules = append(d.Approvals.Rules, rule)
		}
	}
	if rapid.Bool().Draw(t, "has switches") {
		d.KillSwitches = append([]string{}, drawGlobs(t)...)
	}
	return d
}

// TestP16_DocumentsReadBack: what Marshal writes, Parse reads, whatever words
// YAML might take for something else.
func TestP16_DocumentsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawDocument(t)
		if _, err := policy.Compile(want); err != nil {
			t.Fatalf("compile: %v", err)
		}
		got, problems := Parse(Marshal(want))
		if len(problems) > 0 {
			t.Fatalf("got %+v\nfrom\n%s", problems, Marshal(want))
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v\nfrom\n%s", got, want, Marshal(want))
		}
		if string(Canonical(got)) != string(policy.Canonical(want)) {
			t.Fatal("the canonical bytes differ")
		}
	})
}
