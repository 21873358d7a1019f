package main

import (
	"context"
	"errors"

	"sluice/engine"
	"sluice/engine/exec"
	"sluice/handlers"
	"sluice/store"
)

// execLog gives the shell its log.
type execLog struct{ store *store.Store }

func (l execLog) Append(a exec.Append, done func(error)) {
	in := store.Append{Stream: store.StreamOf(a.Run), Expected: a.Expected, Facts: a.Facts, Summary: a.Summary}
	if c := a.Create; c != nil {
		in.Create = &store.RunMeta{Run: c.Run, Owner: c.Owner, IdempotencyKey: c.IdempotencyKey, BodyHash: c.BodyHash}
	}
	l.store.Append(in, done)
}

func (l execLog) Load(ctx context.Context, run string, after int64, limit int) ([]engine.Fact, error) {
	rows, err := l.store.Facts(ctx, store.StreamOf(run), after, limit)
	if err != nil {
		return nil, err
	}
	facts := make([]engine.Fact, len(rows))
	for i := range rows {
		facts[i] = rows[i].Fact
	}
	return facts, nil
}

func (l execLog) Snapshot(ctx context.Context, run string) ([]byte, error) {
	snap, err := l.store.Snapshot(ctx, run)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return snap.Data, err
}

func (l execLog) SaveSnapshot(ctx context.Context, run string, seq int64, data []byte) error {
	return l.store.SaveSnapshot(ctx, store.Snapshot{Run: run, Seq: seq, Version: engine.SnapshotVersion, Data: data})
}

func (l execLog) PutBlob(ctx context.Context, run string, data []byte) (string, error) {
	return l.store.PutBlob(ctx, run, data)
}

// pageLog gives the handlers their reads.
type pageLog struct{ store *store.Store }

func (l pageLog) Rows(ctx context.Context, run string, after int64, limit int) ([]engine.Row, error) {
	return l.store.Facts(ctx, store.StreamOf(run), after, limit)
}

func (l pageLog) Run(ctx context.Context, id string) (engine.Summary, error) {
	r, err := l.store.Run(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return engine.Summary{}, &engine.Refusal{Code: "not_found", Message: "there is no run " + id, Fix: "list the runs"}
	}
	r.Summary.Requester = r.Owner
	return r.Summary, err
}

func (l pageLog) Runs(ctx context.Context, f handlers.RunFilter) ([]engine.Summary, string, error) {
	page, next, err := l.store.Runs(ctx, store.RunFilter{Owner: f.Owner, Status: f.Status, Code: f.Code,
		Query: f.Query, Limit: f.Limit, Cursor: f.Cursor})
	return page, next, refusal(err)
}

func (l pageLog) Approvals(ctx context.Context, f handlers.ApprovalFilter) ([]handlers.Approval, string, error) {
	in := store.ApprovalFilter{Run: f.Run, Open: f.Open, Closed: f.Closed, Limit: f.Limit, Cursor: f.Cursor}
	page, next, err := l.store.Approvals(ctx, in)
	if err != nil {
		return nil, "", refusal(err)
	}
	list := make([]handlers.Approval, len(page))
	for i := range page {
		list[i] = toApproval(&page[i])
	}
	return list, next, nil
}

func (l pageLog) Approval(ctx context.Context, id string) (handlers.Approval, error) {
	a, err := l.store.Approval(ctx, id)
	if err != nil {
		return handlers.Approval{}, refusal(err)
	}
	return toApproval(a), nil
}
