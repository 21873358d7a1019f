package engine

func (d *endedData) append(e *enc) {
	e.open("", '{')
	d.Input.append(e)
	e.str("observation", d.Observation)
	e.str("to", string(d.To))
	e.strOpt("verified_by", d.Method)
	e.strOpt("problem", d.Problem)
	d.Settle.append(e, "settle")
	e.intOpt("retry_at", d.RetryAt)
	e.strOpt("fallback", d.Fallback)
	e.boolOpt("replan", d.Replan)
	e.close('}')
}

func (in *endedInput) append(e *enc) {
	e.open("input", '{')
	e.str("kind", in.Kind)
	e.rawOpt("output", in.Output)
	if in.Blob != nil {
		e.open("blob", '{')
		e.str("sha256", in.Blob.SHA256)
		e.int("size", in.Blob.Size)
		e.str("type", in.Blob.Type)
		e.str("head", in.Blob.Head)
		e.str("tail", in.Blob.Tail)
		e.close('}')
	}
	e.strOpt("class", string(in.Class))
	e.strOpt("detail", in.Detail)
	e.boolOpt("unsent", in.Unsent)
	e.intOpt("started_at", in.StartedAt)
	e.intOpt("ended_at", in.EndedAt)
	e.strOpt("by", in.By)
	e.rawOpt("plan", in.Plan)
	e.strOpt("answer", in.Answer)
	if len(in.Unplanned) > 0 {
		appendUnplanned(e, "unplanned", in.Unplanned)
	}
	e.strOpt("ruling", in.Ruling)
	if in.Verdict != nil {
		in.Verdict.append(e)
	}
	e.rawOpt("findings", in.Findings)
	e.strOpt("note", in.Note)
	e.strOpt("raw", in.Raw)
	e.strOpt("template", in.Template)
	in.Usage.append(e)
	e.intOpt("retry_after_ms", in.RetryAfter)
	e.close('}')
}

func (v *Verdict) append(e *enc) {
	e.open("verdict", '{')
	e.str("text", v.Text)
	e.open("claims", '[')
	for i := range v.Claims {
		e.open("", '{')
		e.str("text", v.Claims[i].Text)
		e.strs("observations", v.Claims[i].Observations)
		e.close('}')
	}
	e.close(']')
	e.str("by", v.By)
	e.close('}')
}

func (d *unknownData) append(e *enc) {
	e.open("", '{')
	e.str("cause", d.Cause)
	e.close('}')
}

func (d *attestedData) append(e *enc) {
	e.open("", '{')
	e.str("outcome", d.Outcome)
	e.strOpt("note", d.Note)
	e.strOpt("observation", d.Observation)
	e.str("to", string(d.To))
	e.strOpt("cause", d.Cause)
	e.close('}')
}

func (d *inputData) append(e *enc) {
	e.open("", '{')
	e.strOpt("reason", d.Reason)
	e.strOpt("policy", d.Policy)
	e.strOpt("base", d.Base)
	e.rawOpt("plan", d.Plan)
	e.close('}')
}

func (d *warnedData) append(e *enc) {
	e.open("", '{')
	e.str("dimension", d.Dimension)
	e.int("limit", d.Limit)
	e.int("used", d.Used)
	e.close('}')
}

func (d *runEndedData) append(e *enc) {
	e.open("", '{')
	e.str("code", string(d.Code))
	e.strs("causes", d.Causes)
	e.close('}')
}
