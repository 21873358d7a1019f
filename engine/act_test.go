package engine

import (
	"fmt"
	"slices"
	"strings"

	"sluice/policy"
)

// chaos gives one random input of any kind, sensible or not.
func (w *walk) chaos(t checker) {
	switch w.d.pick("chaos", 16) {
	case 0:
		w.must(t, &Pause{Head: w.head()})
	case 1, 2:
		w.must(t, &Resume{Head: w.head()})
	case 3:
		w.env.Current = []*policy.Policy{w.loose, w.tight}[w.d.pick("policy", 2)]
		w.must(t, &PolicyChanged{Head: w.head(), Policy: w.env.Current})
	case 4:
		if oneIn(w.d, "cancel", 4) {
			w.must(t, &Cancel{Head: w.head()})
		}
	case 5:
		w.late(t)
	case 6:
		w.restart(t)
	case 7:
		w.nonsense(t)
	case 8:
		w.must(t, &Timer{Head: w.head()})
	default:
		w.progress(t)
	}
}

// late sends a result again: it must become an orphan and change nothing (R15).
func (w *walk) late(t checker) {
	if len(w.retired) == 0 {
		return
	}
	again := *w.retired[w.d.pick("late", len(w.retired))]
	again.At = w.now
	n, _ := w.s.at(again.Node)
	if n.state == running && n.attempt == again.Attempt {
		return
	}
	before := nodesDigest(w.s)
	count := len(w.facts)
	w.must(t, &again)
	if after := nodesDigest(w.s); after != before || len(w.facts) != count+1 || w.facts[count].Kind != InputOrphan {
		t.Fatalf("a late result was committed (R15): %s\n%s", firstDifference(before, after), w.log())
	}
}

func nodesDigest(s *State) string {
	var b strings.Builder
	for i := range s.nodes {
		digestNode(&b, s.plan.Steps[i].ID, s.nodes[i])
	}
	return b.String()
}

// nonsense must be refused; input checks that nothing changed.
func (w *walk) nonsense(t checker) {
	inputs := []Input{
		&Create{Head: w.head(), Run: "r_1", Goal: "again", Mode: "reflect"},
		&AttemptDone{Head: w.head(), Node: "nobody", Attempt: 1},
		&AttemptDone{Head: w.head(), Node: "s0", Attempt: 99},
		&Decide{Head: w.head(), Approval: "a_none", Verdict: Approve},
		&Attest{Head: w.head(), Node: "s0", Attempt: 99, Outcome: "done"},
		&OutcomeUnknown{Head: w.head(), Node: PlannerNode, Attempt: 1},
		&Withdrawn{Head: w.head(), Node: "s0", Attempt: 99},
		&Planned{Head: w.head(), Attempt: 99},
		&Sketched{Head: w.head(), Attempt: 99, Step: []byte(`{"id":"late","tool":"look"}`)},
		&Concluded{Head: w.head(), Attempt: 99},
		&PolicyChanged{Head: w.head()},
		&Cleared{Head: w.head(), Node: "s0", Attempt: 99, Rule: "C1", Allow: true},
		&Start{Head: Head{At: w.now, Actor: "token:1"}},
		&Replace{Head: w.head(), Plan: w.s.plan, Base: "sha256:other"},
	}
	in := inputs[w.d.pick("nonsense", len(inputs))]
	count := len(w.facts)
	w.must(t, in)
	if len(w.facts) != count {
		t.Fatalf("nonsense %T was taken\n%s", in, w.log())
	}
}

// restart drops the State and folds it again, as a new process would (P45).
func (w *walk) restart(t checker) {
	w.s = fold(w.env, "r_1", w.facts)
	for _, u := range Unresolved(w.s) {
		u.Head = w.head()
		w.must(t, &u)
	}
	_, withdrawn := Outstanding(w.s)
	for _, x := range withdrawn {
		x.Head = w.head()
		w.must(t, &x)
	}
	w.must(t, &Timer{Head: w.head()})
}

// progress lets one of the things happen that the run waits for.
func (w *walk) progress(t checker) {
	var can []func()
	for _, v := range w.s.Nodes() {
		switch {
		case v.State == NodeRunning:
			can = append(can, func() { w.finish(t, v) })
		case v.Unknown:
			can = append(can, func() { w.attest(t, v) })
		case v.State == NodeBlocked:
			can = append(can, func() { w.clear(t, v) })
		}
	}
	for _, a := range w.s.Approvals() {
		if a.Result == "" {
			can = append(can, func() { w.decide(t, a) })
		}
	}
	if w.s.reviewing() {
		can = append(can, func() { w.review(t) })
	}
	if at, ok := w.s.Deadline(); ok && (len(can) == 0 || w.s.count[retryable] > 0 || w.s.controlWaits()) {
		can = append(can, func() { w.tick(t, at) })
	}
	if len(can) > 0 {
		can[w.d.pick("progress", len(can))]()
	}
}

// tick jumps to a deadline: something must then be due.
func (w *walk) tick(t checker, at int64) {
	w.now = max(w.now, at)
	count := len(w.facts)
	w.must(t, &Timer{Head: Head{At: w.now, Actor: "system"}})
	if len(w.facts) == count {
		t.Fatalf("nothing was due at the deadline %d\n%s", at, w.log())
	}
}

func (w *walk) finish(t checker, v NodeView) {
	switch v.Kind {
	case KindReflection:
		w.conclude(t, v)
		return
	case KindPlanner:
		w.propose(t, v)
		return
	}
	done := &AttemptDone{Head: w.head(), Node: v.ID, Attempt: v.Attempt}
	outcomes := []func(){
		func() { done.Output = fmt.Appendf(nil, `{"v": %d, "w":1}`, w.d.pick("v", 3)) },
		func() { done.Output = fmt.Appendf(nil, `{"v":%d}`, w.d.pick("v", 3)) },
		func() { done.Output = fmt.Appendf(nil, `{"v":%d,"w":"<x\u2028\xff>"}`, w.d.pick("v", 3)) }, // not UTF-8
		func() { done.Output = []byte(`{"other":1}`) },                                              // misses its contract
		func() { done.Class = ClassTransient },
		func() { done.Class, done.Unsent = ClassTransient, true },
		func() { done.Class, done.Detail = ClassTimeout, "slow \xff" },
		func() {
			done.Class = []Class{ClassInvalid, ClassNotFound, ClassConflict, ClassUnavailable, ClassStopped, "odd"}[w.d.pick("class", 6)]
		},
		func() {
			done.Output, done.Blob = []byte(`{"v":1}`), &Blob{SHA256: "00", Size: 70000, Type: "application/json", Head: "{", Tail: "}"}
		},
	}
	outcomes[max(0, w.d.pick("outcome", len(outcomes)+6)-6)]()
	w.retired = append(w.retired, done)
	w.must(t, done)
}

// clear lets one of the authorities that a node waits for answer, or none.
func (w *walk) clear(t checker, v NodeView) {
	want := v.Clearing[w.d.pick("authority", len(v.Clearing))]
	in := &Cleared{Head: w.head(), Node: v.ID, Attempt: v.Attempt + 1, Rule: want.Rule, URL: want.URL, Allow: true, LatencyMS: 3, Nonce: "\xff"}
	switch w.d.pick("clearance", 8) {
	case 0:
		in.Allow, in.Reason = false, "no \xff"
	case 1:
		in.Allow, in.Failure = false, "status"
	case 2:
		if at, ok := w.s.Deadline(); ok {
			w.tick(t, at)
		}
		return
	}
	count := len(w.facts)
	w.must(t, in)
	if len(w.facts) == count {
		t.Fatalf("the answer %+v was not taken\n%s", in, w.log())
	}
}

func (w *walk) attest(t checker, v NodeView) {
	outcome := []string{"done", "not_done", "abort"}[w.d.pick("word", 3)]
	if w.notDone[v.ID] > 1 {
		outcome = "done"
	}
	if outcome == "not_done" {
		w.notDone[v.ID]++
	}
	w.must(t, &Attest{Head: w.head(), Node: v.ID, Attempt: v.Attempt, Outcome: outcome, Note: "n\xff"})
	if n, _ := w.s.Node(v.ID); n.Unknown && n.Attempt == v.Attempt {
		t.Fatalf("the word on %s was not taken\n%s", v.ID, w.log())
	}
}

func (w *walk) decide(t checker, a ApprovalView) {
	who := fmt.Sprintf("user:%d", 1+len(a.Approvers))
	in := &Decide{Head: w.head(), Approval: a.ID, Hash: a.Hash, Verdict: Approve, Roles: []string{"approver"}}
	in.Actor = who
	switch w.d.pick("verdict", 6) {
	case 0:
		in.Verdict, in.Reason = Reject, "no"
	case 1:
		w.tick(t, a.ExpiresAt+1)
		return
	}
	w.must(t, in)
	now := w.s.Approvals()[slices.IndexFunc(w.s.Approvals(), func(b ApprovalView) bool { return b.ID == a.ID })]
	if now.At != w.s.Now() && w.now <= a.ExpiresAt {
		t.Fatalf("the verdict on %s was not taken\n%s", a.ID, w.log())
	}
}
