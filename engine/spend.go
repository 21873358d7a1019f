package engine

import (
	"crypto/sha256"
	"encoding/hex"
)

// Budget dimensions of this engine version (R61: each enforced alone). Those
// before dimWallClock are counts that a call reserves exactly; tokens and cost
// are estimated before a call and measured after it.
const (
	dimToolCalls = iota
	dimSideEffects
	dimModelCalls
	dimRetries
	dimReflections
	dimWallClock
	dimInputTokens
	dimOutputTokens
	dimCost
	dimCount
)

func dimensionName(d int) string {
	switch d {
	case dimToolCalls:
		return "tool_calls"
	case dimSideEffects:
		return "side_effects"
	case dimModelCalls:
		return "model_calls"
	case dimRetries:
		return "retries"
	case dimReflections:
		return "reflections"
	case dimInputTokens:
		return "input_tokens"
	case dimOutputTokens:
		return "output_tokens"
	case dimCost:
		return "cost_micro_usd"
	}
	return "wall_clock_ms"
}

func dimension(name string) (int, bool) {
	for d := 0; d < dimCount; d++ {
		if dimensionName(d) == name {
			return d, true
		}
	}
	return 0, false
}

// of gives one dimension of a reservation. Nobody reserves wall clock.
func (r *reserve) of(d int) int64 {
	switch d {
	case dimToolCalls:
		return r.ToolCalls
	case dimSideEffects:
		return r.SideEffects
	case dimModelCalls:
		return r.ModelCalls
	case dimRetries:
		return r.Retries
	case dimReflections:
		return r.Reflections
	case dimInputTokens:
		return r.InputTokens
	case dimOutputTokens:
		return r.OutputTokens
	case dimCost:
		return r.CostMicroUSD
	}
	return 0
}

// each lists the fields in the order in which snapshots keep them.
func (r *reserve) each() [8]*int64 {
	return [8]*int64{&r.ToolCalls, &r.SideEffects, &r.InputTokens, &r.OutputTokens, &r.CostMicroUSD,
		&r.ModelCalls, &r.Retries, &r.Reflections}
}

func (r *reserve) add(o *reserve) {
	r.ToolCalls += o.ToolCalls
	r.SideEffects += o.SideEffects
	r.InputTokens += o.InputTokens
	r.OutputTokens += o.OutputTokens
	r.CostMicroUSD += o.CostMicroUSD
	r.ModelCalls += o.ModelCalls
	r.Retries += o.Retries
	r.Reflections += o.Reflections
}

func (r *reserve) sub(o *reserve) {
	r.ToolCalls -= o.ToolCalls
	r.SideEffects -= o.SideEffects
	r.InputTokens -= o.InputTokens
	r.OutputTokens -= o.OutputTokens
	r.CostMicroUSD -= o.CostMicroUSD
	r.ModelCalls -= o.ModelCalls
	r.Retries -= o.Retries
	r.Reflections -= o.Reflections
}

// spend gives one dimension: limit, reserved, spent.
func (s *State) spend(d int) Spend {
	limit := *s.run.profile.limit(d)
	if d == dimWallClock {
		return Spend{Limit: limit, Spent: s.run.activeUS / 1000}
	}
	return Spend{Limit: limit, Reserved: s.run.reserved.of(d), Spent: s.run.spent.of(d)}
}

// over names the dimension that want would exceed: the exceeding call is not
// made (R62).
func (s *State) over(want *reserve) string {
	for d := 0; d < dimCount; d++ {
		w := want.of(d)
		if w <= 0 {
			continue
		}
		if b := s.spend(d); b.Spent+b.Reserved+w > b.Limit {
			return dimensionName(d)
		}
	}
	return ""
}

// warn says once per dimension that 80 % are used (R63).
func (s *State) warn() {
	for d := 0; d < dimCount; d++ {
		if s.run.warned[d] {
			continue
		}
		b := s.spend(d)
		used := b.Spent + b.Reserved
		isHigh := used > 0 && used*5 >= b.Limit*4
		if d == dimWallClock {
			isHigh = s.run.activeUS >= s.wallWarnUS() // exact: a deadline waits for it
		}
		if isHigh {
			s.emit(BudgetWarned, "", 0, &warnedData{Dimension: dimensionName(d), Limit: b.Limit, Used: used})
		}
	}
}

func argsHash(whole []byte) string {
	sum := sha256.Sum256(whole)
	return string(hex.AppendEncode(make([]byte, 0, 16), sum[:8]))
}
