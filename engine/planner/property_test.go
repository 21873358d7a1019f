package planner_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine/plan"
)

// baits are goals that would make steps if they were not quoted or denied.
func baits(t *testing.T) []string {
	var out []string
	for _, row := range readGoals(t, "testdata/goals.tsv") {
		if row.expected != "decline" && !strings.ContainsAny(row.goal, "\"“”") {
			out = append(out, row.goal)
		}
	}
	return out
}

func TestP38_QuotedTextNeverMakesSteps(t *testing.T) {
	p, all := shipped(t), baits(t)
	rapid.Check(t, func(t *rapid.T) {
		bait := rapid.SampledFrom(all).Draw(t, "bait")
		open := rapid.SampledFrom([][2]string{{`"`, `"`}, {"“", "”"}, {"«", "»"}}).Draw(t, "quotes")
		quote := open[0] + bait + open[1]
		for _, c := range []struct{ goal, tool, param string }{
			{"Search for " + quote + " in docs", "file.search", "query"},
			{"Write " + quote + " to out.txt", "file.write", "content"},
			{"Create out.txt with the text " + quote, "file.write", "content"},
		} {
			got := p.Propose(c.goal)
			if !slices.Equal(toolsOf(got), []string{c.tool}) {
				t.Fatalf("%s: got %v, want %s alone", c.goal, toolsOf(got), c.tool)
			}
			want, _ := json.Marshal(bait)
			if literal := got.Plan.Steps[0].Params[c.param]; string(literal) != string(want) {
				t.Fatalf("%s: %s is %s, want %s", c.goal, c.param, literal, want)
			}
		}
		if got := p.Propose(quote); got.Plan != nil {
			t.Fatalf("%s: got %v, want nothing", quote, toolsOf(got))
		}
	})
}

func TestP38_NegatedClausesMakeNoSteps(t *testing.T) {
	p := shipped(t)
	imperatives := []string{"list the processes", "show the kernel version", "delete notes.txt", "read a.txt", "write 'x' to a.txt", "search for foo in src",
		"find git repositories under projects", "check the disk usage", "print the environment variables", "open README.md", "copy a.txt to b.txt", "remove a.txt and b.txt"}
	denials := []string{"Don't ", "do not ", "Please don't ", "never ", "You must not ", "No need to ", "I don't want you to ", "please do not ever ", "Don’t ", "Under no circumstances "}
	rapid.Check(t, func(t *rapid.T) {
		denied := rapid.SampledFrom(denials).Draw(t, "denial") + rapid.SampledFrom(imperatives).Draw(t, "denied")
		if got := p.Propose(denied); got.Plan != nil {
			t.Fatalf("%q: got %v", denied, toolsOf(got))
		}
		asked := rapid.SampledFrom(imperatives).Draw(t, "asked")
		alone := toolsOf(p.Propose(asked))
		if got := toolsOf(p.Propose(denied + ". " + asked + ".")); !slices.Equal(got, alone) {
			t.Fatalf("%q after %q: got %v, want %v", asked, denied, got, alone)
		}
	})
}

func TestP38_ProposalsAreRepeatable(t *testing.T) {
	p := shipped(t)
	rapid.Check(t, func(t *rapid.T) {
		goal := rapid.StringOf(rapid.RuneFrom([]rune("abc delt.,:;\"'`/*-\n"))).Draw(t, "goal")
		first, _ := json.Marshal(p.Propose(goal))
		second, _ := json.Marshal(p.Propose(goal))
		if string(first) != string(second) {
			t.Fatalf("%q: got %s, then %s", goal, first, second)
		}
	})
}

func FuzzPropose(f *testing.F) {
	f.Add("If disk usage is above 80 percent, list the biggest files in data.")
	f.Add("write \"x\" to a.txt, then delete it: now")
	p := shipped(f)
	f.Fuzz(func(t *testing.T, goal string) {
		got := p.Propose(goal)
		if got.Plan == nil {
			return
		}
		if _, findings := plan.Compile(got.Plan, plan.Env{Catalog: p.Catalog, Author: plan.Builtin}); plan.Refused(findings) {
			t.Fatalf("%q: %+v", goal, findings)
		}
	})
}
