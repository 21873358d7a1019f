package plan

import (
	"fmt"
	"slices"
	"strings"

	"sluice/policy"
)

// checkJoins applies C03 and C05 to what was stated: filling in all_of for a
// step without predecessors is no fault (P10).
func (c *compiler) checkJoins() {
	for i := range c.steps {
		switch c.plan.Steps[i].Join {
		case AllOf:
			if len(c.steps[i].Deps) == 0 {
				c.at(i).refuse("C03", "The join all_of has no predecessor.", "Add depends_on, or remove the join.", "join")
			}
		case AnyOf:
			c.checkAnyOf(i)
		}
	}
}

// candidates are the predecessors that any_of chooses among: one that is read by
// a reference or guard must be executed whatever the join says (R22).
func (s *CompiledStep) candidates() []int {
	if s.Join != AnyOf {
		return nil
	}
	var found []int
	for _, d := range s.Deps {
		if !d.Data {
			found = append(found, d.From)
		}
	}
	return found
}

func (c *compiler) checkAnyOf(i int) {
	found := c.steps[i].candidates()
	if len(found) < 2 {
		c.at(i).refuse("C03", fmt.Sprintf("The join any_of has %d candidates; a predecessor that a reference or guard reads is none.", len(found)), "Name at least two steps in depends_on, or remove the join.", "join")
		return
	}
	c.checkSpeculation(i, found)
}

// checkSpeculation is C05: a step with a high side effect must never run beside
// another candidate, whose success would have made it needless. A running once
// or override effect cannot be taken back, so such candidates must form a chain
// of stated dependencies: each runs only when the one before has ended. Lesser
// effects need no chain, the engine runs them one after another.
func (c *compiler) checkSpeculation(i int, found []int) {
	isHigh := slices.ContainsFunc(found, c.isHigh)
	if !isHigh {
		return
	}
	slices.SortFunc(found, func(a, b int) int { return c.rank[a] - c.rank[b] })
	for k := 1; k < len(found); k++ {
		before, after := found[k-1], found[k]
		if hasDep(&c.steps[after], before) {
			continue
		}
		culprit := after
		if !c.isHigh(culprit) {
			culprit = found[slices.IndexFunc(found, c.isHigh)]
		}
		c.found.add(Finding{
			Rule: "C05", Step: c.steps[culprit].ID, Pointer: c.edgePointer(i, culprit), Related: c.others(i, found, culprit),
			Message: fmt.Sprintf("%s has a high side effect and could run beside another candidate of %s.", quote(c.steps[culprit].ID), quote(c.steps[i].ID)),
			Fix:     fmt.Sprintf("Let %s depend on %s with the join all_done, so that the candidates run one after another.", c.steps[after].ID, c.steps[before].ID),
		})
		return
	}
}

// isHigh says whether a step's effect must not be speculated on.
func (c *compiler) isHigh(i int) bool {
	s, e := &c.steps[i], c.entries[i]
	return e != nil && s.Class == Act && (s.Effect == policy.Once || e.External || s.Impact >= policy.Override)
}

// others names the joining step and the candidates beside one.
func (c *compiler) others(i int, found []int, but int) []string {
	ids := []string{c.steps[i].ID}
	for _, f := range found {
		if f != but {
			ids = append(ids, c.steps[f].ID)
		}
	}
	return ids
}

// checkDuplicates is C17: the same tool with the same arguments, literals and
// references alike, is done once unless all but one such step say why.
func (c *compiler) checkDuplicates() {
	first := make(map[string]int, len(c.steps))
	for i := range c.steps {
		declared := &c.plan.Steps[i]
		if c.entries[i] == nil || strings.TrimSpace(declared.Why) != "" || len(c.steps[i].Literals) != len(declared.Params) || len(c.steps[i].Refs) != len(declared.Refs) {
			continue
		}
		key := c.callKey(i)
		same, isTaken := first[key]
		if !isTaken {
			first[key] = i
			continue
		}
		c.at(i).say(Finding{
			Rule: "C17", Related: []string{c.steps[same].ID},
			Message: fmt.Sprintf("The step calls %s with the same arguments as %s.", c.steps[i].Tool, quote(c.steps[same].ID)),
			Fix:     "Remove one of them, or say in \"why\" what the second call is for.",
		})
	}
}

// callKey is equal for calls that would be equal: tool, literals and references.
func (c *compiler) callKey(i int) string {
	s := &c.steps[i]
	key := append([]byte(s.Tool), 0)
	for k := range s.Literals {
		key = appendString(key, s.Literals[k].Param)
		key = append(key, s.Literals[k].Value...)
	}
	for k := range s.Refs {
		ref := &s.Refs[k]
		key = append(key, 0)
		key = appendString(key, ref.Param)
		key = appendString(key, c.steps[ref.From].ID)
		key = appendString(key, strings.Join(ref.Path, "\x00"))
		key = appendString(key, ref.Template)
	}
	return string(key)
}
