package planner_test

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/engine/plan"
	"sluice/engine/planner"
	"sluice/engine/template"
	"sluice/engine/tool"
	"sluice/policy"
	"sluice/store"
)

// shipped is the planner over the catalogue and the index that are shipped.
func shipped(t testing.TB) *planner.Planner {
	t.Helper()
	registry, err := tool.New(tool.Config{Workspace: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	catalog := registry.Catalog()
	index, err := store.NewToolIndex(planner.Documents(catalog))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	return &planner.Planner{Index: index, Catalog: catalog, Templates: offered(t)}
}

type offers []planner.Offered

func (o offers) Offered() []planner.Offered { return o }

// offered are the shipped templates: no goal may be planned worse for them.
func offered(t testing.TB) offers {
	t.Helper()
	list, err := template.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var o offers
	for _, tmpl := range list {
		o = append(o, planner.Offered{Ref: tmpl.Name + "@1", Template: tmpl})
	}
	return o
}

// goalRow is a goal with what is expected of it: a comma list of tools, "a|b"
// for either, "a?" for optional, or "decline".
type goalRow struct {
	goal     string
	expected string
}

func readGoals(t *testing.T, name string) []goalRow {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []goalRow
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		columns := strings.Split(lines.Text(), "\t")
		if len(columns) < 2 || columns[0] == "goal" || strings.HasPrefix(columns[0], "#") {
			continue
		}
		rows = append(rows, goalRow{goal: strings.ReplaceAll(columns[0], `\n`, "\n"), expected: columns[1]})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// missing names a tool that a row wants and the catalogue lacks; an alternative
// or optional tool is not missed.
func (g goalRow) missing(catalog *plan.Catalog) string {
	if g.expected == "decline" {
		return ""
	}
	for _, want := range strings.Split(g.expected, ",") {
		if strings.HasSuffix(want, "?") {
			continue
		}
		has := slices.ContainsFunc(strings.Split(want, "|"), func(name string) bool {
			_, is := catalog.Lookup(name)
			return is
		})
		if !has {
			return want
		}
	}
	return ""
}

// fits says whether the tools of a plan are those a row expects, each as often
// as it is named.
func (g goalRow) fits(tools []string) bool {
	if g.expected == "decline" {
		return len(tools) == 0
	}
	left := slices.Clone(tools)
	var optional []string
	for _, want := range strings.Split(g.expected, ",") {
		if name, is := strings.CutSuffix(want, "?"); is {
			optional = append(optional, name)
			continue
		}
		i := slices.IndexFunc(left, func(tool string) bool { return slices.Contains(strings.Split(want, "|"), tool) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, name := range optional {
		if i := slices.Index(left, name); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return len(left) == 0
}

func toolsOf(p planner.Proposal) []string {
	if p.Plan == nil {
		return nil
	}
	var out []string
	for _, s := range p.Plan.Steps {
		out = append(out, s.Tool)
	}
	return out
}

// acts lists the tools of a plan that change something and that the row does not name.
func (g goalRow) unaskedActs(catalog *plan.Catalog, tools []string) []string {
	var out []string
	for _, name := range tools {
		declared, _ := catalog.Lookup(name)
		if declared.Effect != policy.Read && !strings.Contains(g.expected, name) {
			out = append(out, name)
		}
	}
	return out
}

// score proposes a plan for every row and holds the results against the rows.
func score(t *testing.T, rows []goalRow) (right, of, declined, declines int) {
	t.Helper()
	p := shipped(t)
	for _, row := range rows {
		if lacks := row.missing(p.Catalog); lacks != "" {
			t.Logf("left out for want of %s: %q", lacks, row.goal)
			continue
		}
		proposal := p.Propose(row.goal)
		tools := toolsOf(proposal)
		if acts := row.unaskedActs(p.Catalog, tools); len(acts) > 0 {
			t.Errorf("%q: act steps %v were not asked for", row.goal, acts)
		}
		checkProposal(t, p.Catalog, row.goal, proposal)
		isRight := row.fits(tools)
		if !isRight {
			t.Logf("%q: got %v, want %s; unplanned %v", row.goal, tools, row.expected, proposal.Unplanned)
		}
		if row.expected == "decline" {
			declines++
			if isRight {
				declined++
			}
			continue
		}
		of++
		if isRight {
			right++
		}
	}
	t.Logf("right tools %d of %d, declined %d of %d", right, of, declined, declines)
	return right, of, declined, declines
}

// checkProposal holds for every proposal: it compiles, and it says something.
func checkProposal(t *testing.T, catalog *plan.Catalog, goal string, p planner.Proposal) {
	t.Helper()
	if p.By != planner.By || p.Unplanned == nil {
		t.Errorf("%q: by %q, unplanned %v", goal, p.By, p.Unplanned)
	}
	if p.Plan == nil && p.Answer == "" && len(p.Unplanned) == 0 {
		t.Errorf("%q: neither plan nor answer nor reason", goal)
	}
	if p.Plan != nil && p.Answer != "" {
		t.Errorf("%q: a plan and an answer", goal)
	}
	if p.Plan != nil {
		if _, findings := plan.Compile(p.Plan, plan.Env{Catalog: catalog, Author: "builtin"}); plan.Refused(findings) {
			t.Errorf("%q: the plan does not compile: %+v", goal, findings)
		}
	}
	for _, u := range p.Unplanned {
		if u.Why == "" || !strings.Contains(goal, strings.TrimSuffix(u.Clause, "…")) {
			t.Errorf("%q: unplanned %+v", goal, u)
		}
	}
}

func TestGoalsDev(t *testing.T) {
	name := filepath.Join("..", "..", "..", "shared", "data", "goals_dev.tsv")
	if _, err := os.Stat(name); err != nil {
		if slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "data") {
			t.Fatalf("REQUIRE=data, but %v", err)
		}
		t.Skipf("no shared data: %v", err)
	}
	right, of, declined, declines := score(t, readGoals(t, name))
	if right*100 < of*80 {
		t.Errorf("right tools for %d of %d goals, want at least 80 %%", right, of)
	}
	if declined < declines-1 {
		t.Errorf("declined %d of %d goals that no tool can do, want all but one", declined, declines)
	}
}

func TestP38_OwnGoals(t *testing.T) {
	right, of, declined, declines := score(t, readGoals(t, filepath.Join("testdata", "goals.tsv")))
	if right != of || declined != declines {
		t.Errorf("right tools for %d of %d goals, declined %d of %d", right, of, declined, declines)
	}
}
