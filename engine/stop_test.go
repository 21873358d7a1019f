package engine

import (
	"strings"
	"testing"
)

// P7, P5: what a cancel cut off. A read is cancelled; whether a once effect
// happened nobody knows.
func TestP7_StoppedAttempts(t *testing.T) {
	r := begin(t, nil, `{"id":"read","tool":"look"}`, `{"id":"same","tool":"write"}`, `{"id":"once","tool":"patch"}`)
	r.must(&Cancel{Head: r.head(requester)})
	for _, id := range []string{"read", "same"} {
		r.fail(id, ClassStopped)
		if v := r.node(id); v.State != NodeCancelled || v.Cause != "cancel" {
			t.Errorf("%s is %s because of %q, want cancelled because of cancel", id, v.State, v.Cause)
		}
	}
	r.fail("once", ClassStopped)
	if v := r.node("once"); v.State != NodeWaiting || !v.Unknown {
		t.Errorf("once is %s, want a question to a person", v.State)
	}
	if got := r.s.Status(); got != Waiting {
		t.Errorf("status %s, want waiting", got)
	}
	r.must(&Attest{Head: r.head("user:2"), Node: "once", Attempt: 1, Outcome: "done"})
	r.wantState("once", NodeExecuted)
	r.wantCode(UserCancel, "cancelled by user:1")
}

// A stop that nobody asked for is a failure of the tool.
func TestP7_StoppedWithoutAHaltIsAFailure(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"b","tool":"look","params":{"n":1}}`)
	r.fail("a", ClassStopped)
	r.done("b", `{"v":1}`)
	r.conclude()
	r.wantCode(PartialSuccess, "failed:stopped")
}

// P45: a once effect is never among what is owed after a restart.
func TestP45_OutstandingNeverRepeatsAOnceEffect(t *testing.T) {
	r := begin(t, nil, `{"id":"read","tool":"look"}`, `{"id":"same","tool":"write"}`, `{"id":"once","tool":"patch"}`)
	s := fold(r.env, "r_1", r.facts)
	commands, withdrawn := Outstanding(s)
	var ids []string
	for _, c := range commands {
		ids = append(ids, c.CommandID())
	}
	if got, want := strings.Join(ids, " "), "read#1 same#1"; got != want || len(withdrawn) != 0 {
		t.Errorf("owed %s and withdrawn %v, want %s", got, withdrawn, want)
	}
	if list := Unresolved(s); len(list) != 1 || list[0].Node != "once" || list[0].Attempt != 1 {
		t.Errorf("unresolved %+v, want once#1", list)
	}
}

// R25: retries that come due together are granted in plan order.
func TestR25_RetriesAreGrantedInPlanOrder(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"b","tool":"look","params":{"n":1}}`, `{"id":"c","tool":"look","params":{"n":2}}`)
	for _, id := range []string{"c", "a", "b"} {
		r.fail(id, ClassTransient)
	}
	r.now += second
	facts := r.must(&Timer{Head: r.head("system")})
	var order []string
	for _, f := range facts {
		if f.Kind == NodeChanged || f.Kind == AttemptStarted {
			order = append(order, f.Node)
		}
	}
	if got, want := strings.Join(order, " "), "a b c a b c"; got != want {
		t.Errorf("granted and started %s, want %s", got, want)
	}
}

// The cause of a missing value is why its step did not execute, not what else
// went wrong before the reader (R22).
func TestR22_CauseOfAMissingValue(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"denied","tool":"hidden"}`,
		`{"id":"never","tool":"look","params":{"n":1},"guard":{"ref":{"step":"a","field":"v"},"op":"eq","value":2}}`,
		`{"id":"reader","tool":"look","depends_on":["denied"],"join":"all_done","param_refs":{"x":{"step":"never","field":"v"}}}`,
		`{"id":"other","tool":"look","join":"all_done","param_refs":{"x":{"step":"denied","field":"v"}}}`)
	r.done("a", `{"v":1}`)
	for id, want := range map[string]string{"reader": "failed:invalid", "other": "gate"} {
		if v := r.node(id); v.State != NodeFailed || v.Cause != want {
			t.Errorf("%s is %s because of %q, want failed because of %q", id, v.State, v.Cause, want)
		}
	}
}
