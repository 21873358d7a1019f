package engine

import (
	"crypto/sha256"
	"encoding/hex"
)

// Budget dimensions of this engine version (R61: each enforced alone).
const (
	dimToolCalls = iota
	dimSideEffects
	dimWallClock
	dimCount
)

func dimensionName(d int) string {
	switch d {
	case dimToolCalls:
		return "tool_calls"
	case dimSideEffects:
		return "side_effects"
	}
	return "wall_clock_ms"
}

func dimension(name string) int {
	for d := 0; d < dimCount; d++ {
		if dimensionName(d) == name {
			return d
		}
	}
	return dimToolCalls
}

// spend gives one dimension: limit, reserved, spent.
func (s *State) spend(d int) Spend {
	p := &s.run.profile
	switch d {
	case dimToolCalls:
		return Spend{Limit: p.ToolCalls, Reserved: s.run.reserved.ToolCalls, Spent: s.run.spent.ToolCalls}
	case dimSideEffects:
		return Spend{Limit: p.SideEffects, Reserved: s.run.reserved.SideEffects, Spent: s.run.spent.SideEffects}
	}
	return Spend{Limit: p.WallMS, Spent: s.run.activeUS / 1000}
}

// over names the dimension that want would exceed: the exceeding call is not
// made (R62).
func (s *State) over(want reserve) string {
	if b := s.spend(dimToolCalls); b.Spent+b.Reserved+want.ToolCalls > b.Limit {
		return "tool_calls"
	}
	if b := s.spend(dimSideEffects); b.Spent+b.Reserved+want.SideEffects > b.Limit {
		return "side_effects"
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
