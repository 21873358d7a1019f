package main

import (
	"context"
	"errors"

	"sluice/handlers"
	"sluice/store"
)

// drafts gives the handlers unfinished work.
type drafts struct{ store *store.Store }

func (d drafts) Drafts(ctx context.Context, owner, kind string) ([]handlers.Draft, error) {
	list, err := d.store.Drafts(ctx, owner, store.DraftKind(kind))
	out := make([]handlers.Draft, len(list))
	for i := range list {
		out[i] = fromStored(list[i])
	}
	return out, refusal(err)
}

func (d drafts) Draft(ctx context.Context, owner, id string) (handlers.Draft, error) {
	got, err := d.store.Draft(ctx, owner, id)
	return fromStored(got), refusal(err)
}

func (d drafts) AddDraft(ctx context.Context, in handlers.Draft) (handlers.Draft, error) {
	got, err := d.store.AddDraft(ctx, toStored(in))
	return fromStored(got), refusal(err)
}

func (d drafts) SaveDraft(ctx context.Context, in handlers.Draft) (handlers.Draft, error) {
	got, err := d.store.SaveDraft(ctx, toStored(in))
	return fromStored(got), draftRefusal(err)
}

func (d drafts) DeleteDraft(ctx context.Context, in handlers.Draft) error {
	return draftRefusal(d.store.DeleteDraft(ctx, toStored(in)))
}

func draftRefusal(err error) error {
	var moved *store.DraftConflict
	if errors.As(err, &moved) {
		return &handlers.DraftConflict{Current: moved.Current, Who: moved.Who, At: moved.At}
	}
	return refusal(err)
}

func toStored(d handlers.Draft) store.Draft {
	return store.Draft{ID: d.ID, Kind: store.DraftKind(d.Kind), Owner: d.Owner, Name: d.Name, Doc: d.Doc, View: d.View, Base: d.Base,
		Revision: d.Revision, UpdatedBy: d.UpdatedBy, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt}
}

func fromStored(d store.Draft) handlers.Draft {
	return handlers.Draft{ID: d.ID, Kind: string(d.Kind), Owner: d.Owner, Name: d.Name, Doc: d.Doc, View: d.View, Base: d.Base,
		Revision: d.Revision, UpdatedBy: d.UpdatedBy, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt}
}
