package engine

import "testing"

// No run ends SUCCESS with work that the final reflection has not seen: after
// the last observation of a step comes a reflection, by a model or by the
// built-in report that stands in for it, and only then the end.
func TestR90_NoRunSucceedsWithUnreflectedWork(t *testing.T) {
	g := newGrounds(t)
	successes, byModel := 0, 0
	for seed := range 250 {
		w := newWalk(seeded{t, seed}, g, &seedDice{x: uint64(seed)}, 8)
		w.run(seeded{t, seed})
		var observed, reflected int64
		for i := range w.facts {
			switch f := &w.facts[i]; {
			case f.Kind != AttemptEnded:
			case ControlKind(f.Node) == "":
				observed = f.Seq
			case ControlKind(f.Node) == KindReflection:
				reflected = f.Seq
			}
		}
		if w.s.run.code != Success || observed == 0 {
			continue
		}
		successes++
		c := w.s.last(KindReflection)
		if c == nil || c.state != executed || reflected < observed {
			t.Fatalf("seed %d: SUCCESS with the last observation at %d and the last reflection at %d\n%s", seed, observed, reflected, w.log())
		}
		if isModel(c.by) {
			byModel++
		}
	}
	if successes < 10 || byModel == 0 {
		t.Errorf("%d runs succeeded, %d reflected by a model: too few to say anything", successes, byModel)
	}
}
