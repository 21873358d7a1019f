package document

import (
	"regexp"
	"sort"
	"strconv"
	"strings"

	"sluice/policy"
)

// Marshal writes a document as YAML for people to edit. Parse reads it back to
// the same document, as long as the document compiles.
func Marshal(d policy.Document) []byte {
	w := &writer{names: map[policy.Rank]string{}}
	for _, name := range sorted(d.Intents) {
		w.names[d.Intents[name]] = name
	}
	w.line(0, "version: "+strconv.Itoa(d.Version))
	if d.Intents != nil {
		w.section(0, "intents", len(d.Intents))
		for _, name := range sorted(d.Intents) {
			w.line(1, quoted(name)+": "+strconv.Itoa(int(d.Intents[name])))
		}
	}
	if d.Scopes != nil {
		w.section(0, "scopes", len(d.Scopes))
		for _, name := range sorted(d.Scopes) {
			w.scope(name, d.Scopes[name])
		}
	}
	if d.Tools != nil {
		w.section(0, "tools", len(d.Tools))
		for _, name := range sorted(d.Tools) {
			w.tool(name, d.Tools[name])
		}
	}
	w.clearance(d.Clearance)
	w.approvals(d.Approvals)
	w.texts(0, "kill_switches", d.KillSwitches)
	w.line(0, "# reserved: conditions, flows, models, guards, waivers, budgets")
	return []byte(w.out.String())
}

type writer struct {
	out   strings.Builder
	names map[policy.Rank]string
}

func (w *writer) line(indent int, text string) {
	w.out.WriteString(strings.Repeat("  ", indent) + text + "\n")
}

// section opens a map of n entries; an empty one is closed at once.
func (w *writer) section(indent int, name string, n int) {
	if n == 0 {
		w.line(indent, name+": {}")
		return
	}
	w.line(indent, name+":")
}

func (w *writer) texts(indent int, name string, texts []string) {
	if texts == nil {
		return
	}
	items := make([]string, len(texts))
	for i, text := range texts {
		items[i] = quoted(text)
	}
	w.line(indent, name+": ["+strings.Join(items, ", ")+"]")
}

func (w *writer) rank(rank policy.Rank) string {
	if name, ok := w.names[rank]; ok {
		return quoted(name)
	}
	return strconv.Itoa(int(rank))
}

func (w *writer) scope(name string, scope policy.Scope) {
	parts := len(scope.Caps)
	if scope.Tools != nil || scope.Caps != nil {
		parts++
	}
	w.section(1, quoted(name), parts)
	w.texts(2, "tools", scope.Tools)
	if scope.Caps == nil {
		return
	}
	w.section(2, "caps", len(scope.Caps))
	for _, glob := range sorted(scope.Caps) {
		w.line(3, quoted(glob)+": "+w.rank(scope.Caps[glob]))
	}
}

func (w *writer) tool(name string, rule policy.ToolRule) {
	parts := len(rule.Reason)
	if rule.Impact != nil {
		parts++
	}
	w.section(1, quoted(name), parts)
	if rule.Impact != nil {
		w.line(2, "impact: "+w.rank(*rule.Impact))
	}
	if rule.Reason != "" {
		w.line(2, "reason: "+strconv.Quote(rule.Reason))
	}
}

func (w *writer) approvals(a policy.Approvals) {
	if a.Self == "" && a.Rules == nil {
		w.line(0, "approvals: {}")
		return
	}
	w.line(0, "approvals:")
	if a.Self != "" {
		w.line(1, "self: "+quoted(a.Self))
	}
	if a.Rules == nil {
		return
	}
	if len(a.Rules) == 0 {
		w.line(1, "rules: []")
		return
	}
	w.line(1, "rules:")
	for _, rule := range a.Rules {
		w.rule(rule)
	}
}

func (w *writer) clearance(rules []policy.ClearanceRule) {
	if rules == nil {
		return
	}
	if len(rules) == 0 {
		w.line(0, "clearance: []")
		return
	}
	w.line(0, "clearance:")
	for _, rule := range rules {
		w.line(1, "- id: "+quoted(rule.ID))
		w.when(2, rule.When)
		w.line(2, "url: "+quoted(rule.URL))
		if rule.TimeoutS != 0 {
			w.line(2, "timeout_s: "+strconv.Itoa(rule.TimeoutS))
		}
	}
}

func (w *writer) rule(rule policy.ApprovalRule) {
	w.line(2, "- id: "+quoted(rule.ID))
	w.when(3, rule.When)
	if rule.Per != "" {
		w.line(3, "per: "+quoted(rule.Per))
	}
	if rule.Quorum != 0 {
		w.line(3, "quorum: "+strconv.Itoa(rule.Quorum))
	}
	w.texts(3, "roles", rule.Roles)
	if rule.ExpiresS != 0 {
		w.line(3, "expires_s: "+strconv.FormatInt(rule.ExpiresS, 10))
	}
}

func (w *writer) when(indent int, when policy.When) {
	if when.ImpactAtLeast == nil && when.External == nil && when.Tools == nil {
		w.line(indent, "when: {}")
		return
	}
	w.line(indent, "when:")
	if when.ImpactAtLeast != nil {
		w.line(indent+1, "impact_at_least: "+w.rank(*when.ImpactAtLeast))
	}
	if when.External != nil {
		w.line(indent+1, "external: "+strconv.FormatBool(*when.External))
	}
	w.texts(indent+1, "tools", when.Tools)
}

// plain are the texts that YAML reads as themselves without quotes. Words that
// some reader takes for a truth value, null or a number are not among them.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

func quoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf":
		return strconv.Quote(text)
	}
	if plain.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
