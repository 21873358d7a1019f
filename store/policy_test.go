package store_test

import (
	"errors"
	"fmt"
	"testing"

	"sluice/engine"
	"sluice/policy"
	"sluice/store"
	"sluice/store/storetest"
)

// compiled gives a document's policy.
func compiled(t testing.TB, change func(*policy.Document)) *policy.Policy {
	t.Helper()
	d := policy.Default()
	if change != nil {
		change(&d)
	}
	p, err := policy.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func publish(t testing.TB, s *store.Store, p *policy.Policy, base int) (store.PolicyVersion, error) {
	t.Helper()
	return s.PublishPolicy(ctx, store.Publication{Hash: p.Hash(), Canonical: p.Canonical(), Text: []byte("version: 1 # mine\n"),
		Base: base, Reason: "because", Actor: "user:1", At: 1_700_000_000_000_000})
}

func TestP33_PolicyVersionsFollowTheirFacts(t *testing.T) {
	s := open(t)
	first, err := publish(t, s, compiled(t, nil), 0)
	if err != nil || first.Version != 1 {
		t.Fatalf("got %+v %v, want version 1", first, err)
	}
	strict := compiled(t, func(d *policy.Document) { d.KillSwitches = []string{"file.*"} })
	second, err := publish(t, s, strict, 1)
	if err != nil || second.Version != 2 || second.Base != 1 {
		t.Fatalf("got %+v %v, want version 2 from 1", second, err)
	}
	var late *store.PolicyConflictError
	if _, err := publish(t, s, compiled(t, nil), 1); !errors.As(err, &late) || late.Newest != second || !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want the conflict with version 2 by user:1", err)
	}
	if active, err := s.ActivePolicy(ctx); err != nil || active != second {
		t.Errorf("got %+v %v, want %+v", active, err, second)
	}
	if list, err := s.Policies(ctx, 0, 0); err != nil || fmt.Sprint(list) != fmt.Sprint([]store.PolicyVersion{second, first}) {
		t.Errorf("got %+v %v, want both, the newest first", list, err)
	}
	if _, text, err := s.Content(ctx, second.Text); err != nil || string(text) != "version: 1 # mine\n" {
		t.Errorf("got %q %v, want the text as written", text, err)
	}
	if report := verify(t, s, store.VerifyOptions{}); !report.OK {
		t.Errorf("got %+v, want ok", report)
	}
	fact := engine.Fact{At: 1, Kind: store.PolicyPublished, Actor: "user:1", Data: []byte(`{"version":3}`)}
	if err := s.AppendNext(ctx, store.Admin, []engine.Fact{fact}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, want a policy fact without its row refused", err)
	}
}

func TestP33_AnEditedPolicyVersionIsFound(t *testing.T) {
	for name, query := range map[string]string{
		"document": "UPDATE policies SET hash = (SELECT hash FROM policies WHERE version = 1) WHERE version = 2",
		"reason":   "UPDATE policies SET reason = 'another'",
		"actor":    "UPDATE policies SET actor = 'user:9' WHERE version = 1",
		"removed":  "DELETE FROM policies WHERE version = 2",
		"invented": "INSERT INTO policies SELECT 3, seq, hash, text, at, actor, reason, base FROM policies WHERE version = 1",
		"damaged":  "UPDATE policies SET version = 9 WHERE version = 2",
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			for base, p := range []*policy.Policy{compiled(t, nil), compiled(t, func(d *policy.Document) { d.KillSwitches = []string{"x"} })} {
				if _, err := publish(t, s, p, base); err != nil {
					t.Fatal(err)
				}
			}
			mustExec(t, attack(t, s), query)
			if report := verify(t, s, store.VerifyOptions{}); report.OK {
				t.Errorf("got %+v, want the change found", report)
			}
		})
	}
}

// gateFact is a decision with the gate's whole input.
func gateFact(seq int64, kind engine.Kind, call string) engine.Fact {
	return engine.Fact{Seq: seq, At: 1000 + seq, Kind: kind, Node: fmt.Sprintf("n%d", seq), Attempt: 1, Data: []byte(call)}
}

func callOf(tool string, impact, intent int, held string) string {
	return fmt.Sprintf(`{"id":"a_%s","hash":"h","expires_at":9000,"asks":[],"self":true,"requester":"user:1","tool":"%s","impact":%d,`+
		`"call":{"tool":"%s","effect":"once","external":false,"declared_impact":%d,"params":[{"name":"path","value":"a.txt","labels":["user"],"source":"plan:/steps/0"}],`+
		`"intent":%d,"scopes":["default"],"requester":"user:1"%s},"decision":{"decision":"allow","impact":%d,"rules":[]}}`,
		tool, tool, impact, tool, impact, intent, held, impact)
}

// recorded is a run with one call of each kind.
func recorded(t testing.TB, s *store.Store) {
	t.Helper()
	held := `,"held":[{"id":"a","hash":"h","expires_at":1,"approvers":["user:1"]}]`
	asked := gateFact(5, engine.ApprovalRequested, callOf("file.delete", 200, 200, ""))
	started := gateFact(6, engine.AttemptStarted, callOf("file.delete", 200, 200, held))
	started.Node = asked.Node // the same attempt: asked, then allowed
	mustAppend(t, s, "run/r_a", 0, storetest.Fact(1),
		gateFact(2, engine.AttemptStarted, callOf("file.read", 0, 0, "")),
		gateFact(3, engine.AttemptStarted, callOf("file.write", 100, 100, "")),
		gateFact(4, engine.NodeChanged, callOf("mail.send", 200, 200, "")),
		asked, started)
}

func TestP20_ADraftIsTriedOnRecordedCalls(t *testing.T) {
	s := open(t)
	recorded(t, s)
	unknown := func(string) (policy.Tool, bool) { return policy.Tool{}, false }
	operate := policy.Operate
	draft := compiled(t, func(d *policy.Document) {
		d.Approvals.Rules = []policy.ApprovalRule{{ID: "W", When: policy.When{ImpactAtLeast: &operate, Tools: []string{"file.write"}}}}
		d.KillSwitches = []string{"file.read"}
		scope := d.Scopes["default"]
		scope.Tools = append(scope.Tools, "mail.send")
		d.Scopes["default"] = scope
	})
	got, err := s.TryPolicy(ctx, store.Trial{Draft: draft, Active: compiled(t, nil), Tool: unknown, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	allow, deny, ask := policy.Answer{Outcome: policy.Allow}, policy.Answer{Outcome: policy.Deny}, policy.Answer{Outcome: policy.Ask, Person: true}
	want := map[store.Change]int{{From: allow, To: deny}: 1, {From: allow, To: ask}: 1, {From: deny, To: allow}: 1, {From: ask, To: allow}: 1}
	if got.Calls != 4 || got.Unchanged != 0 || fmt.Sprint(got.Changes) != fmt.Sprint(want) {
		t.Errorf("got %d calls, %d unchanged, %v; want 4, 0, %v", got.Calls, got.Unchanged, got.Changes, want)
	}
	if len(got.List) != 2 || got.List[0].Seq != 6 || got.List[0].From != ask || got.Next == "" {
		t.Fatalf("got %+v, want the two that are looser first, the ask of an approved call still an ask", got.List)
	}
	rest, err := s.TryPolicy(ctx, store.Trial{Draft: draft, Active: compiled(t, nil), Tool: unknown, Limit: 2, Cursor: got.Next})
	if err != nil || len(rest.List) != 2 || rest.List[0].Seq != 3 || rest.List[1].Seq != 2 || rest.Next != "" || rest.Calls != 4 {
		t.Errorf("got %+v %v, want the other two and the same counts", rest, err)
	}
	same, err := s.TryPolicy(ctx, store.Trial{Draft: compiled(t, nil), Active: compiled(t, nil), Tool: unknown})
	if err != nil || same.Unchanged != 4 || len(same.List) != 0 {
		t.Errorf("got %+v %v, want nothing changed", same, err)
	}
}

// TestP20_AnAuthorityIsNotAPerson: a draft that asks a machine where a person was
// asked, or other people than now, does not say "unchanged".
func TestP20_AnAuthorityIsNotAPerson(t *testing.T) {
	s := open(t)
	recorded(t, s)
	unknown := func(string) (policy.Tool, bool) { return policy.Tool{}, false }
	try := func(change func(d *policy.Document)) store.TrialResult {
		t.Helper()
		got, err := s.TryPolicy(ctx, store.Trial{Draft: compiled(t, change), Active: compiled(t, nil), Tool: unknown})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	clears := []policy.ClearanceRule{{ID: "C1", When: policy.When{Tools: []string{"file.delete"}}, URL: "https://a.example/clear"}}
	ask := policy.Answer{Outcome: policy.Ask, Person: true}
	got := try(func(d *policy.Document) { d.Clearance = clears })
	both := policy.Answer{Outcome: policy.Ask, Person: true, Authority: true}
	if got.Changes[store.Change{From: ask, To: both}] != 1 || got.Unchanged != 3 || got.Rules["C1"] != 1 {
		t.Errorf("got %+v, want the ask to become a clearance and an ask", got)
	}
	got = try(func(d *policy.Document) { d.Clearance, d.Approvals.Rules = clears, []policy.ApprovalRule{} })
	alone := policy.Answer{Outcome: policy.Ask, Authority: true}
	if got.Changes[store.Change{From: ask, To: alone}] != 1 || len(got.List) != 1 {
		t.Errorf("got %+v, want the ask to become a clearance", got)
	}
	got = try(func(d *policy.Document) { d.Approvals.Rules[0].Quorum = 2 })
	if got.Unchanged != 4 || got.Reasked != 1 {
		t.Errorf("got %+v, want the ask to count as asked otherwise", got)
	}
}

func TestP20_ErasedCallsAreCountedAndSaid(t *testing.T) {
	s := open(t)
	recorded(t, s)
	mustAppend(t, s, "run/r_a", 6, engine.Fact{Seq: 7, At: 7, Kind: engine.RunEnded, Data: []byte(`{}`)})
	if err := s.Erase(ctx, store.Erasure{Run: "r_a", Reason: "asked", Actor: "user:1", At: 8}); err != nil {
		t.Fatal(err)
	}
	p := compiled(t, nil)
	got, err := s.TryPolicy(ctx, store.Trial{Draft: p, Active: p, Tool: func(string) (policy.Tool, bool) { return policy.Tool{}, false }})
	if err != nil || got.Calls != 0 || got.Erased != 4 {
		t.Errorf("got %+v %v, want 4 calls that cannot be tried", got, err)
	}
}

func TestP20_CallsOfAToolAreListedByPage(t *testing.T) {
	s := open(t)
	recorded(t, s)
	page, next, err := s.CallsOf(ctx, store.CallFilter{Tool: "file.delete", Limit: 1})
	if err != nil || len(page) != 1 || page[0].Seq != 6 || next == "" {
		t.Fatalf("got %+v %q %v, want the newest and a cursor", page, next, err)
	}
	page, _, err = s.CallsOf(ctx, store.CallFilter{Tool: "file.delete", Limit: 1, Cursor: next})
	if err != nil || len(page) != 1 || page[0].Seq != 5 {
		t.Errorf("got %+v %v, want the one before", page, err)
	}
	if _, _, err := s.CallsOf(ctx, store.CallFilter{Tool: "x", Cursor: "nonsense"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("got %v, want the cursor refused", err)
	}
	counts, err := s.CountCalls(ctx)
	if err != nil || counts["file.delete"] != 2 || counts["file.read"] != 1 {
		t.Errorf("got %v %v, want counts by tool", counts, err)
	}
}

// BenchmarkDryRun tries a draft on 10,000 recorded calls.
func BenchmarkDryRun(b *testing.B) {
	const calls = 10_000
	s := open(b)
	facts := make([]engine.Fact, calls)
	for i := range facts {
		tool, impact := "file.read", 0
		if i%4 == 0 {
			tool, impact = "file.write", 100
		}
		facts[i] = gateFact(int64(i)+1, engine.AttemptStarted, callOf(tool, impact, 100, ""))
	}
	mustAppend(b, s, "run/r_bench", 0, facts...)
	operate := policy.Operate
	trial := store.Trial{Active: compiled(b, nil), Tool: func(string) (policy.Tool, bool) { return policy.Tool{}, false },
		Draft: compiled(b, func(d *policy.Document) {
			d.Approvals.Rules = []policy.ApprovalRule{{ID: "W", When: policy.When{ImpactAtLeast: &operate}}}
		})}
	if _, err := s.ProjectCalls(ctx); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for range b.N {
		got, err := s.TryPolicy(ctx, trial)
		if err != nil || got.Calls != calls || got.Changes[store.Change{From: policy.Answer{Outcome: policy.Allow}, To: policy.Answer{Outcome: policy.Ask, Person: true}}] != calls/4 {
			b.Fatalf("got %d calls, %v, %v", got.Calls, got.Changes, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/10000-calls")
}
