package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/planner"
	"sluice/engine/template"
	"sluice/handlers"
	"sluice/store"
)

// failuresMax is how many runs of a version may end in a row with a failure that
// is the template's before it is quarantined (R103).
const failuresMax = 3

const endedQueue = 256

// library keeps templates: what is offered, what was made of it, and what fails.
type library struct {
	app     *app
	offered atomic.Pointer[[]planner.Offered]
	read    sync.Map // hash → *known
	runs    chan string
}

// known is a document read once.
type known struct {
	template *template.Template
	broken   []plan.Finding
}

// openLibrary ships what is not there yet and reads what is offered.
func openLibrary(ctx context.Context, a *app) (*library, error) {
	l := &library{app: a, runs: make(chan string, endedQueue)}
	shipped, err := template.Shipped()
	if err != nil {
		return nil, err
	}
	for _, t := range shipped {
		if err := l.ship(ctx, t); err != nil {
			return nil, err
		}
	}
	return l, l.refresh(ctx)
}

// ship saves a shipped template once, and again when the program brings another
// one and nobody has saved a version of their own.
func (l *library) ship(ctx context.Context, t *template.Template) error {
	_, hash, err := t.Canonical()
	if err != nil {
		return err
	}
	newest, err := l.app.store.Template(ctx, t.Name, 0)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err == nil && (newest.Owner != "system" || newest.Hash == hash) {
		return nil
	}
	_, err = l.save(ctx, t, handlers.TemplateOrigin{Owner: "system", Actor: "system", From: "shipped"})
	return err
}

func (l *library) save(ctx context.Context, t *template.Template, by handlers.TemplateOrigin) (store.TemplateVersion, error) {
	doc, hash, err := t.Canonical()
	if err != nil {
		return store.TemplateVersion{}, err
	}
	return l.app.store.SaveTemplate(ctx, store.TemplateVersion{Name: t.Name, Hash: hash, Title: t.Title, Owner: by.Owner,
		Origin: by.From, Actor: by.Actor, At: time.Now().UnixMicro()}, doc)
}

// refresh reads which templates the built-in planner may use. It fills them for
// everybody's words, so it takes those of the program and of admins alone: what
// anybody else saved is run by its name.
func (l *library) refresh(ctx context.Context) error {
	list, err := l.Templates(ctx)
	if err != nil {
		return err
	}
	offered := []planner.Offered{}
	for i := range list {
		if list[i].State() == "offered" && len(list[i].Phrases) > 0 && list[i].Plans {
			offered = append(offered, planner.Offered{Ref: list[i].Ref(), Template: list[i].Template})
		}
	}
	l.offered.Store(&offered)
	return nil
}

func (l *library) speaksForAll(ctx context.Context, owner string) bool {
	if owner == "system" {
		return true
	}
	u, err := accounts{l.app.store}.User(ctx, owner)
	return err == nil && slices.Contains(u.Roles, string(store.RoleAdmin))
}

// Offered implements planner.Templates.
func (l *library) Offered() []planner.Offered { return *l.offered.Load() }

func (l *library) info(ctx context.Context, v store.TemplateVersion) (handlers.TemplateInfo, error) {
	k, err := l.known(ctx, v.Hash)
	if err != nil {
		return handlers.TemplateInfo{}, fmt.Errorf("read template %s: %w", v.Ref(), err)
	}
	return handlers.TemplateInfo{Template: k.template, Version: v.Version, Hash: v.Hash, Owner: v.Owner, From: v.Origin, Actor: v.Actor,
		At: v.At, Quarantine: v.Quarantine, QuarantinedBy: v.QuarantinedBy, QuarantinedAt: v.QuarantinedAt, Broken: k.broken, Plans: l.speaksForAll(ctx, v.Owner)}, nil
}

func (l *library) known(ctx context.Context, hash string) (*known, error) {
	if got, ok := l.read.Load(hash); ok {
		return got.(*known), nil
	}
	_, doc, err := l.app.store.Content(ctx, hash)
	if err != nil {
		return nil, err
	}
	t, found := template.Parse(doc)
	if t == nil {
		return nil, found[0]
	}
	k := &known{template: t, broken: t.Check(l.app.registry.Catalog())}
	l.read.Store(hash, k)
	return k, nil
}

func (l *library) infos(ctx context.Context, list []store.TemplateVersion) ([]handlers.TemplateInfo, error) {
	out := make([]handlers.TemplateInfo, len(list))
	for i := range list {
		var err error
		if out[i], err = l.info(ctx, list[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Templates implements handlers.Templates.
func (l *library) Templates(ctx context.Context) ([]handlers.TemplateInfo, error) {
	list, err := l.app.store.Templates(ctx, "")
	if err != nil {
		return nil, err
	}
	return l.infos(ctx, list)
}

// TemplateVersions implements handlers.Templates.
func (l *library) TemplateVersions(ctx context.Context, name string) ([]handlers.TemplateInfo, error) {
	list, err := l.app.store.Templates(ctx, name)
	if err != nil {
		return nil, err
	}
	return l.infos(ctx, list)
}

// Template implements handlers.Templates.
func (l *library) Template(ctx context.Context, name string, version int) (handlers.TemplateInfo, error) {
	v, err := l.app.store.Template(ctx, name, version)
	if err != nil {
		return handlers.TemplateInfo{}, refusal(err)
	}
	return l.info(ctx, v)
}

// SaveTemplate implements handlers.Templates.
func (l *library) SaveTemplate(ctx context.Context, t *template.Template, by handlers.TemplateOrigin) (handlers.TemplateInfo, error) {
	v, err := l.save(ctx, t, by)
	if err != nil {
		return handlers.TemplateInfo{}, refusal(err)
	}
	if err := l.refresh(ctx); err != nil {
		return handlers.TemplateInfo{}, err
	}
	return l.info(ctx, v)
}

// TemplateRuns implements handlers.Templates.
func (l *library) TemplateRuns(ctx context.Context, ref string, limit int) ([]engine.Summary, error) {
	return l.app.store.TemplateRuns(ctx, ref, limit)
}

// ended is told of every run that ended; it is quick. What does not fit the
// queue is judged with the next run of its template.
func (l *library) ended(run string) {
	select {
	case l.runs <- run:
	default:
	}
}

func (l *library) loop() {
	defer l.app.wait.Done()
	for {
		select {
		case run := <-l.runs:
			if err := l.judge(context.Background(), run); err != nil {
				l.app.log.Error("judge template of run", "run", run, "err", err)
			}
		case <-l.app.done:
			return
		}
	}
}

// judge quarantines the version that a run is an instance of when its last runs
// all failed by its own fault (R103).
func (l *library) judge(ctx context.Context, run string) error {
	sum, err := l.app.store.Run(ctx, run)
	if err != nil || sum.Template == "" {
		return err
	}
	last, err := l.app.store.TemplateRuns(ctx, sum.Template, 50)
	if err != nil {
		return err
	}
	failed := 0
	for i := range last {
		switch {
		case last[i].Status != engine.Ended || !counts(last[i].Code):
			continue
		case !itsFault(last[i].Code):
			return nil
		}
		if failed++; failed == failuresMax {
			return l.quarantine(ctx, &last[i])
		}
	}
	return nil
}

// counts says whether a code tells anything about a template: what a person, a
// policy, a budget or a dependency ended does not.
func counts(c engine.Code) bool {
	return c == engine.Success || c == engine.PartialSuccess || itsFault(c)
}

func itsFault(c engine.Code) bool {
	return c == engine.ValidationFail || c == engine.Impossible || c == engine.RepeatedFailure
}

func (l *library) quarantine(ctx context.Context, run *engine.Summary) error {
	v, err := l.byRef(ctx, run.Template)
	if err != nil || v.Quarantine != "" {
		return err
	}
	v.Quarantine = fmt.Sprintf("its last %d runs failed, the newest of them with %s", failuresMax, run.Code)
	v.QuarantinedBy, v.QuarantinedAt = "system", time.Now().UnixMicro()
	if err := l.app.store.QuarantineTemplate(ctx, v); err != nil {
		return err
	}
	return l.refresh(ctx)
}

func (l *library) byRef(ctx context.Context, ref string) (store.TemplateVersion, error) {
	name, version, err := nameAndVersion(ref)
	if err != nil || version == 0 {
		return store.TemplateVersion{}, store.ErrNotFound
	}
	return l.app.store.Template(ctx, name, version)
}
