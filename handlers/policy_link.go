package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sluice/engine"
	"sluice/policy"
	"sluice/policy/document"
	"sluice/web/templates"
)

// ruleBook finds, for people, the version of the policy behind a hash and the
// line of a rule in it. It serves one page and asks for each version once.
type ruleBook struct {
	policies Policies
	ctx      context.Context // of the request
	scopes   []string        // of the run
	intent   policy.Rank
	known    map[string]*ruledVersion
}

// ruledVersion is a version with its rows, which know their lines.
type ruledVersion struct {
	PolicyVersion
	tables document.Tables
}

func (s *Server) ruleBook(ctx context.Context, run *engine.State) *ruleBook {
	b := &ruleBook{policies: s.cfg.Policies, ctx: ctx, known: map[string]*ruledVersion{}}
	if run != nil {
		b.scopes, b.intent = run.Scopes(), run.Intent()
	}
	return b
}

// version gives the version that had a hash at a time, nil when none is known.
func (b *ruleBook) version(hash string, at int64) *ruledVersion {
	if v, known := b.known[hash]; known || hash == "" {
		return v
	}
	var found *ruledVersion
	if got, err := b.policies.VersionOf(b.ctx, hash, at); err == nil {
		found = &ruledVersion{PolicyVersion: got}
		found.tables, _ = document.TablesOf([]byte(got.Text)) // what cannot be read has no lines
	}
	b.known[hash] = found
	return found
}

// ofFact gives the version that a fact names: the run's own, one published
// meanwhile, or the one of a decision.
func (b *ruleBook) ofFact(r *engine.Row) *ruledVersion {
	switch r.Kind {
	case engine.RunCreated, engine.InputPolicy, engine.AttemptStarted, engine.NodeChanged, engine.ApprovalRequested, engine.ClearanceRequested:
	default:
		return nil
	}
	var data struct {
		Policy   string `json:"policy"`
		Decision struct {
			Policy string `json:"policy"`
		} `json:"decision"`
	}
	if r.Erased || json.Unmarshal(r.Data, &data) != nil {
		return nil
	}
	return b.version(cmp.Or(data.Policy, data.Decision.Policy), r.At)
}

// link is where a version can be read.
func (v *ruledVersion) link() templates.PolicyLink {
	if v == nil {
		return templates.PolicyLink{}
	}
	return templates.PolicyLink{Text: "v" + strconv.Itoa(v.Version), URL: "/policies/" + strconv.Itoa(v.Version)}
}

// words puts version numbers in place of the hash that a reason names.
func (b *ruleBook) words(text string, d *policy.Decision, at int64) string {
	hash := policy.CurrentHash(d)
	if v := b.version(hash, at); v != nil {
		text = strings.ReplaceAll(text, hash, "(version "+strconv.Itoa(v.Version)+")")
	}
	return text
}

// decidedBy leads to the rules behind a decision, in the version that holds them.
// Where the policy of the time was stricter than that of the run, it comes first.
func (b *ruleBook) decidedBy(d *policy.Decision, tool string, at int64) []templates.PolicyLink {
	if d == nil || len(d.Rules) == 0 {
		return nil
	}
	var versions []*ruledVersion
	for _, hash := range []string{policy.CurrentHash(d), d.Policy} {
		if v := b.version(hash, at); v != nil {
			versions = append(versions, v)
		}
	}
	var links []templates.PolicyLink
	for _, rule := range d.Rules {
		for _, v := range versions {
			row, what := v.row(rule, tool, b.scopes)
			if rule == policy.RuleImpact && d.Limit == b.intent {
				row, what = v.intent(d.Limit)
			}
			if row != nil {
				links = append(links, templates.PolicyLink{Text: what + ", v" + strconv.Itoa(v.Version),
					URL: "/policies/" + strconv.Itoa(v.Version) + "#L" + strconv.Itoa(row.Line)})
				break
			}
		}
	}
	if len(links) == 0 && len(versions) > 0 {
		links = append(links, templates.PolicyLink{Text: "policy " + versions[0].link().Text, URL: versions[0].link().URL})
	}
	return links
}

// intent finds the intent that was too low for a call.
func (v *ruledVersion) intent(limit policy.Rank) (*document.Row, string) {
	for i := range v.tables.Intents {
		if row := &v.tables.Intents[i]; row.Cells["rank"] == strconv.Itoa(int(limit)) {
			return row, "intent " + plain(row.Key)
		}
	}
	return nil, ""
}

// row finds the entry that a cited rule stands for, and names it.
func (v *ruledVersion) row(rule, tool string, scopes []string) (*document.Row, string) {
	if pattern, isOverride := strings.CutPrefix(rule, "tools/"); isOverride {
		return rowOf(v.tables.Tools, func(key string) bool { return key == pattern }), "tools " + plain(pattern)
	}
	inScopes := func(key string) bool { return slices.Contains(scopes, key) }
	switch rule {
	case policy.RuleKillSwitch:
		row := rowOf(v.tables.Kills, func(key string) bool { return policy.MatchName(key, tool) })
		if row == nil {
			return nil, ""
		}
		return row, "kill switch " + plain(row.Key)
	case policy.RuleScope, policy.RuleImpact:
		row := rowOf(v.tables.Scopes, inScopes)
		if row == nil {
			return nil, ""
		}
		return row, "scope " + plain(row.Key)
	}
	isIt := func(key string) bool { return key == rule }
	if row := rowOf(v.tables.Rules, isIt); row != nil {
		return row, "rule " + plain(rule)
	}
	return rowOf(v.tables.Clears, isIt), "clearance " + plain(rule)
}

func rowOf(rows []document.Row, isIt func(key string) bool) *document.Row {
	for i := range rows {
		if isIt(rows[i].Key) {
			return &rows[i]
		}
	}
	return nil
}

// name leads from the decision about a node to the rules behind it.
func (b *ruleBook) name(v *templates.Node, d *policy.Decision, at int64) {
	if d == nil {
		return
	}
	v.Rules, v.Policy = b.decidedBy(d, v.Tool, at), b.version(d.Policy, at).link()
	for i := range v.Gate {
		v.Gate[i].Text = b.words(v.Gate[i].Text, d, at)
	}
}
