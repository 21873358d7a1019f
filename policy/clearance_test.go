package policy

import (
	"slices"
	"strings"
	"testing"
)

// withClearance is the default policy with these clearance rules and no
// approval rule.
func withClearance(t testing.TB, rules ...ClearanceRule) *Policy {
	t.Helper()
	return edited(t, func(d *Document) {
		d.Clearance = rules
		d.Approvals = Approvals{Rules: []ApprovalRule{}}
	})
}

func clearanceOf(id string, tools ...string) ClearanceRule {
	return ClearanceRule{ID: id, When: When{Tools: tools}, URL: "https://a.example"}
}

func TestR47_NothingIsAllowedWithoutTheAnswer(t *testing.T) {
	p := withClearance(t, clearanceOf("C1", "file.*"))
	c := callOf(writer())
	d := Decide(p, c)
	if d.Outcome != Ask || d.Stage != StageClearance || len(d.Asks) != 0 {
		t.Fatalf("got %+v, want an ask at clearance without people", d)
	}
	if want := []ClearFor{{Rule: "C1", URL: "https://a.example", TimeoutS: 5}}; !slices.Equal(d.Clear, want) {
		t.Errorf("got %+v, want %+v", d.Clear, want)
	}
	if g, _ := Authorise(p, p, c); g.Valid() {
		t.Error("a grant was minted without the authority's answer")
	}
	if d := Decide(p, callOf(reader())); d.Outcome != Allow || d.Clear != nil {
		t.Errorf("a call that no rule matches got %+v", d)
	}
}

func TestR47_OnlyAllAllowsMint(t *testing.T) {
	p := withClearance(t, clearanceOf("C1", "file.*"), clearanceOf("C2"))
	c := callOf(writer())
	yes1, yes2, no2 := cleared(c, "C1", true), cleared(c, "C2", true), cleared(c, "C2", false)
	elsewhere := yes2
	elsewhere.URL = "https://b.example"
	cases := []struct {
		name    string
		held    []Clearance
		outcome Outcome
	}{
		{"none", nil, Ask}, {"one of two", []Clearance{yes1}, Ask}, {"both", []Clearance{yes1, yes2}, Allow},
		{"one denies", []Clearance{yes1, no2}, Deny}, {"the other is open", []Clearance{no2}, Deny},
		{"both answers to one rule", []Clearance{yes1, yes2, no2}, Deny},
		{"the answer of another authority", []Clearance{yes1, elsewhere}, Ask},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c.Cleared = tc.held
			g, d := Authorise(p, p, c)
			if d.Outcome != tc.outcome || g.Valid() != (tc.outcome == Allow) {
				t.Errorf("got %s at %q (%q), grant %v, want %s", d.Outcome, d.Stage, d.Reasons, g.Valid(), tc.outcome)
			}
			if (len(d.Clear) > 0) != (tc.outcome == Ask) {
				t.Errorf("got %+v still to be asked", d.Clear)
			}
		})
	}
}

// TestR47_AYesServesOneAttempt: of this call, this attempt, with these values.
func TestR47_AYesServesOneAttempt(t *testing.T) {
	p := withClearance(t, clearanceOf("C1"))
	c := callOf(writer())
	c.Cleared = []Clearance{cleared(c, "C1", true)}
	if d := Decide(p, c); d.Outcome != Allow {
		t.Fatalf("got %+v, want allow", d)
	}
	for name, change := range map[string]func(*Call){
		"a retry":       func(c *Call) { c.Attempt++ },
		"another run":   func(c *Call) { c.Run = "r_2" },
		"another node":  func(c *Call) { c.Node = "b" },
		"another tool":  func(c *Call) { c.Tool.Name = "file.patch" },
		"another value": func(c *Call) { c.Params = []Param{{Name: "path", Value: []byte(`"x"`)}} },
		"another key":   func(c *Call) { c.Key = "k_2" },
	} {
		t.Run(name, func(t *testing.T) {
			other := c
			change(&other)
			if d := Decide(p, other); d.Outcome != Ask || d.Stage != StageClearance {
				t.Errorf("got %s at %q, want to be asked again", d.Outcome, d.Stage)
			}
		})
	}
}

// TestR43_ClearanceIsNotReachedAfterADenial: scope and impact cost nothing, an
// authority does.
func TestR43_ClearanceIsNotReachedAfterADenial(t *testing.T) {
	p := withClearance(t, clearanceOf("C1"))
	for name, change := range map[string]func(*Call){
		"scope": func(c *Call) { c.Scopes = nil }, "impact": func(c *Call) { c.Intent = Observe }, "unknown tool": func(c *Call) { c.Known = false },
	} {
		t.Run(name, func(t *testing.T) {
			c := callOf(writer())
			change(&c)
			if d := Decide(p, c); d.Outcome != Deny || d.Stage == StageClearance || len(d.Clear) > 0 || slices.Contains(d.Rules, "C1") {
				t.Errorf("got %+v, want a denial that asks no authority", d)
			}
		})
	}
}

// TestP19_ClearanceOfBothPolicies: what either policy wants is asked, once where
// both want the same.
func TestP19_ClearanceOfBothPolicies(t *testing.T) {
	slow := clearanceOf("C1")
	slow.TimeoutS = 9
	pinned := withClearance(t, slow)
	moved := ClearanceRule{ID: "C1", URL: "https://b.example"}
	current := withClearance(t, clearanceOf("C1"), clearanceOf("C2"))
	c := callOf(writer())
	_, d := Authorise(pinned, current, c)
	want := []ClearFor{{"C1", "https://a.example", 5}, {"C2", "https://a.example", 5}}
	if !slices.Equal(d.Clear, want) || d.Stage != StageClearance {
		t.Errorf("got %+v at %q, want %+v", d.Clear, d.Stage, want)
	}
	if _, d := Authorise(pinned, withClearance(t, moved), c); len(d.Clear) != 2 {
		t.Errorf("got %+v, want the rule of both places", d.Clear)
	}
	c.Cleared = []Clearance{cleared(c, "C1", true)}
	if g, d := Authorise(pinned, current, c); g.Valid() || len(d.Clear) != 1 {
		t.Errorf("got %+v, want C2 still to be asked", d)
	}
	asking := edited(t, func(d *Document) { d.Approvals = Approvals{Rules: []ApprovalRule{{ID: "A1"}}} })
	if _, d := Authorise(asking, current, callOf(writer())); d.Stage != StageClearance || len(d.Asks) == 0 {
		t.Errorf("got %+v, want clearance first and people after it", d)
	}
}

func TestR47_ReasonsAreTheAuthoritysOwnWords(t *testing.T) {
	p := withClearance(t, clearanceOf("C1"))
	c := callOf(writer())
	no := cleared(c, "C1", false)
	no.Reason = "outside of office hours"
	c.Cleared = []Clearance{no}
	if text := strings.Join(Decide(p, c).Reasons, " "); text != "Rule C1: a.example denied the call. It says: outside of office hours" {
		t.Errorf("got %q", text)
	}
	no.Reason, no.Failure = "", "deadline"
	c.Cleared = []Clearance{no}
	if text := strings.Join(Decide(p, c).Reasons, " "); !strings.Contains(text, "no usable answer (deadline)") {
		t.Errorf("got %q", text)
	}
}

func TestR47_RefusedClearanceRules(t *testing.T) {
	cases := []struct {
		name    string
		rule    ClearanceRule
		pointer string
		says    string
	}{
		{"no id", ClearanceRule{URL: "https://a.example"}, "/id", "no id"},
		{"an id of the gate", ClearanceRule{ID: "scope", URL: "https://a.example"}, "/id", "of the gate itself"},
		{"an id of an approval rule", ClearanceRule{ID: "A1", URL: "https://a.example"}, "", ""},
		{"no address", ClearanceRule{ID: "C1"}, "/url", "names no authority"},
		{"http elsewhere", clearanceAt("http://a.example"), "/url", "this machine only"},
		{"http to a name like this machine's", clearanceAt("http://localhost.a.example"), "/url", "this machine only"},
		{"http to every address", clearanceAt("http://0.0.0.0/"), "/url", "this machine only"},
		{"file", clearanceAt("file:///etc/passwd"), "/url", "not an address"},
		{"ftp", clearanceAt("ftp://a.example"), "/url", "not https"},
		{"opaque", clearanceAt("https:a.example"), "/url", "not an address"},
		{"no host", clearanceAt("https:///x"), "/url", "not an address"},
		{"user", clearanceAt("https://me:pw@a.example"), "/url", "user or password"},
		{"fragment", clearanceAt("https://a.example/#x"), "/url", "fragment"},
		{"space", clearanceAt("https://a.example/ x"), "/url", "not an address"},
		{"port", clearanceAt("https://a.example:99999"), "/url", "not an address"},
		{"too long", clearanceAt("https://a.example/" + strings.Repeat("x", URLBytesMax)), "/url", "longer"},
		{"too slow", ClearanceRule{ID: "C1", URL: "https://a.example", TimeoutS: 31}, "/timeout_s", "1 to 30"},
		{"negative time", ClearanceRule{ID: "C1", URL: "https://a.example", TimeoutS: -1}, "/timeout_s", "1 to 30"},
		{"no tools", ClearanceRule{ID: "C1", URL: "https://a.example", When: When{Tools: []string{}}}, "/when/tools", "never ask"},
		{"rank", ClearanceRule{ID: "C1", URL: "https://a.example", When: When{ImpactAtLeast: rankOf(300)}}, "/when/impact_at_least", "not on the scale"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			d := Default()
			d.Clearance = []ClearanceRule{tc.rule}
			issues := Check(d)
			if tc.pointer == "" { // the approval rule comes second and is told
				if len(issues) != 1 || issues[0].Pointer != "/approvals/rules/0/id" {
					t.Errorf("got %v", issues)
				}
				return
			}
			if len(issues) != 1 || issues[0].Pointer != "/clearance/0"+tc.pointer || !strings.Contains(issues[0].Message, tc.says) {
				t.Errorf("got %v, want one at %s that says %q", issues, tc.pointer, tc.says)
			}
		})
	}
	d := Default()
	for i := range ClearanceMax + 1 {
		d.Clearance = append(d.Clearance, clearanceOf("C"+string(rune('a'+i))))
	}
	if issues := Check(d); len(issues) != 1 || issues[0].Pointer != "/clearance" {
		t.Errorf("got %v, want the limit named", issues)
	}
}

func clearanceAt(address string) ClearanceRule { return ClearanceRule{ID: "C1", URL: address} }

func TestR47_LoopbackMayBePlain(t *testing.T) {
	for _, address := range []string{"http://localhost:9", "http://127.0.0.1", "http://127.9.9.9:80/x", "http://[::1]:8/y?z=1", "https://a.example:8443/clear"} {
		d := Default()
		d.Clearance = []ClearanceRule{clearanceAt(address)}
		if issues := Check(d); len(issues) > 0 {
			t.Errorf("%s: got %v", address, issues)
		}
	}
}

func TestR47_RulesWithoutAToolAreFound(t *testing.T) {
	d := Default()
	d.Clearance = []ClearanceRule{clearanceOf("C1", "mail.sned"), clearanceOf("C2", "file.*"), clearanceOf("C3")}
	issues := CheckAgainst(d, []Tool{reader(), writer(), deleter()})
	if len(issues) != 1 || issues[0].Pointer != "/clearance/0/when/tools" {
		t.Errorf("got %v, want the misspelt rule", issues)
	}
}

// TestR47_WithoutClearanceTheHashIsTheSame: a new section changes no policy
// that does not use it.
func TestR47_WithoutClearanceTheHashIsTheSame(t *testing.T) {
	d := Default()
	d.Clearance = []ClearanceRule{}
	if compiled(t, d).Hash() != compiled(t, Default()).Hash() {
		t.Error("an empty list has another hash than none")
	}
	d.Clearance = []ClearanceRule{clearanceOf("C1")}
	p := compiled(t, d)
	loaded, err := Load(p.Canonical())
	if err != nil || loaded.Hash() != p.Hash() {
		t.Fatalf("got %v, want it to read back", err)
	}
	if !strings.Contains(string(p.Canonical()), `"clearance":[{"id":"C1","timeout_s":5,"url":"https://a.example","when":{}}]`) {
		t.Errorf("got %s", p.Canonical())
	}
}
