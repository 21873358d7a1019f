package bench

import (
	"fmt"
	"strings"
)

// Shape is a plan of no-op or sleeping steps by its dependencies: Deps[i] are
// positions below i.
type Shape struct {
	Name string
	Tool string
	Deps [][]int
}

// FanOut is n independent steps.
func FanOut(n int) Shape { return Shape{Name: "fan-out", Tool: noop, Deps: make([][]int, n)} }

// Chain is n steps, each after the one before.
func Chain(n int) Shape {
	s := Shape{Name: "chain", Tool: noop, Deps: make([][]int, n)}
	for i := 1; i < n; i++ {
		s.Deps[i] = []int{i - 1}
	}
	return s
}

// Layered is levels × width steps, each after two of the level before.
func Layered(levels, width int, tool string) Shape {
	s := Shape{Name: fmt.Sprintf("layered %dx%d", levels, width), Tool: tool, Deps: make([][]int, levels*width)}
	for l := 1; l < levels; l++ {
		for w := range width {
			base := (l - 1) * width
			s.Deps[l*width+w] = []int{base + w, base + (w+1)%width}
		}
	}
	return s
}

// document writes the shape as a plan of form 1.
func (s *Shape) document() []byte {
	var b strings.Builder
	b.WriteString(`{"format":1,"goal":"bench","steps":[`)
	for i, deps := range s.Deps {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"n%d","tool":%q,"params":{"n":%d}`, i, s.Tool, i)
		b.WriteString(after(deps) + "}")
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// after writes depends_on, nothing for an entry.
func after(deps []int) string {
	if len(deps) == 0 {
		return ""
	}
	ids := make([]string, len(deps))
	for k, d := range deps {
		ids[k] = fmt.Sprintf(`"n%d"`, d)
	}
	return `,"depends_on":[` + strings.Join(ids, ",") + "]"
}

// next turns dependencies around.
func (s *Shape) next() [][]int {
	next := make([][]int, len(s.Deps))
	for i, deps := range s.Deps {
		for _, d := range deps {
			next[d] = append(next[d], i)
		}
	}
	return next
}
