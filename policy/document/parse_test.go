package document

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sluice/policy"
)

// shipped is the example of P16, word for word.
const shipped = `version: 1
intents: {observe: 0, operate: 100, override: 200}
scopes: {default: {tools: [sysinfo, disk_usage, net_info, process_list, env_list, "file.*", "git.*", compute, shell], caps: {shell: operate}}}
tools: {file.delete: {impact: override}}
approvals:
  self: allowed          # written at first start: single-operator install; absent = denied
  rules: [{id: A1, when: {impact_at_least: override}, per: call, quorum: 1, roles: [approver], expires_s: 86400}]
kill_switches: []
# reserved: conditions, flows, models, guards, waivers, budgets
`

func parsed(t *testing.T, text string) policy.Document {
	t.Helper()
	d, problems := Parse([]byte(text))
	if len(problems) > 0 {
		t.Fatalf("parse: %+v", problems)
	}
	return d
}

func TestP16_TheExampleIsTheDefault(t *testing.T) {
	if got, want := parsed(t, shipped), policy.Default(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestP16_RanksByNameAndByNumber(t *testing.T) {
	d := parsed(t, `
scopes: {s: {tools: [a], caps: {a: draft, b: 150, c: 0}}}
approvals: {rules: [{id: R, when: {impact_at_least: draft, external: false, tools: ["a*"]}}]}
tools: {a: {impact: 7, reason: "x: y # z"}}
intents: {observe: 0, operate: 100, override: 200, draft: 50}
version: 1`)
	if caps := d.Scopes["s"].Caps; caps["a"] != 50 || caps["b"] != 150 || caps["c"] != 0 {
		t.Errorf("got caps %v, want a: 50, b: 150, c: 0", caps)
	}
	rule := d.Approvals.Rules[0]
	if *rule.When.ImpactAtLeast != 50 || *rule.When.External || rule.When.Tools[0] != "a*" {
		t.Errorf("got %+v, want draft, not external, a*", rule.When)
	}
	if tool := d.Tools["a"]; *tool.Impact != 7 || tool.Reason != "x: y # z" {
		t.Errorf("got %+v, want impact 7 with its reason", tool)
	}
}

func TestP17_AbsentRulesAreNotAnEmptyList(t *testing.T) {
	if rules := parsed(t, "version: 1\napprovals: {self: denied}").Approvals.Rules; rules != nil {
		t.Errorf("absent: got %v, want nil", rules)
	}
	if rules := parsed(t, "version: 1\napprovals: {rules: []}").Approvals.Rules; rules == nil || len(rules) != 0 {
		t.Errorf("empty: got %v, want an empty list", rules)
	}
}

// TestP16_ProblemsHavePlaces: every mistake is found at its line and column.
func TestP16_ProblemsHavePlaces(t *testing.T) {
	cases := []struct{ name, text, line, pointer, says string }{
		{"empty", "", "1:1", "", "is empty"},
		{"only a comment", "# nothing\n", "1:1", "", "is empty"},
		{"a list", "- 1\n", "1:1", "", "A map is needed"},
		{"null", "~\n", "1:1", "", "A map is needed"},
		{"no version", "kill_switches: []\n", "1:1", "/version", "states no version"},
		{"another version", "\nversion: 2\n", "2:10", "/version", "Version 2 is not known"},
		{"version as text", "version: \"1\"\n", "1:10", "/version", "whole number"},
		{"version as fraction", "version: 1.0\n", "1:10", "/version", "whole number"},
		{"unknown key", "version: 1\nscope: {}\n", "2:1", "/scope", `"scope" is not known here`},
		{"unknown key inside", "version: 1\nscopes:\n  s:\n    tool: [a]\n", "4:5", "/scopes/s/tool", "Use caps, tools"},
		{"unknown key of a rule", "version: 1\napprovals:\n  rules:\n    - id: A\n      quorom: 2\n", "5:7", "/approvals/rules/0/quorom", "quorum"},
		{"unknown key of when", "version: 1\napprovals: {rules: [{id: A, when: {impact: 1}}]}\n", "2:36", "/approvals/rules/0/when/impact", "impact_at_least"},
		{"key in another case", "Version: 1\nversion: 1\n", "1:1", "/Version", "not known"},
		{"duplicate key", "version: 1\nkill_switches: []\nversion: 1\n", "3:1", "/version", "already on line 1"},
		{"duplicate scope", "version: 1\nscopes:\n  s: {}\n  s: {}\n", "4:3", "/scopes/s", "already on line 3"},
		{"duplicate cap", "version: 1\nscopes: {s: {caps: {a: 1, a: 2}}}\n", "2:27", "/scopes/s/caps/a", "already on line 2"},
		{"key that is a number", "version: 1\nscopes: {s: {caps: {1: 1}}}\n", "2:21", "/scopes/s/caps", "Put quotes"},
		{"key that is a list", "version: 1\n? [a]\n: 1\n", "2:3", "", "a list"},
		{"merge key", "version: 1\n<<: {}\n", "2:1", "", "a merge key"},
		{"anchor", "version: 1\nscopes: {s: &x {}}\n", "2:13", "/scopes/s", `Remove "&x"`},
		{"alias of nothing", "version: 1\nkill_switches: [*all]\n", "2:17", "", "put quotes around a pattern"},
		{"star without quotes", "version: 1\nkill_switches:\n  - a\n  - *\n", "4:3", "", "a pattern that starts with * needs quotes"},
		{"tag", "version: !!int 1\n", "1:10", "/version", `Remove "!!int"`},
		{"own tag", "version: 1\ntools: !x {}\n", "2:8", "/tools", `Remove "!x"`},
		{"two documents", "version: 1\n---\nversion: 1\n", "2:1", "", "second document"},
		{"bracket left open", "version: 1\nkill_switches: [a, b\n", "2:1", "", "not YAML"},
		{"bad indentation", "version: 1\nscopes:\n  a: {}\n b: {}\n", "4:2", "", "not YAML"},
		{"tab", "version: 1\nscopes:\n\ta: {}\n", "3:1", "", "not YAML"},
		{"quote left open", "version: 1\ntools: {a: {reason: 'x}}\n", "2:1", "", "not YAML"},
		{"not UTF-8", "version: 1\ntools: {a: \xff}\n", "2:12", "", "not UTF-8"},
		{"a control sign", "version: 1\ntools: \x01\n", "2:1", "", "not YAML"},
		{"null section", "version: 1\nscopes:\n", "2:8", "/scopes", "empty"},
		{"null rules", "version: 1\napprovals:\n  rules:\n", "3:9", "/approvals/rules", "Write [a, b], or []"},
		{"a text for a list", "version: 1\nkill_switches: a\n", "2:16", "/kill_switches", "A list is needed"},
		{"a number for a tool", "version: 1\nkill_switches: [a, 12]\n", "2:20", "/kill_switches/1", `the number "12"`},
		{"a list for a tool", "version: 1\nkill_switches: [[a]]\n", "2:17", "/kill_switches/0", "a list"},
		{"an empty tool", "version: 1\nkill_switches: ['']\n", "2:17", "/kill_switches/0", "empty"},
		{"a bad pattern", "version: 1\nkill_switches: [a, 'b?']\n", "2:20", "/kill_switches/1", "Patterns know only *"},
		{"unknown rank", "version: 1\nscopes:\n  s:\n    caps: {a: admin}\n", "4:15", "/scopes/s/caps/a", "observe, operate, override or a number"},
		{"rank as octal", "version: 1\nscopes: {s: {caps: {a: 0o14}}}\n", "2:24", "/scopes/s/caps/a", "whole number"},
		{"rank with underscore", "version: 1\nscopes: {s: {caps: {a: 1_00}}}\n", "2:24", "/scopes/s/caps/a", "whole number"},
		{"rank as hex", "version: 1\nscopes: {s: {caps: {a: 0x64}}}\n", "2:24", "/scopes/s/caps/a", "whole number"},
		{"rank off the scale", "version: 1\nscopes: {s: {caps: {a: 201}}}\n", "2:21", "/scopes/s/caps/a", "not on the scale"},
		{"rank as truth", "version: 1\ntools: {a: {impact: true}}\n", "2:21", "/tools/a/impact", "true or false"},
		{"intent by name", "version: 1\nintents: {observe: zero, operate: 100, override: 200}\n", "2:20", "/intents/observe", "whole number"},
		{"intent missing", "version: 1\nintents: {observe: 0, operate: 100}\n", "2:10", "/intents", "Add override: 200"},
		{"override of nothing", "version: 1\ntools:\n  a: {reason: x}\n", "3:3", "/tools/a", "states no impact"},
		{"self", "version: 1\napprovals: {self: maybe}\n", "2:19", "/approvals/self", "allowed or denied"},
		{"self as truth", "version: 1\napprovals: {self: true}\n", "2:19", "/approvals/self", "A text is needed"},
		{"rule without id", "version: 1\napprovals: {rules: [{per: call}]}\n", "2:21", "/approvals/rules/0/id", "has no id"},
		{"quorum of nobody", "version: 1\napprovals: {rules: [{id: A, quorum: 0}]}\n", "2:37", "/approvals/rules/0/quorum", "1 or more"},
		{"quorum below nobody", "version: 1\napprovals: {rules: [{id: A, quorum: -2}]}\n", "2:37", "/approvals/rules/0/quorum", "1 or more"},
		{"expired at once", "version: 1\napprovals: {rules: [{id: A, expires_s: 0}]}\n", "2:40", "/approvals/rules/0/expires_s", "1 or more"},
		{"valid too long", "version: 1\napprovals: {rules: [{id: A, expires_s: 2592001}]}\n", "2:40", "/approvals/rules/0/expires_s", "2592000"},
		{"a huge number", "version: 1\napprovals: {rules: [{id: A, expires_s: 99999999999999999999}]}\n", "2:40", "/approvals/rules/0/expires_s", "whole number"},
		{"per plan", "version: 1\napprovals: {rules: [{id: A, per: plan}]}\n", "2:34", "/approvals/rules/0/per", "not yet available"},
		{"per nothing", "version: 1\napprovals: {rules: [{id: A, per: ''}]}\n", "2:34", "/approvals/rules/0/per", "A text is needed"},
		{"unknown role", "version: 1\napprovals: {rules: [{id: A, roles: [boss]}]}\n", "2:37", "/approvals/rules/0/roles/0", "boss is not a role"},
		{"no roles", "version: 1\napprovals: {rules: [{id: A, roles: []}]}\n", "2:36", "/approvals/rules/0/roles", "No role is named"},
		{"external as text", "version: 1\napprovals: {rules: [{id: A, when: {external: \"true\"}}]}\n", "2:46", "/approvals/rules/0/when/external", "true or false is needed"},
		{"a name with a slash", "version: 1\nscopes: {a/b: {tool: 1}}\n", "2:16", "/scopes/a~1b/tool", "not known"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d, problems := Parse([]byte(tc.text))
			if !reflect.DeepEqual(d, policy.Document{}) {
				t.Errorf("got a document beside problems: %+v", d)
			}
			if len(problems) != 1 {
				t.Fatalf("got %+v, want one problem", problems)
			}
			p := problems[0]
			if at := fmt.Sprintf("%d:%d", p.Line, p.Col); at != tc.line || p.Pointer != tc.pointer || !strings.Contains(p.Message, tc.says) {
				t.Errorf("got %s %q %q, want %s %q with %q", at, p.Pointer, p.Message, tc.line, tc.pointer, tc.says)
			}
		})
	}
}

func TestP16_ReservedKeysAreNotYetAvailable(t *testing.T) {
	for _, key := range []string{"conditions", "flows", "models", "guards", "waivers", "budgets"} {
		_, problems := Parse([]byte("version: 1\n" + key + ": []\n"))
		if len(problems) != 1 || problems[0].Line != 2 || problems[0].Pointer != "/"+key || !strings.Contains(problems[0].Message, "reserved, not yet available") {
			t.Errorf("%s: got %+v, want it refused as reserved", key, problems)
		}
	}
}

// TestP16_EveryProblemIsReported: mistakes of the text and of the policy
// together, in the order of the text, each once.
func TestP16_EveryProblemIsReported(t *testing.T) {
	_, problems := Parse([]byte(`version: 3
scopes:
  s:
    tools: ["a?", 3, b, "c d"]
    cap: {}
approvals:
  rules:
    - id: A
      quorum: 0
      per: plan
      roles: boss
kill_switches: [x, "y["]
flows: {}
`))
	got := []string{}
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d:%d%s", p.Line, p.Col, p.Pointer))
	}
	want := []string{"1:10/version", "4:13/scopes/s/tools/0", "4:19/scopes/s/tools/1", "4:25/scopes/s/tools/3", "5:5/scopes/s/cap",
		"9:15/approvals/rules/0/quorum", "10:12/approvals/rules/0/per", "11:14/approvals/rules/0/roles", "12:20/kill_switches/1", "13:1/flows"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
