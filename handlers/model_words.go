package handlers

import (
	"strconv"

	"sluice/engine"
	"sluice/web/templates"
)

// budgetWords name the dimensions of a budget (R61).
var budgetWords = map[string]string{"tool_calls": "tool calls", "side_effects": "side effects", "wall_clock_ms": "time",
	"input_tokens": "input tokens", "output_tokens": "output tokens", "cost_micro_usd": "money", "model_calls": "model calls",
	"retries": "retries", "reflections": "reflections"}

// hasModel says whether a run called a model, or may be about to.
func hasModel(sum *engine.Summary) bool {
	calls := sum.Budget["model_calls"]
	return calls.Spent+calls.Reserved > 0
}

// modelSpends are the dimensions of a run with a model in the bar of counts.
func modelSpends(sum *engine.Summary) []templates.Spend {
	if !hasModel(sum) {
		return nil
	}
	in, out, cost := sum.Budget["input_tokens"], sum.Budget["output_tokens"], sum.Budget["cost_micro_usd"]
	money := templates.Spend{Name: "Cost", Used: cost.Spent + cost.Reserved, Limit: cost.Limit, Text: costOf(sum)}
	return []templates.Spend{{Name: "Tokens", Used: in.Spent + in.Reserved + out.Spent + out.Reserved, Limit: in.Limit + out.Limit}, money}
}

// costOf says what a run cost, "" without a model.
func costOf(sum *engine.Summary) string {
	cost := sum.Budget["cost_micro_usd"]
	switch {
	case !hasModel(sum):
		return ""
	case sum.Unpriced && cost.Spent == 0:
		return "unpriced"
	case sum.Unpriced:
		return usd(cost.Spent) + ", in part unpriced"
	}
	return usd(cost.Spent)
}

// usd writes micro-USD as money, small amounts with their digits.
func usd(micro int64) string {
	digits := 2
	if micro < 1_000_000 {
		digits = 4
	}
	return "$" + strconv.FormatFloat(float64(micro)/1e6, 'f', digits, 64)
}

// modelUsage is what models used of a run's budget, with the limits.
func modelUsage(sum *engine.Summary) []templates.Pair {
	if !hasModel(sum) {
		return nil
	}
	list := []templates.Pair{}
	for _, d := range []struct{ name, dimension string }{{"Model calls", "model_calls"}, {"Input tokens", "input_tokens"},
		{"Output tokens", "output_tokens"}, {"Retries", "retries"}, {"Reflections", "reflections"}} {
		spend := sum.Budget[d.dimension]
		list = append(list, templates.Pair{Name: d.name, Value: number(spend.Spent) + " of " + number(spend.Limit)})
	}
	if sum.Estimated {
		list[1].Value, list[2].Value = list[1].Value+estimated, list[2].Value+estimated
	}
	cost := costOf(sum)
	if !sum.Unpriced {
		cost += " of " + usd(sum.Budget["cost_micro_usd"].Limit)
	}
	return append(list, templates.Pair{Name: "Cost", Value: cost})
}

// estimated marks a number where a server did not say what a call used.
const estimated = " (in part estimated)"

// number groups digits by three.
func number(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// controlUsage is what the calls of a control node used.
func controlUsage(u engine.Usage, unpriced bool) []templates.Pair {
	if u.InputTokens+u.OutputTokens == 0 {
		return nil
	}
	cost := usd(u.CostMicroUSD)
	if unpriced && u.CostMicroUSD == 0 {
		cost = "unpriced"
	}
	mark := ""
	if u.Estimated {
		mark = estimated
	}
	return []templates.Pair{{Name: "Input tokens", Value: number(u.InputTokens) + mark}, {Name: "Output tokens", Value: number(u.OutputTokens) + mark},
		{Name: "Cost", Value: cost}}
}
