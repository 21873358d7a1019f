package handlers

import (
	"context"
	"strconv"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/engine/template"
)

// Templates keeps templates and their versions.
type Templates interface {
	// Templates lists the newest version of each.
	Templates(ctx context.Context) ([]TemplateInfo, error)
	// TemplateVersions lists all versions of one, the newest first.
	TemplateVersions(ctx context.Context, name string) ([]TemplateInfo, error)
	// Template gives one version, the newest for 0.
	Template(ctx context.Context, name string, version int) (TemplateInfo, error)
	SaveTemplate(ctx context.Context, t *template.Template, by TemplateOrigin) (TemplateInfo, error)
	// TemplateRuns lists the newest runs of one version ("name@2").
	TemplateRuns(ctx context.Context, ref string, limit int) ([]engine.Summary, error)
}

// TemplateOrigin says whose a template is and what it was made from.
type TemplateOrigin struct {
	Owner string // principal
	Actor string
	From  string // "run:r_…", "draft:d_…" or "file"
}

// TemplateInfo is one version with how it stands.
type TemplateInfo struct {
	*template.Template
	Version       int
	Hash          string
	Owner         string
	From          string
	Actor         string
	At            int64  // µs UTC
	Quarantine    string // why it is not offered, "" when it is
	QuarantinedBy string
	QuarantinedAt int64
	Broken        []plan.Finding // why it no longer compiles, nil when it does
	Plans         bool           // its phrases plan goals: it is the program's or an admin's
}

// Ref names a version as runs do.
func (t *TemplateInfo) Ref() string { return t.Name + "@" + strconv.Itoa(t.Version) }

// State says whether a version is offered.
func (t *TemplateInfo) State() string {
	switch {
	case t.Quarantine != "":
		return "quarantined"
	case len(t.Broken) > 0:
		return "broken"
	}
	return "offered"
}
