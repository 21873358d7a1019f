package document

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/policy"
)

const commented = `# What our agents may do.
version: 1
intents: {observe: 0, operate: 100, override: 200}

# Who reaches what.
scopes:
  default: # everybody
    tools: [sysinfo, "file.*"]
    # shells are dangerous
    caps: {shell: operate}

tools:
  file.delete: {impact: override} # gone is gone
approvals:
  self: allowed
  rules:
    # the usual
    - {id: A1, when: {impact_at_least: override}, per: call}

# Stopped tools.
kill_switches: []
# the end
`

func edited(t *testing.T, text string, err error, out []byte, want ...string) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := Parse(out); len(problems) > 0 {
		t.Fatalf("got %+v in\n%s", problems, out)
	}
	for _, w := range want {
		if !strings.Contains(string(out), w) {
			t.Errorf("got\n%s\nwant %q in it", out, w)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if _, comment, found := strings.Cut(line, "#"); found && strings.Count(string(out), comment) != 1 {
			t.Errorf("got\n%s\nwant the comment %q once", out, comment)
		}
	}
	return string(out)
}

func TestP16_AnEditKeepsCommentsAndOtherSections(t *testing.T) {
	out, err := Set([]byte(commented), "/scopes/default/tools", []string{"sysinfo", "git.*"})
	got := edited(t, commented, err, out, `tools: [sysinfo, git.*]`)
	if !strings.HasPrefix(got, commented[:strings.Index(commented, "scopes:")]) || !strings.HasSuffix(got, commented[strings.Index(commented, "\ntools:"):]) {
		t.Errorf("got\n%s\nwant the other sections as they were", got)
	}
	out, err = Set([]byte(commented), "/kill_switches/-", "file.*")
	edited(t, commented, err, out, "kill_switches: [file.*]\n# the end\n")
	out, err = Set([]byte(commented), "/kill_switches/-", "*")
	edited(t, commented, err, out, "kill_switches: ['*']")
	out, err = Set([]byte(commented), "/approvals/rules/-", []Field{{"id", "B2"}, {"when", []Field{{"external", true}}}, {"quorum", 2}})
	edited(t, commented, err, out, "- id: B2\n")
	out, err = Rename([]byte(commented), "/tools/file.delete", "file.write")
	edited(t, commented, err, out, "file.write: {impact: override}")
	out, err = Set([]byte(commented), "/approvals/rules/0/when/tools", []string{"a", "b"})
	edited(t, commented, err, out, "when: {impact_at_least: override, tools: [a, b]}")
	out, err = Remove([]byte(commented), "/scopes/default/caps/shell")
	edited(t, "", err, out, "caps: {}")
	out, err = Remove([]byte(commented), "/approvals/self")
	edited(t, commented, err, out, "approvals:\n  rules:")
}

func TestP16_AnEditMakesWhatIsMissing(t *testing.T) {
	out, err := Set([]byte("version: 1"), "/kill_switches/-", "mail.send")
	edited(t, "", err, out, "version: 1\nkill_switches: [mail.send]\n")
	out, err = Set(out, "/approvals/rules/-", []Field{{"id", "A1"}})
	edited(t, "", err, out, "approvals:\n  rules:\n    - id: A1\n")
	out, err = Set(out, "/tools/file.write/impact", "override")
	edited(t, "", err, out, "tools:\n  file.write:\n    impact: override\n")
	out, err = Set([]byte("{version: 1, kill_switches: [a]}"), "/kill_switches/-", "b")
	edited(t, "", err, out, "{version: 1, kill_switches: [a, b]}")
	out, err = Set([]byte("version: 1\ntools:\nkill_switches:\n"), "/tools/x/impact", 150)
	if err != nil || !strings.Contains(string(out), "tools:\n  x:\n    impact: 150\n") {
		t.Errorf("got %s %v, want an empty section filled", out, err)
	}
}

func TestP16_AnImpossibleEditIsRefused(t *testing.T) {
	for pointer, want := range map[string]error{"": ErrNoPlace, "x": ErrNoPlace, "/version/a/b": ErrNoPlace, "/approvals/rules/9/id": ErrNoPlace,
		"/kill_switches/a": ErrNoPlace} {
		if out, err := Set([]byte(commented), pointer, "v"); !errors.Is(err, want) {
			t.Errorf("%q: got %s %v, want %v", pointer, out, err, want)
		}
	}
	if _, err := Set([]byte("a: ["), "/a", 1); !errors.Is(err, ErrNotYAML) {
		t.Errorf("got %v, want ErrNotYAML", err)
	}
	if _, err := Remove([]byte(commented), "/tools/none"); !errors.Is(err, ErrNoPlace) {
		t.Errorf("got %v, want ErrNoPlace", err)
	}
	if _, err := Rename([]byte(commented), "/intents/operate", "override"); !errors.Is(err, ErrKeyTaken) {
		t.Errorf("got %v, want ErrKeyTaken", err)
	}
}

func TestP16_TablesShowWhatIsWritten(t *testing.T) {
	tables, problem := TablesOf([]byte(strings.Replace(commented, "shell: operate", "shell: nobody", 1) + "clearance: [{id: C1, when: {tools: [a, b]}, url: x}]\nbudgets: {a: 1}\n"))
	if problem != nil {
		t.Fatal(problem)
	}
	if got := tables.Scopes[0]; got.Pointer != "/scopes/default" || got.Cells["tools"] != "sysinfo, file.*" || got.Cells["caps"] != "shell: nobody" || got.Line != 7 {
		t.Errorf("got %+v, want the scope as written", got)
	}
	if got := tables.Rules[0]; got.Key != "A1" || got.Cells["when/impact_at_least"] != "override" || got.Pointer != "/approvals/rules/0" {
		t.Errorf("got %+v, want the rule", got)
	}
	if got := tables.Clears[0]; got.Cells["when/tools"] != "a, b" || got.Pointer != "/clearance/0" {
		t.Errorf("got %+v, want the clearance rule", got)
	}
	if len(tables.Intents) != 3 || tables.Self != "allowed" || tables.NoRules || len(tables.Others) != 1 || tables.Others[0].Key != "budgets" {
		t.Errorf("got %+v, want all sections", tables)
	}
	if _, problem := TablesOf([]byte("a: [")); problem == nil {
		t.Error("got no problem of a broken text")
	}
	if tables, _ := TablesOf([]byte("version: 1\n")); !tables.NoRules {
		t.Error("got rules where there are none")
	}
}

// TestP16_EditsOfAnyDocumentMeanWhatTheySay: whatever the document, a switch
// added by an edit is the only thing that changes.
func TestP16_EditsOfAnyDocumentMeanWhatTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDocument(t)
		out, err := Set(Marshal(d), "/kill_switches/-", "zz.kill")
		if err != nil {
			t.Fatalf("%v\n%s", err, Marshal(d))
		}
		got, problems := Parse(out)
		d.KillSwitches = append(d.KillSwitches, "zz.kill")
		if len(problems) > 0 || string(Canonical(got)) != string(Canonical(d)) {
			t.Fatalf("got %+v\n%s\nfrom\n%s", problems, out, Marshal(d))
		}
	})
}

func TestP16_OverridesAreCheckedAgainstTheTools(t *testing.T) {
	tools := []policy.Tool{{Name: "mail.send", External: true, Impact: policy.Override}}
	text := "version: 1\ntools:\n  mail.send: {impact: 100}\n"
	if _, problems := Parse([]byte(text)); len(problems) != 0 {
		t.Errorf("got %+v without tools", problems)
	}
	_, problems := ParseFor([]byte(text), tools)
	if len(problems) != 1 || problems[0].Line != 3 || problems[0].Col != 23 {
		t.Errorf("got %+v, want line 3, column 23", problems)
	}
}
