package engine

import (
	"fmt"

	"pgregory.net/rapid"
)

// checker is the part of *testing.T that rapid's T has as well.
type checker interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// dice decide what a random plan and a random world do: either rapid, which
// shrinks what fails, or a small generator of our own, which is quick.
type dice interface {
	pick(what string, n int) int // 0 ≤ result < n
}

func oneIn(d dice, what string, n int) bool { return d.pick(what, n) == n-1 }

type rapidDice struct{ t *rapid.T }

func (d rapidDice) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, what) }

// seedDice is SplitMix64.
type seedDice struct{ x uint64 }

func (d *seedDice) pick(_ string, n int) int {
	d.x += 0x9e3779b97f4a7c15
	z := d.x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) >> 1 % uint64(n))
}

// drawStep is one random step of a plan.
type drawStep struct {
	ID, Tool, Join, Guard string
	Deps                  []int
	Data                  []int // read by a reference
	Approval              bool
	Retries               int
}

// drawPlan makes a random plan document. Edges go from lower to higher numbers;
// where a step stands in the document is drawn too.
func drawPlan(d dice, most int) string {
	n := 1 + d.pick("steps", most)
	list := make([]drawStep, n)
	for i := range list {
		list[i] = drawOne(d, i)
	}
	place := make([]int, n)
	for i := range place {
		place[i] = i
	}
	if oneIn(d, "shuffle", 2) {
		for i := n - 1; i > 0; i-- {
			j := d.pick("swap", i+1)
			place[i], place[j] = place[j], place[i]
		}
	}
	docs := make([]string, n)
	for i := range list {
		list[i].ID = fmt.Sprintf("s%d", place[i])
		docs[place[i]] = list[i].document(place)
	}
	return steps(docs...)
}

func drawOne(d dice, i int) drawStep {
	tools := []string{"look", "look", "sum", "write", "write", "patch", "erase", "hidden"}
	s := drawStep{Tool: tools[d.pick("tool", len(tools))], Retries: -1, Approval: oneIn(d, "approval", 10)}
	for j := max(0, i-6); j < i; j++ {
		switch d.pick("edge", 8) {
		case 0, 1:
			s.Deps = append(s.Deps, j)
		case 2:
			s.Data = append(s.Data, j)
		}
	}
	if len(s.Deps) > 0 {
		s.Join = []string{"", "all_of", "any_of", "all_done"}[d.pick("join", 4)]
	}
	if s.Join == "any_of" && len(s.Deps) < 2 {
		s.Join = "all_done"
	}
	if i > 0 && oneIn(d, "guard", 6) {
		s.Guard = fmt.Sprintf(`{"ref":{"step":"s%%d","field":"v"},"op":"%s","value":%d}`,
			[]string{"eq", "lt", "ne"}[d.pick("op", 3)], d.pick("value", 3))
		s.Data = append(s.Data, d.pick("guarded", i))
	}
	if s.Tool == "look" || s.Tool == "sum" || s.Tool == "write" {
		s.Retries = d.pick("retries", 3)
	}
	return s
}

// document writes the step; its number in the plan is its place.
func (s *drawStep) document(place []int) string {
	refs, deps := "", ""
	data := s.Data
	guard := ""
	if s.Guard != "" {
		guard = `,"guard":` + fmt.Sprintf(s.Guard, place[data[len(data)-1]])
		data = data[:len(data)-1]
	}
	for k, j := range data {
		field := "v"
		if j%5 == 4 {
			field = "w" // an output may lack it (R9)
		}
		refs += fmt.Sprintf(`%s"p%d":{"step":"s%d","field":"%s"}`, comma(k), k, place[j], field)
	}
	for k, j := range s.Deps {
		deps += fmt.Sprintf(`%s"s%d"`, comma(k), place[j])
	}
	doc := fmt.Sprintf(`{"id":"%s","tool":"%s","params":{"n":"%s"},"param_refs":{%s},"depends_on":[%s]%s`, s.ID, s.Tool, s.ID, refs, deps, guard)
	if s.Join != "" {
		doc += `,"join":"` + s.Join + `"`
	}
	if s.Approval {
		doc += `,"approval":true`
	}
	if s.Retries >= 0 {
		doc += fmt.Sprintf(`,"retries":%d`, s.Retries)
	}
	return doc + "}"
}

func comma(k int) string {
	if k == 0 {
		return ""
	}
	return ","
}
