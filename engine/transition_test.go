package engine

import (
	"slices"
	"testing"
)

// table is §4 of the requirements as amended by P4, written down a second time:
// from → to → rules.
func table() map[NodeState]map[NodeState][]string {
	const (
		pe, re, ru, wa, bl, fr = NodePending, NodeReady, NodeRunning, NodeWaiting, NodeBlocked, NodeRetryable
		ex, fa, ca, sk         = NodeExecuted, NodeFailed, NodeCancelled, NodeSkipped
	)
	return map[NodeState]map[NodeState][]string{
		pe: {re: {"T1"}, bl: {"T6"}, ca: {"T14"}, fa: {"T15"}, sk: {"T13", "T17"}},
		re: {ru: {"T2"}, wa: {"T3"}, bl: {"T6"}, sk: {"T13"}, ca: {"T14"}, fa: {"T16"}},
		wa: {pe: {"T4"}, ca: {"T5", "T14"}, sk: {"T13"}, ex: {"T19"}},
		bl: {pe: {"T7"}, sk: {"T13"}, ca: {"T14"}, fa: {"T16"}},
		ru: {ex: {"T8"}, fr: {"T9"}, fa: {"T10"}, sk: {"T13"}, ca: {"T14"}, wa: {"T18"}},
		fr: {pe: {"T11"}, fa: {"T12"}, sk: {"T13"}, ca: {"T14"}},
	}
}

func tableRules(from, to NodeState) []string { return table()[from][to] }

func TestR14_TransitionTableIsExhaustive(t *testing.T) {
	pairs := 0
	for from := nodeState(0); from < stateCount; from++ {
		for to := nodeState(0); to < stateCount; to++ {
			pairs++
			got, want := rule(from, to), tableRules(from.name(), to.name())
			switch {
			case len(want) == 0 && got != "":
				t.Errorf("%s → %s is %s, want no such transition", from.name(), to.name(), got)
			case len(want) > 0 && !slices.Contains(want, got):
				t.Errorf("%s → %s is %q, want one of %v", from.name(), to.name(), got, want)
			}
		}
	}
	if pairs != 100 {
		t.Errorf("checked %d pairs, want 10 × 10", pairs)
	}
}

func TestR14_TerminalStatesHaveNoExit(t *testing.T) {
	terminal := []NodeState{NodeExecuted, NodeFailed, NodeCancelled, NodeSkipped}
	for st := nodeState(0); st < stateCount; st++ {
		if got, want := st.terminal(), slices.Contains(terminal, st.name()); got != want {
			t.Errorf("%s terminal %v, want %v", st.name(), got, want)
		}
		if stateNamed(st.name()) != st {
			t.Errorf("state %d does not keep its name %s", st, st.name())
		}
	}
}

// A move outside the table is a broken invariant: it changes nothing and ends
// the run, never the process (P6).
func TestP6_ForbiddenMoveEndsTheRunAsFault(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"b","tool":"look","params":{"x":1},"depends_on":["a"]}`)
	r.done("a", `{"v":1}`)
	r.s.move(0, pending, "")
	r.wantState("a", NodeExecuted)
	r.done("b", `{"v":1}`)
	r.wantCode(InternalFault, "no transition from executed to pending")
}
