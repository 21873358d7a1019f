package planner

import (
	"strings"

	"sluice/policy"
)

// planDeclared plans what the tables do not name: one program that may be
// running ("is nginx running"), and tools of the catalogue that no rule knows.
func (b *builder) planDeclared(r *reading) ([]string, string, bool) {
	if ids, why, is := b.planProgram(r); is {
		return ids, why, true
	}
	return b.planUnknownTool(r)
}

// planProgram reads "is nginx running" and "is there a process called nginx".
func (b *builder) planProgram(r *reading) ([]string, string, bool) {
	if !r.question && r.class != verbShow || !b.offers("process_list") || !b.takes("process_list", "name") {
		return nil, "", false
	}
	left := r.left(wordSet("run process daemon service program application alive active"))
	if len(left) != 1 || r.body[left[0]].kind != word {
		return nil, "", false
	}
	i := left[0]
	next, before := at(r.body, i+1), at(r.body, i-1)
	if next.text == "is" || next.text == "are" {
		next = at(r.body, i+2)
	}
	if next.text != "running" && next.text != "alive" || before.kind == word && determiners[before.text] || known(r.body[i].text) {
		return nil, "", false
	}
	name := r.body[i].raw
	id := b.draft.add(spec{tool: "process_list", name: "process " + name, given: map[string]any{"name": name}, guard: b.guard})
	return []string{id}, "", true
}

// planUnknownTool accepts a tool that has no rule of its own only when it reads,
// needs no parameter, and its declaration has every word of the phrase, at
// least two of them, one in its name.
func (b *builder) planUnknownTool(r *reading) ([]string, string, bool) {
	for _, name := range b.planner.Catalog.Names() {
		if hasRule(name) || !b.offers(name) || !b.isPlainRead(name) {
			continue
		}
		tool, _ := b.planner.Catalog.Lookup(name)
		inName, inAll := wordSet(plainWords(name)), wordSet(plainWords(name+" "+tool.Summary))
		named, counted := 0, 0
		for _, i := range r.left() {
			if inAll[r.body[i].stem] && r.body[i].kind == word {
				counted++
			}
			if inName[r.body[i].stem] {
				named++
			}
		}
		if counted == len(r.left()) && counted >= 2 && named >= 1 {
			return []string{b.draft.add(spec{tool: name, guard: b.guard})}, "", true
		}
	}
	return nil, "", false
}

// hasRule says whether the tables or the rules know a tool.
func hasRule(name string) bool {
	if _, is := ruleWords[name]; is {
		return true
	}
	for _, t := range topics {
		if t.tool == name {
			return true
		}
	}
	return false
}

// isPlainRead says whether a tool reads and can be called without parameters.
func (b *builder) isPlainRead(name string) bool {
	tool, is := b.planner.Catalog.Lookup(name)
	return is && tool.Effect == policy.Read && tool.Impact == policy.Observe && len(shapeOf(tool.Input).Required) == 0
}

func plainWords(name string) string { return strings.ToLower(asWords(strings.Trim(name, "."))) }
