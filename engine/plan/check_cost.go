package plan

import "fmt"

// cost is what a plan must at least spend, per dimension (C16).
type cost struct{ calls, effects int64 }

// checkCost compares the lower bound of the plan with the budget (C16). The
// bound is what every successful run spends: each step that cannot be skipped
// makes one call, and an act one side effect; of an any_of's candidates only the
// cheapest counts. Wall clock has no lower bound.
func (c *compiler) checkCost() {
	limits := c.env.Limits
	if limits.ToolCalls <= 0 && limits.SideEffects <= 0 {
		return
	}
	least := c.leastCost()
	if limits.ToolCalls > 0 && least.calls > limits.ToolCalls {
		c.refuseCost("tool calls", least.calls, limits.ToolCalls)
	}
	if limits.SideEffects > 0 && least.effects > limits.SideEffects {
		c.refuseCost("side effects", least.effects, limits.SideEffects)
	}
}

func (c *compiler) refuseCost(dimension string, least, limit int64) {
	c.found.add(Finding{
		Rule: "C16", Pointer: c.plan.list(),
		Message: fmt.Sprintf("The plan needs at least %d %s; the budget allows %d.", least, dimension, limit),
		Fix:     "Remove steps, or run it with a larger budget.",
	})
}

func (c *compiler) leastCost() cost {
	isSkippable := c.skippable()
	isCounted := make([]bool, len(c.steps)) // candidates whose join was counted
	var least cost
	for _, i := range c.order {
		s := &c.steps[i]
		if !isSkippable[i] {
			least.calls++
			least.effects += c.effects(i)
		}
		candidates := s.candidates()
		if isSkippable[i] || len(candidates) == 0 {
			continue
		}
		// Joins that share a candidate are counted once: one success may serve both.
		cheapest, isShared := int64(1), false
		for _, f := range candidates {
			isShared = isShared || isCounted[f]
			cheapest = min(cheapest, c.effects(f))
		}
		if isShared {
			continue
		}
		for _, f := range candidates {
			isCounted[f] = true
		}
		least.calls++
		least.effects += cheapest
	}
	return least
}

func (c *compiler) effects(i int) int64 {
	if c.steps[i].Class == Act {
		return 1
	}
	return 0
}

// skippable marks the steps that a successful run may leave out: those with a
// guard, the candidates of an any_of, and what follows them (T13, T17).
func (c *compiler) skippable() []bool {
	isGuarded := make([]bool, len(c.steps)) // may be skipped for another cause than a sibling's success
	isSkippable := make([]bool, len(c.steps))
	for i := range c.steps {
		for _, f := range c.steps[i].candidates() {
			isSkippable[f] = true
		}
	}
	for _, i := range c.order {
		s := &c.steps[i]
		skip := s.Guard != nil
		isChoice := s.Join == AnyOf
		allGuarded := isChoice
		for _, d := range s.Deps {
			switch {
			case d.Data || s.Join == AllOf:
				skip = skip || isSkippable[d.From]
			case isChoice:
				allGuarded = allGuarded && isGuarded[d.From]
			}
		}
		isGuarded[i] = skip || allGuarded
		isSkippable[i] = isSkippable[i] || isGuarded[i]
	}
	return isSkippable
}
