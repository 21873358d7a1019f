package engine

import "math"

// ModelInfo is what the core knows of a model in one role: enough to reserve
// for a call before it is made (R62). A zero Name means none: the built-in
// planner acts.
type ModelInfo struct {
	Name      string `json:"name"`
	By        string `json:"by"`         // "model:NAME", as facts and verdicts name it
	MaxOutput int64  `json:"max_output"` // tokens of one answer
	Overhead  int64  `json:"overhead"`   // tokens of the prompt besides goal, records and repeats
	PriceIn   int64  `json:"price_in"`   // micro-USD per million tokens, -1 unpriced
	PriceOut  int64  `json:"price_out"`
}

// Models are the models of a run by role (R94), pinned in run.created.
type Models struct {
	Planner  ModelInfo `json:"planner"`
	Executor ModelInfo `json:"executor"`
}

// Usage is what model calls used. A planner measures tokens; the cost is worked
// out by the core from the pinned prices.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	CostMicroUSD int64 `json:"cost_micro_usd"`
	Estimated    bool  `json:"estimated,omitempty"` // the server did not say, or nobody heard: worked out
}

// Again is an answer that could not be used, and what was wrong with it, word
// for word: it goes back to the model, the error last (V20).
type Again struct {
	Output string `json:"output"`
	Error  string `json:"error"`
}

// BuiltinBy names the built-in planner wherever it acts.
const BuiltinBy = "builtin"

// A server says what a call used: whatever it says, sums stay exact and far above
// every limit.
const (
	usedTokensMax = 1 << 40
	usedCostMax   = 1 << 50 // micro-USD
)

// bounded makes a number of what a server says: never below 0, never so large
// that a sum could overflow.
func (u Usage) bounded() Usage {
	u.InputTokens = min(max(u.InputTokens, 0), usedTokensMax)
	u.OutputTokens = min(max(u.OutputTokens, 0), usedTokensMax)
	u.CostMicroUSD = min(max(u.CostMicroUSD, 0), usedCostMax)
	return u
}

// Priced fills in the cost of tokens, rounded up; an unpriced model costs 0.
func (m *ModelInfo) Priced(u Usage) Usage {
	u = u.bounded()
	u.CostMicroUSD = 0
	if m.unpriced() {
		return u
	}
	const million = 1_000_000
	in, out := product(u.InputTokens, m.PriceIn), product(u.OutputTokens, m.PriceOut)
	u.CostMicroUSD = min((in+out+million-1)/million, usedCostMax)
	return u
}

// product of two numbers from 0, at most a quarter of what there is.
func product(a, b int64) int64 {
	const most = math.MaxInt64 / 4
	if a > 0 && b > most/a {
		return most
	}
	return a * b
}

func (m *ModelInfo) unpriced() bool { return m.PriceIn < 0 || m.PriceOut < 0 }

// Unpriced says whether a model of a run has no price: then its cost shows as
// unpriced, and its tokens are limited as ever (requirements §23.4).
func (m *Models) Unpriced() bool {
	return m.Planner.Name != "" && m.Planner.unpriced() || m.Executor.Name != "" && m.Executor.unpriced()
}

func (u *Usage) none() bool { return u.InputTokens <= 0 && u.OutputTokens <= 0 }

func (u *Usage) add(r *reserve) {
	u.InputTokens += r.InputTokens
	u.OutputTokens += r.OutputTokens
	u.CostMicroUSD += r.CostMicroUSD
}

// orNone gives nil where no role has a model.
func (m Models) orNone() *Models {
	if m.Planner.Name == "" && m.Executor.Name == "" {
		return nil
	}
	return &m
}
