package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sluice/engine"
)

// latencyRowsMax is how far back in the log latencies are looked for.
const latencyRowsMax = 8192

// Latencies gives up to engine.LatenciesMax latencies of attempts for each tool
// that acted lately, in ms, oldest first: from the fact that started an attempt
// to the one that ended it. Erased attempts are left out.
func (s *Store) Latencies(ctx context.Context) (map[string][]int64, error) {
	rows, err := s.readers.QueryContext(ctx, `SELECT id >> 32, at, kind, node, attempt, data FROM facts
		WHERE kind IN (?, ?) ORDER BY id DESC LIMIT ?`, string(engine.AttemptStarted), string(engine.AttemptEnded), latencyRowsMax)
	if err != nil {
		return nil, fmt.Errorf("list latencies: %w", err)
	}
	defer func() { _ = rows.Close() }()
	type attempt struct {
		stream int64
		node   string
		number int
	}
	ended, past := map[attempt]int64{}, map[string][]int64{}
	for rows.Next() {
		var at int64
		var kind string
		var data []byte
		var a attempt
		if err := rows.Scan(&a.stream, &at, &kind, &a.node, &a.number, &data); err != nil {
			return nil, fmt.Errorf("list latencies: %w", err)
		}
		if engine.Kind(kind) == engine.AttemptEnded {
			ended[a] = at
			continue
		}
		end, isKnown := ended[a]
		if tool := toolOf(data); isKnown && tool != "" && len(past[tool]) < engine.LatenciesMax {
			past[tool] = append(past[tool], (end-at)/1000)
		}
	}
	for _, list := range past {
		slices.Reverse(list)
	}
	return past, rows.Err()
}

// toolOf is the tool of a call on record, "" where there is none.
func toolOf(data []byte) string {
	var started callData
	if json.Unmarshal(data, &started) != nil || started.Call == nil {
		return ""
	}
	return started.Call.Tool
}
