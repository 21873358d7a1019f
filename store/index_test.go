package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine/planner"
	"sluice/store"
)

// toolIndex indexes three tools.
func toolIndex(t *testing.T) *store.ToolIndex {
	t.Helper()
	index, err := store.NewToolIndex([]planner.Document{
		{Tool: "disk_usage", Name: "disk usage", Summary: "Show how full the disks are.", Keywords: "space storage NEAR", Params: "path"},
		{Tool: "file.delete", Name: "file delete", Summary: "Delete one file for good.", Keywords: "remove erase", Params: "path"},
		{Tool: "git.log", Name: "git log", Summary: "List the commits of a repository.", Keywords: "history", Params: "path limit"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	return index
}

func search(t *testing.T, index *store.ToolIndex, limit int, terms ...string) []string {
	t.Helper()
	hits, err := index.Search(terms, limit)
	if err != nil {
		t.Fatalf("search %q: %v", terms, err)
	}
	var tools []string
	for i, hit := range hits {
		if i > 0 && hit.Score > hits[i-1].Score {
			t.Errorf("search %q: %v is not best first", terms, hits)
		}
		tools = append(tools, hit.Tool)
	}
	return tools
}

func TestR11_ToolIndexFindsToolsByWords(t *testing.T) {
	index := toolIndex(t)
	cases := []struct {
		terms []string
		limit int
		want  []string
	}{
		{[]string{"storage"}, 15, []string{"disk_usage"}},
		{[]string{"DISKS", "commit"}, 15, []string{"disk_usage", "git.log"}},
		{[]string{"erasing"}, 15, []string{"file.delete"}},
		{[]string{"limit"}, 15, []string{"git.log"}},
		{[]string{"spaceship"}, 15, nil},
		{[]string{"path"}, 0, nil},
		{nil, 15, nil},
		{[]string{"", "  "}, 15, nil},
		{[]string{strings.Repeat("x", 5000)}, 15, nil},
		{[]string{"tool"}, 15, nil}, // the key is not searched
	}
	for _, c := range cases {
		got := search(t, index, c.limit, c.terms...)
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("search %.40q: got %v, want %v", c.terms, got, c.want)
		}
	}
	if got := search(t, index, 2, "path"); len(got) != 2 {
		t.Errorf("got %v of three tools, want the limit of 2", got)
	}
	if got := search(t, index, 15, "delete", "history"); got[0] != "file.delete" {
		t.Errorf("got %v, want the tool first whose name has the word", got)
	}
}

func TestR11_TermsAreDataForTheToolIndex(t *testing.T) {
	index := toolIndex(t)
	for _, term := range []string{`"`, `""`, `a" OR "b`, "NEAR", "AND", "name:file", "del*", "(", "^", "-", "a\x00b", "'; DROP TABLE tools; --", "{name}", "+"} {
		if _, err := index.Search([]string{term}, 15); err != nil {
			t.Errorf("search %q: %v", term, err)
		}
	}
	if got := search(t, index, 15, "del*"); len(got) != 0 {
		t.Errorf("a star found %v, want it to be data", got)
	}
	if got := search(t, index, 15, "NEAR"); !slices.Equal(got, []string{"disk_usage"}) {
		t.Errorf("NEAR found %v, want the tool with the word", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		terms := rapid.SliceOf(rapid.String()).Draw(t, "terms")
		if _, err := index.Search(terms, 15); err != nil {
			t.Fatalf("search %q: %v", terms, err)
		}
	})
}

func TestR11_ToolIndexServesManyAtOnce(t *testing.T) {
	index := toolIndex(t)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if hits, err := index.Search([]string{"disk"}, 15); err != nil || len(hits) != 1 {
				t.Errorf("got %v, %v", hits, err)
			}
		})
	}
	wait.Wait()
	if err := index.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := index.Search([]string{"disk"}, 15); err == nil {
		t.Error("a closed index answers")
	}
}
