package store

import (
	"context"
	"encoding/json"
	"fmt"

	"sluice/engine"
)

// ownedKey is an idempotency key and whose it is.
type ownedKey struct{ owner, key string }

// foldKey keeps the key that a run was made with.
func (c *streamCheck) foldKey(row *engine.Row) {
	if row.Kind != engine.RunCreated || row.Data == nil {
		return
	}
	var data struct {
		Input struct {
			Key       string `json:"idempotency_key"`
			Requester string `json:"requester"`
		} `json:"input"`
	}
	if json.Unmarshal(row.Data, &data) != nil || data.Input.Key == "" {
		return
	}
	c.key = &ownedKey{owner: data.Input.Requester, key: data.Input.Key}
	if c.key.owner == "" {
		c.key.owner = row.Actor // said once
	}
}

// compareKeys holds the table of idempotency keys against the facts: whoever
// changed it could have a request answered with another's run, or made twice.
// The hash of the request's body is in no fact and cannot be compared.
func (v *verification) compareKeys(ctx context.Context) error {
	rows, err := v.db.QueryContext(ctx, "SELECT owner, key, run FROM idempotency")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	listed := make(map[string]bool)
	for rows.Next() {
		var got ownedKey
		var run string
		if err := rows.Scan(&got.owner, &got.key, &run); err != nil {
			return fmt.Errorf("%w: table idempotency: %w", errDamaged, err)
		}
		check := v.stream(StreamOf(run))
		listed[check.name] = true
		if check.key == nil || *check.key != got {
			check.complain(1, "an idempotency key leads to this run that it was not made with")
		}
	}
	for name, check := range v.streams {
		if check.key != nil && !listed[name] {
			check.complain(1, "the idempotency key of this run is missing from the projection")
		}
	}
	return rows.Err()
}
