package store_test

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/engine"
	"sluice/policy"
	"sluice/store"
	"sluice/store/storetest"
)

func fullSummary(id string, seq int64) engine.Summary {
	return engine.Summary{ID: id, Goal: "check disk", Status: engine.Ended, Code: engine.Success, Causes: []string{"gate"}, Mode: "reflect",
		ModeOptions: engine.ModeOptions{Checkpoints: "final"}, Intent: policy.Operate, Requester: "user:1", Policy: "sha256:x", PlanVersion: 2,
		Seq: seq, Counts: map[string]int{"executed": 3}, Budget: map[string]engine.Spend{"tool_calls": {Limit: 5, Spent: 3}},
		Verdict:   &engine.Verdict{Text: "fine", Claims: []engine.Claim{{Text: "c", Observations: []string{"o_1"}}}, By: "builtin"},
		Unplanned: []engine.Unplanned{{Clause: "x", Why: "y"}}, Waiting: []string{}, CreatedAt: 1_700, EndedAt: 1_900}
}

func TestP33_ASummaryIsKeptWholeAndOnlyReplacedByANewerOne(t *testing.T) {
	s := open(t)
	want := fullSummary("r_a", 5)
	if err := s.SaveSummary(ctx, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(ctx, "r_a")
	if err != nil || !reflect.DeepEqual(got.Summary, want) || got.Owner != "user:1" || got.Erased {
		t.Errorf("got  %+v %v\nwant %+v", got, err, want)
	}
	for _, seq := range []int64{4, 5} {
		stale := fullSummary("r_a", seq)
		stale.Goal = "stale"
		if err := s.SaveSummary(ctx, stale); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := s.Run(ctx, "r_a"); got.Goal != want.Goal {
		t.Errorf("goal is %q after stale summaries, want %q", got.Goal, want.Goal)
	}
	if err := s.SaveSummary(ctx, engine.Summary{ID: "nonsense"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("bad id: got %v, want invalid", err)
	}
}

func TestP33_ASummarySharesTheCommitOfItsFacts(t *testing.T) {
	s := open(t)
	before := s.Commits()
	summary := fullSummary("r_a", 2)
	result := make(chan error, 1)
	s.Append(store.Append{Stream: "run/r_a", Facts: storetest.Facts(0, 2), Summary: &summary,
		Create: &store.RunMeta{Run: "r_a", Owner: "token:7"}}, func(err error) { result <- err })
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if got := s.Commits() - before; got != 1 {
		t.Errorf("facts, run and summary took %d commits, want 1", got)
	}
	if got, err := s.Run(ctx, "r_a"); err != nil || got.Seq != 2 || got.Owner != "token:7" {
		t.Errorf("got %+v %v, want the run at 2, owned by token:7", got, err)
	}
	err := s.AppendAt(ctx, "run/r_a", 2, storetest.Facts(2, 1))
	if stale, _ := s.StaleRuns(ctx); err != nil || !slices.Equal(stale, []string{"r_a"}) {
		t.Errorf("stale runs are %v %v, want r_a", stale, err)
	}
	wrong := fullSummary("r_b", 9)
	s.Append(store.Append{Stream: "run/r_a", Expected: 3, Facts: storetest.Facts(3, 1), Summary: &wrong}, func(err error) { result <- err })
	if err := <-result; !errors.Is(err, store.ErrInvalid) {
		t.Errorf("summary of another run: got %v, want invalid", err)
	}
}

func TestP33_StaleAndLiveRuns(t *testing.T) {
	s := open(t)
	save := func(run string, facts int, seq int64, status engine.Status) {
		mustAppend(t, s, store.StreamOf(run), 0, storetest.Facts(0, facts)...)
		if seq == 0 {
			return
		}
		if err := s.SaveSummary(ctx, engine.Summary{ID: run, Seq: seq, Status: status, CreatedAt: seq}); err != nil {
			t.Fatal(err)
		}
	}
	save("r_whole", 3, 3, engine.Ended)
	save("r_behind", 3, 2, engine.Active)
	save("r_never", 1, 0, "")
	save("r_paused", 4, 4, engine.Paused)
	if got, err := s.StaleRuns(ctx); err != nil || !slices.Equal(got, []string{"r_behind", "r_never"}) {
		t.Errorf("stale: got %v %v, want r_behind and r_never", got, err)
	}
	if got, err := s.LiveRuns(ctx); err != nil || !slices.Equal(got, []string{"r_behind", "r_paused"}) {
		t.Errorf("live: got %v %v, want r_behind and r_paused", got, err)
	}
}

// The list is held against a naive twin: filter, sort and cut a slice.
func TestP41_RunsAreFilteredAndPagedLikeASlice(t *testing.T) {
	s := open(t)
	var all []engine.Summary
	goals := []string{"Check disk", `100% of a_b\c`, "delete notes", "CHECK ports", ""}
	for i := range 40 {
		run := engine.Summary{ID: fmt.Sprintf("r_%02d", i), Seq: 1, Goal: goals[i%len(goals)], CreatedAt: int64(i / 3),
			Status: []engine.Status{engine.Ended, engine.Active}[i%2], Requester: fmt.Sprintf("user:%d", i%3)}
		if run.Status == engine.Ended {
			run.Code = []engine.Code{engine.Success, engine.PermissionDenied}[i/2%2]
		}
		if err := s.SaveSummary(ctx, run); err != nil {
			t.Fatal(err)
		}
		all = append(all, run)
	}
	slices.SortFunc(all, func(a, b engine.Summary) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	rapid.Check(t, func(rt *rapid.T) {
		f := store.RunFilter{
			Owner:  rapid.SampledFrom([]string{"", "user:0", "user:1", "user:9"}).Draw(rt, "owner"),
			Status: rapid.SampledFrom([]engine.Status{"", engine.Ended, engine.Active}).Draw(rt, "status"),
			Code:   rapid.SampledFrom([]engine.Code{"", "", engine.Success, engine.PermissionDenied}).Draw(rt, "code"),
			Query:  rapid.SampledFrom([]string{"", "", "check", "%", "_", `\`, "a_b", "aXb", "o"}).Draw(rt, "query"),
			Limit:  rapid.IntRange(0, 15).Draw(rt, "limit"),
		}
		var want, got []string
		for _, r := range all {
			isWanted := (f.Owner == "" || r.Requester == f.Owner) && (f.Status == "" || r.Status == f.Status) &&
				(f.Code == "" || r.Code == f.Code) && strings.Contains(strings.ToLower(r.Goal), strings.ToLower(f.Query))
			if isWanted {
				want = append(want, r.ID)
			}
		}
		for page := f; ; {
			runs, next, err := s.Runs(ctx, page)
			if err != nil || f.Limit > 0 && len(runs) > f.Limit {
				rt.Fatalf("got %d runs and %v", len(runs), err)
			}
			for _, r := range runs {
				got = append(got, r.ID)
			}
			if page.Cursor = next; next == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v: got %v, want %v", f, got, want)
		}
	})
	for _, bad := range []store.RunFilter{{Cursor: "x"}, {Query: strings.Repeat("q", 2_000)}} {
		if _, _, err := s.Runs(ctx, bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%.40v: got %v, want invalid", bad, err)
		}
	}
}
