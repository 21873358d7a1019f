package handlers

import (
	"context"

	"sluice/engine"
)

// Models is the models of the installation by role.
type Models interface {
	// Current is what a run submitted now gets.
	Current() engine.Models
	Roles(ctx context.Context) []ModelRole
	// SaveRole changes what the page sets of a role. *engine.Refusal: why it can not be.
	SaveRole(ctx context.Context, actor string, c ModelChange) error
	// CheckRole tries a role as it is set now.
	CheckRole(ctx context.Context, role string) (ModelCheck, error)
}

// ModelRole is how one role stands. A key is never part of it.
type ModelRole struct {
	Role      string
	Fields    []ModelField
	Key       ModelKey
	Model     string // in force, "" for none
	Problem   string // why what is set can not be used
	ChangedAt int64  // of the page's settings, 0 for never
	ChangedBy string
}

// ModelField is one setting of a role.
type ModelField struct {
	Name  string // "base_url", "model", "max_output", "price_in", "price_out", "timeout_s"
	Value string // in force, "" for none
	Page  string // what the page sets
	From  string // "flag", "environment", "file", "page", "planner", or "" for a default
}

// Fixed says that the page can not change the field.
func (f *ModelField) Fixed() bool {
	return f.From == "flag" || f.From == "environment" || f.From == "file"
}

// ModelKey says whether a key is set and from where, never which.
type ModelKey struct {
	Set  bool
	From string
}

// ModelChange is what a person sets of a role on the page. Nil leaves a field as
// it is, "" takes it away.
type ModelChange struct {
	Role      string
	BaseURL   *string
	Model     *string
	Key       *string
	MaxOutput *string
	PriceIn   *string
	PriceOut  *string
	Timeout   *string
}

// ModelCheck is what works of a role, found by trying.
type ModelCheck struct {
	Role       string `json:"role"`
	Configured bool   `json:"configured"`
	OK         bool   `json:"ok"`
	Model      string `json:"model"`
	BaseURL    string `json:"base_url"`
	Reached    bool   `json:"reached"`
	Listed     string `json:"listed"` // "yes", "no", "unknown"
	Answers    bool   `json:"answers"`
	Streams    bool   `json:"streams"`
	Structure  string `json:"structure"` // "json_schema", "json_object", "prompt", ""
	Usage      bool   `json:"usage"`
	LatencyMS  int64  `json:"latency_ms"`
	FirstMS    int64  `json:"first_ms"`
	Problem    string `json:"problem"`
}
