package plan

import (
	"slices"
	"strconv"

	"sluice/policy"
)

// encode writes the normalised plan as RFC 8785 JSON: keys in order, nothing
// optional when it is empty, values canonical since they were read. Sources of
// values, links and positions follow from the rest and are not written.
func (c *Compiled) encode() []byte {
	out := make([]byte, 0, 256+192*len(c.Steps))
	out = append(out, '{')
	if c.Contract != nil {
		out = append(out, `"contract":`...)
		out = append(append(out, c.Contract...), ',')
	}
	out = append(out, `"format":`...)
	out = strconv.AppendInt(out, Format, 10)
	out = append(out, `,"goal":`...)
	out = appendString(out, c.Goal)
	if c.MaxSteps > 0 {
		out = append(out, `,"max_steps":`...)
		out = strconv.AppendInt(out, int64(c.MaxSteps), 10)
	}
	out = append(out, `,"steps":[`...)
	for i := range c.Steps {
		if i > 0 {
			out = append(out, ',')
		}
		out = c.Steps[i].encode(out)
	}
	return append(out, "]}"...)
}

func (s *CompiledStep) encode(out []byte) []byte {
	out = append(out, '{')
	if s.Approval {
		out = append(out, `"approval":true,`...)
	}
	out = append(out, `"class":"`...)
	out = append(out, s.Class...)
	out = append(out, '"')
	out = s.encodeDeps(out)
	out = append(out, `,"effect":"`...)
	out = append(out, s.Effect...)
	out = append(out, '"')
	if s.Guard != nil {
		out = s.Guard.encode(append(out, `,"guard":`...))
	}
	out = append(out, `,"id":`...)
	out = appendString(out, s.ID)
	out = append(out, `,"impact":`...)
	out = strconv.AppendInt(out, int64(s.Impact), 10)
	out = append(out, `,"join":"`...)
	out = append(out, s.Join...)
	out = append(out, '"')
	out = s.encodeParams(out)
	out = append(out, `,"retries":`...)
	out = strconv.AppendInt(out, int64(s.Retries), 10)
	if s.Schema != nil {
		out = append(append(out, `,"schema":`...), s.Schema...)
	}
	out = append(out, `,"timeout_us":`...)
	out = strconv.AppendInt(out, s.Timeout.Microseconds(), 10)
	out = append(out, `,"tool":`...)
	out = appendString(out, s.Tool)
	if s.Why != "" {
		out = append(out, `,"why":`...)
		out = appendString(out, s.Why)
	}
	return append(out, '}')
}

func (s *CompiledStep) encodeDeps(out []byte) []byte {
	if len(s.Deps) == 0 {
		return out
	}
	out = append(out, `,"deps":[`...)
	for k, d := range s.Deps {
		if k > 0 {
			out = append(out, ',')
		}
		if d.Data {
			out = append(out, `{"data":true,"from":`...)
		} else {
			out = append(out, `{"from":`...)
		}
		out = append(strconv.AppendInt(out, int64(d.From), 10), '}')
	}
	return append(out, ']')
}

// encodeParams writes literals and refs, whose keys are neighbours.
func (s *CompiledStep) encodeParams(out []byte) []byte {
	if len(s.Literals) > 0 {
		out = append(out, `,"literals":[`...)
		for k := range s.Literals {
			if k > 0 {
				out = append(out, ',')
			}
			out = s.Literals[k].encode(out)
		}
		out = append(out, ']')
	}
	if len(s.Refs) == 0 {
		return out
	}
	out = append(out, `,"refs":[`...)
	for k := range s.Refs {
		if k > 0 {
			out = append(out, ',')
		}
		out = s.Refs[k].encode(out)
	}
	return append(out, ']')
}

func (l *Literal) encode(out []byte) []byte {
	out = append(out, `{"labels":[`...)
	for k, label := range l.Labels {
		if k > 0 {
			out = append(out, ',')
		}
		out = appendString(out, string(label))
	}
	out = append(out, `],"param":`...)
	out = appendString(out, l.Param)
	out = append(out, `,"value":`...)
	return append(append(out, l.Value...), '}')
}

func (r *CompiledRef) encode(out []byte) []byte {
	out = append(out, `{"field":`...)
	out = appendString(out, r.Field)
	out = append(out, `,"from":`...)
	out = strconv.AppendInt(out, int64(r.From), 10)
	out = append(out, `,"param":`...)
	out = appendString(out, r.Param)
	if r.Template != "" {
		out = append(out, `,"template":`...)
		out = appendString(out, r.Template)
	}
	return append(out, '}')
}

func (g *CompiledGuard) encode(out []byte) []byte {
	out = append(out, `{"field":`...)
	out = appendString(out, g.Field)
	out = append(out, `,"from":`...)
	out = strconv.AppendInt(out, int64(g.From), 10)
	out = append(out, `,"op":`...)
	out = appendString(out, g.Op)
	if g.Value != nil {
		out = append(append(out, `,"value":`...), g.Value...)
	}
	return append(out, '}')
}

func isEffect(e policy.Effect) bool {
	return slices.Contains([]policy.Effect{policy.Read, policy.Idempotent, policy.Once}, e)
}
