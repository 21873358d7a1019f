package engine

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/policy"
)

// clearFor wants clearance of calls of a tool, by as many rules as ids are given.
func clearFor(tool string, ids ...string) func(*policy.Document) {
	return func(d *policy.Document) {
		for _, id := range ids {
			d.Clearance = append(d.Clearance, policy.ClearanceRule{ID: id, When: policy.When{Tools: []string{tool}},
				URL: "https://" + strings.ToLower(id) + ".example/clear", TimeoutS: 5})
		}
	}
}

func both(a, b func(*policy.Document)) func(*policy.Document) {
	return func(d *policy.Document) { a(d); b(d) }
}

// clears lists the questions that were commanded, in order.
func (r *rig) clears() []Clear {
	var list []Clear
	for _, c := range r.cmds {
		if clear, ok := c.(Clear); ok {
			list = append(list, clear)
		}
	}
	return list
}

// answer is what an authority says to the k-th question.
func (r *rig) answer(k int, isAllowed bool) *Cleared {
	r.t.Helper()
	list := r.clears()
	if k >= len(list) {
		r.t.Fatalf("%d questions, want number %d", len(list), k)
	}
	q := list[k]
	return &Cleared{Head: r.head("system"), Node: q.Node, Attempt: q.Attempt, Rule: q.Rule, URL: q.URL, Allow: isAllowed, LatencyMS: 12, Nonce: "n"}
}

func (r *rig) wantClears(n int) {
	r.t.Helper()
	if got := len(r.clears()); got != n {
		r.t.Fatalf("%d questions to authorities, want %d", got, n)
	}
}

func (r *rig) kinds(k Kind) int {
	n := 0
	for i := range r.facts {
		if r.facts[i].Kind == k {
			n++
		}
	}
	return n
}

const writeStep = `{"id":"w","tool":"write","params":{"n":1}}`

func TestR47_AnAllowLetsTheCallGo(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep)
	r.wantState("w", NodeBlocked)
	r.wantClears(1)
	q := r.clears()[0]
	if q.Tool != "write" || string(q.Params) != `{"n":1}` || q.User != requester || q.Run != "r_1" || q.Attempt != 1 || q.Timeout != 5*time.Second || q.URL != "https://c1.example/clear" {
		t.Errorf("the question is %+v", q)
	}
	if got := r.s.Status(); got != Waiting {
		t.Errorf("the run is %s while only an authority may answer, want waiting (P3)", got)
	}
	if r.performs() != "" {
		t.Fatalf("performed %s without the answer", r.performs())
	}
	r.must(r.answer(0, true))
	r.wantState("w", NodeRunning)
	if r.performs() != "w#1" {
		t.Fatalf("performed %q, want w#1", r.performs())
	}
	for _, c := range r.cmds {
		if p, ok := c.(Perform); ok && !p.Grant.Covers(p.Call) {
			t.Error("the call has no grant (P18)")
		}
	}
	r.done("w", `{"v":1}`)
	r.conclude()
	r.wantCode(Success)
}

// TestR47_DenialsReadLikeAMissingTool: an authority's no, and its silence, are
// to a model what a tool that is not there is (R49).
func TestR47_DenialsReadLikeAMissingTool(t *testing.T) {
	broken := begin(t, nil, writeStep)
	broken.fail("w", ClassUnavailable)
	want, _ := broken.s.ModelRecord("w")
	for name, change := range map[string]func(*Cleared){
		"denied":                    func(c *Cleared) { c.Allow, c.Reason = false, "not today" },
		"deadline":                  func(c *Cleared) { c.Allow, c.Failure = false, "deadline" },
		"an allow beside a failure": func(c *Cleared) { c.Allow, c.Failure = true, "nonce" },
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, clearFor("write", "C1"), writeStep)
			in := r.answer(0, true)
			change(in)
			r.must(in)
			r.wantState("w", NodeFailed)
			if got, _ := r.s.ModelRecord("w"); string(got) != string(want) {
				t.Errorf("a model reads %s, want %s", got, want)
			}
			if r.performs() != "" {
				t.Errorf("performed %s", r.performs())
			}
			r.conclude()
			r.wantCode(PermissionDenied, "gate")
		})
	}
}

func TestR47_SeveralAreAskedAtOnceAndAllMustAllow(t *testing.T) {
	r := begin(t, clearFor("write", "C1", "C2", "C3"), writeStep)
	r.wantClears(3)
	r.must(r.answer(1, true))
	r.must(r.answer(0, true))
	r.wantState("w", NodeBlocked)
	r.must(r.answer(2, true))
	r.wantState("w", NodeRunning)

	r = begin(t, clearFor("write", "C1", "C2"), writeStep)
	r.must(r.answer(0, false))
	r.must(r.answer(1, true))
	r.wantState("w", NodeFailed)
	if r.kinds(ClearanceAnswered) != 2 {
		t.Errorf("%d answers on record, want both", r.kinds(ClearanceAnswered))
	}
}

// TestR47_RetriesAskAgain: one yes serves one attempt.
func TestR47_RetriesAskAgain(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep)
	r.must(r.answer(0, true))
	r.fail("w", ClassTransient)
	r.now += second
	r.must(&Timer{Head: r.head("system")})
	r.wantState("w", NodeBlocked)
	r.wantClears(2)
	if q := r.clears()[1]; q.Attempt != 2 {
		t.Errorf("the second question is about attempt %d", q.Attempt)
	}
	again := r.answer(0, true)
	if _, err := r.step(again); refusalCode(err) != "conflict" {
		t.Errorf("the old answer was taken again: %v", err)
	}
	r.must(r.answer(1, false))
	r.wantState("w", NodeFailed)
}

// TestR43_NoAuthorityIsAskedWhenAnEarlierCheckFails is the clearance spy.
func TestR43_NoAuthorityIsAskedWhenAnEarlierCheckFails(t *testing.T) {
	for name, change := range map[string]func(*policy.Document){
		"scope":       func(d *policy.Document) { d.Scopes["default"] = policy.Scope{Tools: []string{"look"}} },
		"kill switch": kill("write"),
		"impact": func(d *policy.Document) {
			d.Scopes["default"] = policy.Scope{Tools: []string{"*"}, Caps: map[string]policy.Rank{"write": policy.Observe}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, both(clearFor("*", "C1"), change), writeStep)
			r.wantState("w", NodeFailed)
			r.wantClears(0)
		})
	}
}

// TestR43_PeopleAreAskedAfterAuthorities: nobody is bothered with a call that an
// authority denies.
func TestR43_PeopleAreAskedAfterAuthorities(t *testing.T) {
	change := both(clearFor("write", "C1"), askFor("write", 1))
	r := begin(t, change, writeStep)
	if len(r.s.Approvals()) != 0 {
		t.Fatal("a person was asked before the authority answered")
	}
	r.must(r.answer(0, true))
	r.wantState("w", NodeWaiting)
	if err := r.approve("user:2"); err != nil {
		t.Fatal(err)
	}
	r.wantState("w", NodeRunning)
	r.wantClears(1)

	r = begin(t, change, writeStep)
	r.must(r.answer(0, false))
	r.wantState("w", NodeFailed)
	if len(r.s.Approvals()) != 0 {
		t.Error("a person was asked about what an authority denied")
	}
}

// TestR47_AYesGrowsStale: after a long wait for people the authority is asked
// once more, just before the effect.
func TestR47_AYesGrowsStale(t *testing.T) {
	r := begin(t, both(clearFor("write", "C1"), askFor("write", 1)), writeStep)
	r.must(r.answer(0, true))
	r.now += clearHolds.Microseconds() + second
	if err := r.approve("user:2"); err != nil {
		t.Fatal(err)
	}
	r.wantState("w", NodeBlocked)
	r.wantClears(2)
	r.must(r.answer(1, false))
	r.wantState("w", NodeFailed)
}

func TestR47_LateAnswersChangeNothing(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep, `{"id":"o","tool":"look"}`)
	late := r.answer(0, true)
	r.must(&Cancel{Head: r.head(requester)})
	before := digest(r.s)
	for range 2 {
		if _, err := r.step(late); refusalCode(err) != "conflict" {
			t.Errorf("got %v, want the late answer refused", err)
		}
	}
	for _, odd := range []*Cleared{{Node: "nobody", Attempt: 1}, {Node: "w", Attempt: 1, Rule: "C9"}, {Node: ReflectNode}, {Node: "o", Attempt: 1, Rule: "C1"}} {
		if _, err := r.step(odd); err == nil {
			t.Errorf("%+v was taken", odd)
		}
	}
	if after := digest(r.s); after != before {
		t.Errorf("a late answer changed the state: %s", firstDifference(before, after))
	}
}

func TestP7_CancelEndsTheQuestion(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep)
	r.must(&Cancel{Head: r.head(requester)})
	r.wantState("w", NodeCancelled)
	stop, ok := r.cmds[len(r.cmds)-1].(Stop)
	if !ok || !strings.HasPrefix(r.clears()[0].ID, stop.Clearing) || stop.Clearing == "" {
		t.Errorf("the last command is %+v, want a stop of the question", r.cmds[len(r.cmds)-1])
	}
	r.wantCode(UserCancel, "cancelled by "+requester)
}

func TestP7_PauseKeepsTheAnswer(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep)
	r.must(&Pause{Head: r.head(requester)})
	r.must(r.answer(0, true))
	r.wantState("w", NodeReady)
	if r.performs() != "" {
		t.Fatal("a paused run performs")
	}
	r.must(&Resume{Head: r.head(requester)})
	r.wantState("w", NodeRunning)
	r.wantClears(1)
}

func TestP19_AKillSwitchBeatsTheAnswer(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep)
	r.must(&PolicyChanged{Head: r.head("user:9"), Policy: testPolicy(t, both(clearFor("write", "C1"), kill("write")))})
	r.must(r.answer(0, true))
	r.wantState("w", NodeFailed)
	if r.performs() != "" {
		t.Error("a tool that was switched off is performed")
	}
}

// TestP19_ARulePublishedMeanwhileIsAsked: and loosening takes none away.
func TestP19_ARulePublishedMeanwhileIsAsked(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep)
	r.must(&PolicyChanged{Head: r.head("user:9"), Policy: testPolicy(t, clearFor("write", "C2"))})
	r.must(r.answer(0, true))
	r.wantState("w", NodeBlocked)
	r.wantClears(2)
	if q := r.clears()[1]; q.Rule != "C2" {
		t.Errorf("asked %s, want the new rule alone", q.Rule)
	}
	r.must(r.answer(1, true))
	r.wantState("w", NodeRunning)

	r = begin(t, clearFor("write", "C1"), writeStep)
	r.must(&PolicyChanged{Head: r.head("user:9"), Policy: testPolicy(t, nil)})
	r.must(r.answer(0, false))
	r.wantState("w", NodeFailed)
}

func TestP45_QuestionsAreAskedAgainAfterARestart(t *testing.T) {
	r := begin(t, clearFor("write", "C1", "C2"), writeStep)
	r.must(r.answer(1, true))
	r.s = fold(r.env, "r_1", r.facts)
	commands, withdrawn := Outstanding(r.s)
	if len(commands) != 1 || len(withdrawn) != 0 || commands[0].CommandID() != r.clears()[0].ID {
		t.Fatalf("owed %+v, want the question of C1 alone", commands)
	}
	r.must(r.answer(0, true))
	r.wantState("w", NodeRunning)
	r.now += clearHolds.Microseconds() * 2
	r.must(&Pause{Head: r.head(requester)})
	r.s = fold(r.env, "r_1", r.facts)
	if commands, withdrawn := Outstanding(r.s); len(commands) != 1 || len(withdrawn) != 0 {
		t.Errorf("owed %+v and withdrawn %+v, want the cleared attempt again", commands, withdrawn)
	}
}

// TestR16_AnAnswerThatNeverComesEndsInATimeout: whatever became of the question.
func TestR16_AnAnswerThatNeverComesEndsInATimeout(t *testing.T) {
	r := begin(t, clearFor("write", "C1", "C2"), writeStep)
	r.must(r.answer(0, true))
	for range 3 {
		at, ok := r.s.Deadline()
		if !ok {
			break
		}
		r.now = at
		r.must(&Timer{Head: Head{At: at, Actor: "system"}})
	}
	r.wantState("w", NodeCancelled)
	if r.performs() != "" {
		t.Errorf("performed %s", r.performs())
	}
	r.conclude()
	r.wantCode(Timeout, "wall_clock_ms")
}

// TestP15_AuthoritiesTakeExecutingTime: waiting for people is free, waiting for
// a machine is not.
func TestP15_AuthoritiesTakeExecutingTime(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep)
	r.now += 4 * second
	r.must(r.answer(0, true))
	if got := Summarise(r.s).Budget["wall_clock_ms"].Spent; got < 4000 {
		t.Errorf("spent %d ms, want the four seconds of the authority in it", got)
	}
}

// TestP31a_QuestionsTakeSlots: an authority gets no more questions at once than
// a run may have attempts in flight.
func TestP31a_QuestionsTakeSlots(t *testing.T) {
	list := make([]string, 80)
	for i := range list {
		list[i] = `{"id":"s` + strconv.Itoa(i) + `","tool":"look","params":{"n":` + strconv.Itoa(i) + `}}`
	}
	r := begin(t, clearFor("look", "C1"), list...)
	r.wantClears(r.s.run.profile.Slots)
	r.must(r.answer(0, false))
	r.wantClears(r.s.run.profile.Slots + 1)
}

func TestR47_AnswersAreBounded(t *testing.T) {
	r := begin(t, clearFor("write", "C1"), writeStep)
	in := r.answer(0, false)
	in.Reason, in.Nonce, in.LatencyMS = strings.Repeat("ü", 4000)+"\xff", strings.Repeat("n", 4000), -5
	facts := r.must(in)
	if len(facts[0].Data) > 2*ClearanceReasonMax {
		t.Errorf("the fact has %d bytes", len(facts[0].Data))
	}
	if back := fold(Env{}, "r_1", r.facts); digest(back) != digest(r.s) {
		t.Errorf("the fold differs: %s", firstDifference(digest(r.s), digest(back)))
	}
}

// cleared reads an authority's answer in a transcript.
func (p *player) cleared(words []string) Input {
	in := &Cleared{Head: p.r.head("system"), Node: words[0], Attempt: p.r.node(words[0]).Attempt + 1, Rule: words[1],
		URL: "https://" + strings.ToLower(words[1]) + ".example/clear", Allow: words[2] == "yes", LatencyMS: 12, Nonce: "n"}
	if words[2] == "no" {
		in.Reason = "not today"
	} else if words[2] != "yes" {
		in.Failure = words[2]
	}
	return in
}
