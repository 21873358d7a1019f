package engine

import (
	"fmt"
	"strings"
)

// digest writes every folded field of a State: two States with one digest stand
// at the same place. Left out are the content it was given (env) and what only
// says where to look next: index, ready, due, spares, retry and the step's scratch.
func digest(s *State) string {
	var b strings.Builder
	r := s.run
	r.verdict = nil
	fmt.Fprintf(&b, "run %+v\nverdict %+v\n", r, deref(s.run.verdict))
	if s.plan != nil {
		fmt.Fprintf(&b, "plan %s\n", s.plan.Hash)
	}
	for _, c := range s.control {
		fmt.Fprintf(&b, "by %s fell %q version %d failures %d again %q usage %+v\n", c.by, c.fell, c.version, c.failures, c.again, c.usage)
		digestNode(&b, c.id, c.node)
	}
	fmt.Fprintf(&b, "sketch %+v grown %v\n", s.sketch, s.grown)
	for i := range s.nodes {
		digestNode(&b, s.plan.Steps[i].ID, s.nodes[i])
	}
	fmt.Fprintf(&b, "approvals %+v\ncount %v running %d unknown %d turns %v fault %q\n",
		s.approval, s.count, s.running, s.unknown, s.turns, s.fault)
	return b.String()
}

func digestNode(b *strings.Builder, id string, n node) {
	blob := deref(n.blob)
	n.blob = nil
	output := string(n.output)
	n.output = nil
	fmt.Fprintf(b, "%s %+v output %s blob %+v\n", id, n, output, blob)
}

func deref[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// fold applies encoded facts to a fresh State.
func fold(env Env, run string, facts []Fact) *State {
	s := New(env)
	s.SetRun(run)
	for _, f := range facts {
		s.Apply(f)
	}
	return s
}

// firstDifference points at the first line where two digests differ.
func firstDifference(a, b string) string {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(la), len(lb)) {
		if la[i] != lb[i] {
			return "\n  " + la[i] + "\n  " + lb[i]
		}
	}
	return "length"
}
