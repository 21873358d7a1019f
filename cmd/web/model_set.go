package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"sluice/engine"
	"sluice/engine/model"
	"sluice/engine/tool"
	"sluice/store"
)

// modelSet is the models of this installation by role: what is fixed at start,
// and what people set on the page.
type modelSet struct {
	store  *store.Store
	vault  *vault
	redact *tool.Redactor
	log    *slog.Logger
	fixed  []source // flag, environment, file
	ask    *model.Planner

	mu      sync.Mutex
	roles   map[string]modelConfig
	pages   map[string]pageRole
	clients map[string]*model.Client // by role and By; of earlier settings too, for runs that pinned them
}

// pageRole is what the page keeps of a role.
type pageRole struct {
	modelFields
	SealedKey string `json:"sealed_key,omitempty"`
	changedAt int64
	changedBy string
	problem   string // why the key can not be read
}

func settingName(role string) string { return "model." + role }

// openModels reads the settings. What flags, environment or file say wrongly
// stops the program; what the page says wrongly is shown there.
func openModels(ctx context.Context, a *app, tools *model.Tools) (*modelSet, error) {
	ask, err := model.NewPlanner(tools, a.registry.Redactor())
	if err != nil {
		return nil, err
	}
	m := &modelSet{store: a.store, vault: newVault(a.cfg.Data), redact: a.registry.Redactor(), log: a.log, fixed: a.cfg.sources(), ask: ask,
		clients: map[string]*model.Client{}}
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	planner := mergeRole(m.fixed, plannerRole, nil)
	for _, c := range []modelConfig{planner, mergeRole(m.fixed, executorRole, &planner)} {
		if c.endpoint.BaseURL != "" && c.problem != "" {
			return nil, fmt.Errorf("model of the %s: %s; see --%s-url, --%s-model and docs/models.md: %w", c.role, c.problem, c.role, c.role, errUsage)
		}
	}
	return m, nil
}

// load reads the page's settings and works out every role anew.
func (m *modelSet) load(ctx context.Context) error {
	pages, err := m.readPages(ctx)
	if err != nil {
		return err
	}
	roles := m.merged(pages)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages, m.roles = pages, roles
	for _, c := range m.roles {
		if c.endpoint.Key != "" {
			m.redact.Learn("model."+c.role+".key", c.endpoint.Key)
		}
		if c.usable() {
			m.clients[c.role+" "+c.info(0).By] = model.NewClient(c.endpoint)
		}
	}
	return nil
}

// merged works out the roles from what is fixed and what pages say.
func (m *modelSet) merged(pages map[string]pageRole) map[string]modelConfig {
	page := modelFlags{}
	for _, role := range modelRoles {
		*page.of(role)[0] = pages[role].modelFields
	}
	sources := append(append([]source(nil), m.fixed...), source{"page", &page})
	planner := mergeRole(sources, plannerRole, nil)
	return map[string]modelConfig{plannerRole: planner, executorRole: mergeRole(sources, executorRole, &planner)}
}

// readPages reads what the page sets. A key is opened for the address that its
// role has now, wherever that is set, and for no other.
func (m *modelSet) readPages(ctx context.Context) (map[string]pageRole, error) {
	pages := map[string]pageRole{}
	for _, role := range modelRoles {
		p, err := m.readPage(ctx, role)
		if err != nil {
			return nil, err
		}
		pages[role] = p
	}
	roles := m.merged(pages)
	for _, role := range modelRoles {
		p := pages[role]
		if p.SealedKey == "" {
			continue
		}
		var err error
		if p.Key, err = m.vault.open(role, roles[role].endpoint.BaseURL, p.SealedKey); err != nil {
			m.log.Warn("model settings", "role", role, "err", err)
			p.problem = err.Error()
		}
		pages[role] = p
	}
	return pages, nil
}

func (m *modelSet) readPage(ctx context.Context, role string) (pageRole, error) {
	var p pageRole
	s, err := m.store.Setting(ctx, settingName(role))
	if errors.Is(err, store.ErrNotFound) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(s.Value, &p); err != nil {
		return p, fmt.Errorf("read settings of the %s: %w", role, err)
	}
	p.changedAt, p.changedBy = s.ChangedAt, s.ChangedBy
	return p, nil
}

// Current is what a new run pins.
func (m *modelSet) Current() engine.Models {
	m.mu.Lock()
	defer m.mu.Unlock()
	planner, executor := m.roles[plannerRole], m.roles[executorRole]
	return engine.Models{Planner: planner.info(m.ask.PlannerOverhead()), Executor: executor.info(m.ask.ReflectionOverhead())}
}

// caller gives the client of a model that a run pinned, nil when it is not set up
// in this process.
func (m *modelSet) caller(role, by string) model.Caller {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clients[role+" "+by]
	if c == nil {
		return nil
	}
	return c
}

func (m *modelSet) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.clients {
		c.Close()
	}
}
