package trace

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// facts runs a plan of no-op reads to its end and gives what was decided.
func facts(t *testing.T, steps string) []engine.Fact {
	t.Helper()
	read := plan.Tool{Tool: policy.Tool{Name: "read", Effect: policy.Read}, Summary: "read", Timeout: 1e9, Bytes: 1 << 16,
		Input: json.RawMessage(`{"type":"object"}`), Output: json.RawMessage(`{"type":"object"}`)}
	catalog, err := plan.NewCatalog([]plan.Tool{read})
	if err != nil {
		t.Fatal(err)
	}
	doc := policy.Default()
	doc.Scopes["default"] = policy.Scope{Tools: []string{"*"}}
	p, err := policy.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	c, findings := plan.Check([]byte(`{"format":1,"goal":"g","steps":`+steps+`}`), plan.Env{Catalog: catalog, Policy: p,
		Scopes: []string{"default"}, Requester: "user:1", Author: plan.Person})
	if c == nil {
		t.Fatal(findings)
	}
	s := engine.New(engine.Env{Catalog: catalog, Pinned: p, Current: p, Planner: "none"})
	out, err := s.Step(&engine.Create{Head: engine.Head{At: 1, Actor: "user:1"}, Run: "r_1", Goal: "g", Scopes: []string{"default"},
		Mode: "reflect", Plan: c, PlanAuthor: plan.Person})
	all, queue := out.Facts, out.Commands
	for at := int64(2); err == nil && len(queue) > 0; at++ {
		var in engine.Input
		switch cmd := queue[0].(type) {
		case engine.Perform:
			in = &engine.AttemptDone{Head: engine.Head{At: at, Actor: "tool:read"}, Node: cmd.Node, Attempt: cmd.Attempt, Output: []byte(`{"rows":[1,2]}`)}
		case engine.Conclude:
			in = &engine.Concluded{Head: engine.Head{At: at, Actor: "system"}, Attempt: cmd.Attempt, Ruling: "conclude", Verdict: engine.Verdict{By: "builtin"}}
		}
		out, err = s.Step(in)
		all, queue = append(all, out.Facts...), append(queue[1:], out.Commands...)
	}
	if err != nil || !s.Ended() {
		t.Fatalf("got %v and status %s, want the end", err, s.Status())
	}
	return all
}

const diamond = `[{"id":"a","tool":"read"},{"id":"b","tool":"read","params":{"n":1}},
	{"id":"c","tool":"read","depends_on":["a","b"],"params":{"n":2}},
	{"id":"d","tool":"read","param_refs":{"x":{"step":"c","field":"rows.0"}}}]`

// TestR106_EventsGiveTheViewOfTheFold: a page that applies events stands where
// the fold stands, at every fact.
func TestR106_EventsGiveTheViewOfTheFold(t *testing.T) {
	p := NewProjector("r_1")
	cards := map[string]Node{}
	for _, f := range facts(t, diamond) {
		for _, e := range p.Apply(f) {
			switch e.K {
			case "node_added":
				cards[e.Node.ID] = *e.Node
			case "node":
				n := cards[e.ID]
				n.State, n.Attempt, n.Note, n.Started, n.Ended = e.State, e.Attempt, e.Note, e.Started, e.Ended
				n.By, n.Fallback, n.Usage = e.By, e.Fallback, e.Usage
				cards[e.ID] = n
			}
		}
		view := p.View()
		if len(view.Nodes) != len(cards) {
			t.Fatalf("seq %d: got %d cards, want %d", f.Seq, len(cards), len(view.Nodes))
		}
		for _, want := range view.Nodes {
			if got := cards[want.ID]; !reflect.DeepEqual(got, want) {
				t.Errorf("seq %d: got %+v, want %+v", f.Seq, got, want)
			}
		}
		if view.Run.Seq != f.Seq {
			t.Errorf("got seq %d, want %d", view.Run.Seq, f.Seq)
		}
	}
}

// TestPlacesNeverMoveAndNeverMeet: ui.md §2.3.
func TestPlacesNeverMoveAndNeverMeet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLayout()
		at := map[place]string{}
		placed := map[string]place{}
		var ids []string
		for i := range rapid.IntRange(1, 60).Draw(rt, "cards") {
			var parents []string
			for range rapid.IntRange(0, min(i, 3)).Draw(rt, "parents") {
				parents = append(parents, rapid.SampledFrom(ids).Draw(rt, "parent"))
			}
			id := fmt.Sprint("n", i)
			p := l.add(id, parents)
			if other, taken := at[p]; taken {
				rt.Fatalf("%s and %s share %+v", id, other, p)
			}
			for _, parent := range parents {
				if p.col <= placed[parent].col {
					rt.Fatalf("%s at %+v does not stand right of %s at %+v", id, p, parent, placed[parent])
				}
			}
			at[p], placed[id] = id, p
			ids = append(ids, id)
			for known, was := range placed {
				if l.at[known] != was {
					rt.Fatalf("%s moved from %+v to %+v", known, was, l.at[known])
				}
			}
		}
	})
}

// TestR57_AReplacedPlanStartsThePageAgain: after a plan under review was
// replaced, the cards are those of the new plan, each with the version that
// changed it.
func TestR57_AReplacedPlanStartsThePageAgain(t *testing.T) {
	kinds := map[string]int{}
	p := NewProjector("r_1")
	cards := map[string]int{}
	for _, f := range reviewFacts(t) {
		for _, e := range p.Apply(f) {
			kinds[e.K]++
			switch e.K {
			case "reset":
				clear(cards)
			case "node_added":
				cards[e.Node.ID] = e.Node.Version
			}
		}
	}
	want := map[string]int{"a": 1, "b": 2, "e": 2}
	if !reflect.DeepEqual(cards, want) || kinds["reset"] != 1 || len(p.View().Nodes) != 3 {
		t.Errorf("got cards %v and events %v, want %v", cards, kinds, want)
	}
}

// reviewFacts: a plan of four steps of which a person leaves out two, changes one and adds one.
func reviewFacts(t *testing.T) []engine.Fact {
	t.Helper()
	var first []engine.Fact
	for _, f := range facts(t, diamond) {
		if f.Kind == engine.RunCreated || f.Kind == engine.VersionAdded {
			first = append(first, f)
		}
	}
	last := facts(t, `[{"id":"a","tool":"read"},{"id":"b","tool":"read","params":{"n":9}},{"id":"e","tool":"read","depends_on":["a"],"params":{"n":3}}]`)[1]
	first[0].Data = []byte(strings.Replace(string(first[0].Data), `"mode":"reflect"`, `"mode":"reflect","review":"plan"`, 1))
	last.Seq, last.Version = 3, 2
	last.Data = []byte(strings.Replace(string(last.Data), `"version":1,"parent":0,"cause":"initial"`, `"version":2,"parent":1,"cause":"edit"`, 1))
	return append(first, last)
}

func TestP2_NotesFitTheirCards(t *testing.T) {
	for output, want := range map[string]string{
		`{"mounts":[1]}`: "1 mount", `{"x":1,"repositories":[1]}`: "1 repository", `{"matches":[1]}`: "1 match",
		`{"ports":[]}`: "0 ports", `{"uptime":3}`: "", `[1]`: "", `{"a_very_long_name_of_a_list":[1,2]}`: "2 a very long"} {
		if got := note(engine.NodeView{State: engine.NodeExecuted, Output: []byte(output)}); got != want {
			t.Errorf("%s: got %q, want %q", output, got, want)
		}
	}
	long := note(engine.NodeView{State: engine.NodeFailed, Class: "incomprehensibilities"})
	if n := len([]rune(long)); n > NoteMax {
		t.Errorf("got %d characters in %q, want at most %d", n, long, NoteMax)
	}
}

// TestEverySentenceSpeaks: no fact of a run is shown by its kind alone.
func TestEverySentenceSpeaks(t *testing.T) {
	for _, f := range facts(t, diamond) {
		if got := Sentence(&engine.Row{Fact: f}); got == "" || got == string(f.Kind) {
			t.Errorf("seq %d %s: got %q, want a sentence", f.Seq, f.Kind, got)
		}
	}
	if got := Sentence(&engine.Row{Erased: true}); !strings.HasPrefix(got, "Erased") {
		t.Errorf("got %q for an erased row", got)
	}
	built := engine.Row{Fact: engine.Fact{Kind: engine.VersionAdded, Data: []byte(`{"version":1,"by":"builtin","added":["a"]}`)}}
	if got, want := Sentence(&built), "Plan version 1 by built-in planner (no model): 1 step"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
