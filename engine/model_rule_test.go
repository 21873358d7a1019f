package engine

import (
	"fmt"
	"strings"
	"testing"

	"sluice/policy"
)

// policies are ways in which a policy could speak into a plan with look and write.
func policies() map[string]func(*policy.Document) {
	return map[string]func(*policy.Document){
		"allows":    noAsk,
		"asks":      askFor("write", 2),
		"clearance": clearFor("write", "C1"),
		"killed":    kill("write"),
		"scope":     func(d *policy.Document) { d.Scopes["default"] = policy.Scope{Tools: []string{"look"}} },
		"cap": func(d *policy.Document) {
			d.Scopes["default"] = policy.Scope{Tools: d.Scopes["default"].Tools, Caps: map[string]policy.Rank{"write": policy.Observe}}
		},
	}
}

// TestP12_ReasksCarryNoPolicyFinding: what a model is told of a plan that does not
// compile is the same bytes whatever the policy says of it (V20, R12).
func TestP12_ReasksCarryNoPolicyFinding(t *testing.T) {
	told := map[string]string{}
	for name, change := range policies() {
		env := testEnv(t, change)
		env.Models = testModels()
		r := newRig(t, env)
		in := r.create("")
		in.Intent = policy.Observe
		r.must(in)
		for range reasksMax {
			r.must(r.plannedSteps(writeStep + `,{"id":"e","tool":"erase"},{"id":"b","tool":"nothing"}`))
			r.now += second
			r.must(&Timer{Head: r.head("system")})
		}
		c, ok := r.cmds[len(r.cmds)-1].(Propose)
		if !ok || len(c.Again) != reasksMax {
			t.Fatalf("%s: got %+v, want the model asked with %d errors", name, r.cmds, reasksMax)
		}
		told[name] = fmt.Sprintf("%+v", c.Again)
	}
	for name, text := range told {
		if text != told["allows"] || strings.Count(text, "C10 ") != reasksMax || strings.Contains(text, "C11 ") {
			t.Errorf("%s: got %s\nwant the tool that is not known, each time, and as without a policy\n%s", name, text, told["allows"])
		}
	}
}

// TestP12_APlanOfAModelMeetsTheGateStepByStep: what the policy denies compiles,
// is a warning to people at once, and fails when its turn comes; the model is not
// asked again.
func TestP12_APlanOfAModelMeetsTheGateStepByStep(t *testing.T) {
	for _, name := range []string{"scope", "cap"} {
		env := testEnv(t, policies()[name])
		env.Models = testModels()
		r := newRig(t, env)
		r.must(r.create(""))
		facts := r.must(r.plannedSteps(writeStep + `,{"id":"l","tool":"look"}`))
		isWarned := false
		for _, f := range facts {
			if d, err := readData(f.Kind, f.Data); err == nil && f.Kind == VersionAdded {
				findings := string(d.(*versionData).Findings)
				isWarned = strings.Contains(findings, `"severity":"warning"`) && !strings.Contains(findings, `"severity":"error"`)
			}
		}
		if !isWarned {
			t.Errorf("%s: people are not warned\n%s", name, logOf(facts))
		}
		r.wantState("w", NodeFailed)
		r.wantState("l", NodeRunning)
		if c := r.s.last(KindPlanner); c.attempt != 1 || c.state != executed {
			t.Errorf("%s: the planner stands at %+v, want it asked once", name, c)
		}
	}
}

// TestP43_ASketchDrawsPlainWordsAlone: an answer that is still coming in is not
// compiled, and comes to the graph as it is.
func TestP43_ASketchDrawsPlainWordsAlone(t *testing.T) {
	env := testEnv(t, nil)
	env.Models = testModels()
	r := newRig(t, env)
	r.must(r.create(""))
	sketch := func(step string) error {
		v := r.running(KindPlanner)
		_, err := r.step(&Sketched{Head: r.head("model:planner"), Node: v.ID, Attempt: v.Attempt, Step: []byte(step)})
		return err
	}
	for _, bad := range []string{`{"id":"a","tool":"lo\u202eok"}`, `{"id":"a","tool":"no.such.tool"}`, `{"id":"a\u202e","tool":"look"}`, `{"id":"<b>","tool":"look"}`,
		`{"id":"a","tool":"look","join":"all\u001b[2J"}`, `{"id":"a","tool":"look","depends_on":["\u200b"]}`,
		`{"id":"a","tool":"look","param_refs":{"p":{"step":"b","field":"\u202ev"}}}`, `{"id":"` + strings.Repeat("a", 300) + `","tool":"look"}`} {
		if err := sketch(bad); refusalCode(err) != "invalid" {
			t.Errorf("%s: got %v, want it left out", bad, err)
		}
	}
	if err := sketch(`{"id":"a","tool":"look","why":"\u202e <b>"}`); err != nil || len(r.s.Sketches()) != 1 {
		t.Errorf("got %v with %v, want the plain one drawn", err, r.s.Sketches())
	}
}

// TestR62_AnAnswerWithoutAMeasureCostsWhatWasReserved, and says that it is an
// estimate; so does a call that was stopped.
func TestR62_AnAnswerWithoutAMeasureCostsWhatWasReserved(t *testing.T) {
	for name, use := range map[string]Usage{"none": {}, "negative": {InputTokens: -5, OutputTokens: -1}, "stopped": {}, "said": {InputTokens: 7, OutputTokens: 3}, "estimated": {InputTokens: 7, OutputTokens: 3, Estimated: true}} {
		env := testEnv(t, nil)
		env.Models = testModels()
		r := newRig(t, env)
		r.must(r.create(""))
		want := r.s.run.reserved
		in := r.plannedSteps(`{"id":"a","tool":"look"}`)
		in.Usage = use
		if name == "stopped" {
			r.must(&Cancel{Head: r.head(requester)})
		} else {
			r.must(in)
		}
		c := r.s.last(KindPlanner)
		isSaid := use.InputTokens > 0
		if isSaid {
			want.InputTokens, want.OutputTokens = use.InputTokens, use.OutputTokens
		}
		got := c.usage
		if got.InputTokens != want.InputTokens || got.OutputTokens != want.OutputTokens || got.Estimated != (name != "said") || want.InputTokens <= 0 {
			t.Errorf("%s: got %+v, want %d and %d tokens, marked unless the server said so", name, got, want.InputTokens, want.OutputTokens)
		}
		if Summarise(r.s).Estimated != got.Estimated {
			t.Errorf("%s: the run is marked %v", name, !got.Estimated)
		}
		folded := fold(env, "r_1", r.facts)
		if again := folded.last(KindPlanner).usage; again != got {
			t.Errorf("%s: folded %+v, lived %+v", name, again, got)
		}
	}
}

// TestR61_CostIsRoundedUp, so that many small calls are not free.
func TestR61_CostIsRoundedUp(t *testing.T) {
	for _, x := range []struct{ priceIn, priceOut, in, out, want int64 }{
		{1, 0, 1, 0, 1}, {0, 0, 100, 100, 0}, {3_000_000, 15_000_000, 700, 100, 3_600}, {150_000, 600_000, 1, 1, 1},
		{1_000_000, 1_000_000, 1, 0, 1}, {-1, 5, 100, 100, 0},
	} {
		m := ModelInfo{PriceIn: x.priceIn, PriceOut: x.priceOut}
		if got := m.Priced(Usage{InputTokens: x.in, OutputTokens: x.out}).CostMicroUSD; got != x.want {
			t.Errorf("%+v: got %d micro-USD", x, got)
		}
	}
}

// TestR42_MoreStepsThanAModelCanSee: a plan of thousands of steps stays within the
// bound of one call, and the record says how many are left out.
func TestR42_MoreStepsThanAModelCanSee(t *testing.T) {
	env := testEnv(t, kill("erase"))
	env.Models = testModels()
	r := newRig(t, env)
	list := []string{`{"id":"x","tool":"erase"}`}
	for i := range 2_000 {
		list = append(list, fmt.Sprintf(`{"id":"s%d","tool":"look","params":{"n":%d},"depends_on":["x"]}`, i, i))
	}
	in := r.create(steps(list...))
	in.Profile = "bench"
	r.must(in)
	r.now += 60 * second
	r.must(&Timer{Head: r.head("system")})
	c, ok := r.cmds[len(r.cmds)-1].(Conclude)
	if !ok || total(c.Records) > RecordsBytesMax || !strings.Contains(string(c.Records[len(c.Records)-1]), "steps_not_shown") {
		t.Errorf("got %T with %d records, want a reflection within its bound", r.cmds[len(r.cmds)-1], len(c.Records))
	}
	if reserved := r.s.run.reserved.InputTokens; reserved < int64(total(c.Records))/bytesPerToken {
		t.Errorf("got %d tokens reserved for %d bytes", reserved, total(c.Records))
	}
}
