package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"sluice/policy"
)

// TrialCallsMax bounds how many recorded calls one trial decides, the newest first.
const TrialCallsMax = 100_000

// Trial is a draft policy to try on the calls that the log has recorded (P20).
type Trial struct {
	Draft, Active *policy.Policy
	// Tool gives what the catalogue declares now, for ranking by parameters.
	Tool func(name string) (policy.Tool, bool)
	// Cursor and Limit page through the calls whose answer would change.
	Cursor string
	Limit  int
}

// Change is a pair of answers: what the active policy says, and the draft.
type Change struct{ From, To policy.Answer }

// Changed is one recorded call that the draft would answer otherwise.
type Changed struct {
	RecordedCall
	Change
	Rules   []string // of the draft's decision
	Reasons []string
	Params  []policy.Param
}

// TrialResult says what a draft would have changed.
type TrialResult struct {
	Calls     int            // tried
	Unchanged int            // of them
	Reasked   int            // of the unchanged: still asked, but other approvals or authorities
	Changes   map[Change]int // how many of each kind
	Rules     map[string]int // by rule of the draft: calls it took part in
	Erased    int            // calls whose input is erased: they cannot be tried
	Left      int            // older calls beyond TrialCallsMax, not tried
	Since     int64          // µs UTC, the oldest call tried
	List      []Changed      // by direction, looser first; newest first in each
	Next      string         // cursor of the next page, "" on the last
}

// gateInput reads a recorded call back as the gate's whole input.
type gateInput struct {
	Call *struct {
		Tool      string        `json:"tool"`
		Effect    policy.Effect `json:"effect"`
		External  bool          `json:"external"`
		Declared  policy.Rank   `json:"declared_impact"`
		Params    []paramInput  `json:"params"`
		Intent    policy.Rank   `json:"intent"`
		Scopes    []string      `json:"scopes"`
		Requester string        `json:"requester"`
		Approval  bool          `json:"approval"`
		Key       string        `json:"key"`
	} `json:"call"`
	Decision *struct {
		Rules []string `json:"rules"`
	} `json:"decision"`
}

type paramInput struct {
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
	Labels []policy.Label  `json:"labels"`
	Source string          `json:"source"`
}

// policyCall rebuilds the call. Approvals it held are left out, so that an ask
// stays visible; what the tool ranks these parameters at comes from the
// declaration of today when it still has the impact that was recorded.
func (g *gateInput) policyCall(r *RecordedCall, tool func(string) (policy.Tool, bool)) policy.Call {
	c := g.Call
	call := policy.Call{Run: r.Run, Node: r.Node, Attempt: r.Attempt, Intent: c.Intent, Scopes: c.Scopes, Requester: c.Requester,
		Approval: c.Approval, Key: c.Key, At: r.At,
		Tool: policy.Tool{Name: c.Tool, Effect: c.Effect, External: c.External, Impact: c.Declared}}
	call.Known = g.Decision == nil || !slices.Contains(g.Decision.Rules, policy.RuleUnknownTool)
	if now, found := tool(c.Tool); found && now.Impact == c.Declared {
		call.Tool.ImpactOf, call.Tool.Sinks, call.Tool.Pure = now.ImpactOf, now.Sinks, now.Pure
	}
	call.Params = make([]policy.Param, len(c.Params))
	for i := range c.Params {
		p := &c.Params[i]
		call.Params[i] = policy.Param{Name: p.Name, Value: p.Value, Labels: p.Labels, Source: p.Source}
	}
	return call
}

// TryPolicy decides every recorded call by the draft and by the active policy.
// A call that asked and was then allowed is on record twice and counts once.
func (s *Store) TryPolicy(ctx context.Context, t Trial) (TrialResult, error) {
	result := TrialResult{Changes: make(map[Change]int), Rules: make(map[string]int), List: []Changed{}}
	from, err := placeOf(t.Cursor)
	if err != nil {
		return result, err
	}
	if _, err := s.ProjectCalls(ctx); err != nil {
		return result, err
	}
	rows, err := s.readers.QueryContext(ctx, `SELECT c.fact, c.run, c.seq, c.at, c.node, c.attempt, c.tool, c.decision, c.impact, f.data
		FROM calls c JOIN facts f ON f.id = c.fact ORDER BY c.at DESC, c.fact DESC LIMIT ?`, TrialCallsMax)
	if err != nil {
		return result, fmt.Errorf("try policy: %w", err)
	}
	defer func() { _ = rows.Close() }()
	trial := trialRun{Trial: t, result: &result, seen: make(map[callKey]bool), from: from, limit: listLimit(t.Limit)}
	read := 0
	for ; rows.Next(); read++ {
		if err := trial.row(rows); err != nil {
			return result, fmt.Errorf("try policy: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return result, fmt.Errorf("try policy: %w", err)
	}
	trial.page()
	if read == TrialCallsMax {
		row := s.readers.QueryRowContext(ctx, "SELECT count(*) FROM calls")
		if err := row.Scan(&result.Left); err != nil {
			return result, fmt.Errorf("try policy: %w", err)
		}
		result.Left -= read
	}
	return result, nil
}

// callKey is one attempt of one node.
type callKey struct {
	run, node string
	attempt   int
}

type trialCursorAt struct{ at, fact int64 }

func trialCursor(cursor string) (*trialCursorAt, error) {
	if cursor == "" {
		return nil, nil
	}
	at, rest, err := parseCursor(cursor)
	if err != nil {
		return nil, err
	}
	fact, _, err := parseCursor(rest + ".")
	return &trialCursorAt{at, fact}, err
}

// trialRun is a trial under way.
type trialRun struct {
	Trial
	result *TrialResult
	seen   map[callKey]bool
	from   *trialPlace
	limit  int
	found  [3][]placed // by direction: at most one more than a page
}

func (t *trialRun) row(rows *sql.Rows) error {
	var r RecordedCall
	var fact int64
	var data sql.RawBytes
	if err := rows.Scan(&fact, &r.Run, &r.Seq, &r.At, &r.Node, &r.Attempt, &r.Tool, &r.Decision, &r.Impact, &data); err != nil {
		return err
	}
	key := callKey{r.Run, r.Node, r.Attempt}
	if t.seen[key] {
		return nil
	}
	t.seen[key] = true
	var in gateInput
	if data == nil || json.Unmarshal(data, &in) != nil || in.Call == nil {
		t.result.Erased++
		return nil
	}
	call := in.policyCall(&r, t.Tool)
	draft, active := policy.Decide(t.Draft, call), policy.Decide(t.Active, call)
	t.result.Calls++
	t.result.Since = r.At
	for _, rule := range draft.Rules {
		t.result.Rules[rule]++
	}
	change := Change{active.Answer(), draft.Answer()}
	if change.From == change.To {
		t.result.Unchanged++
		if !policy.SameAsks(&active, &draft) {
			t.result.Reasked++
		}
		return nil
	}
	t.result.Changes[change]++
	t.keep(fact, Changed{RecordedCall: r, Change: change, Rules: draft.Rules, Reasons: draft.Reasons, Params: call.Params})
	return nil
}

// trialPlace is where a call stands in the list of a trial.
type trialPlace struct {
	direction int
	trialCursorAt
}

// placeOf reads a cursor: direction, time, fact.
func placeOf(cursor string) (*trialPlace, error) {
	if cursor == "" {
		return nil, nil
	}
	direction, rest, err := parseCursor(cursor)
	if err != nil {
		return nil, err
	}
	at, err := trialCursor(rest)
	if err != nil {
		return nil, err
	}
	if at == nil || direction < 0 || int(direction) >= len(policy.Directions()) {
		return nil, invalid("cursor %.80q", cursor)
	}
	return &trialPlace{int(direction), *at}, nil
}

// placed is a call that changed, with its fact.
type placed struct {
	Changed
	fact int64
}

// keep holds a call that changed for its place in the list, as far as a page of
// its direction may still need it. Calls come newest first.
func (t *trialRun) keep(fact int64, c Changed) {
	d := slices.Index(policy.Directions(), c.From.Toward(c.To))
	isBefore := t.from != nil && (d < t.from.direction ||
		d == t.from.direction && (c.At > t.from.at || c.At == t.from.at && fact >= t.from.fact))
	if !isBefore && len(t.found[d]) <= t.limit {
		t.found[d] = append(t.found[d], placed{c, fact})
	}
}

// page gives the calls kept, and the cursor behind them when there are more.
func (t *trialRun) page() {
	for d, list := range t.found {
		for _, p := range list {
			if len(t.result.List) == t.limit {
				return
			}
			t.result.List = append(t.result.List, p.Changed)
			t.result.Next = fmt.Sprintf("%d.%d.%d", d, p.At, p.fact)
		}
	}
	t.result.Next = ""
}

// CallFilter selects recorded calls, newest first.
type CallFilter struct {
	Tool   string
	Cursor string
	Limit  int
}

// CallsOf lists the recorded decisions about one tool, newest first.
func (s *Store) CallsOf(ctx context.Context, f CallFilter) (page []RecordedCall, next string, err error) {
	from, err := trialCursor(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	if from == nil {
		from = &trialCursorAt{1 << 62, 0}
	}
	if _, err := s.ProjectCalls(ctx); err != nil {
		return nil, "", err
	}
	limit := listLimit(f.Limit)
	rows, err := s.readers.QueryContext(ctx, `SELECT fact, run, seq, at, node, attempt, tool, decision, impact FROM calls
		WHERE tool = ? AND (at, fact) < (?, ?) ORDER BY at DESC, fact DESC LIMIT ?`, f.Tool, from.at, from.fact, limit)
	if err != nil {
		return nil, "", fmt.Errorf("list calls: %w", err)
	}
	defer func() { _ = rows.Close() }()
	page = []RecordedCall{}
	for rows.Next() {
		var c RecordedCall
		var fact int64
		if err := rows.Scan(&fact, &c.Run, &c.Seq, &c.At, &c.Node, &c.Attempt, &c.Tool, &c.Decision, &c.Impact); err != nil {
			return nil, "", fmt.Errorf("list calls: %w", err)
		}
		page = append(page, c)
		next = fmt.Sprintf("%d.%d", c.At, fact)
	}
	if len(page) < limit {
		next = ""
	}
	return page, next, rows.Err()
}

// CountCalls gives how many decisions are on record for each tool.
func (s *Store) CountCalls(ctx context.Context) (map[string]int, error) {
	if _, err := s.ProjectCalls(ctx); err != nil {
		return nil, err
	}
	rows, err := s.readers.QueryContext(ctx, "SELECT tool, count(*) FROM calls GROUP BY tool")
	if err != nil {
		return nil, fmt.Errorf("count calls: %w", err)
	}
	defer func() { _ = rows.Close() }()
	counts := make(map[string]int)
	for rows.Next() {
		var tool string
		var count int
		if err := rows.Scan(&tool, &count); err != nil {
			return nil, fmt.Errorf("count calls: %w", err)
		}
		counts[tool] = count
	}
	return counts, rows.Err()
}
