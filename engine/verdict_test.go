package engine

import (
	"strings"
	"testing"

	"sluice/policy"
)

// waiting gives a run whose one step waits for a person.
func waitingRig(t *testing.T, change func(*policy.Document)) *rig {
	t.Helper()
	r := begin(t, change, `{"id":"x","tool":"erase","params":{"path":"a"}}`)
	r.wantState("x", NodeWaiting)
	return r
}

// wantRefused gives the input and wants it refused, with nothing changed.
func (r *rig) wantRefused(in Input, code, word string) {
	r.t.Helper()
	before := digest(r.s)
	facts, err := r.step(in)
	if err == nil || refusalCode(err) != code || !strings.Contains(err.Error(), word) {
		r.t.Errorf("%T: got %v, want %s with %q", in, err, code, word)
	}
	if err != nil && (err.(*Refusal).Fix == "" || len(facts) > 0) {
		r.t.Errorf("%T: refused without a fix, or with facts %v", in, facts)
	}
	if after := digest(r.s); after != before {
		r.t.Errorf("%T: refused, but the state changed: %s", in, firstDifference(before, after))
	}
}

func TestP23_VerdictNeedsTheHashThatWaits(t *testing.T) {
	r := waitingRig(t, nil)
	in := r.verdict("user:2", Approve, "")
	in.Hash = "sha256:" + strings.Repeat("0", 64)
	r.wantRefused(in, "conflict", "another call")
	in.Hash = ""
	r.wantRefused(in, "conflict", "another call")
	r.wantState("x", NodeWaiting)
}

func TestP23_RequesterMayDecideOnlyWhereThePolicySaysSo(t *testing.T) {
	denied := waitingRig(t, func(d *policy.Document) { d.Approvals.Self = "denied" })
	denied.wantRefused(denied.verdict(requester, Approve, ""), "denied", "requester")
	if err := denied.approve("user:2"); err != nil {
		t.Errorf("another person: %v", err)
	}
	denied.wantState("x", NodeRunning)
	allowed := waitingRig(t, nil)
	if err := allowed.approve(requester); err != nil {
		t.Errorf("self allowed: %v", err)
	}
	allowed.wantState("x", NodeRunning)
	absent := waitingRig(t, func(d *policy.Document) { d.Approvals.Self = "" })
	absent.wantRefused(absent.verdict(requester, Approve, ""), "denied", "requester")
}

func TestP23_OnlyPeopleDecide(t *testing.T) {
	r := waitingRig(t, nil)
	for _, actor := range []string{"token:1", "agent:1", "system", "model:planner", "tool:erase", "", "users:1"} {
		r.wantRefused(r.verdict(actor, Approve, ""), "denied", "people")
		r.wantRefused(r.verdict(actor, Reject, "no"), "denied", "people")
	}
}

func TestP23_DeciderNeedsTheRole(t *testing.T) {
	r := waitingRig(t, nil)
	in := r.verdict("user:2", Approve, "")
	in.Roles = []string{"viewer", "operator"}
	r.wantRefused(in, "denied", "A1 wants the role approver")
	in.Roles = nil
	r.wantRefused(in, "denied", "role")
	in.Roles = []string{"viewer", "approver"}
	r.must(in)
}

func TestP23_QuorumCountsDistinctPeople(t *testing.T) {
	r := begin(t, askFor("erase", 2), `{"id":"x","tool":"erase"}`)
	if err := r.approve("user:2"); err != nil {
		t.Fatal(err)
	}
	r.wantState("x", NodeWaiting)
	r.wantRefused(r.verdict("user:2", Approve, ""), "conflict", "already approved")
	if err := r.approve("user:3"); err != nil {
		t.Fatal(err)
	}
	r.wantState("x", NodeRunning)
	if a := r.s.Approvals()[0]; a.Result != Approved || strings.Join(a.Approvers, " ") != "user:2 user:3" {
		t.Errorf("approval %+v, want approved by two", a)
	}
}

// One denial is enough, whatever the quorum.
func TestP23_OneDenialEndsIt(t *testing.T) {
	r := begin(t, askFor("erase", 2), `{"id":"x","tool":"erase"}`)
	if err := r.approve("user:2"); err != nil {
		t.Fatal(err)
	}
	r.wantRefused(r.verdict("user:3", Reject, " \t"), "invalid", "reason")
	r.must(r.verdict("user:3", Reject, "not today"))
	r.wantState("x", NodeCancelled)
	r.conclude()
	r.wantCode(PermissionDenied, "rejected")
}

func TestP23_DecidedExpiredAndUnknownRequests(t *testing.T) {
	r := waitingRig(t, nil)
	in := r.verdict("user:2", Reject, "no")
	r.must(in)
	again := *in
	again.Head = r.head("user:3")
	r.wantRefused(&again, "conflict", "already denied")
	_, err := r.step(&again)
	if ref := err.(*Refusal); ref.Who != "user:2" || ref.At != in.At {
		t.Errorf("conflict names %q at %d, want user:2 at %d (P41)", ref.Who, ref.At, in.At)
	}
	late := waitingRig(t, nil)
	verdict := late.verdict("user:2", Approve, "")
	verdict.At = late.s.Approvals()[0].ExpiresAt + 1
	late.wantRefused(verdict, "conflict", "expired")
	verdict.At = late.s.Approvals()[0].ExpiresAt
	late.must(verdict)
	late.wantState("x", NodeRunning)
	none := waitingRig(t, nil).verdict("user:2", Approve, "")
	none.Approval = "a_other"
	late.wantRefused(none, "not_found", "a_other")
}

func TestP23_LimitsAndWords(t *testing.T) {
	r := waitingRig(t, nil)
	r.wantRefused(r.verdict("user:2", "maybe", ""), "invalid", "maybe")
	r.wantRefused(r.verdict("user:2", Reject, strings.Repeat("x", ReasonBytesMax+1)), "invalid", "4 KiB")
	r.must(r.verdict("user:2", Reject, strings.Repeat("x", ReasonBytesMax)))
}

// P21: the request is bound to run, node, tool, parameters, labels, key and expiry.
func TestP21_RequestIsBoundToTheCall(t *testing.T) {
	r := waitingRig(t, nil)
	a := r.s.Approvals()[0]
	params, _ := r.s.resolve(0)
	call := r.s.call(0, params)
	if want := policy.Binding(call, a.ExpiresAt); a.Hash != want {
		t.Errorf("hash %s, want the binding %s", a.Hash, want)
	}
	other := begin(t, nil, `{"id":"x","tool":"erase","params":{"path":"b"}}`).s.Approvals()[0]
	if other.Hash == a.Hash || other.ID != a.ID {
		t.Errorf("another parameter gives hash %s id %s; want another hash and the same derived id", other.Hash, other.ID)
	}
	if a.ExpiresAt != startUS+86400*second || a.Node != "x" || a.Attempt != 1 || a.RequestedAt != startUS {
		t.Errorf("request %+v", a)
	}
}

// P21: a retry with the same key within expiry needs no new approval.
func TestP21_RetryWithinExpiryKeepsTheApproval(t *testing.T) {
	r := begin(t, askFor("write", 1), `{"id":"w","tool":"write"}`)
	if err := r.approve("user:2"); err != nil {
		t.Fatal(err)
	}
	r.fail("w", ClassTransient)
	r.now += second
	r.must(&Timer{Head: r.head("system")})
	r.wantState("w", NodeRunning)
	if got := r.performs(); got != "w#1 w#2" || len(r.s.Approvals()) != 1 {
		t.Errorf("calls %s and %d requests, want both attempts on one", got, len(r.s.Approvals()))
	}
	r.fail("w", ClassTransient)
	r.now = r.s.Approvals()[0].ExpiresAt
	r.must(&Timer{Head: r.head("system")})
	r.wantState("w", NodeWaiting)
	if list := r.s.Approvals(); len(list) != 2 || list[1].ID == list[0].ID || list[1].Attempt != 3 {
		t.Errorf("requests %+v, want a second one for attempt 3", list)
	}
}

// R51: the plan's flag adds an ask where the policy has none.
func TestR51_PlanFlagAddsAnAsk(t *testing.T) {
	r := begin(t, noAsk, `{"id":"x","tool":"look","approval":true}`, `{"id":"y","tool":"look","params":{"n":1}}`)
	r.wantState("x", NodeWaiting)
	r.wantState("y", NodeRunning)
}
