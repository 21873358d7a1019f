package engine

import (
	"fmt"
	"strings"
	"testing"

	"sluice/engine/plan"
	"sluice/policy"
)

// R71: UNSAFE > USER_CANCEL > PERMISSION > BUDGET > TIMEOUT > the rest.
func TestR71_PrecedenceOfCodes(t *testing.T) {
	order := []Code{UnsafeDetection, UserCancel, PermissionDenied, BudgetExhausted, Timeout, ValidationFail}
	for i := 1; i < len(order); i++ {
		if precedence(order[i-1]) <= precedence(order[i]) {
			t.Errorf("%s does not stand before %s", order[i-1], order[i])
		}
	}
	for _, c := range []Code{Success, PartialSuccess, Impossible, ConfirmRequired, UnavailableDep, RepeatedFailure} {
		if precedence(c) != 0 {
			t.Errorf("%s has a precedence, want the rest", c)
		}
	}
}

func TestP6_CodesOfFailures(t *testing.T) {
	for class, want := range map[Class]Code{ClassUnavailable: UnavailableDep, ClassNotFound: Impossible, ClassTransient: RepeatedFailure, ClassTimeout: RepeatedFailure} {
		r := begin(t, nil, `{"id":"a","tool":"look","retries":0}`)
		r.fail("a", class)
		r.conclude()
		r.wantCode(want, "failed:"+string(class))
	}
	r := begin(t, nil, `{"id":"a","tool":"look","retries":0}`)
	r.done("a", `{}`)
	r.conclude()
	r.wantCode(ValidationFail, "failed:contract")
}

// The code does not depend on which of two failures came first.
func TestR71_CodeDoesNotDependOnOrder(t *testing.T) {
	for _, order := range []string{"a x", "x a"} {
		r := begin(t, nil, `{"id":"a","tool":"look","retries":0}`, `{"id":"x","tool":"erase"}`, `{"id":"z","tool":"look","params":{"n":1},"depends_on":["a","x"]}`)
		for _, id := range strings.Fields(order) {
			if id == "a" {
				r.fail("a", ClassNotFound)
			} else {
				r.must(r.verdict("user:2", Reject, "no"))
			}
		}
		r.conclude()
		r.wantCode(PermissionDenied, "failed:not_found", "rejected")
	}
}

// R70: a model's or planner's claim of success changes nothing.
func TestR70_ClaimsDoNotMakeSuccess(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look","retries":0}`)
	r.fail("a", ClassNotFound)
	r.must(&Concluded{Head: r.head("model:executor"), Attempt: 1, Ruling: "conclude",
		Verdict: Verdict{Text: "All done, everything succeeded.", By: "model:x", Claims: []Claim{{Text: "a ran", Observations: []string{r.node("a").Observation}}, {Text: "trust me"}}}})
	r.wantCode(Impossible, "failed:not_found")
	if v := Summarise(r.s).Verdict; len(v.Claims) != 0 {
		t.Errorf("claims %+v stand on an observation that was not verified, or on none (R55)", v.Claims)
	}
}

// P39: the plan's own contract is an acceptance criterion.
func TestR70_PlanContractDecides(t *testing.T) {
	doc := `{"format":1,"goal":"g","contract":{"schema":{"type":"object","properties":{"a":{"type":"object","properties":{"v":{"type":"integer","minimum":10}}}},"required":["a"]}},` +
		`"steps":[{"id":"a","tool":"look"}]}`
	for output, want := range map[string]Code{`{"v":12}`: Success, `{"v":1}`: ValidationFail} {
		r := newRig(t, testEnv(t, nil))
		r.must(r.create(doc))
		r.done("a", output)
		r.conclude()
		if got := Summarise(r.s).Code; got != want {
			t.Errorf("%s ends with %s, want %s", output, got, want)
		}
	}
}

// R63: at 80 % once, per dimension.
func TestR63_WarnsOnceAtEightyPercent(t *testing.T) {
	list := make([]string, 20)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"s%d","tool":"write","params":{"n":%d}}`, i, i)
	}
	r := begin(t, nil, list...)
	warned := 0
	for _, f := range r.facts {
		if f.Kind == BudgetWarned {
			warned++
			if !strings.Contains(string(f.Data), `"dimension":"side_effects","limit":20,"used":16`) {
				t.Errorf("warned %s, want side effects at 16 of 20", f.Data)
			}
		}
	}
	if warned != 1 {
		t.Errorf("warned %d times, want once", warned)
	}
}

// R61, R62: a dimension is reserved at the start and settled at the end.
func TestR62_ReserveAndSettle(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"write","retries":0}`, `{"id":"b","tool":"look","params":{"n":1}}`)
	want := func(when string, calls, effects Spend) {
		t.Helper()
		budget := Summarise(r.s).Budget
		if budget["tool_calls"] != calls || budget["side_effects"] != effects {
			t.Errorf("%s: %+v, want %+v and %+v", when, budget, calls, effects)
		}
	}
	want("started", Spend{1000, 2, 0}, Spend{20, 1, 0})
	r.must(&AttemptDone{Head: r.head("tool:t"), Node: "a", Attempt: 1, Class: ClassTransient, Unsent: true})
	want("nothing was sent", Spend{1000, 1, 1}, Spend{20, 0, 0})
	r.done("b", `{"v":1}`)
	want("ended", Spend{1000, 0, 2}, Spend{20, 0, 0})
}

func TestP20_LabelsFollowTheField(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"look"}`, `{"id":"b","tool":"write","params":{"p":1}}`,
		`{"id":"c","tool":"look","params":{"z":1},"param_refs":{"trusted":{"step":"a","field":"v"},"field":{"step":"a","field":"w"},`+
			`"whole":{"step":"b","field":""},"template":{"step":"a","field":"w","template":"to {{value}}"}}}`)
	r.done("a", `{"v":1,"w":2}`)
	r.done("b", `{"v":"x"}`)
	for _, c := range r.cmds {
		p, ok := c.(Perform)
		if !ok || p.Node != "c" {
			continue
		}
		var got []string
		for _, x := range p.Call.Params {
			got = append(got, fmt.Sprint(x.Name, x.Labels, x.Source))
		}
		want := "field[untrusted]step:a/w template[untrusted]step:a/w trusted[trusted]step:a/v whole[untrusted]step:b/ z[constant]plan:/steps/2/params/z"
		if strings.Join(got, " ") != want {
			t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
		}
		// P18: spliced in key order, equal to canonicalising the whole.
		whole, err := plan.Canonical(p.Params)
		if err != nil || string(whole) != string(p.Params) {
			t.Errorf("parameters %s are not canonical (%v)", p.Params, err)
		}
		return
	}
	t.Fatal("c was not performed")
}

func TestP18_CommandsCarryTheirGrant(t *testing.T) {
	r := begin(t, nil, `{"id":"a","tool":"write"}`)
	p := r.cmds[0].(Perform)
	if !p.Grant.Valid() || !p.Grant.Covers(p.Call) || p.Call.Key == "" || p.Timeout <= 0 {
		t.Errorf("perform %+v lacks a grant, key or timeout", p)
	}
	other := p.Call
	other.Attempt++
	if p.Grant.Covers(other) {
		t.Error("the grant covers another attempt")
	}
	r.fail("a", ClassTransient)
	r.now += second
	r.must(&Timer{Head: r.head("system")})
	again := r.cmds[1].(Perform)
	if again.Call.Key != p.Call.Key || again.Attempt != 2 || again.Grant.ID() == p.Grant.ID() {
		t.Errorf("the retry has key %s attempt %d; want the same key, another grant (R38)", again.Call.Key, again.Attempt)
	}
	commands, _ := Outstanding(fold(r.env, "r_1", r.facts))
	redo, ok := commands[0].(Perform)
	if !ok || len(commands) != 1 || redo.Call.Key != again.Call.Key || redo.Attempt != 2 || !redo.Grant.Covers(redo.Call) {
		t.Errorf("after a restart %+v is owed, want attempt 2 under its key (P45)", commands)
	}
}

// R45: the intent is the trigger's; a plan cannot carry one.
func TestR45_IntentOutOfRangeIsRefused(t *testing.T) {
	for _, rank := range []policy.Rank{-1, policy.RankMax + 1} {
		r := newRig(t, testEnv(t, nil))
		in := r.create(steps(`{"id":"a","tool":"look"}`))
		in.Intent = rank
		r.wantRefused(in, "invalid", "intent")
	}
	if p, _ := plan.Parse([]byte(`{"format":1,"goal":"g","intent":200,"steps":[{"id":"a","tool":"look"}]}`)); p != nil {
		t.Error("a plan with an intent was read")
	}
}
