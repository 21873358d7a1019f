package store_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"sluice/engine"
	"sluice/policy"
	"sluice/store"
	"sluice/store/storetest"
)

func askFact(seq int64, id string) engine.Fact {
	return engine.Fact{Seq: seq, At: 1_000 + seq, Kind: engine.ApprovalRequested, Cause: seq, Node: "del", Attempt: 1, Actor: "system",
		Data: fmt.Appendf(nil, `{"id":"%s","hash":"h%d","expires_at":9000,"asks":[{"rule":"A1","per":"call","quorum":2,"roles":["approver"],"expires_s":60}],"self":true,"requester":"user:1","tool":"file.delete","impact":200,"call":{"tool":"file.delete"},"decision":{"decision":"ask","impact":200}}`, id, seq)}
}

func verdictFact(seq int64, id string, result engine.ApprovalResult, actor, reason string) engine.Fact {
	return engine.Fact{Seq: seq, At: 1_000 + seq, Kind: engine.ApprovalDecided, Cause: seq, Node: "del", Attempt: 1, Actor: actor,
		Data: fmt.Appendf(nil, `{"id":"%s","result":"%s","reason":"%s"}`, id, result, reason)}
}

func TestP33_ApprovalsFollowTheirFacts(t *testing.T) {
	s := open(t)
	mustAppend(t, s, "run/r_a", 0, storetest.Fact(1), askFact(2, "a_1"), askFact(3, "a_2"))
	want := store.Approval{ID: "a_1", Run: "r_a", Node: "del", Seq: 2, State: store.ApprovalPending, RequestedAt: 1_002, ExpiresAt: 9_000,
		Actors: []string{}, Tool: "file.delete", Impact: policy.Override, Requester: "user:1", Hash: "h2", Self: true,
		Asks: []policy.AskFor{{Rule: "A1", Per: "call", Quorum: 2, Roles: []string{"approver"}, ExpiresS: 60}}}
	expectApproval(t, s, want)
	mustAppend(t, s, "run/r_a", 3, verdictFact(4, "a_1", engine.Counted, "user:2", "looks right"))
	want.State, want.DecidedAt, want.Actors, want.Reason = store.ApprovalCounted, 1_004, []string{"user:2"}, "looks right"
	expectApproval(t, s, want)
	mustAppend(t, s, "run/r_a", 4, verdictFact(5, "a_1", engine.Approved, "user:3", ""), verdictFact(6, "a_2", engine.Voided, "system", ""))
	want.State, want.DecidedAt, want.Actors, want.Reason = store.ApprovalApproved, 1_005, []string{"user:2", "user:3"}, ""
	expectApproval(t, s, want)
	if _, err := s.Approval(ctx, "a_9"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown approval: got %v, want not found", err)
	}
	if report := verify(t, s, store.VerifyOptions{}); !report.OK {
		t.Errorf("got %+v, want projection and facts to agree", report)
	}
}

func expectApproval(t *testing.T, s *store.Store, want store.Approval) {
	t.Helper()
	got, err := s.Approval(ctx, want.ID)
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v %v\nwant %+v", got, err, want)
	}
}

func TestP33_ApprovalsAreListedByPage(t *testing.T) {
	s := open(t)
	const count = 7
	for i := range int64(count) {
		mustAppend(t, s, fmt.Sprintf("run/r_%d", i), 0, storetest.Fact(1), askFact(2, fmt.Sprintf("a_%d", i)))
	}
	mustAppend(t, s, "run/r_3", 2, verdictFact(3, "a_3", engine.Denied, "user:2", "no"))
	list := func(f store.ApprovalFilter) (ids []string) {
		for {
			page, next, err := s.Approvals(ctx, f)
			if err != nil || len(page) > max(f.Limit, 1)+200 {
				t.Fatalf("list: %d %v", len(page), err)
			}
			for _, a := range page {
				ids = append(ids, a.ID)
			}
			if f.Cursor = next; next == "" {
				return ids
			}
		}
	}
	if got, want := list(store.ApprovalFilter{Open: true, Limit: 2}), []string{"a_0", "a_1", "a_2", "a_4", "a_5", "a_6"}; !reflect.DeepEqual(got, want) {
		t.Errorf("open: got %v, want %v", got, want)
	}
	if got, want := list(store.ApprovalFilter{Limit: 3}), []string{"a_6", "a_5", "a_4", "a_3", "a_2", "a_1", "a_0"}; !reflect.DeepEqual(got, want) {
		t.Errorf("all: got %v, want %v", got, want)
	}
	if got := list(store.ApprovalFilter{Closed: true}); !reflect.DeepEqual(got, []string{"a_3"}) {
		t.Errorf("closed: got %v", got)
	}
	if got := list(store.ApprovalFilter{Run: "r_3"}); !reflect.DeepEqual(got, []string{"a_3"}) {
		t.Errorf("of r_3: got %v", got)
	}
	if _, _, err := s.Approvals(ctx, store.ApprovalFilter{Cursor: "x"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("bad cursor: got %v, want invalid", err)
	}
}

func TestP33_AnUnreadableApprovalFactIsRefused(t *testing.T) {
	s := open(t)
	for _, kind := range []engine.Kind{engine.ApprovalRequested, engine.ApprovalDecided} {
		for _, data := range []string{`{}`, `{"id":7}`} {
			err := s.AppendAt(ctx, "run/r_a", 0, []engine.Fact{{Seq: 1, Kind: kind, Data: []byte(data)}})
			if !errors.Is(err, store.ErrInvalid) || head(t, s, "run/r_a") != 0 {
				t.Errorf("%s %s: got %v, want it refused", kind, data, err)
			}
		}
	}
}

func TestP33_AChangedProjectionIsFound(t *testing.T) {
	for name, query := range map[string]string{
		"verdict":  "UPDATE approvals SET state = 'approved'",
		"actor":    `UPDATE approvals SET actors = '["user:1"]'`,
		"damaged":  "UPDATE approvals SET actors = 'x'",
		"removed":  "DELETE FROM approvals",
		"invented": "UPDATE approvals SET id = 'a_2'",
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			mustAppend(t, s, "run/r_a", 0, storetest.Fact(1), askFact(2, "a_1"), verdictFact(3, "a_1", engine.Denied, "user:2", "no"))
			mustExec(t, attack(t, s), query)
			if report := verify(t, s, store.VerifyOptions{}); report.OK {
				t.Errorf("got %+v, want the change found", report)
			}
		})
	}
	t.Run("a tail cut behind what lists have seen", func(t *testing.T) {
		s := open(t)
		mustAppend(t, s, "run/r_a", 0, storetest.Facts(0, 4)...)
		if err := s.SaveSummary(ctx, engine.Summary{ID: "r_a", Seq: 4}); err != nil {
			t.Fatal(err)
		}
		mustExec(t, disarm(t, s), "DELETE FROM facts WHERE id = (1 << 32) + 4")
		expectStatus(t, verify(t, s, store.VerifyOptions{}), "run/r_a", store.StatusTruncated, 3)
	})
}

func create(s *store.Store, run, owner, key, body string) error {
	result := make(chan error, 1)
	s.Append(store.Append{Stream: store.StreamOf(run), Facts: storetest.Facts(0, 1),
		Create: &store.RunMeta{Run: run, Owner: owner, IdempotencyKey: key, BodyHash: body}}, func(err error) { result <- err })
	return <-result
}

func TestP33_AKeyMakesOneRun(t *testing.T) {
	s := open(t)
	if err := create(s, "r_a", "user:1", "k", "body"); err != nil {
		t.Fatal(err)
	}
	var exists *store.ExistsError
	if err := create(s, "r_b", "user:1", "k", "body"); !errors.As(err, &exists) || exists.Run != "r_a" || errors.Is(err, store.ErrConflict) {
		t.Errorf("same key and body: got %v, want run r_a named", err)
	}
	if err := create(s, "r_c", "user:1", "k", "other"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("same key, other body: got %v, want a conflict", err)
	}
	for _, run := range []string{"r_b", "r_c"} {
		if got := head(t, s, store.StreamOf(run)); got != 0 {
			t.Errorf("refused run %s has %d facts", run, got)
		}
		if _, err := s.Run(ctx, run); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("refused run %s: got %v, want not found", run, err)
		}
	}
	if err := create(s, "r_d", "user:2", "k", "other"); err != nil {
		t.Errorf("another owner's key: %v", err)
	}
	for range 2 {
		if err := create(s, "r_"+string(rune('e'+head(t, s, "run/r_e"))), "user:1", "", "body"); err != nil {
			t.Errorf("no key: %v", err)
		}
	}
	if known, err := s.ExistingRun(ctx, "user:1", "k"); err != nil || known.Run != "r_a" || known.BodyHash != "body" {
		t.Errorf("lookup: got %+v %v", known, err)
	}
	if _, err := s.ExistingRun(ctx, "user:3", "k"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("lookup of nobody's key: got %v, want not found", err)
	}
	if run, err := s.Run(ctx, "r_a"); err != nil || run.Owner != "user:1" || run.Status != engine.Planning || run.Causes == nil {
		t.Errorf("got %+v %v, want a planning run of user:1", run, err)
	}
}

func TestP29_ContentsAndBlobsKeepWhatTheyWereGiven(t *testing.T) {
	s := open(t)
	if err := s.PutContent(ctx, "sha256:x", "policy", []byte("doc")); err != nil {
		t.Fatal(err)
	}
	if err := s.PutContent(ctx, "sha256:x", "policy", []byte("doc")); err != nil {
		t.Errorf("same content again: %v", err)
	}
	if err := s.PutContent(ctx, "sha256:x", "policy", []byte("other")); !errors.Is(err, store.ErrConflict) {
		t.Errorf("other bytes under a hash: got %v, want a conflict", err)
	}
	if kind, data, err := s.Content(ctx, "sha256:x"); err != nil || kind != "policy" || string(data) != "doc" {
		t.Errorf("got %s %s %v", kind, data, err)
	}
	if _, _, err := s.Content(ctx, "sha256:y"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown content: got %v", err)
	}
	sha, err := s.PutBlob(ctx, "r_a", nil)
	if data, readErr := s.Blob(ctx, sha); err != nil || readErr != nil || len(data) != 0 {
		t.Errorf("empty blob: got %q %v %v", data, err, readErr)
	}
	sha, _ = s.PutBlob(ctx, "r_a", []byte("large"))
	mustExec(t, attack(t, s), "UPDATE blobs SET data = CAST('forged' AS BLOB) WHERE sha256 = ?", sha)
	if data, err := s.Blob(ctx, sha); err == nil {
		t.Errorf("a forged blob was given out: %q", data)
	}
	if _, err := s.PutBlob(ctx, "r_a", make([]byte, store.BlobBytesMax+1)); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("oversized blob: got %v, want invalid", err)
	}
}

func TestP32_TheNewestSnapshotIsKept(t *testing.T) {
	s := open(t)
	for _, seq := range []int64{5, 9, 7} {
		if err := s.SaveSnapshot(ctx, store.Snapshot{Run: "r_a", Seq: seq, Version: 2, Data: fmt.Append(nil, seq)}); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Snapshot(ctx, "r_a"); err != nil || got.Seq != 9 || got.Version != 2 || string(got.Data) != "9" {
		t.Errorf("got %+v %v, want the one at 9", got, err)
	}
}

func TestP20_CallsFollowTheLog(t *testing.T) {
	s := open(t)
	decision := func(outcome string) []byte {
		return fmt.Appendf(nil, `{"call":{"tool":"file.read"},"decision":{"decision":"%s","impact":100}}`, outcome)
	}
	mustAppend(t, s, "run/r_a", 0,
		engine.Fact{Seq: 1, At: 1, Kind: engine.AttemptStarted, Node: "a", Attempt: 1, Data: decision("allow")},
		storetest.Fact(2), askFact(3, "a_1"),
		engine.Fact{Seq: 4, At: 4, Kind: engine.NodeChanged, Node: "b", Attempt: 1, Data: decision("deny")})
	if added, err := s.ProjectCalls(ctx); err != nil || added != 3 {
		t.Fatalf("got %d %v, want 3 calls", added, err)
	}
	if added, err := s.ProjectCalls(ctx); err != nil || added != 0 {
		t.Errorf("again: got %d %v, want nothing new", added, err)
	}
	mustAppend(t, s, "run/r_a", 4, engine.Fact{Seq: 5, At: 5, Kind: engine.AttemptStarted, Node: "c", Attempt: 2, Data: decision("allow")})
	if added, err := s.ProjectCalls(ctx); err != nil || added != 1 {
		t.Errorf("one more: got %d %v, want 1", added, err)
	}
	var got []store.RecordedCall
	for cursor := ""; ; {
		page, next, err := s.Calls(ctx, cursor, 3)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page...)
		if cursor = next; next == "" {
			break
		}
	}
	want := []store.RecordedCall{
		{Run: "r_a", Seq: 1, At: 1, Node: "a", Attempt: 1, Tool: "file.read", Decision: policy.Allow, Impact: 100},
		{Run: "r_a", Seq: 3, At: 1_003, Node: "del", Attempt: 1, Tool: "file.delete", Decision: policy.Ask, Impact: 200},
		{Run: "r_a", Seq: 4, At: 4, Node: "b", Attempt: 1, Tool: "file.read", Decision: policy.Deny, Impact: 100},
		{Run: "r_a", Seq: 5, At: 5, Node: "c", Attempt: 2, Tool: "file.read", Decision: policy.Allow, Impact: 100},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
