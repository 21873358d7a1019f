package sim

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/engine/plan"
	"sluice/policy"
)

// makePlan draws the plan of a world: up to fourteen steps with every join,
// guards and references. A join that compiling refuses (C03, C05) becomes all_done.
func (w *World) makePlan() (*plan.Plan, *plan.Compiled, []byte, error) {
	steps := make([]string, 1+w.draw(14, "steps"))
	for i := range steps {
		steps[i] = w.makeStep(i)
	}
	doc := `{"format":1,"goal":"seed","steps":[` + strings.Join(steps, ",") + `]}`
	for _, text := range []string{doc, strings.ReplaceAll(doc, `"any_of"`, `"all_done"`)} {
		p, _ := plan.Parse([]byte(text))
		if p == nil {
			continue
		}
		c, _ := plan.Compile(p, plan.Env{Catalog: w.Env.Catalog, Policy: w.Env.Pinned, Scopes: []string{"default"},
			Intent: w.intent, Requester: requester, Author: plan.Builtin})
		if c != nil {
			return p, c, []byte(text), nil
		}
	}
	return nil, nil, nil, fmt.Errorf("make plan: %s does not compile", doc)
}

func (w *World) makeStep(i int) string {
	tools := []string{"look", "look", "look", "write", "write", "patch", "erase", "secret"}
	name := "step" + strconv.Itoa(i)
	tool := tools[w.draw(len(tools), name, "tool")]
	var deps, refs []string
	guard := ""
	for j := max(0, i-5); j < i; j++ {
		edge := strconv.Itoa(j)
		switch w.draw(7, name, "edge", edge) {
		case 0, 1:
			deps = append(deps, `"s`+edge+`"`)
		case 2:
			refs = append(refs, fmt.Sprintf(`"p%d":{"step":"s%d","field":"n"}`, j, j))
		case 3:
			if guard == "" && w.draw(3, name, "guard", edge) == 0 {
				guard = fmt.Sprintf(`,"guard":{"ref":{"step":"s%d","field":"n"},"op":"ge","value":1}`, j)
			}
		}
	}
	join := ""
	if len(deps) > 0 {
		join = `,"join":"` + []string{"all_of", "any_of", "all_done"}[w.draw(3, name, "join")] + `"`
	}
	return fmt.Sprintf(`{"id":"s%d","tool":"%s","params":{"i":%d},"param_refs":{%s},"depends_on":[%s]%s%s}`,
		i, tool, i, strings.Join(refs, ","), strings.Join(deps, ","), join, guard)
}

func (w *World) drawIntent() policy.Rank {
	return []policy.Rank{policy.Observe, policy.Operate, policy.Override, policy.Override}[w.draw(4, "intent")]
}
