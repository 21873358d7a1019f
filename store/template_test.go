package store_test

import (
	"errors"
	"fmt"
	"testing"

	"sluice/engine"
	"sluice/store"
)

func saveTemplate(t testing.TB, s *store.Store, name, doc string) store.TemplateVersion {
	t.Helper()
	v, err := s.SaveTemplate(ctx, store.TemplateVersion{Name: name, Hash: "sha256:" + doc, Title: "T " + doc, Owner: "user:1",
		Origin: "file", Actor: "user:1", At: 1_700_000_000_000_000}, []byte(`{"doc":"`+doc+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestR103_TemplatesAreVersionedAndQuarantined(t *testing.T) {
	s := open(t)
	first, second := saveTemplate(t, s, "a", "1"), saveTemplate(t, s, "a", "2")
	other := saveTemplate(t, s, "b", "3")
	if first.Version != 1 || second.Version != 2 || other.Version != 1 || second.Ref() != "a@2" {
		t.Fatalf("got versions %d %d %d, want 1 2 1", first.Version, second.Version, other.Version)
	}
	second.Quarantine, second.QuarantinedBy, second.QuarantinedAt = "it fails", "system", 5
	for range 2 { // the second time changes nothing
		if err := s.QuarantineTemplate(ctx, second); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := s.Templates(ctx, ""); err != nil || fmt.Sprint(list) != fmt.Sprint([]store.TemplateVersion{second, other}) {
		t.Errorf("got %+v %v, want the newest of both", list, err)
	}
	if list, err := s.Templates(ctx, "a"); err != nil || fmt.Sprint(list) != fmt.Sprint([]store.TemplateVersion{second, first}) {
		t.Errorf("got %+v %v, want both versions", list, err)
	}
	third := saveTemplate(t, s, "a", "4")
	if got, err := s.Template(ctx, "a", 0); err != nil || got != third || got.Quarantine != "" {
		t.Errorf("got %+v %v, want a new version that is offered", got, err)
	}
	if got, err := s.Template(ctx, "a", 1); err != nil || got != first {
		t.Errorf("got %+v %v, want version 1", got, err)
	}
	if _, err := s.Template(ctx, "c", 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	if err := s.QuarantineTemplate(ctx, store.TemplateVersion{Name: "c", Version: 1, Quarantine: "x"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	if report := verify(t, s, store.VerifyOptions{}); !report.OK {
		t.Errorf("got %+v, want ok", report)
	}
	fact := engine.Fact{At: 1, Kind: store.TemplateSaved, Actor: "user:1", Data: []byte(`{"name":"z","version":1}`)}
	if err := s.AppendNext(ctx, store.Admin, []engine.Fact{fact}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, want a fact without its row refused", err)
	}
}

func TestP33_AnEditedTemplateIsFound(t *testing.T) {
	for name, query := range map[string]string{
		"document":   "UPDATE templates SET hash = 'sha256:other' WHERE version = 2",
		"quarantine": "UPDATE templates SET quarantine = '' WHERE version = 2",
		"owner":      "UPDATE templates SET owner = 'user:9' WHERE version = 1",
		"removed":    "DELETE FROM templates WHERE version = 2",
		"invented":   "INSERT INTO templates SELECT 'x', 1, seq, hash, title, owner, origin, actor, at, '', '', 0 FROM templates WHERE version = 1",
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			saveTemplate(t, s, "a", "1")
			v := saveTemplate(t, s, "a", "2")
			v.Quarantine, v.QuarantinedBy, v.QuarantinedAt = "it fails", "system", 5
			if err := s.QuarantineTemplate(ctx, v); err != nil {
				t.Fatal(err)
			}
			mustExec(t, attack(t, s), query)
			if report := verify(t, s, store.VerifyOptions{}); report.OK {
				t.Errorf("got %+v, want the change found", report)
			}
		})
	}
}

func TestR102_RunsOfATemplateAreListed(t *testing.T) {
	s := open(t)
	for k, ref := range []string{"a@1", "a@1", "a@2", ""} {
		sum := engine.Summary{ID: fmt.Sprintf("r_%d", k), Requester: "user:1", Seq: 1, Status: engine.Ended, Code: engine.Success, CreatedAt: int64(k + 1), Template: ref}
		if err := s.SaveSummary(ctx, sum); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.TemplateRuns(ctx, "a@1", 10)
	if err != nil || len(list) != 2 || list[0].ID != "r_1" || list[1].ID != "r_0" {
		t.Errorf("got %+v %v, want the two runs of a@1, the newest first", list, err)
	}
}
