package engine

import "strings"

// Bounds on what one model call sees of the steps (R42).
const (
	RecordsBytesMax = 64 << 10 // of all records together
	outputShownMin  = 64       // bytes of an output that stay when others are cut
)

// records gives the ModelRecord of every step, and nothing else (P24). Together
// they stay within RecordsBytesMax: the largest outputs are cut to their two
// ends, as far as needed. Where there are more steps than fit even so, the last
// entry says how many are left out.
func (s *State) records() [][]byte {
	list := make([][]byte, len(s.nodes))
	most := 0
	for i := range s.nodes {
		list[i], _ = s.ModelRecord(s.plan.Steps[i].ID)
		most = max(most, len(s.nodes[i].output), s.blobShown(i))
	}
	for total(list) > RecordsBytesMax && most > outputShownMin {
		most = max(most*3/4, outputShownMin)
		for i := range s.nodes {
			if len(s.nodes[i].output) > most || s.blobShown(i) > most {
				list[i] = s.record(i, most)
			}
		}
	}
	return bounded(list)
}

func (s *State) blobShown(i int) int {
	if b := s.nodes[i].blob; b != nil {
		return len(b.Head)
	}
	return 0
}

// bounded keeps the records that fit.
func bounded(list [][]byte) [][]byte {
	size := total(list)
	kept := len(list)
	for ; kept > 0 && size > RecordsBytesMax-outputShownMin; kept-- {
		size -= len(list[kept-1])
	}
	if size = total(list); size <= RecordsBytesMax {
		return list
	}
	e := enc{}
	e.open("", '{')
	e.int("steps_not_shown", int64(len(list)-kept))
	e.close('}')
	return append(list[:kept:kept], e.b)
}

// tail cuts text from the front.
func tail(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-most:], "")
}
