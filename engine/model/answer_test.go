package model

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine"
)

const goodPlan = `{"answer":null,"plan":{"format":1,"goal":"g","steps":[{"id":"a","tool":"file.read","params":{"path":"x } ] \" {"}},{"id":"b","tool":"system"}]}}`

// TestSketchGivesEachStepAsSoonAsItIsWhole, however the text is cut.
func TestSketchGivesEachStepAsSoonAsItIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "```json\n", "  "}).Draw(t, "before") + goodPlan
		var steps []string
		s := &sketch{emit: func(step []byte) { steps = append(steps, string(step)) }}
		for from := 0; from < len(text); {
			to := min(from+rapid.IntRange(1, 9).Draw(t, "piece"), len(text))
			s.write(text[from:to])
			if strings.HasSuffix(text[:to], `\" {"}}`) && len(steps) != 1 {
				t.Fatalf("got %q when the first step was whole, want it at once", steps)
			}
			from = to
		}
		want := []string{`{"id":"a","tool":"file.read","params":{"path":"x } ] \" {"}}`, `{"id":"b","tool":"system"}`}
		if !slices.Equal(steps, want) {
			t.Fatalf("got %q, want %q", steps, want)
		}
	})
}

// TestSketchTakesAnything: no text of a model stops or breaks it.
func TestSketchTakesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := 0
		s := &sketch{emit: func(step []byte) { total += len(step) }}
		for range rapid.IntRange(1, 20).Draw(t, "pieces") {
			s.write(rapid.StringMatching(`([{}\[\],:"\\a]|"plan":|"steps":\[){0,30}`).Draw(t, "piece"))
		}
	})
	n := 0
	s := &sketch{emit: func([]byte) { n++ }}
	s.write(`{"plan":{"steps":[` + strings.Repeat(`{"id":"a"},`, 2*sketchStepsMax))
	if n != sketchStepsMax {
		t.Errorf("got %d steps, want the limit of %d", n, sketchStepsMax)
	}
	s = &sketch{emit: func([]byte) { n++ }}
	if s.write(strings.Repeat("[{", 10*sketchDepthMax)); len(s.stack) > 1+sketchDepthMax {
		t.Errorf("got %d levels, want the limit", len(s.stack))
	}
}

func TestAnswersThatAreNoneComeBackWithWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`{"answer":"x","plan":null}`: "",
		goodPlan:                     "",
		"```json\n{\"answer\":\"x\",\"plan\":null}\n```":        "",
		"<think>{hm}</think>\n{\"answer\":\"x\",\"plan\":null}": "",
		``:                                    "is empty",
		`nope`:                                "not valid JSON",
		`[]`:                                  "not one JSON object",
		`{"answer":"x","plan":null} and more`: "not valid JSON",
		`{"answer":"x","plan":null}{}`:        "not one JSON object",
		`{"answer":"x","answer":"y","plan":null}`:                                                                 "duplicate",
		`{"answer":"x","plan":null,"intent":"override"}`:                                                          "intent",
		`{"answer":null,"plan":null}`:                                                                             "neither",
		`{"answer":"x","plan":null,"Plan":{"format":1}}`:                                                          "unknown field",
		`{"Answer":"x","plan":null}`:                                                                              "unknown field",
		`{"answer":"x","plan":{"format":1,"goal":"","steps":[]}}`:                                                 "both",
		`{"answer":null,"plan":{"format":1,"goal":"g","steps":[]}}`:                                               "no steps",
		`{"answer":null,"plan":{"format":1,"goal":"g","intent":"override","steps":[{"id":"a","tool":"system"}]}}`: "cannot state an intent",
		`{"answer":null,"plan":{"format":1,"goal":"g","steps":[{"id":"A B","tool":"system"}]}}`:                   "/steps/0/id",
		strings.Repeat("[", 100_000):                                                                              "deep",
	} {
		_, err := readProposal(bare(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %q", text, err, want)
		}
	}
	seen := map[string]bool{"o_1": true}
	for text, want := range map[string]string{
		`{"ruling":"conclude","answer":"x","claims":[{"text":"t","observations":["o_1"]}],"note":""}`: "",
		`{"ruling":"replan","answer":"","claims":[],"note":"more"}`:                                   "",
		`{"ruling":"stop","answer":"x","claims":[],"note":""}`:                                        "ruling",
		`{"ruling":"conclude","answer":" ","claims":[],"note":""}`:                                    "answer",
		`{"ruling":"replan","answer":"","claims":[],"note":""}`:                                       "note",
		`{"ruling":"conclude","answer":"x","claims":[{"text":"t","observations":["o_2"]}],"note":""}`: "o_2",
		`{"ruling":"conclude","answer":"x","claims":[{"text":"","observations":["o_1"]}],"note":""}`:  "no text",
	} {
		_, err := readRuling(text, seen)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.90s: got %v, want %q", text, err, want)
		}
	}
}

// scripted answers without a server.
type scripted struct {
	reply Reply
	err   error
}

func (s scripted) Call(_ context.Context, r Request) (Reply, error) {
	if r.OnText != nil {
		r.OnText(s.reply.Text)
	}
	return s.reply, s.err
}

func TestProposeAndConcludeBecomeInputs(t *testing.T) {
	p := newTestPlanner(t, 0)
	used := Usage{InputTokens: 10, OutputTokens: 5}
	var steps int
	got := p.Propose(t.Context(), scripted{reply: Reply{Text: goodPlan, Usage: used}}, engine.Propose{By: "model:m"}, func([]byte) { steps++ })
	if got.Plan == nil || len(got.Plan.Steps) != 2 || steps != 2 || got.Usage.InputTokens != 10 || got.By != "model:m" || got.Problem != "" {
		t.Errorf("got %+v and %d sketches, want a plan of two steps", got, steps)
	}
	got = p.Propose(t.Context(), scripted{reply: Reply{Text: goodPlan[:40], Cut: true}}, engine.Propose{MaxOutput: 7}, nil)
	if got.Plan != nil || !strings.Contains(got.Problem, "cut off at its limit of 7 tokens") || got.Raw != goodPlan[:40] {
		t.Errorf("got %+v, want a problem that says the answer was cut", got)
	}
	got = p.Propose(t.Context(), scripted{err: &Failure{Class: engine.ClassTimeout, Detail: "slow", Usage: used}}, engine.Propose{}, nil)
	if got.Class != engine.ClassTimeout || got.Detail != "slow" || got.Usage.OutputTokens != 5 {
		t.Errorf("got %+v, want the failure with what it used", got)
	}
	if got = p.Propose(t.Context(), scripted{err: errors.New("x")}, engine.Propose{}, nil); got.Class != engine.ClassTransient {
		t.Errorf("got %+v, want a class for any error", got)
	}
	said := p.Conclude(t.Context(), scripted{reply: Reply{Text: `{"ruling":"conclude","answer":"done","claims":[{"text":"t","observations":["o_1"]}],"note":""}`}},
		engine.Conclude{By: "model:m", Steps: []engine.Digest{{Node: "a", Observation: "o_1"}}})
	if said.Ruling != "conclude" || said.Verdict.Text != "done" || len(said.Verdict.Claims) != 1 || said.Verdict.By != "model:m" {
		t.Errorf("got %+v, want the verdict", said)
	}
}
