package policy

import (
	"slices"
	"testing"
)

// second is one second in µs, the unit of times in a Call.
const second = 1_000_000

// noon is the time of the calls in these tests.
const noon = int64(1_700_000_000) * second

func compiled(t testing.TB, d Document) *Policy {
	t.Helper()
	p, err := Compile(d)
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return p
}

// edited is the default policy after a change.
func edited(t testing.TB, change func(*Document)) *Policy {
	t.Helper()
	d := Default()
	change(&d)
	return compiled(t, d)
}

// withRules is the default policy with exactly these approval rules; none means
// that nothing asks, which is not the same as the defaults of P17.
func withRules(t testing.TB, self string, rules ...ApprovalRule) *Policy {
	t.Helper()
	return edited(t, func(d *Document) {
		d.Approvals = Approvals{Self: self, Rules: append([]ApprovalRule{}, rules...)}
	})
}

func rankOf(r Rank) *Rank { return &r }

func truth(b bool) *bool { return &b }

// callOf is a complete call of a known tool in the default scope, by user:1 at
// override.
func callOf(tool Tool) Call {
	return Call{
		Run: "r_1", Node: "a", Attempt: 1, Tool: tool, Known: true,
		Params: []Param{
			{Name: "content", Value: []byte(`"hello"`), Labels: []Label{LabelUser}, Source: "plan:/steps/0/params/content"},
			{Name: "path", Value: []byte(`"notes.txt"`), Labels: []Label{LabelConstant, LabelUser}, Source: "plan:/steps/0/params/path"},
		},
		Intent: Override, Scopes: []string{"default"}, Requester: "user:1", Key: "k_1", At: noon,
	}
}

func reader() Tool    { return Tool{Name: "sysinfo", Effect: Read} }
func writer() Tool    { return Tool{Name: "file.write", Effect: Idempotent, Impact: Operate} }
func deleter() Tool   { return Tool{Name: "file.delete", Effect: Once, Impact: Override} }
func messenger() Tool { return Tool{Name: "git.send", Effect: Once, Impact: Operate, External: true} }

// approved adds an approval of the call by the given people, valid an hour.
func approved(c Call, people ...string) Call {
	expires := c.At + 3600*second
	c.Held = append(slices.Clone(c.Held), Approval{ID: "a_1", Hash: Binding(c, expires), ExpiresAt: expires, Approvers: people})
	return c
}

// cleared is an authority's answer to a rule about exactly this call.
func cleared(c Call, rule string, isAllowed bool) Clearance {
	return Clearance{Rule: rule, URL: "https://a.example", Hash: ClearanceBinding(c), Allow: isAllowed, LatencyMS: 12}
}

func wantOutcome(t *testing.T, d Decision, outcome Outcome, stage string, rules ...string) {
	t.Helper()
	if d.Outcome != outcome || d.Stage != stage || !slices.Equal(d.Rules, rules) {
		t.Errorf("got %s at %q by %v (%q), want %s at %q by %v", d.Outcome, d.Stage, d.Rules, d.Reasons, outcome, stage, rules)
	}
	if hasAsks := len(d.Asks) > 0; hasAsks != (outcome == Ask) {
		t.Errorf("got asks %v with outcome %s", d.Asks, d.Outcome)
	}
	if d.Rules == nil || d.Reasons == nil || d.Asks == nil {
		t.Errorf("got a nil list in %+v, want none", d)
	}
}
