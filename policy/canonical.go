package policy

import (
	"sort"
	"strconv"
)

// Canonical is the document as RFC 8785 JSON, with what it leaves open filled
// in: sorted keys, no spaces. It keeps absent approval rules (the defaults of
// P17) apart from an empty list. Load reads it back, and its SHA-256 names the
// policy everywhere.
func Canonical(d Document) []byte {
	d = completed(d)
	scopes := map[string]any{}
	for name, scope := range d.Scopes { // order-free: fills a map
		entry := map[string]any{"tools": textList(scope.Tools)}
		if len(scope.Caps) > 0 {
			entry["caps"] = rankMap(scope.Caps)
		}
		scopes[name] = entry
	}
	tree := map[string]any{
		"version":   d.Version,
		"intents":   rankMap(d.Intents),
		"scopes":    scopes,
		"approvals": approvalsTree(d.Approvals),
	}
	if len(d.Tools) > 0 {
		tree["tools"] = toolsTree(d.Tools)
	}
	if len(d.Clearance) > 0 {
		tree["clearance"] = clearanceTree(d.Clearance)
	}
	if len(d.KillSwitches) > 0 {
		tree["kill_switches"] = textList(d.KillSwitches)
	}
	return appendTree(nil, tree)
}

func toolsTree(tools map[string]ToolRule) map[string]any {
	tree := map[string]any{}
	for name, rule := range tools { // order-free: fills a map
		entry := map[string]any{}
		if rule.Impact != nil {
			entry["impact"] = int(*rule.Impact)
		}
		if rule.Reason != "" {
			entry["reason"] = rule.Reason
		}
		tree[name] = entry
	}
	return tree
}

func approvalsTree(a Approvals) map[string]any {
	tree := map[string]any{}
	if a.Self != "" {
		tree["self"] = a.Self
	}
	if a.Rules != nil {
		rules := make([]any, len(a.Rules))
		for i, rule := range a.Rules {
			rules[i] = ruleTree(rule)
		}
		tree["rules"] = rules
	}
	return tree
}

func whenTree(w When) map[string]any {
	when := map[string]any{}
	if w.ImpactAtLeast != nil {
		when["impact_at_least"] = int(*w.ImpactAtLeast)
	}
	if w.External != nil {
		when["external"] = *w.External
	}
	if w.Tools != nil {
		when["tools"] = textList(w.Tools)
	}
	return when
}

func ruleTree(rule ApprovalRule) map[string]any {
	tree := map[string]any{"id": rule.ID, "when": whenTree(rule.When), "per": rule.Per}
	if rule.Quorum != 0 {
		tree["quorum"] = rule.Quorum
	}
	if rule.Roles != nil {
		tree["roles"] = textList(rule.Roles)
	}
	if rule.ExpiresS != 0 {
		tree["expires_s"] = int(rule.ExpiresS)
	}
	return tree
}

func textList(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

func rankMap(ranks map[string]Rank) map[string]any {
	tree := map[string]any{}
	for name, rank := range ranks { // order-free: fills a map
		tree[name] = int(rank)
	}
	return tree
}

// appendTree writes the five kinds of value that a document is made of.
func appendTree(b []byte, value any) []byte {
	switch v := value.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case string:
		return appendCanonicalText(b, v)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTree(b, item)
		}
		return append(b, ']')
	case map[string]any:
		return appendTreeMap(b, v)
	}
	panic("policy: a document tree holds only its five kinds of value")
}

func appendTreeMap(b []byte, tree map[string]any) []byte {
	keys := make([]string, 0, len(tree))
	for key := range tree {
		keys = append(keys, key)
	}
	sort.Strings(keys) // names are ASCII (Check), so this is the order of RFC 8785
	b = append(b, '{')
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendCanonicalText(b, key), ':')
		b = appendTree(b, tree[key])
	}
	return append(b, '}')
}

// appendCanonicalText quotes as RFC 8785 §3.2.2.2 says: only what must be
// escaped is, by the short form where there is one.
func appendCanonicalText(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\b':
			b = append(b, '\\', 'b')
		case r == '\t':
			b = append(b, '\\', 't')
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\f':
			b = append(b, '\\', 'f')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
