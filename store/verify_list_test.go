package store_test

import (
	"testing"

	"sluice/engine"
	"sluice/store"
	"sluice/store/storetest"
)

// TestP33_AChangedListOfCallsIsFound: what a dry run of a policy counts is held
// against the facts.
func TestP33_AChangedListOfCallsIsFound(t *testing.T) {
	for name, query := range map[string]string{
		"":            "",
		"decision":    "UPDATE calls SET decision = 'allow' WHERE seq = 2",
		"tool":        "UPDATE calls SET tool = 'file.read' WHERE seq = 3",
		"other run":   "UPDATE calls SET run = 'r_b' WHERE seq = 2",
		"removed":     "DELETE FROM calls WHERE seq = 3",
		"invented":    "INSERT INTO calls SELECT (1 << 32) + 1, run, 1, at, node, attempt, tool, decision, impact FROM calls WHERE seq = 2",
		"cursor far":  "UPDATE call_cursors SET seq = 9",
		"all skipped": "DELETE FROM calls",
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			mustAppend(t, s, "run/r_a", 0, storetest.Fact(1), askFact(2, "a_1"), askFact(3, "a_2"))
			if added, err := s.ProjectCalls(ctx); err != nil || added != 2 {
				t.Fatalf("got %d calls (%v), want 2", added, err)
			}
			mustAppend(t, s, "run/r_a", 3, askFact(4, "a_3")) // not listed yet: the list follows
			if query != "" {
				mustExec(t, attack(t, s), query)
			}
			if report := verify(t, s, store.VerifyOptions{}); report.OK != (query == "") {
				t.Errorf("got %+v", report)
			}
		})
	}
}

// TestP33_ChangedKeysAreFound: an idempotency key that leads elsewhere would
// answer one request with another's run.
func TestP33_ChangedKeysAreFound(t *testing.T) {
	for name, query := range map[string]string{
		"":          "",
		"other run": "UPDATE idempotency SET run = 'r_b' WHERE key = 'k'",
		"other key": "UPDATE idempotency SET key = 'x' WHERE key = 'k'",
		"owner":     "UPDATE idempotency SET owner = 'user:2' WHERE key = 'k'",
		"removed":   "DELETE FROM idempotency",
		"invented":  "INSERT INTO idempotency VALUES ('user:1', 'new', 'r_b', 'h')",
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			mustCreate(t, s, "r_a", `,"idempotency_key":"k"`, "k")
			mustCreate(t, s, "r_b", "", "")
			if query != "" {
				mustExec(t, attack(t, s), query)
			}
			if report := verify(t, s, store.VerifyOptions{}); report.OK != (query == "") {
				t.Errorf("got %+v", report)
			}
		})
	}
}

func mustCreate(t *testing.T, s *store.Store, run, member, key string) {
	t.Helper()
	fact := engine.Fact{Seq: 1, At: 1_001, Kind: engine.RunCreated, Cause: 1, Actor: "user:1", Data: []byte(`{"input":{"kind":"create","goal":"g"` + member + `}}`)}
	result := make(chan error, 1)
	s.Append(store.Append{Stream: store.StreamOf(run), Facts: []engine.Fact{fact},
		Create: &store.RunMeta{Run: run, Owner: "user:1", IdempotencyKey: key, BodyHash: "h"}}, func(err error) { result <- err })
	if err := <-result; err != nil {
		t.Fatal(err)
	}
}
