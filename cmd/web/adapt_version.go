package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"sluice/engine/plan"
	"sluice/handlers"
	"sluice/policy"
	"sluice/policy/document"
	"sluice/store"
)

// versions gives the handlers the policy's versions and its trials.
type versions struct {
	store    *store.Store
	policies *policies
	catalog  *plan.Catalog
	announce func(p *policy.Policy, actor string) // to every live run (P19)
}

func (a *app) versions() versions {
	return versions{store: a.store, policies: a.policies, catalog: a.registry.Catalog(), announce: a.shell.Publish}
}

func (v versions) Active(ctx context.Context) (handlers.PolicyVersion, error) {
	got, err := v.store.ActivePolicy(ctx)
	if err != nil {
		return handlers.PolicyVersion{}, refusal(err)
	}
	return v.whole(ctx, got)
}

func (v versions) Version(ctx context.Context, n int) (handlers.PolicyVersion, error) {
	got, err := v.store.Policy(ctx, n)
	if err != nil {
		return handlers.PolicyVersion{}, refusal(err)
	}
	return v.whole(ctx, got)
}

func (v versions) VersionOf(ctx context.Context, hash string, at int64) (handlers.PolicyVersion, error) {
	got, err := v.store.PolicyOf(ctx, hash, at)
	if err != nil {
		return handlers.PolicyVersion{}, refusal(err)
	}
	return v.whole(ctx, got)
}

func (v versions) Versions(ctx context.Context, before, limit int) ([]handlers.PolicyVersion, error) {
	list, err := v.store.Policies(ctx, before, limit)
	out := make([]handlers.PolicyVersion, len(list))
	for i := range list {
		out[i] = toVersion(list[i])
	}
	return out, refusal(err)
}

func toVersion(p store.PolicyVersion) handlers.PolicyVersion {
	return handlers.PolicyVersion{Version: p.Version, Hash: p.Hash, At: p.At, Actor: p.Actor, Reason: p.Reason, Base: p.Base}
}

// whole adds the document, as it was written where that is kept.
func (v versions) whole(ctx context.Context, p store.PolicyVersion) (handlers.PolicyVersion, error) {
	out := toVersion(p)
	loaded, err := v.policies.ByHash(ctx, p.Hash)
	if err != nil {
		return out, err
	}
	out.Canonical = loaded.Canonical()
	if p.Text == "" {
		out.Text = string(document.Marshal(loaded.Document()))
		return out, nil
	}
	_, text, err := v.store.Content(ctx, p.Text)
	out.Text = string(text)
	return out, err
}

// Publish stores the version, then makes it current, then tells the live runs,
// one publication after the other: a later one is never overtaken.
func (v versions) Publish(ctx context.Context, p handlers.PolicyPublication) (handlers.PolicyVersion, error) {
	v.policies.publishing.Lock()
	defer v.policies.publishing.Unlock()
	made, err := v.store.PublishPolicy(ctx, store.Publication{Hash: p.Policy.Hash(), Canonical: p.Policy.Canonical(), Text: []byte(p.Text),
		Base: p.Base, Reason: p.Reason, Actor: p.Actor, At: p.At})
	var late *store.PolicyConflictError
	if errors.As(err, &late) {
		return handlers.PolicyVersion{}, &handlers.PolicyConflict{Newest: toVersion(late.Newest)}
	}
	if err != nil {
		return handlers.PolicyVersion{}, refusal(err)
	}
	v.policies.known.Store(p.Policy.Hash(), p.Policy)
	v.policies.current.Store(p.Policy)
	v.announce(p.Policy, p.Actor)
	return toVersion(made), nil
}

func (v versions) lookup(name string) (policy.Tool, bool) {
	t, found := v.catalog.Lookup(name)
	return t.Tool, found
}

func (v versions) Try(ctx context.Context, draft *policy.Policy, page handlers.CallPage) (handlers.Trial, error) {
	got, err := v.store.TryPolicy(ctx, store.Trial{Draft: draft, Active: v.policies.Current(), Tool: v.lookup, Cursor: page.Cursor, Limit: page.Limit})
	if err != nil {
		return handlers.Trial{}, refusal(err)
	}
	out := handlers.Trial{Calls: got.Calls, Unchanged: got.Unchanged, Reasked: got.Reasked, Erased: got.Erased, Left: got.Left, Since: got.Since,
		Rules: got.Rules, Next: got.Next, List: make([]handlers.TrialCall, len(got.List))}
	for change, count := range got.Changes {
		out.Changes = append(out.Changes, handlers.TrialChange{From: change.From, To: change.To, Count: count})
	}
	slices.SortFunc(out.Changes, func(a, b handlers.TrialChange) int {
		return cmp.Or(cmp.Compare(directionOrder(a), directionOrder(b)), cmp.Compare(answerOrder(a.From), answerOrder(b.From)),
			cmp.Compare(answerOrder(a.To), answerOrder(b.To)))
	})
	for i := range got.List {
		c := &got.List[i]
		out.List[i] = handlers.TrialCall{RecordedCall: toCall(&c.RecordedCall), From: c.From, To: c.To, Rules: c.Rules, Reasons: c.Reasons, Params: c.Params}
	}
	return out, nil
}

func directionOrder(c handlers.TrialChange) int {
	return slices.Index(policy.Directions(), c.From.Toward(c.To))
}

func answerOrder(a policy.Answer) int {
	order := 10 * slices.Index([]policy.Outcome{policy.Allow, policy.Ask, policy.Deny}, a.Outcome)
	if a.Person {
		order += 2
	}
	if a.Authority {
		order++
	}
	return order
}

func toCall(c *store.RecordedCall) handlers.RecordedCall {
	return handlers.RecordedCall{Run: c.Run, Node: c.Node, Attempt: c.Attempt, Seq: c.Seq, At: c.At, Tool: c.Tool, Decision: c.Decision, Impact: c.Impact}
}

func (v versions) CallsOf(ctx context.Context, tool string, page handlers.CallPage) ([]handlers.RecordedCall, string, error) {
	list, next, err := v.store.CallsOf(ctx, store.CallFilter{Tool: tool, Cursor: page.Cursor, Limit: page.Limit})
	out := make([]handlers.RecordedCall, len(list))
	for i := range list {
		out[i] = toCall(&list[i])
	}
	return out, next, refusal(err)
}

func (v versions) CountCalls(ctx context.Context) (map[string]int, error) {
	return v.store.CountCalls(ctx)
}
