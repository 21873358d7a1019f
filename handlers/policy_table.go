package handlers

import (
	"slices"
	"strings"

	"sluice/policy"
	"sluice/policy/document"
	"sluice/web/templates"
)

// tableBuilder turns a document's rows into the tables of the page.
type tableBuilder struct {
	now, before document.Tables
	problems    []document.Problem
	intents     []string // names that ranks may use
}

// policyTables shows a text beside the active one; without permission to edit
// the cells are only read.
func policyTables(text, active string, problems []document.Problem) []templates.PolicyTable {
	b := &tableBuilder{problems: problems}
	var bad *document.Problem
	if b.now, bad = document.TablesOf([]byte(text)); bad != nil {
		return nil
	}
	b.before, _ = document.TablesOf([]byte(active))
	b.intents = []string{""}
	for _, r := range b.now.Intents {
		b.intents = append(b.intents, r.Key)
	}
	if len(b.now.Intents) == 0 {
		b.intents = append(b.intents, policy.Observe.Name(), policy.Operate.Name(), policy.Override.Name())
	}
	tables := []templates.PolicyTable{b.ruleTable(), b.scopes(), b.toolTable(), b.intentTable(), b.clearance(), b.kills()}
	for _, other := range b.now.Others {
		tables = append(tables, templates.PolicyTable{ID: "s-" + other.Key, Title: plain(other.Key), Body: plain(other.Text)})
	}
	for i := range tables {
		b.count(&tables[i])
	}
	return tables
}

// count gives a table the number of its problems and says those that no cell shows.
func (b *tableBuilder) count(t *templates.PolicyTable) {
	prefix := "/" + strings.ReplaceAll(strings.TrimPrefix(t.ID, "s-"), "-", "_")
	if t.ID == "rules" {
		prefix = "/approvals"
	}
	for _, p := range b.problems {
		if p.Pointer == prefix || strings.HasPrefix(p.Pointer, prefix+"/") {
			t.Problems++
		}
	}
}

// row makes a row out of cells and finds its problems.
func (b *tableBuilder) row(r document.Row, before []document.Row, cells ...templates.PolicyCell) templates.PolicyRow {
	row := templates.PolicyRow{Pointer: r.Pointer, Name: plain(r.Key), Cells: cells, Mark: markOf(r, before)}
	for _, p := range b.problems {
		if p.Pointer != r.Pointer && !strings.HasPrefix(p.Pointer, r.Pointer+"/") {
			continue
		}
		shown := false
		for i := range row.Cells {
			_, pointer, _ := strings.Cut(row.Cells[i].Name, ":")
			if !shown && (p.Pointer == pointer || strings.HasPrefix(p.Pointer, pointer+"/")) && pointer != r.Pointer {
				row.Cells[i].Problem, shown = p.Message, true
			}
		}
		if !shown && row.Problem == "" {
			row.Problem = p.Message
		}
	}
	return row
}

func markOf(r document.Row, before []document.Row) string {
	for i := range before {
		if before[i].Key != r.Key {
			continue
		}
		for name, text := range r.Cells {
			if before[i].Cells[name] != text {
				return "changed"
			}
		}
		for name := range before[i].Cells {
			if _, kept := r.Cells[name]; !kept {
				return "changed"
			}
		}
		return ""
	}
	return "new"
}

func (b *tableBuilder) cell(r document.Row, name, label string) templates.PolicyCell {
	return templates.PolicyCell{Name: opSet + ":" + r.Pointer + "/" + name, Label: label + " of " + plain(r.Key), Value: plain(r.Cells[name])}
}

func (b *tableBuilder) choice(r document.Row, name, label string) templates.PolicyCell {
	c := b.cell(r, name, label)
	c.Options = b.intents
	if c.Value != "" && !slices.Contains(c.Options, c.Value) {
		c.Options = append(c.Options[:len(c.Options):len(c.Options)], c.Value) // a number, or what is wrong
	}
	return c
}

func keyCell(r document.Row, label string) templates.PolicyCell {
	return templates.PolicyCell{Name: opRename + ":" + r.Pointer, Label: label, Value: plain(r.Key)}
}

func wide(c templates.PolicyCell) templates.PolicyCell {
	c.Wide = true
	return c
}

func (b *tableBuilder) intentTable() templates.PolicyTable {
	t := templates.PolicyTable{ID: "intents", Title: "Intents", Heads: []string{"Intent", "Rank"},
		Note:  "How far a run may go. The three fixed intents stay; others stand between them.",
		Add:   templates.PolicyAdd{Op: opInsert + ":/intents", Label: "Add intent", Field: "Name of the new intent"},
		Empty: "The document states none, so observe (0), operate (100) and override (200) hold."}
	for _, r := range b.now.Intents {
		c := templates.PolicyCell{Name: opSet + ":" + r.Pointer, Label: "Rank of " + plain(r.Key), Value: plain(r.Cells["rank"])}
		row := b.row(r, b.before.Intents, keyCell(r, "Name of intent "+plain(r.Key)), c)
		switch r.Key {
		case policy.Observe.Name(), policy.Operate.Name(), policy.Override.Name():
			row.Fixed, row.Cells[0].Fixed, row.Cells[1].Fixed = true, true, true
		}
		for _, p := range b.problems { // the rank's pointer is the row's own
			if p.Pointer == r.Pointer {
				row.Cells[1].Problem, row.Problem = p.Message, ""
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (b *tableBuilder) scopes() templates.PolicyTable {
	t := templates.PolicyTable{ID: "scopes", Title: "Scopes", Heads: []string{"Scope", "Tools", "Caps"},
		Note:  "Which tools a run reaches, and how far each may go whatever the intent. What no scope names is denied.",
		Add:   templates.PolicyAdd{Op: opInsert + ":/scopes", Label: "Add scope", Field: "Name of the new scope"},
		Empty: "No scope, so no run reaches any tool."}
	for _, r := range b.now.Scopes {
		t.Rows = append(t.Rows, b.row(r, b.before.Scopes, keyCell(r, "Name of scope "+plain(r.Key)),
			wide(b.cell(r, "tools", "Tools")), b.cell(r, "caps", "Caps")))
	}
	return t
}

func (b *tableBuilder) toolTable() templates.PolicyTable {
	t := templates.PolicyTable{ID: "tools", Title: "Tools", Counted: true, Heads: []string{"Tool or pattern", "Impact", "Reason"},
		Note:  "Impacts other than the declared ones. Raising is free; lowering needs a reason.",
		Add:   templates.PolicyAdd{Op: opInsert + ":/tools", Label: "Add tool", Field: "Tool or pattern to rank"},
		Empty: "Every tool has the impact that it declares."}
	for _, r := range b.now.Tools {
		row := b.row(r, b.before.Tools, keyCell(r, "Tool or pattern "+plain(r.Key)), b.choice(r, "impact", "Impact"), wide(b.cell(r, "reason", "Reason")))
		row.Rule = "tools/" + r.Key
		t.Rows = append(t.Rows, row)
	}
	return t
}

// whenCells are the conditions of a rule.
func (b *tableBuilder) whenCells(r document.Row) []templates.PolicyCell {
	external := b.cell(r, "when/external", "Acts outside")
	external.Options = []string{"", "yes", "no"}
	switch external.Value {
	case "true":
		external.Value = "yes"
	case "false":
		external.Value = "no"
	}
	return []templates.PolicyCell{b.choice(r, "when/impact_at_least", "Impact from"), wide(b.cell(r, "when/tools", "Tools")), external}
}

func (b *tableBuilder) ruleTable() templates.PolicyTable {
	t := templates.PolicyTable{ID: "rules", Title: "Rules", Counted: true,
		Heads: []string{"Rule", "Impact from", "Tools", "External", "Approvers", "Roles", "Expires (s)"},
		Note:  "Which calls ask people first. Every stated condition must hold; every rule that matches asks.",
		Add:   templates.PolicyAdd{Op: opInsert + ":/approvals/rules", Label: "Add rule"},
		Empty: "No rule, so no call asks anybody."}
	if b.now.NoRules {
		t.Empty = "The document states no rules, so the defaults hold: a call that ranks at override, or acts outside, asks one approver."
	}
	self := templates.PolicyCell{Name: opSet + ":/approvals/self", Label: "Approving one's own calls", Value: plain(b.now.Self), Options: []string{"", "allowed", "denied"}}
	for _, p := range b.problems {
		if p.Pointer == "/approvals/self" {
			self.Problem = p.Message
		}
	}
	t.Loose = []templates.PolicyCell{self}
	for _, r := range b.now.Rules {
		cells := append([]templates.PolicyCell{b.cell(r, "id", "Id")}, b.whenCells(r)...)
		cells = append(cells, b.cell(r, "quorum", "Approvers"), b.cell(r, "roles", "Roles"), b.cell(r, "expires_s", "Seconds to expiry"))
		row := b.row(r, b.before.Rules, cells...)
		row.Rule = r.Key
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (b *tableBuilder) clearance() templates.PolicyTable {
	t := templates.PolicyTable{ID: "clearance", Title: "Clearance", Counted: true,
		Heads: []string{"Rule", "Impact from", "Tools", "External", "Authority", "Seconds"},
		Note:  "Which calls an external authority has to allow over HTTP. Anything but a well-formed, timely yes denies.",
		Add:   templates.PolicyAdd{Op: opInsert + ":/clearance", Label: "Add clearance"},
		Empty: "No call needs the word of an external authority."}
	for _, r := range b.now.Clears {
		cells := append([]templates.PolicyCell{b.cell(r, "id", "Id")}, b.whenCells(r)...)
		cells = append(cells, wide(b.cell(r, "url", "Authority")), b.cell(r, "timeout_s", "Seconds to wait"))
		row := b.row(r, b.before.Clears, cells...)
		row.Rule = r.Key
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (b *tableBuilder) kills() templates.PolicyTable {
	t := templates.PolicyTable{ID: "kill-switches", Title: "Kill switches", Heads: []string{"Tool or pattern"},
		Note:  "Tools that nobody reaches now, whatever else the policy says. It acts on running plans at their next call.",
		Add:   templates.PolicyAdd{Op: opInsert + ":/kill_switches", Label: "Add kill switch", Field: "Tool or pattern to stop"},
		Empty: "No tool is stopped."}
	for _, r := range b.now.Kills {
		c := templates.PolicyCell{Name: opSet + ":" + r.Pointer, Label: "Stopped tool " + plain(r.Key), Value: plain(r.Key)}
		row := b.row(r, b.before.Kills, c)
		if row.Problem != "" {
			row.Cells[0].Problem, row.Problem = row.Problem, ""
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
