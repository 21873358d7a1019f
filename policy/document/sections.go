package document

import (
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/policy"
)

func (r *reader) document(root *yaml.Node) policy.Document {
	var d policy.Document
	r.mark(root, "")
	r.intents = policy.Default().Intents
	if intents := child(root, "intents"); intents != nil {
		// Ranks anywhere may use these names, so they are read first.
		d.Intents = r.ranks(entry{value: intents, pointer: "/intents"}, r.wholeRank)
		r.intents = d.Intents
	}
	r.fields(root, "", map[string]func(entry){
		"version":       func(e entry) { d.Version, _ = r.number(e) },
		"intents":       func(entry) {},
		"scopes":        func(e entry) { d.Scopes = r.scopes(e) },
		"tools":         func(e entry) { d.Tools = r.tools(e) },
		"clearance":     func(e entry) { d.Clearance = r.clearance(e) },
		"approvals":     func(e entry) { d.Approvals = r.approvals(e) },
		"kill_switches": func(e entry) { d.KillSwitches = r.texts(e) },
	})
	return d
}

func child(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func (r *reader) wholeRank(e entry) (policy.Rank, bool) {
	value, ok := r.number(e)
	return policy.Rank(value), ok
}

// ranks reads a map from names to ranks; entries that cannot be read are left
// out.
func (r *reader) ranks(e entry, read func(entry) (policy.Rank, bool)) map[string]policy.Rank {
	out := map[string]policy.Rank{}
	for _, item := range r.entries(e.value, e.pointer) {
		r.mark(item.keyNode, item.pointer)
		if rank, ok := read(item); ok {
			out[item.key] = rank
		}
	}
	return out
}

func (r *reader) scopes(e entry) map[string]policy.Scope {
	out := map[string]policy.Scope{}
	for _, item := range r.entries(e.value, e.pointer) {
		var scope policy.Scope
		r.mark(item.keyNode, item.pointer)
		r.fields(item.value, item.pointer, map[string]func(entry){
			"tools": func(e entry) { scope.Tools = r.texts(e) },
			"caps":  func(e entry) { scope.Caps = r.ranks(e, r.rank) },
		})
		out[item.key] = scope
	}
	return out
}

func (r *reader) tools(e entry) map[string]policy.ToolRule {
	out := map[string]policy.ToolRule{}
	for _, item := range r.entries(e.value, e.pointer) {
		var rule policy.ToolRule
		r.mark(item.keyNode, item.pointer)
		r.fields(item.value, item.pointer, map[string]func(entry){
			"impact": func(e entry) { rule.Impact = r.rankOrNil(e) },
			"reason": func(e entry) { rule.Reason = r.text(e) },
		})
		out[item.key] = rule
	}
	return out
}

func (r *reader) rankOrNil(e entry) *policy.Rank {
	if rank, ok := r.rank(e); ok {
		return &rank
	}
	return nil
}

func (r *reader) approvals(e entry) policy.Approvals {
	var a policy.Approvals
	r.fields(e.value, e.pointer, map[string]func(entry){
		"self":  func(e entry) { a.Self = r.text(e) },
		"rules": func(e entry) { a.Rules = r.rules(e) },
	})
	return a
}

func (r *reader) rules(e entry) []policy.ApprovalRule {
	out := []policy.ApprovalRule{}
	for _, item := range r.items(e) {
		var rule policy.ApprovalRule
		r.fields(item.value, item.pointer, map[string]func(entry){
			"id":        func(e entry) { rule.ID = r.text(e) },
			"when":      func(e entry) { rule.When = r.when(e) },
			"per":       func(e entry) { rule.Per = r.text(e) },
			"quorum":    func(e entry) { rule.Quorum = r.positive(e) },
			"roles":     func(e entry) { rule.Roles = r.texts(e) },
			"expires_s": func(e entry) { rule.ExpiresS = int64(r.positive(e)) },
		})
		out = append(out, rule)
	}
	return out
}

func (r *reader) clearance(e entry) []policy.ClearanceRule {
	var out []policy.ClearanceRule
	for _, item := range r.items(e) {
		var rule policy.ClearanceRule
		r.fields(item.value, item.pointer, map[string]func(entry){
			"id":        func(e entry) { rule.ID = r.text(e) },
			"when":      func(e entry) { rule.When = r.when(e) },
			"url":       func(e entry) { rule.URL = r.text(e) },
			"timeout_s": func(e entry) { rule.TimeoutS = r.positive(e) },
		})
		out = append(out, rule)
	}
	return out
}

func (r *reader) when(e entry) policy.When {
	var when policy.When
	r.fields(e.value, e.pointer, map[string]func(entry){
		"impact_at_least": func(e entry) { when.ImpactAtLeast = r.rankOrNil(e) },
		"external":        func(e entry) { when.External = r.truth(e) },
		"tools":           func(e entry) { when.Tools = r.texts(e) },
	})
	return when
}

// kindOf names what stands in the text where something else is needed.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "empty"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "the number " + shown(n.Value)
	case "!!timestamp":
		return "a date"
	case "!!merge":
		return "a merge key"
	}
	if n.Value == "" {
		return "empty"
	}
	return "a text"
}

// wordBytesMax bounds what a message repeats of the text.
const wordBytesMax = 80

// keysShownMax bounds how many choices a message lists.
const keysShownMax = 12

// shown quotes a word of the text, cut short, whatever signs it has.
func shown(word string) string {
	if len(word) > wordBytesMax {
		word = strings.ToValidUTF8(word[:wordBytesMax], "") + "..."
	}
	return strconv.QuoteToGraphic(word)
}

func listKeys[V any](m map[string]V) string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	if len(keys) > keysShownMax {
		keys = append(keys[:keysShownMax], "...")
	}
	return strings.Join(keys, ", ")
}
