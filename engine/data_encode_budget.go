package engine

func (in *createInput) appendBudget(e *enc) {
	if len(in.Budget) == 0 {
		return
	}
	e.open("budget", '[')
	for i := range in.Budget {
		e.open("", '{')
		e.str("dimension", in.Budget[i].Dimension)
		e.int("limit", in.Budget[i].Limit)
		e.close('}')
	}
	e.close(']')
}

func (p *Profile) append(e *enc) {
	e.open("profile", '{')
	e.str("name", p.Name)
	e.int("steps", p.Steps)
	e.int("tool_calls", p.ToolCalls)
	e.int("side_effects", p.SideEffects)
	e.int("wall_clock_ms", p.WallMS)
	e.int("slots", int64(p.Slots))
	e.int("input_tokens", p.InputTokens)
	e.int("output_tokens", p.OutputTokens)
	e.int("cost_micro_usd", p.CostMicroUSD)
	e.int("model_calls", p.ModelCalls)
	e.int("retries", p.Retries)
	e.int("reflections", p.Reflections)
	e.int("replans", p.Replans)
	e.close('}')
}

func (m *ModelInfo) append(e *enc, k string) {
	e.open(k, '{')
	e.str("name", m.Name)
	e.str("by", m.By)
	e.int("max_output", m.MaxOutput)
	e.int("overhead", m.Overhead)
	e.int("price_in", m.PriceIn)
	e.int("price_out", m.PriceOut)
	e.close('}')
}

func (r *reserve) append(e *enc, k string) {
	e.open(k, '{')
	e.int("tool_calls", r.ToolCalls)
	e.int("side_effects", r.SideEffects)
	e.intOpt("input_tokens", r.InputTokens)
	e.intOpt("output_tokens", r.OutputTokens)
	e.intOpt("cost_micro_usd", r.CostMicroUSD)
	e.intOpt("model_calls", r.ModelCalls)
	e.intOpt("retries", r.Retries)
	e.intOpt("reflections", r.Reflections)
	e.close('}')
}

func (u *Usage) append(e *enc) {
	if u == nil {
		return
	}
	e.open("usage", '{')
	e.int("input_tokens", u.InputTokens)
	e.int("output_tokens", u.OutputTokens)
	e.int("cost_micro_usd", u.CostMicroUSD)
	e.boolOpt("estimated", u.Estimated)
	e.close('}')
}

func (d *sketchData) append(e *enc) {
	e.open("", '{')
	e.rawOpt("step", d.Step)
	e.close('}')
}
