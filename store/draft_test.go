package store_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/store"
)

func aDraft(name string) store.Draft {
	return store.Draft{Kind: store.PlanDraft, Owner: "user:1", Name: name, Doc: `{"format":1`, View: "{}", Base: "sha256:1", UpdatedBy: "user:1"}
}

func mustAddDraft(t *testing.T, s *store.Store, d store.Draft) store.Draft {
	t.Helper()
	made, err := s.AddDraft(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestP33_ADraftIsSavedOverTheRevisionThatWasRead: an old revision changes
// nothing and says who was there before, and when.
func TestP33_ADraftIsSavedOverTheRevisionThatWasRead(t *testing.T) {
	s, c := openTimed(t)
	d := mustAddDraft(t, s, aDraft("one"))
	if !strings.HasPrefix(d.ID, "d_") || len(d.ID) != 28 || d.Revision != 1 || d.UpdatedAt != c.at.UnixMicro() {
		t.Fatalf("got %+v, want d_ and a ULID at revision 1", d)
	}
	c.at = c.at.Add(time.Minute)
	mine := d
	mine.Doc, mine.UpdatedBy = "{}", "token:t_1"
	saved, err := s.SaveDraft(ctx, mine)
	if err != nil || saved.Revision != 2 || saved.CreatedAt != d.CreatedAt || saved.UpdatedAt != c.at.UnixMicro() {
		t.Fatalf("got %+v %v, want revision 2 a minute later", saved, err)
	}
	d.Doc = "lost?"
	var conflict *store.DraftConflict
	if _, err = s.SaveDraft(ctx, d); !errors.As(err, &conflict) || !errors.Is(err, store.ErrConflict) {
		t.Fatalf("got %v, want a conflict", err)
	}
	if conflict.Current != 2 || conflict.Expected != 1 || conflict.Who != "token:t_1" || conflict.At != c.at.UnixMicro() {
		t.Errorf("got %+v, want who saved revision 2 and when", conflict)
	}
	if err := s.DeleteDraft(ctx, d); !errors.As(err, &conflict) {
		t.Errorf("delete of an old revision: got %v, want a conflict", err)
	}
	if got, err := s.Draft(ctx, "user:1", d.ID); err != nil || got != saved {
		t.Errorf("got %+v %v, want %+v", got, err, saved)
	}
	if err := s.DeleteDraft(ctx, saved); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveDraft(ctx, saved); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("save of a deleted draft: got %v, want not found", err)
	}
}

// TestP33_OneOfManySaversWins: of all who save over one revision one wins.
func TestP33_OneOfManySaversWins(t *testing.T) {
	s := open(t)
	d := mustAddDraft(t, s, aDraft("one"))
	var wait sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		wait.Go(func() { _, results[i] = s.SaveDraft(ctx, d) })
	}
	wait.Wait()
	won := 0
	for _, err := range results {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, store.ErrConflict):
			t.Error(err)
		}
	}
	if got, _ := s.Draft(ctx, "user:1", d.ID); won != 1 || got.Revision != 2 {
		t.Errorf("got %d winners and revision %d, want 1 and 2", won, got.Revision)
	}
}

// TestP35_DraftsAreTheirOwnersAlone: nobody else reads, saves or deletes one.
func TestP35_DraftsAreTheirOwnersAlone(t *testing.T) {
	s := open(t)
	d := mustAddDraft(t, s, aDraft("mine"))
	theirs := d
	theirs.Owner = "user:2"
	if _, err := s.Draft(ctx, "user:2", d.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("read: got %v, want not found", err)
	}
	if _, err := s.SaveDraft(ctx, theirs); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("save: got %v, want not found", err)
	}
	if err := s.DeleteDraft(ctx, theirs); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("delete: got %v, want not found", err)
	}
	if list, err := s.Drafts(ctx, "user:2", ""); err != nil || len(list) != 0 {
		t.Errorf("list: got %v %v, want none", list, err)
	}
}

func TestP33_DraftsAreListedByKindTheNewestFirst(t *testing.T) {
	s, c := openTimed(t)
	var plans []string
	for _, name := range []string{"a", "b"} {
		c.at = c.at.Add(time.Second)
		plans = append(plans, mustAddDraft(t, s, aDraft(name)).ID)
	}
	rules := aDraft("rules")
	rules.Kind = store.PolicyDraft
	policy := mustAddDraft(t, s, rules).ID
	slices.Reverse(plans)
	for kind, want := range map[store.DraftKind][]string{store.PlanDraft: plans, store.PolicyDraft: {policy}} {
		list, err := s.Drafts(ctx, "user:1", kind)
		var got []string
		for i := range list {
			got = append(got, list[i].ID)
			if list[i].Doc != "" || list[i].View != "" {
				t.Errorf("%s: a list carries documents", kind)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v %v, want %v", kind, got, err, want)
		}
	}
	if list, _ := s.Drafts(ctx, "user:1", ""); len(list) != 3 {
		t.Errorf("got %d drafts of both kinds, want 3", len(list))
	}
}

// TestP14_DraftsHaveLimits: what is too long, too much or of no kind is refused
// and nothing is stored.
func TestP14_DraftsHaveLimits(t *testing.T) {
	s := open(t)
	for name, change := range map[string]func(*store.Draft){
		"name of 121":  func(d *store.Draft) { d.Name = strings.Repeat("ü", store.DraftNameMax+1) },
		"no name":      func(d *store.Draft) { d.Name = " " },
		"document":     func(d *store.Draft) { d.Doc = strings.Repeat("x", store.DraftBytesMax+1) },
		"view":         func(d *store.Draft) { d.View = strings.Repeat("x", store.DraftViewMax+1) },
		"base":         func(d *store.Draft) { d.Base = strings.Repeat("x", store.DraftBaseMax+1) },
		"kind":         func(d *store.Draft) { d.Kind = "poem" },
		"owner":        func(d *store.Draft) { d.Owner = "" },
		"who saves it": func(d *store.Draft) { d.UpdatedBy = "" },
	} {
		d := aDraft("one")
		change(&d)
		if _, err := s.AddDraft(ctx, d); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
	longest := aDraft(strings.Repeat("ü", store.DraftNameMax))
	mustAddDraft(t, s, longest)
	for range store.DraftsOwnerMax - 1 {
		mustAddDraft(t, s, aDraft("more"))
	}
	if _, err := s.AddDraft(ctx, aDraft("one too many")); !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "delete one") {
		t.Errorf("draft 201: got %v, want invalid with what to do", err)
	}
	other := aDraft("another person's")
	other.Owner = "user:2"
	mustAddDraft(t, s, other)
}
