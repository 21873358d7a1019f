package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"sluice/engine"
	"sluice/engine/exec"
	"sluice/engine/plan"
	"sluice/handlers"
	"sluice/policy"
	"sluice/store"
)

// running gives the handlers the shell.
type running struct {
	shell *exec.Shell
	store *store.Store
}

func (r running) NewRun() string { return "r_" + ulid.Make().String() }

func (r running) Now() int64 { return time.Now().UnixMicro() }

func (r running) Watch(run string) (<-chan struct{}, func()) { return r.shell.Watch(run) }

func (r running) Send(ctx context.Context, run string, in engine.Input) error {
	return refusal(r.shell.Send(ctx, run, in))
}

// Submit creates a run once per key: the same key and body gives the run made
// before, another body is a conflict (P41).
func (r running) Submit(ctx context.Context, in *engine.Create, s handlers.Submission) (string, bool, error) {
	if s.Key != "" {
		known, err := r.store.ExistingRun(ctx, s.Owner, s.Key)
		if err == nil && known.BodyHash == s.BodyHash {
			return known.Run, true, nil
		}
		if err == nil {
			return "", false, &engine.Refusal{Code: "conflict", Message: "this idempotency key was used with another body",
				Fix: "send the same body, or another key", Who: s.Owner}
		}
		if !errors.Is(err, store.ErrNotFound) {
			return "", false, err
		}
	}
	err := r.shell.Submit(ctx, in, exec.Creation{Run: in.Run, Owner: s.Owner, IdempotencyKey: s.Key, BodyHash: s.BodyHash})
	var exists *store.ExistsError
	if errors.As(err, &exists) {
		return exists.Run, true, nil
	}
	return in.Run, false, refusal(err)
}

func toApproval(a *store.Approval) handlers.Approval {
	h := handlers.Approval{Run: a.Run, Node: a.Node, Seq: a.Seq, State: string(a.State), RequestedAt: a.RequestedAt,
		DecidedAt: a.DecidedAt, Reason: a.Reason, Approvers: a.Actors,
		ApprovalAsk: engine.ApprovalAsk{ID: a.ID, Hash: a.Hash, ExpiresAt: a.ExpiresAt, Asks: a.Asks, Self: a.Self,
			Requester: a.Requester, Tool: a.Tool, Impact: a.Impact}}
	if n := len(a.Actors); n > 0 {
		h.Actor = a.Actors[n-1]
	}
	return h
}

// accounts gives the handlers people and tokens.
type accounts struct{ store *store.Store }

func (a accounts) UseSignIn(ctx context.Context, secret string) (handlers.User, error) {
	u, err := a.store.UseSignIn(ctx, secret)
	if err != nil {
		return handlers.User{}, refusal(err)
	}
	person := toUser(u)
	return person, record(ctx, a.store, deed{signedIn, person.ID, map[string]any{"by": "link"}})
}

func (a accounts) User(ctx context.Context, id string) (handlers.User, error) {
	n, err := userNumber(id)
	if err != nil {
		return handlers.User{}, err
	}
	u, err := a.store.User(ctx, n)
	return toUser(u), refusal(err)
}

func (a accounts) Users(ctx context.Context) ([]handlers.User, error) {
	list, err := a.store.Users(ctx)
	people := make([]handlers.User, len(list))
	for i := range list {
		people[i] = toUser(list[i])
	}
	return people, refusal(err)
}

func (a accounts) Token(ctx context.Context, secret string) (handlers.Token, error) {
	t, err := a.store.TokenBySecret(ctx, secret)
	if err != nil {
		return handlers.Token{}, refusal(err)
	}
	u, err := a.store.User(ctx, t.User)
	return handlers.Token{ID: "token:" + t.ID, User: toUser(u), Ceiling: t.Ceiling}, refusal(err)
}

func (a accounts) AddToken(ctx context.Context, name string, ceiling policy.Rank, user string) (string, string, error) {
	n, err := userNumber(user)
	if err != nil {
		return "", "", err
	}
	made, err := makeToken(ctx, a.store, name, tokenGrant{ceiling, n})
	return made.ID, made.Token, refusal(err)
}

func userNumber(id string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(id, "user:"), 10, 64)
	if err != nil {
		return 0, &engine.Refusal{Code: "not_found", Message: "there is no user " + id, Fix: "sign in again"}
	}
	return n, nil
}

func toUser(u store.User) handlers.User {
	roles := make([]string, len(u.Roles))
	for i, r := range u.Roles {
		roles[i] = string(r)
	}
	return handlers.User{ID: "user:" + strconv.FormatInt(u.ID, 10), Name: u.Name, Roles: roles}
}

// audit gives the handlers proof and export.
type audit struct {
	store *store.Store
	seal  func(context.Context) error
}

func (a audit) Verify(ctx context.Context) (json.RawMessage, error) {
	report, err := a.store.Verify(ctx, store.VerifyOptions{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(report)
}

func (a audit) Export(ctx context.Context, w io.Writer) error {
	if err := a.seal(ctx); err != nil {
		return err
	}
	return a.store.WriteExport(ctx, w)
}

// ExportRun writes one run's facts as NDJSON.
func (a audit) ExportRun(ctx context.Context, run string, w io.Writer) error {
	for after := int64(0); ; {
		rows, err := a.store.Facts(ctx, store.StreamOf(run), after, 1000)
		if err != nil || len(rows) == 0 {
			return err
		}
		for i := range rows {
			after = rows[i].Seq
			if _, err := w.Write(append(rows[i].AppendJSON(nil), '\n')); err != nil {
				return fmt.Errorf("write export: %w", err)
			}
		}
	}
}

func (a audit) Erase(ctx context.Context, run, reason, actor string) error {
	return refusal(a.store.Erase(ctx, store.Erasure{Run: run, Reason: reason, Actor: actor, At: time.Now().UnixMicro()}))
}

func (a audit) Blob(ctx context.Context, run, sha string) ([]byte, error) {
	runs, err := a.store.BlobRuns(ctx, sha)
	if err != nil {
		return nil, refusal(err)
	}
	if !slices.Contains(runs, run) {
		return nil, &engine.Refusal{Code: "not_found", Message: "this run has no such output", Fix: "open it from its step"}
	}
	data, err := a.store.Blob(ctx, sha)
	return data, refusal(err)
}

// Proof says how one run's stream stands, and which seal covers it.
func (a audit) Proof(ctx context.Context, run string) (handlers.Proof, error) {
	stream := store.StreamOf(run)
	report, err := a.store.VerifyStream(ctx, stream)
	if err != nil {
		return handlers.Proof{}, err
	}
	seq, hash, err := a.store.Head(ctx, stream)
	if err != nil {
		return handlers.Proof{}, refusal(err)
	}
	p := handlers.Proof{Status: report.Status, Facts: seq, Head: fmt.Sprintf("%x", hash), Seq: report.Seq, Reason: report.Reason}
	p.SealedAt, err = a.store.SealedAt(ctx, stream, seq)
	return p, err
}

// rules gives the handlers catalogue and policy.
type rules struct {
	catalog  *plan.Catalog
	policies *policies
}

func (r rules) Catalog() *plan.Catalog { return r.catalog }
func (r rules) Policy() *policy.Policy { return r.policies.Current() }
func (r rules) PolicyByHash(ctx context.Context, hash string) (*policy.Policy, error) {
	return r.policies.ByHash(ctx, hash)
}
