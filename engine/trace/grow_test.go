package trace

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

// story drives a run by hand and keeps its facts.
type story struct {
	t     *testing.T
	s     *engine.State
	at    int64
	facts []engine.Fact
	cmds  []engine.Command
}

func newStory(t *testing.T) *story {
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
	model := engine.ModelInfo{Name: "m", By: "model:m", MaxOutput: 100, Overhead: 10}
	s := &story{t: t, at: 1, s: engine.New(engine.Env{Catalog: catalog, Pinned: p, Current: p, Models: engine.Models{Planner: model, Executor: model}})}
	s.give(&engine.Create{Head: s.head(), Run: "r_1", Goal: "g", Scopes: []string{"default"}, Mode: "reflect"})
	return s
}

func (s *story) head() engine.Head { s.at += 1000; return engine.Head{At: s.at, Actor: "system"} }

func (s *story) give(in engine.Input) {
	s.t.Helper()
	out, err := s.s.Step(in)
	if err != nil {
		s.t.Fatalf("%T: %v", in, err)
	}
	s.facts, s.cmds = append(s.facts, out.Facts...), append(s.cmds, out.Commands...)
}

// asked takes the oldest command off the list.
func (s *story) asked() engine.Command {
	c := s.cmds[0]
	s.cmds = s.cmds[1:]
	return c
}

func (s *story) sketch(c engine.Propose, steps ...string) {
	for _, step := range steps {
		s.give(&engine.Sketched{Head: s.head(), Node: c.Node, Attempt: c.Attempt, Step: []byte(step)})
	}
}

func (s *story) planned(c engine.Propose, steps string) {
	p, findings := plan.Parse([]byte(`{"format":1,"goal":"g","steps":` + steps + `}`))
	if p == nil {
		s.t.Fatal(findings)
	}
	s.give(&engine.Planned{Head: s.head(), Node: c.Node, Attempt: c.Attempt, By: c.By, Plan: p, Usage: engine.Usage{InputTokens: 50, OutputTokens: 9}})
}

func (s *story) perform() {
	c, ok := s.asked().(engine.Perform)
	if !ok {
		s.t.Fatalf("%T, want a call", c)
	}
	s.give(&engine.AttemptDone{Head: s.head(), Node: c.Node, Attempt: c.Attempt, Output: []byte(`{"rows":[1]}`)})
}

// tell is a run with a bad answer, a plan, and a further plan.
func tell(t *testing.T) *story {
	s := newStory(t)
	first := s.asked().(engine.Propose)
	s.sketch(first, `{"id":"a","tool":"read"}`, `{"id":"gone","tool":"read","depends_on":["a"]}`)
	s.give(&engine.Planned{Head: s.head(), Node: first.Node, Attempt: 1, By: first.By, Raw: "{", Problem: "cut off"})
	second := s.asked().(engine.Propose)
	s.sketch(second, `{"id":"a","tool":"read"}`, `{"id":"b","tool":"read","params":{"n":1},"depends_on":["later"]}`, `{"id":"other","tool":"read"}`)
	s.planned(second, `[{"id":"a","tool":"read"},{"id":"b","tool":"read","params":{"n":1},"depends_on":["a"]},{"id":"later","tool":"read","params":{"n":2}}]`)
	s.perform()
	s.perform()
	s.perform()
	ruled := s.asked().(engine.Conclude)
	s.give(&engine.Concluded{Head: s.head(), Node: ruled.Node, Attempt: 1, Ruling: "replan", Note: "more", Verdict: engine.Verdict{By: ruled.By}})
	third := s.asked().(engine.Propose)
	s.sketch(third, `{"id":"c","tool":"read","param_refs":{"x":{"step":"a","field":"rows.0"}}}`)
	s.planned(third, `[{"id":"c","tool":"read","param_refs":{"x":{"step":"a","field":"rows.0"}}}]`)
	s.perform()
	last := s.asked().(engine.Conclude)
	s.give(&engine.Concluded{Head: s.head(), Node: last.Node, Attempt: 1, Ruling: "conclude", Verdict: engine.Verdict{By: last.By, Text: "t"}})
	if !s.s.Ended() {
		t.Fatalf("the run is %s", s.s.Status())
	}
	return s
}

// applied is what a page holds after an event.
func applied(cards []Node, e *Event) []Node {
	at := func(id string) int { return slices.IndexFunc(cards, func(n Node) bool { return n.ID == id }) }
	switch e.K {
	case "node_added":
		return append(cards, *e.Node)
	case "node_set":
		cards[at(e.Node.ID)] = *e.Node
	case "removed":
		return slices.Delete(cards, at(e.ID), at(e.ID)+1)
	case "node":
		n := &cards[at(e.ID)]
		n.State, n.Attempt, n.Note, n.Started, n.Ended = e.State, e.Attempt, e.Note, e.Started, e.Ended
		n.By, n.Fallback, n.Usage = e.By, e.Fallback, e.Usage
	}
	return cards
}

// TestP13_SketchedCardsKeepTheirPlaces: what is drawn while an answer comes in
// stands where the step will stand; the state after each fact is its fold; and a
// card that no version has goes again.
func TestP13_SketchedCardsKeepTheirPlaces(t *testing.T) {
	s := tell(t)
	p := NewProjector("r_1")
	cards := []Node{}
	first := map[string]Node{}
	for k, f := range s.facts {
		for _, e := range p.Apply(f) {
			if e.K == "node_added" {
				first[e.Node.ID] = *e.Node
			}
			cards = applied(cards, &e)
		}
		if got := p.View().Nodes; !reflect.DeepEqual(cards, got) {
			t.Fatalf("seq %d: got %+v, want %+v", f.Seq, cards, got)
		}
		fold := NewProjector("r_1")
		for _, g := range s.facts[:k+1] {
			fold.Apply(g)
		}
		if got := fold.View(); !reflect.DeepEqual(got, p.View()) {
			t.Fatalf("seq %d: the fold is %+v, want %+v", f.Seq, got, p.View())
		}
		places := map[[2]int]string{}
		for _, n := range cards {
			at := [2]int{n.X, n.Y}
			if places[at] != "" || n.X != first[n.ID].X || n.Y != first[n.ID].Y {
				t.Fatalf("seq %d: %s at %v, first at %d,%d; there too: %q", f.Seq, n.ID, at, first[n.ID].X, first[n.ID].Y, places[at])
			}
			places[at] = n.ID
		}
	}
	var ids []string
	for _, n := range cards {
		ids = append(ids, n.ID)
		if n.Sketch {
			t.Errorf("%s is still a sketch", n.ID)
		}
	}
	want := []string{"kernel.plan", "a", "b", "later", "kernel.reflect", "kernel.plan.2", "c", "kernel.reflect.2"}
	if !slices.Equal(ids, want) {
		t.Errorf("cards %v, want %v", ids, want)
	}
}

// TestR6_FurtherControlNodesHaveParentsAndVersions: each planner and reflection
// is a card with what it followed from, who it was and what it used.
func TestR6_FurtherControlNodesHaveParentsAndVersions(t *testing.T) {
	p := NewProjector("r_1")
	for _, f := range tell(t).facts {
		p.Apply(f)
	}
	parents, versions := map[string]string{}, map[string]int{}
	for _, n := range p.View().Nodes {
		for _, d := range n.Deps {
			parents[n.ID] += d.From + " "
		}
		versions[n.ID] = n.Version
		if engine.ControlKind(n.ID) != "" && n.By != "model:m" {
			t.Errorf("%s was asked of %q", n.ID, n.By)
		}
	}
	for id, want := range map[string]string{"a": "kernel.plan ", "kernel.reflect": "b later ", "kernel.plan.2": "kernel.reflect ", "c": "a ", "kernel.reflect.2": "c "} {
		if parents[id] != want {
			t.Errorf("%s follows %q, want %q", id, parents[id], want)
		}
	}
	if versions["a"] != 1 || versions["c"] != 2 || versions["kernel.reflect"] != 1 || versions["kernel.reflect.2"] != 2 {
		t.Errorf("versions %v", versions)
	}
	usage := p.nodes["kernel.plan"].Usage // the answer without a measure is charged what was reserved
	if usage == nil || usage.InputTokens != 60 || usage.OutputTokens != 109 {
		t.Errorf("got usage %+v of the planner, want both of its calls", usage)
	}
}
