package engine

import (
	"errors"
	"testing"

	"sluice/engine/plan"
)

// review lets a person do one of the things a plan waits for.
func (w *walk) review(t checker) {
	if len(w.performed()) > 0 {
		t.Fatalf("something was dispatched under review\n%s", w.log())
	}
	switch w.d.pick("review", 6) {
	case 0, 1:
		c, doc := w.plan(t, 8)
		version := w.s.run.version
		same := c.Hash == w.s.plan.Hash
		w.must(t, &Replace{Head: w.head(), Plan: c, PlanDoc: []byte(doc), Base: w.s.plan.Hash})
		if !same && w.s.run.version != version+1 {
			t.Fatalf("the plan was not replaced\n%s", w.log())
		}
	case 2:
		w.tick(t, w.s.reviewEnds())
	default:
		w.must(t, &Start{Head: w.head()})
		if w.s.held() {
			t.Fatalf("the run was not started\n%s", w.log())
		}
	}
}

func (w *walk) performed() map[string]int { return w.starts }

// reviewed is a run that stands at its plan.
func reviewed(t *testing.T, list ...string) *rig {
	t.Helper()
	r := newRig(t, testEnv(t, nil))
	in := r.create(steps(list...))
	in.Review = ReviewPlan
	r.must(in)
	return r
}

func (r *rig) replace(base, doc string) *Replace {
	return &Replace{Head: r.head(requester), Plan: compiled(r.t, r.env, doc), PlanDoc: []byte(doc), Base: base}
}

func TestP3_ReviewedPlanWaitsAndNothingRuns(t *testing.T) {
	r := reviewed(t, `{"id":"a","tool":"look"}`)
	r.now += 3600 * 10 * second // far beyond the wall clock
	r.must(&Pause{Head: r.head(requester)})
	r.must(&Resume{Head: r.head(requester)})
	sum := Summarise(r.s)
	if sum.Status != Waiting || !sum.Review || r.performs() != "" || sum.Budget["wall_clock_ms"].Spent != 0 {
		t.Fatalf("got status %s, review %v, calls %q, %+v, want one that waits for free", sum.Status, sum.Review, r.performs(), sum.Budget)
	}
	r.must(&Start{Head: r.head("user:2")})
	if sum := Summarise(r.s); r.performs() != "a#1" || sum.Review || sum.Status != Active {
		t.Errorf("got calls %q, %+v after the start, want a#1", r.performs(), sum)
	}
	r.done("a", `{"v":1}`)
	r.conclude()
	r.wantCode(Success)
}

func TestR57_EditedPlanIsTheNextVersion(t *testing.T) {
	r := reviewed(t, `{"id":"a","tool":"look","params":{"n":1}}`, `{"id":"b","tool":"sum"}`)
	doc := steps(`{"id":"c","tool":"look"}`, `{"id":"a","tool":"look","params":{"n":2},"depends_on":["c"]}`)
	facts := r.must(r.replace(r.s.Plan().Hash, doc))
	if len(facts) != 2 || facts[0].Kind != InputReplace || facts[1].Kind != VersionAdded || facts[1].Actor != requester {
		t.Fatalf("got %+v, want the input and then the version by the person", facts)
	}
	d, err := readData(VersionAdded, facts[1].Data)
	v, ok := d.(*versionData)
	if err != nil || !ok {
		t.Fatal(err)
	}
	if v.Version != 2 || v.Parent != 1 || v.Cause != "edit" || v.By != requester ||
		len(v.Added) != 1 || v.Added[0] != "c" || v.Removed[0] != "b" || v.Changed[0] != "a" {
		t.Errorf("got %+v, want version 2 of 1 with c added, b removed, a changed", v)
	}
	r.must(&Start{Head: r.head(requester)})
	if r.performs() != "c#1" {
		t.Errorf("got calls %q, want c first", r.performs())
	}
	if a, b := digest(r.s), digest(fold(r.env, "r_1", r.facts)); a != b {
		t.Errorf("the fold differs: %s", firstDifference(a, b))
	}
}

func TestP41_ReviewRefusesWhatItMust(t *testing.T) {
	r := reviewed(t, `{"id":"a","tool":"look"}`)
	first := r.s.Plan().Hash
	r.must(r.replace(first, steps(`{"id":"b","tool":"look"}`)))
	other := steps(`{"id":"c","tool":"look"}`)
	byToken := r.replace(r.s.Plan().Hash, other)
	byToken.Actor = "token:1"
	for name, c := range map[string]struct {
		in   Input
		want string
	}{
		"stale base":       {r.replace(first, other), "conflict"},
		"the same plan":    {r.replace(r.s.Plan().Hash, steps(`{"id":"b","tool":"look"}`)), "invalid"},
		"no plan":          {&Replace{Head: r.head(requester), Base: r.s.Plan().Hash}, "invalid"},
		"a token replaces": {byToken, "denied"},
		"a token starts":   {&Start{Head: r.head("token:1")}, "denied"},
		"an unseen plan":   {&Start{Head: r.head(requester), Base: first}, "conflict"},
	} {
		if _, err := r.step(c.in); refusalCode(err) != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	_, err := r.step(r.replace(first, other))
	var stale *Refusal
	if !errors.As(err, &stale) || stale.Who != requester || stale.At == 0 {
		t.Errorf("got %+v, want who changed it and when", err)
	}
	r.must(&Start{Head: r.head("user:2"), Base: r.s.Plan().Hash})
	_, err = r.step(&Start{Head: r.head(requester)})
	if !errors.As(err, &stale) || stale.Code != "conflict" || stale.Who != "user:2" {
		t.Errorf("got %+v for a second start, want a conflict that names user:2", err)
	}
	plain := begin(t, nil, `{"id":"a","tool":"look"}`)
	if _, err := plain.step(&Start{Head: plain.head(requester)}); refusalCode(err) != "conflict" {
		t.Errorf("got %v for a run without review, want a conflict", err)
	}
}

func TestR74_PlanThatNobodyStartsIsGivenUp(t *testing.T) {
	r := reviewed(t, `{"id":"a","tool":"look"}`)
	at, ok := r.s.Deadline()
	if !ok || at != startUS+reviewTTL.Microseconds() {
		t.Fatalf("got deadline %d %v, want a day", at, ok)
	}
	r.must(&Timer{Head: Head{At: at, Actor: "system"}})
	r.wantCode(ConfirmRequired, "review")
	r.wantState("a", NodeCancelled)
}

func TestR60_ReviewSurvivesSnapshotAndFold(t *testing.T) {
	r := reviewed(t, `{"id":"a","tool":"look"}`)
	r.must(r.replace(r.s.Plan().Hash, steps(`{"id":"b","tool":"look"}`)))
	back, problem := snapshotProblem(r.s)
	if problem != "" {
		t.Fatal(problem)
	}
	back.SetEnv(r.env)
	r.s = back
	if cmds, _ := Outstanding(r.s); len(cmds) != 0 || !r.s.Reviewing() {
		t.Fatalf("got commands %v, reviewing %v after a restart", cmds, r.s.Reviewing())
	}
	r.must(&Start{Head: r.head(requester)})
	if r.performs() != "b#1" {
		t.Errorf("got calls %q, want b#1", r.performs())
	}
}

func TestP12_PlannersPlanIsReviewedToo(t *testing.T) {
	r := newRig(t, testEnv(t, nil))
	in := r.create("")
	in.Review = ReviewPlan
	r.must(in)
	made, _ := plan.Parse([]byte(steps(`{"id":"a","tool":"look"}`)))
	r.must(&Planned{Head: r.head("system"), Attempt: 1, By: "builtin", Author: plan.Builtin, Plan: made})
	if !r.s.Reviewing() || r.performs() != "" {
		t.Fatalf("reviewing %v, calls %q, want a stop at the plan", r.s.Reviewing(), r.performs())
	}
	r.must(&Cancel{Head: r.head(requester)})
	r.wantCode(UserCancel, "cancelled by "+requester)
}
