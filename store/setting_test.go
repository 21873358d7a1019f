package store_test

import (
	"bytes"
	"errors"
	"testing"

	"sluice/store"
)

func TestSettingsAreSetReplacedAndTakenAway(t *testing.T) {
	s := open(t)
	if _, err := s.Setting(t.Context(), "model.planner"); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("got %v, want ErrNotFound", err)
	}
	for _, value := range []string{"one", "two"} {
		if err := s.SaveSetting(t.Context(), store.Setting{Name: "model.planner", Value: []byte(value), ChangedBy: "user:1"}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Setting(t.Context(), "model.planner")
		if err != nil || !bytes.Equal(got.Value, []byte(value)) || got.ChangedBy != "user:1" || got.ChangedAt == 0 {
			t.Errorf("got %+v, %v, want %s by user:1", got, err, value)
		}
	}
	if err := s.SaveSetting(t.Context(), store.Setting{Name: "model.planner", ChangedBy: "user:1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Setting(t.Context(), "model.planner"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want it gone", err)
	}
	for _, bad := range []store.Setting{{Value: []byte("x"), ChangedBy: "user:1"}, {Name: "x", Value: []byte("x")},
		{Name: "x", Value: make([]byte, 64<<10+1), ChangedBy: "user:1"}} {
		if err := s.SaveSetting(t.Context(), bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q with %d bytes: got %v, want ErrInvalid", bad.Name, len(bad.Value), err)
		}
	}
}
