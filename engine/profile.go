package engine

import (
	"slices"
	"strconv"
	"time"
)

// Profile holds a run's limits (P15). Waiting for people does not count as wall clock.
type Profile struct {
	Name         string `json:"name"`
	Steps        int64  `json:"steps"`
	ToolCalls    int64  `json:"tool_calls"`
	SideEffects  int64  `json:"side_effects"`
	WallMS       int64  `json:"wall_clock_ms"` // executing
	Slots        int    `json:"slots"`         // attempts in flight (P31a)
	InputTokens  int64  `json:"input_tokens"`
	OutputTokens int64  `json:"output_tokens"`
	CostMicroUSD int64  `json:"cost_micro_usd"`
	ModelCalls   int64  `json:"model_calls"`
	Retries      int64  `json:"retries"`     // of tools and models, re-asks included (R32)
	Reflections  int64  `json:"reflections"` // by a model
	Replans      int64  `json:"replans"`     // R37
}

// ProfileByName gives a shipped profile (P15).
func ProfileByName(name string) (Profile, bool) {
	p := profileOfOldLogs()
	switch name {
	case "", "default":
		p.Name, p.Steps, p.ToolCalls, p.SideEffects = "default", 500, 1_000, 20
		p.WallMS, p.Slots = time.Hour.Milliseconds(), 64
		return p, true
	case "bench":
		p.Name, p.Steps, p.ToolCalls, p.SideEffects = "bench", 10_000, 100_000, 10_000
		p.WallMS, p.Slots, p.Retries = (24 * time.Hour).Milliseconds(), 256, 100_000
		return p, true
	}
	return Profile{}, false
}

// profileOfOldLogs holds the limits that profiles did not always have: a log
// without them folds as if it had pinned these.
func profileOfOldLogs() Profile {
	return Profile{InputTokens: 400_000, OutputTokens: 60_000, CostMicroUSD: 1_000_000,
		ModelCalls: 40, Retries: 20, Reflections: 6, Replans: 3}
}

// limit gives the place of one dimension's limit.
func (p *Profile) limit(d int) *int64 {
	switch d {
	case dimToolCalls:
		return &p.ToolCalls
	case dimSideEffects:
		return &p.SideEffects
	case dimModelCalls:
		return &p.ModelCalls
	case dimRetries:
		return &p.Retries
	case dimReflections:
		return &p.Reflections
	case dimInputTokens:
		return &p.InputTokens
	case dimOutputTokens:
		return &p.OutputTokens
	case dimCost:
		return &p.CostMicroUSD
	}
	return &p.WallMS
}

// lower applies a budget to a profile, and says what of it cannot be: a budget
// lowers, it never raises (R69).
func (p *Profile) lower(budget map[string]int64) error {
	names := make([]string, 0, len(budget))
	for name := range budget { // order-free: sorted next
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		d, ok := dimension(name)
		switch limit := p.limit(d); {
		case !ok:
			return refuse("invalid", "there is no budget dimension "+cut(name), "use one of "+dimensionNames())
		case budget[name] < 0 || budget[name] > *limit:
			return refuse("invalid", "the budget "+name+" is out of range",
				"choose 0 to "+strconv.FormatInt(*limit, 10)+", the limit of profile "+p.Name)
		default:
			*limit = budget[name]
		}
	}
	return nil
}

func dimensionNames() string {
	list := dimensionName(0)
	for d := 1; d < dimCount; d++ {
		list += ", " + dimensionName(d)
	}
	return list
}

// limits writes a budget in the order of the dimensions.
func limits(budget map[string]int64) []limitData {
	var list []limitData
	for d := 0; d < dimCount; d++ {
		if limit, ok := budget[dimensionName(d)]; ok {
			list = append(list, limitData{Dimension: dimensionName(d), Limit: limit})
		}
	}
	return list
}
