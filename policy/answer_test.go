package policy

import "testing"

// TestP20_AnAnswerSaysWhoIsAsked: a change between people and authorities is a
// change, and it has a direction.
func TestP20_AnAnswerSaysWhoIsAsked(t *testing.T) {
	allow, deny := Answer{Outcome: Allow}, Answer{Outcome: Deny}
	person, authority := Answer{Outcome: Ask, Person: true}, Answer{Outcome: Ask, Authority: true}
	both := Answer{Outcome: Ask, Person: true, Authority: true}
	for _, tc := range []struct {
		from, to Answer
		want     Direction
	}{
		{allow, person, Tighter}, {allow, authority, Tighter}, {allow, deny, Tighter}, {person, deny, Tighter}, {person, both, Tighter}, {authority, both, Tighter},
		{deny, allow, Looser}, {both, authority, Looser}, {both, person, Looser}, {authority, allow, Looser}, {deny, authority, Looser},
		{person, authority, Otherwise}, {authority, person, Otherwise},
	} {
		if got := tc.from.Toward(tc.to); got != tc.want {
			t.Errorf("%s to %s: got %s, want %s", tc.from, tc.to, got, tc.want)
		}
	}
	for a, want := range map[Answer]string{allow: "allow", deny: "deny", person: "ask", authority: "clearance", both: "clearance + ask"} {
		if a.String() != want {
			t.Errorf("got %q, want %q", a, want)
		}
	}
}

func TestP20_OtherApproversAreNotTheSameAsks(t *testing.T) {
	one := &Decision{Outcome: Ask, Asks: []AskFor{{Rule: "A1", Per: "call", Quorum: 1, Roles: []string{"approver"}}}}
	two := &Decision{Outcome: Ask, Asks: []AskFor{{Rule: "A1", Per: "call", Quorum: 2, Roles: []string{"approver"}}}}
	named := &Decision{Outcome: Ask, Asks: []AskFor{{Rule: "B7", Per: "call", Quorum: 1, Roles: []string{"approver"}}}}
	if SameAsks(one, two) || !SameAsks(one, named) {
		t.Error("want another quorum to be another ask, and another name not")
	}
	here, there := &Decision{Clear: []ClearFor{{URL: "https://a"}}}, &Decision{Clear: []ClearFor{{URL: "https://b"}}}
	if SameAsks(here, there) || !SameAsks(here, &Decision{Clear: []ClearFor{{URL: "https://a"}}}) {
		t.Error("want another authority to be another ask")
	}
}
