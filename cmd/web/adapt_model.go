package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/engine"
	"sluice/engine/model"
	"sluice/handlers"
	"sluice/store"
)

// modelPages gives the handlers the models of the installation.
type modelPages struct{ *modelSet }

// settingsChanged is on the stream admin: who changed what, without keys.
const settingsChanged = engine.Kind("settings.changed")

// Roles implements handlers.Models.
func (m modelPages) Roles(context.Context) []handlers.ModelRole {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []handlers.ModelRole
	for _, name := range modelRoles {
		list = append(list, m.role(name))
	}
	return list
}

func (m modelPages) role(name string) handlers.ModelRole {
	c, p := m.roles[name], m.pages[name]
	r := handlers.ModelRole{Role: name, Problem: c.problem, ChangedAt: p.changedAt, ChangedBy: p.changedBy,
		Key: handlers.ModelKey{Set: c.endpoint.Key != "", From: c.from["key"]}}
	if !c.isSet() {
		r.Problem = ""
	}
	if p.problem != "" {
		r.Problem = p.problem
	}
	if c.usable() {
		r.Model = c.endpoint.Model
	}
	for _, f := range []struct{ name, value, page string }{
		{"base_url", c.endpoint.BaseURL, p.URL}, {"model", c.endpoint.Model, p.Model},
		{"max_output", strconv.FormatInt(c.output, 10), p.MaxOutput}, {"timeout_s", strconv.FormatInt(int64(c.endpoint.Timeout/time.Second), 10), p.Timeout},
		{"price_in", priceText(c.priceIn), p.PriceIn}, {"price_out", priceText(c.priceOut), p.PriceOut},
	} {
		r.Fields = append(r.Fields, handlers.ModelField{Name: f.name, Value: f.value, Page: f.page, From: c.from[f.name]})
	}
	return r
}

// SaveRole implements handlers.Models. New runs use what was saved; runs under way
// keep the model they pinned.
func (m modelPages) SaveRole(ctx context.Context, actor string, c handlers.ModelChange) error {
	m.mu.Lock()
	pages, before := maps.Clone(m.pages), m.roles
	m.mu.Unlock()
	p := pages[c.Role]
	changed := p.take(&c)
	if len(changed) == 0 {
		return nil
	}
	pages[c.Role] = p
	after := m.merged(pages)
	if err := m.sealChanged(&p, &c, move{before[c.Role].endpoint.BaseURL, after[c.Role].endpoint.BaseURL}); err != nil {
		return err
	}
	pages[c.Role] = p
	if problem := m.merged(pages)[c.Role].problem; problem != "" {
		return &engine.Refusal{Code: "invalid", Message: problem, Fix: "correct it and save again"}
	}
	if moved := (move{before[executorRole].endpoint.BaseURL, after[executorRole].endpoint.BaseURL}); c.Role == plannerRole && moved.isElsewhere() {
		if err := m.forgetInherited(ctx, actor); err != nil {
			return err
		}
	}
	if err := m.savePage(ctx, c.Role, &p, changeOf(actor, c.Role, changed)); err != nil {
		return err
	}
	return m.load(ctx)
}

// move is a change of the address of a role, wherever it is set.
type move struct{ from, to string }

func (m move) isElsewhere() bool { return hostOf(m.from) != hostOf(m.to) }

// forgetInherited forgets the executor's key when it was given for the planner's
// host: that one changes now.
func (m modelPages) forgetInherited(ctx context.Context, actor string) error {
	m.mu.Lock()
	p := m.pages[executorRole]
	m.mu.Unlock()
	if p.SealedKey == "" {
		return nil
	}
	p.Key, p.SealedKey = "", ""
	return m.savePage(ctx, executorRole, &p, changeOf(actor, executorRole, []string{"key"}))
}

// changeOf names the fields of a role that somebody changed, never what they hold.
func changeOf(actor, role string, fields []string) deed {
	return deed{settingsChanged, actor, map[string]any{"name": settingName(role), "fields": fields}}
}

func (m modelPages) savePage(ctx context.Context, role string, p *pageRole, by deed) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := m.store.SaveSetting(ctx, store.Setting{Name: settingName(role), Value: raw, ChangedBy: by.actor}); err != nil {
		return refusal(err)
	}
	return record(ctx, m.store, by)
}

// take puts a change in and names the fields that it changed.
func (p *pageRole) take(c *handlers.ModelChange) []string {
	changed := []string{}
	for _, f := range []struct {
		name string
		from *string
		into *string
	}{{"base_url", c.BaseURL, &p.URL}, {"model", c.Model, &p.Model}, {"key", c.Key, &p.Key}, {"max_output", c.MaxOutput, &p.MaxOutput},
		{"timeout_s", c.Timeout, &p.Timeout}, {"price_in", c.PriceIn, &p.PriceIn}, {"price_out", c.PriceOut, &p.PriceOut}} {
		if f.from == nil || strings.TrimSpace(*f.from) == *f.into {
			continue
		}
		*f.into = strings.TrimSpace(*f.from)
		changed = append(changed, f.name)
	}
	return changed
}

// sealChanged encrypts a new key. A key belongs to the host it was given for: with
// another host it is forgotten unless it comes along.
func (m modelPages) sealChanged(p *pageRole, c *handlers.ModelChange, where move) error {
	if c.Key == nil && where.isElsewhere() {
		p.Key, p.SealedKey = "", ""
		return nil
	}
	if p.Key == "" {
		if c.Key != nil {
			p.SealedKey = ""
		}
		return nil
	}
	if err := (model.Endpoint{BaseURL: "http://host", Model: "m", Key: p.Key}).Check(); err != nil {
		return &engine.Refusal{Code: "invalid", Message: err.Error(), Fix: "copy the key again, whole"}
	}
	m.redact.Learn("model."+c.Role+".key", p.Key)
	sealed, err := m.vault.seal(c.Role, where.to, p.Key)
	p.SealedKey = sealed
	return err
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// CheckRole implements handlers.Models.
func (m modelPages) CheckRole(ctx context.Context, role string) (handlers.ModelCheck, error) {
	m.mu.Lock()
	c, known := m.roles[role]
	m.mu.Unlock()
	if !known {
		return handlers.ModelCheck{}, errors.New("no such role")
	}
	return checkRole(ctx, &c), nil
}

// checkRole tries a role.
func checkRole(ctx context.Context, c *modelConfig) handlers.ModelCheck {
	out := handlers.ModelCheck{Role: c.role, Configured: c.isSet(), Model: c.endpoint.Model, BaseURL: c.endpoint.BaseURL, Listed: "unknown", Problem: c.problem}
	if !c.usable() {
		if !c.isSet() {
			out.Problem = "no model is set: the built-in planner acts"
		}
		return out
	}
	r := model.Check(ctx, c.endpoint)
	out.OK, out.Reached, out.Listed, out.Answers, out.Streams = r.OK(), r.Reached, r.Listed, r.Answers, r.Streams
	out.Structure, out.Usage, out.LatencyMS, out.FirstMS, out.Problem = r.Structure, r.Usage, r.LatencyMS, r.FirstMS, r.Problem
	return out
}
