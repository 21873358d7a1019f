package engine

import (
	"slices"
	"strings"
	"testing"
)

// exhaustion is how one dimension alone is used up: a limit, and what happens.
type exhaustion struct {
	dimension string
	limit     int64
	plan      []string // of the model
	use       Usage    // of the planner's call
	play      func(r *rig)
}

func exhaustions() []exhaustion {
	one := []string{`{"id":"a","tool":"look"}`}
	usual := Usage{InputTokens: 700, OutputTokens: 100}
	done := func(r *rig) { r.done("a", `{"v":1}`) }
	two := func(tool string) []string { // the second may be left out, so C16 lets it compile
		return []string{`{"id":"a","tool":"` + tool + `"}`,
			`{"id":"b","tool":"` + tool + `","params":{"n":1},"guard":{"ref":{"step":"a","field":"v"},"op":"eq","value":1}}`}
	}
	return []exhaustion{
		{"tool_calls", 1, two("look"), usual, done},
		{"side_effects", 1, two("write"), usual, done},
		{"model_calls", 1, one, usual, done},
		{"reflections", 0, one, usual, done},
		{"retries", 0, one, usual, func(r *rig) {
			r.fail("a", ClassTransient)
			r.now += second
			r.must(&Timer{Head: r.head("system")})
		}},
		{"input_tokens", 1000, one, usual, done},
		{"output_tokens", 2000, one, Usage{InputTokens: 700, OutputTokens: 1500}, done},
		{"cost_micro_usd", 35_000, one, Usage{InputTokens: 700, OutputTokens: 2000}, done},
		{"wall_clock_ms", 1000, one, usual, func(r *rig) {
			r.now += second
			r.must(&Timer{Head: r.head("system")})
			r.must(&AttemptDone{Head: r.head("tool:t"), Node: "a", Attempt: 1, Class: ClassStopped})
		}},
	}
}

// run plays it with one more than the limit or, when it lasts, far more.
func (x *exhaustion) run(t *testing.T, limit int64) *rig {
	t.Helper()
	env := testEnv(t, nil)
	env.Models = testModels()
	r := newRig(t, env)
	in := r.create("")
	if limit >= 0 {
		in.Budget = map[string]int64{x.dimension: limit}
	}
	r.must(in)
	answer := r.plannedSteps(strings.Join(x.plan, ","))
	answer.Usage = x.use
	r.must(answer)
	x.play(r)
	return r
}

func TestR61_EachDimensionIsEnforcedAlone(t *testing.T) {
	names := map[string]bool{}
	for _, x := range exhaustions() {
		names[x.dimension] = true
		r := x.run(t, x.limit)
		want := BudgetExhausted
		if x.dimension == "wall_clock_ms" {
			want = Timeout
		}
		if r.s.run.halt != want || !slices.Equal(r.s.run.causes, []string{x.dimension}) {
			t.Errorf("%s at %d: halt %q causes %v, want %s by it alone", x.dimension, x.limit, r.s.run.halt, r.s.run.causes, want)
		}
		if free := x.run(t, -1); free.s.run.halt != "" {
			t.Errorf("%s: halt %q %v with the limits of the profile", x.dimension, free.s.run.halt, free.s.run.causes)
		}
	}
	for d := range dimCount {
		if !names[dimensionName(d)] {
			t.Errorf("nothing exhausts %s", dimensionName(d))
		}
	}
}

// calls are the commands that spend something.
func (r *rig) calls() []string {
	var list []string
	for _, c := range r.cmds {
		switch c := c.(type) {
		case Perform:
			list = append(list, c.ID)
		case Propose:
			list = append(list, c.ID+" by "+c.By)
		case Conclude:
			list = append(list, c.ID+" by "+c.By)
		}
	}
	return list
}

// TestR62_TheExceedingCallIsNotMade: the spy sees the calls that fit and the
// built-in report, and never the one that would exceed.
func TestR62_TheExceedingCallIsNotMade(t *testing.T) {
	for _, x := range exhaustions() {
		r := x.run(t, x.limit)
		calls := r.calls()
		last := calls[len(calls)-1]
		if len(calls) != 3 || last != "kernel.reflect#1 by "+BuiltinBy {
			t.Errorf("%s: calls %q, want the plan's, one step's, and the built-in report", x.dimension, calls)
		}
		for d := range dimCount {
			if b := r.s.spend(d); b.Spent+b.Reserved > b.Limit && d != dimWallClock {
				t.Errorf("%s: %s stands at %+v", x.dimension, dimensionName(d), b)
			}
		}
	}
}

func TestR63_WarnsAndReportsWhatIsVerified(t *testing.T) {
	for _, x := range exhaustions() {
		r := x.run(t, x.limit)
		warned := slices.IndexFunc(r.facts, func(f Fact) bool {
			return f.Kind == BudgetWarned && strings.Contains(string(f.Data), `"`+x.dimension+`"`)
		})
		ended := slices.IndexFunc(r.facts, func(f Fact) bool { return f.Kind == RunHalting })
		if x.limit > 0 && (warned < 0 || ended < warned) && x.dimension != "input_tokens" {
			t.Errorf("%s: not warned before the end\n%s", x.dimension, logOf(r.facts))
		}
		in := r.concluded("conclude", "what was verified")
		for _, v := range r.s.Nodes() {
			if v.State == NodeExecuted && v.Kind == "tool" {
				in.Verdict.Claims = append(in.Verdict.Claims, Claim{Text: v.ID, Observations: []string{v.Observation}})
			}
		}
		r.must(in)
		sum := Summarise(r.s)
		if sum.Status != Ended || sum.Verdict == nil || sum.Verdict.By != BuiltinBy || len(sum.Verdict.Claims) != r.s.count[executed] {
			t.Errorf("%s: %s with verdict %+v, want the built-in report of %d steps", x.dimension, sum.Code, sum.Verdict, r.s.count[executed])
		}
	}
}

func TestR69_BudgetsLowerAndNeverRaise(t *testing.T) {
	profile, _ := ProfileByName("default")
	for d := range dimCount {
		name := dimensionName(d)
		limit := *profile.limit(d)
		for _, n := range []int64{0, 1, limit} {
			p := profile
			if err := p.lower(map[string]int64{name: n}); err != nil || *p.limit(d) != n {
				t.Errorf("%s=%d: got %d, %v", name, n, *p.limit(d), err)
			}
		}
		for _, n := range []int64{-1, limit + 1} {
			p := profile
			if err := p.lower(map[string]int64{name: n}); refusalCode(err) != "invalid" || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%d: got %v, want a refusal that names it", name, n, err)
			}
		}
	}
	env := testEnv(t, nil)
	env.Models = testModels()
	env.Models.Executor.PriceOut = -1
	r := newRig(t, env)
	in := r.create("")
	in.Budget = map[string]int64{"cost_micro_usd": 5}
	if _, err := r.step(in); refusalCode(err) != "invalid" {
		t.Errorf("got %v for a cost cap and a model without price", err)
	}
	in.Budget = nil
	r.must(in)
	r.must(r.plannedSteps(`{"id":"a","tool":"look"}`))
	r.done("a", `{"v":1}`)
	r.must(r.concluded("conclude", "t"))
	sum := Summarise(r.s)
	if !sum.Unpriced || sum.Budget["cost_micro_usd"].Spent != 3600 || sum.Budget["input_tokens"].Spent != 1100 {
		t.Errorf("unpriced %v, %+v, want the planner's cost and everybody's tokens", sum.Unpriced, sum.Budget)
	}
}

// Logs from before there were models fold, with limits in force.
func TestP29_OldLogsFold(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`)
	r.done("a", `{"v":1}`)
	r.conclude()
	old := slices.Clone(r.facts)
	for i := range old {
		text := string(old[i].Data)
		if at := strings.Index(text, `,"input_tokens"`); old[i].Kind == RunCreated && at > 0 {
			end := at + strings.IndexByte(text[at:], '}')
			text = text[:at] + text[end:]
		}
		old[i].Data = []byte(text)
	}
	s := fold(Env{}, "r_1", old)
	if got, want := string(marshal(Summarise(s))), string(marshal(Summarise(r.s))); got != want {
		t.Errorf("an old log folds to\n%s, want\n%s", got, want)
	}
	if s.fault != "" || *s.run.profile.limit(dimModelCalls) != 40 {
		t.Errorf("fault %q, profile %+v", s.fault, s.run.profile)
	}
}
