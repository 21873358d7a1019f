package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/engine"
	"sluice/policy"
)

// ApprovalState is where a request for approval stands.
type ApprovalState string

// The closed set of states: pending, then the results of engine.
const (
	ApprovalPending  ApprovalState = "pending"
	ApprovalCounted  ApprovalState = ApprovalState(engine.Counted)
	ApprovalApproved ApprovalState = ApprovalState(engine.Approved)
	ApprovalDenied   ApprovalState = ApprovalState(engine.Denied)
	ApprovalExpired  ApprovalState = ApprovalState(engine.Expired)
	ApprovalVoided   ApprovalState = ApprovalState(engine.Voided)
)

// IsOpen says that a person may still answer.
func (s ApprovalState) IsOpen() bool { return s == ApprovalPending || s == ApprovalCounted }

// Approval is one row of the approvals projection (P33). The fact Seq of run
// Run holds the whole request.
type Approval struct {
	ID          string
	Run         string
	Node        string
	Seq         int64 // of approval.requested
	State       ApprovalState
	RequestedAt int64    // µs UTC
	ExpiresAt   int64    // µs UTC
	DecidedAt   int64    // µs UTC of the last verdict, 0 before one
	Actors      []string // who gave verdicts, in order
	Reason      string   // of the last verdict; "" when none or erased
	Tool        string
	Impact      policy.Rank
	Requester   string
	Hash        string // binding the verdict must name (P21)
	Self        bool   // the requester may approve
	Asks        []policy.AskFor
}

// approvalFact is a fact that changes an approval, parsed.
type approvalFact struct {
	id      string
	index   int64                   // of the fact in its append, from 0
	asked   *Approval               // approval.requested
	outcome *engine.ApprovalOutcome // approval.decided
	at      int64
	actor   string
}

const approvalIDMax = 128 // bytes

// parseApproval reads an approval fact. Seq of a request is given by who knows it.
func parseApproval(run string, f *engine.Fact) (approvalFact, error) {
	parsed := approvalFact{at: f.At, actor: f.Actor}
	if f.Kind == engine.ApprovalDecided {
		outcome := &engine.ApprovalOutcome{}
		if err := decodeData(f.Kind, f.Data, outcome); err != nil {
			return parsed, err
		}
		parsed.id, parsed.outcome = outcome.ID, outcome
		return parsed, checkApprovalID(parsed.id)
	}
	var ask engine.ApprovalAsk
	if err := decodeData(f.Kind, f.Data, &ask); err != nil {
		return parsed, err
	}
	parsed.id = ask.ID
	parsed.asked = &Approval{ID: ask.ID, Run: run, Node: f.Node, State: ApprovalPending, RequestedAt: f.At,
		ExpiresAt: ask.ExpiresAt, Actors: []string{}, Tool: ask.Tool, Impact: ask.Impact, Requester: ask.Requester,
		Hash: ask.Hash, Self: ask.Self, Asks: ask.Asks}
	return parsed, checkApprovalID(parsed.id)
}

func checkApprovalID(id string) error {
	if id == "" || len(id) > approvalIDMax {
		return invalid("approval id of %d bytes, 1 to %d are allowed", len(id), approvalIDMax)
	}
	return nil
}

// apply folds a fact into an approval; known is nil before its request. The
// writer and the verifier both fold with it. The result is nil when the fact
// answers a request that was never made.
func (f approvalFact) apply(known *Approval) *Approval {
	if f.asked != nil {
		return f.asked
	}
	if known == nil {
		return nil
	}
	next := *known
	next.State = ApprovalState(f.outcome.Result)
	next.DecidedAt = f.at
	next.Actors = append(slices.Clone(known.Actors), f.actor)
	next.Reason = f.outcome.Reason
	return &next
}

// projectApprovals folds an append's approval facts in the transaction of the facts.
func (w *writer) projectApprovals(p *pendingAppend, first int64) error {
	for _, fact := range p.approvals {
		if fact.asked != nil {
			fact.asked.Seq = first + fact.index
		}
		known, err := queryApproval(w.conn, fact.id)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		next := fact.apply(known)
		if next == nil {
			continue
		}
		if err := w.saveApproval(next); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) saveApproval(a *Approval) error {
	actors, err := json.Marshal(a.Actors)
	if err != nil {
		return err
	}
	asks, err := json.Marshal(a.Asks)
	if err != nil {
		return err
	}
	w.changed = true
	return w.execWarm("INSERT OR REPLACE INTO approvals ("+approvalColumns+") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		a.ID, a.Run, a.Node, a.Seq, string(a.State), a.RequestedAt, a.ExpiresAt, a.DecidedAt, string(actors),
		a.Reason, a.Tool, int64(a.Impact), a.Requester, a.Hash, a.Self, string(asks))
}

const approvalColumns = "id,run,node,seq,state,requested_at,expires_at,decided_at,actors,reason,tool,impact,requester,hash,self,asks"

type scanner interface{ Scan(into ...any) error }

func scanApproval(row scanner) (*Approval, error) {
	var a Approval
	var actors, asks string
	err := row.Scan(&a.ID, &a.Run, &a.Node, &a.Seq, &a.State, &a.RequestedAt, &a.ExpiresAt, &a.DecidedAt, &actors,
		&a.Reason, &a.Tool, &a.Impact, &a.Requester, &a.Hash, &a.Self, &asks)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(actors), &a.Actors); err != nil {
		return nil, fmt.Errorf("read actors of %s: %w", a.ID, err)
	}
	if err := json.Unmarshal([]byte(asks), &a.Asks); err != nil {
		return nil, fmt.Errorf("read asks of %s: %w", a.ID, err)
	}
	return &a, nil
}

func queryApproval(db queryRower, id string) (*Approval, error) {
	row := db.QueryRowContext(background(), "SELECT "+approvalColumns+" FROM approvals WHERE id = ?", id)
	a, err := scanApproval(row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("approval %.80q: %w", id, ErrNotFound)
	}
	return a, err
}

// Approval gives one request by id, ErrNotFound when there is none.
func (s *Store) Approval(ctx context.Context, id string) (*Approval, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return queryApproval(s.readers, id)
}

// ApprovalFilter chooses approvals; the zero value chooses all.
type ApprovalFilter struct {
	Open   bool   // only those a person may still answer
	Closed bool   // only those that are settled
	Run    string // "" = of all runs
	Limit  int    // 0 or beyond listMax = listMax
	Cursor string // as given by the page before
}

// Approvals lists requests: the open ones oldest first, so that the longest
// waiting is on top; otherwise newest first. next is "" on the last page.
func (s *Store) Approvals(ctx context.Context, f ApprovalFilter) (page []Approval, next string, err error) {
	query, args, err := approvalQuery(f)
	if err != nil {
		return nil, "", err
	}
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, "", fmt.Errorf("list approvals: %w", err)
	}
	defer func() { _ = rows.Close() }()
	page = []Approval{}
	for rows.Next() {
		a, err := scanApproval(rows)
		if err != nil {
			return nil, "", fmt.Errorf("list approvals: %w", err)
		}
		page = append(page, *a)
	}
	if limit := listLimit(f.Limit); len(page) > limit {
		page = page[:limit]
		next = makeCursor(page[limit-1].RequestedAt, page[limit-1].ID)
	}
	return page, next, rows.Err()
}

func approvalQuery(f ApprovalFilter) (query string, args []any, err error) {
	where, order, beyond := []string{"1"}, "DESC", "<"
	if f.Open {
		where, order, beyond = []string{"state IN ('pending','counted')"}, "ASC", ">"
	}
	if f.Closed {
		where = append(where, "state NOT IN ('pending','counted')")
	}
	if f.Run != "" {
		where, args = append(where, "run = ?"), append(args, f.Run)
	}
	if f.Cursor != "" {
		at, id, err := parseCursor(f.Cursor)
		if err != nil {
			return "", nil, err
		}
		where, args = append(where, "(requested_at, id) "+beyond+" (?, ?)"), append(args, at, id)
	}
	query = "SELECT " + approvalColumns + " FROM approvals WHERE " + strings.Join(where, " AND ") +
		" ORDER BY requested_at " + order + ", id " + order + " LIMIT ?"
	return query, append(args, listLimit(f.Limit)+1), nil
}
