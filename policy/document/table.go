package document

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/policy"
)

// Tables is a document as rows of text, for editing. It is read leniently: what
// is wrong shows as it is written, so that it can be mended in its place.
type Tables struct {
	Intents []Row
	Scopes  []Row
	Tools   []Row
	Clears  []Row // clearance
	Rules   []Row
	Kills   []Row
	Self    string // of approvals
	NoRules bool   // approvals.rules is absent: the defaults hold
	// Others are further sections with the YAML under their keys.
	Others []Section
}

// Row is one entry of a section: where it is, its key or text, and its cells by name.
type Row struct {
	Pointer string
	Key     string
	Line    int
	Cells   map[string]string
}

// Section is a part of the document as YAML.
type Section struct {
	Key, Text string
	Line      int
}

// TablesOf reads the tables of a text; the problem says why it is no YAML.
func TablesOf(text []byte) (Tables, *Problem) {
	var t Tables
	root, problem := load(text)
	if problem != nil {
		return t, problem
	}
	if root.Kind != yaml.MappingNode {
		return t, &Problem{Line: root.Line, Col: root.Column, Message: "A policy document is a map. Start with version: 1."}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, body := root.Content[i], root.Content[i+1]
		switch key.Value {
		case "version":
		case "intents":
			t.Intents = mapRows("/intents", body, func(v *yaml.Node) map[string]string { return map[string]string{"rank": cell(v)} })
		case "scopes":
			t.Scopes = mapRows("/scopes", body, func(v *yaml.Node) map[string]string { return cells(v, "tools", "caps") })
		case "tools":
			t.Tools = mapRows("/tools", body, func(v *yaml.Node) map[string]string { return cells(v, "impact", "reason") })
		case "approvals":
			t.approvals(body)
		case "clearance":
			t.Clears = ruleRows("/clearance", body, "id", "url", "timeout_s")
		case "kill_switches":
			for n, item := range body.Content {
				t.Kills = append(t.Kills, Row{Pointer: "/kill_switches/" + strconv.Itoa(n), Key: cell(item), Line: item.Line})
			}
		default:
			raw, err := yaml.Marshal(body)
			if err == nil {
				t.Others = append(t.Others, Section{Key: key.Value, Text: string(raw), Line: key.Line})
			}
		}
	}
	t.NoRules = t.NoRules || child(root, "approvals") == nil
	return t, nil
}

func (t *Tables) approvals(n *yaml.Node) {
	t.Self = cells(n, "self")["self"]
	rules := child(n, "rules")
	t.NoRules = rules == nil
	if rules == nil {
		return
	}
	t.Rules = ruleRows("/approvals/rules", rules, "id", "per", "quorum", "roles", "expires_s")
}

// ruleRows are the rules of a list; the cells of their conditions are named
// "when/" and the condition, so that a row's pointer and a cell's name lead to it.
func ruleRows(pointer string, n *yaml.Node, names ...string) []Row {
	var rows []Row
	for i, rule := range n.Content {
		c := cells(rule, names...)
		if when := child(rule, "when"); when != nil {
			for name, text := range cells(when, "impact_at_least", "external", "tools") { // order-free: fills a map
				c["when/"+name] = text
			}
		}
		rows = append(rows, Row{Pointer: pointer + "/" + strconv.Itoa(i), Key: c["id"], Line: rule.Line, Cells: c})
	}
	return rows
}

func mapRows(pointer string, n *yaml.Node, read func(*yaml.Node) map[string]string) []Row {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	var rows []Row
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		rows = append(rows, Row{Pointer: pointer + "/" + policy.Escape(key.Value), Key: key.Value, Line: key.Line, Cells: read(n.Content[i+1])})
	}
	return rows
}

func cells(n *yaml.Node, names ...string) map[string]string {
	out := make(map[string]string, len(names))
	for _, name := range names {
		if v := child(n, name); v != nil {
			out[name] = cell(v)
		}
	}
	return out
}

// cell is a value on one line: lists as "a, b", maps as "a: b, c: d".
func cell(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return ""
		}
		return n.Value
	case yaml.SequenceNode:
		items := make([]string, len(n.Content))
		for i, item := range n.Content {
			items[i] = cell(item)
		}
		return strings.Join(items, ", ")
	case yaml.MappingNode:
		var items []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			items = append(items, n.Content[i].Value+": "+cell(n.Content[i+1]))
		}
		return strings.Join(items, ", ")
	}
	return ""
}
