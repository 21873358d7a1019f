package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sluice/engine"
)

// foldTemplate folds a row of admin as the writer did when it came.
func (c *streamCheck) foldTemplate(row *engine.Row) {
	isSaved := row.Kind == TemplateSaved
	if c.name != Admin || !isSaved && row.Kind != TemplateQuarantined || row.Data == nil {
		return
	}
	var d templateData
	if err := json.Unmarshal(row.Data, &d); err != nil {
		c.fail(row.Seq, "a fact about a template cannot be read")
		return
	}
	if c.templates == nil {
		c.templates = make(map[string]TemplateVersion)
	}
	v := TemplateVersion{Name: d.Name, Version: d.Version, Seq: row.Seq, Hash: d.Hash, Title: d.Title, Owner: d.Owner, Origin: d.From, Actor: row.Actor, At: row.At}
	before, isKnown := c.templates[v.Ref()]
	if isSaved == isKnown {
		c.fail(row.Seq, "a fact about a template does not fit those before it")
		return
	}
	if !isSaved {
		v = before
		v.Quarantine, v.QuarantinedBy, v.QuarantinedAt = d.Reason, row.Actor, row.At
	}
	c.templates[v.Ref()] = v
}

// compareTemplates holds the table of versions against the facts.
func (v *verification) compareTemplates(ctx context.Context) error {
	rows, err := v.db.QueryContext(ctx, "SELECT "+templateColumns+" FROM templates")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var known map[string]TemplateVersion
	if check := v.streams[Admin]; check != nil {
		known = check.templates
	}
	missing := maps.Clone(known)
	for rows.Next() {
		got, err := scanTemplate(rows)
		if err != nil {
			return fmt.Errorf("%w: table templates: %w", errDamaged, err)
		}
		if want, is := known[got.Ref()]; !is || got != want {
			v.stream(Admin).complain(got.Seq, "template "+got.Ref()+" is not what the facts say")
		}
		delete(missing, got.Ref())
	}
	for _, ref := range slices.Sorted(maps.Keys(missing)) {
		v.stream(Admin).complain(missing[ref].Seq, "template "+ref+" is missing from the projection")
	}
	return rows.Err()
}
