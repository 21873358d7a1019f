package planner_test

import (
	"testing"

	"sluice/engine/planner"
	"sluice/engine/template"
)

// reads is a template that reads a file, for a phrase.
func reads(t *testing.T, name, phrase string) planner.Offered {
	t.Helper()
	tmpl, found := template.Parse([]byte(`{"format":1,"name":"` + name + `","title":"t","description":"","match":["` + phrase + `"],
		"slots":[{"name":"path","type":"string","description":"","default":"a.txt"}],
		"plan":{"format":1,"goal":"g","steps":[{"id":"read","tool":"file.read","params":{"path":{"$slot":"path"}}}]}}`))
	if tmpl == nil {
		t.Fatalf("got %+v", found)
	}
	return planner.Offered{Ref: name + "@1", Template: tmpl}
}

// TestR102_TheFittingTemplateWins: whatever the order, the phrase with most words
// of its own is taken; of two that fit alike none is, nor of a negated goal.
func TestR102_TheFittingTemplateWins(t *testing.T) {
	wide, close, twin := reads(t, "wide", "check over {path}"), reads(t, "close", "check over the note {path}"), reads(t, "twin", "check over {path}")
	p := shipped(t)
	for _, c := range []struct {
		offered offers
		goal    string
		want    string
	}{
		{offers{wide, close}, "Check over the note b.txt", "close@1"},
		{offers{close, wide}, "Check over the note b.txt", "close@1"},
		{offers{close, wide}, "check over b.txt", "wide@1"},
		{offers{wide, twin}, "check over b.txt", ""},
		{offers{wide, twin, close}, "check over the note b.txt", "close@1"},
		{offers{wide}, "do not check over b.txt", ""},
		{offers{wide}, "check over b.txt and delete c.txt", ""},
		{offers{wide}, "check over b.txt, but not today", ""},
	} {
		p.Templates = c.offered
		if got := p.Propose(c.goal); got.Template != c.want {
			t.Errorf("%q: got template %q, want %q", c.goal, got.Template, c.want)
		}
	}
}
