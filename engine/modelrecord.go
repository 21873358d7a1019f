package engine

// UnavailableText is the one text of class unavailable: gate denials,
// rejections and expiries read the same as a tool that is not there (P24, R49).
const UnavailableText = "The tool is not available."

// ModelRecord turns a node into the text a model may see: JSON, and the only
// function that does so (P24). Denial, rejection and expiry are byte-equal to a
// permanent failure of class unavailable; attempts and times are left out.
func (s *State) ModelRecord(id string) ([]byte, bool) {
	n, i := s.at(id)
	if n == nil || i < 0 {
		return nil, false
	}
	return s.record(i, max(len(n.output), s.blobShown(i))), true
}

// record is ModelRecord with at most so many bytes of an output: of a longer one
// its two ends are shown.
func (s *State) record(i, most int) []byte {
	n := &s.nodes[i]
	e := enc{}
	e.open("", '{')
	e.str("step", s.plan.Steps[i].ID)
	e.str("tool", s.plan.Steps[i].Tool)
	switch {
	case n.state == executed && n.blob != nil:
		e.str("status", "done")
		e.str("output_head", head(n.blob.Head, most))
		e.int("output_bytes", n.blob.Size)
	case n.state == executed && len(n.output) > most:
		e.str("status", "done")
		e.str("output_head", head(string(n.output), (most+1)/2))
		e.str("output_tail", tail(string(n.output), most/2))
		e.int("output_bytes", int64(len(n.output)))
	case n.state == executed:
		e.str("status", "done")
		e.raw("output", n.output)
	case modelState(n) == NodeFailed:
		e.str("status", "failed")
		e.open("error", '{')
		class := modelClass(n)
		if class == ClassNone {
			class = ClassInvalid
		}
		e.str("class", string(class))
		e.str("message", modelText(class))
		e.close('}')
	case n.state.terminal():
		e.str("status", "not run")
	default:
		e.str("status", "in progress")
	}
	e.close('}')
	return e.b
}

// modelText is constant per class: an error's own words stay in the log.
func modelText(c Class) string {
	switch c {
	case ClassUnavailable:
		return UnavailableText
	case ClassTransient:
		return "The call failed and may work later."
	case ClassTimeout:
		return "The call did not end in time."
	case ClassNotFound:
		return "What the call names does not exist."
	case ClassConflict:
		return "The call conflicts with what is there."
	case ClassContract:
		return "The output does not satisfy its contract."
	}
	return "The call's parameters or result are not valid."
}
