package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sluice/engine"
)

// foldPolicy folds a row of admin as the writer did when it came.
func (c *streamCheck) foldPolicy(row *engine.Row) {
	if c.name != Admin || row.Kind != PolicyPublished || row.Data == nil {
		return
	}
	v, err := policyOf(row, len(c.policies))
	if err != nil || v.Version != len(c.policies)+1 {
		c.fail(row.Seq, "a published policy cannot be read or is not the next version")
		return
	}
	if c.policies == nil {
		c.policies = make(map[int]PolicyVersion)
	}
	c.policies[v.Version] = v
}

// comparePolicies holds the table of versions against the facts: whoever
// changed it would otherwise change what is in force without touching a fact.
func (v *verification) comparePolicies(ctx context.Context) error {
	rows, err := v.db.QueryContext(ctx, "SELECT "+policyColumns+" FROM policies")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var known map[int]PolicyVersion
	if check := v.streams[Admin]; check != nil {
		known = check.policies
	}
	missing := maps.Clone(known)
	for rows.Next() {
		got, err := scanPolicy(rows)
		if err != nil {
			return fmt.Errorf("%w: table policies: %w", errDamaged, err)
		}
		if want, is := known[got.Version]; !is || got != want {
			v.stream(Admin).complain(got.Seq, fmt.Sprintf("version %d of the policy is not what the facts say", got.Version))
		}
		delete(missing, got.Version)
	}
	for _, version := range slices.Sorted(maps.Keys(missing)) {
		v.stream(Admin).complain(missing[version].Seq, fmt.Sprintf("version %d of the policy is missing from the projection", version))
	}
	return rows.Err()
}
