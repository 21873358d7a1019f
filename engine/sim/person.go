package sim

import (
	"strconv"

	"sluice/engine"
)

// tellPeople lets people know of what waits for them; each answers in time of
// their own, or never.
func (w *World) tellPeople() {
	for _, a := range w.State.Approvals() {
		if a.Result != "" {
			continue
		}
		for k := range 3 { // up to three people look at it
			who := strconv.Itoa(k + 2)
			key := a.ID + " " + who
			if w.asked[key] || w.draw(5, "ignore", key) == 0 {
				continue
			}
			w.asked[key] = true
			w.answer(a, who)
		}
	}
	w.reviewPlan()
	for _, q := range w.State.Questions() {
		key := "question " + q.Node + "#" + strconv.Itoa(q.Attempt)
		if w.asked[key] || w.draw(6, key) == 0 {
			continue // nobody looks: it expires (R74)
		}
		w.asked[key] = true
		in := &engine.Attest{Head: engine.Head{Actor: "user:2"}, Node: q.Node, Attempt: q.Attempt, Outcome: w.truth(q)}
		w.later("word", key, 3_600_000, in)
	}
}

func (w *World) answer(a engine.ApprovalView, who string) {
	in := &engine.Decide{Head: engine.Head{Actor: "user:" + who}, Approval: a.ID, Hash: a.Hash, Verdict: engine.Approve, Roles: []string{"approver"}}
	if w.draw(6, "verdict", a.ID, who) == 0 {
		in.Verdict, in.Reason = engine.Reject, "no"
	}
	w.later("decision", a.ID+" "+who, 7_200_000, in)
}

// truth is what a person finds who looks whether the effect happened; now and
// then they give the step up instead.
func (w *World) truth(q engine.Question) string {
	switch {
	case w.drawAttempt(8, "abort", q.Node, q.Attempt) == 0:
		return "abort"
	case w.Effects[q.Node] > 0:
		return "done"
	}
	return "not_done"
}

// later gives an input after a drawn time of at most so many milliseconds.
func (w *World) later(what, key string, msMax int, in engine.Input) {
	w.agenda.plan(w.now+int64(1+w.draw(msMax, what, key))*ms, func() { w.input(in) })
}

// planOperators draws what happens to the run from outside, whatever it does.
func (w *World) planOperators() {
	if w.draw(8, "cancels") == 0 {
		w.later("cancel", "", 3_000, &engine.Cancel{Head: engine.Head{Actor: requester}, Reason: "enough"})
	}
	if w.draw(5, "pauses") == 0 {
		w.later("pause", "", 2_000, &engine.Pause{Head: engine.Head{Actor: requester}})
		w.agenda.plan(w.now+int64(2_000+w.draw(9_000, "resume"))*ms, func() {
			w.input(&engine.Resume{Head: engine.Head{Actor: requester}})
		})
	}
	if w.draw(6, "policy") == 0 {
		at := w.now + int64(1+w.draw(2_000, "publish"))*ms
		w.agenda.plan(at, func() {
			w.Env.Current = w.policies.Strict
			w.input(&engine.PolicyChanged{Head: engine.Head{Actor: "user:9"}, Policy: w.policies.Strict})
		})
	}
}
