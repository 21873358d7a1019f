package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"sluice/engine/planner"
)

// Limits of a query on the tool index.
const (
	indexTermsMax     = 256
	indexTermBytesMax = 256 // a longer term is no word of any declaration
)

// Weights of the columns: a tool's name says more than its keywords, and those
// more than the summary.
const indexRank = "bm25(tools, 0, 8.0, 2.0, 4.0, 1.0)"

// ToolIndex is the planner's index over a catalogue: SQLite FTS5 in memory, so
// it lives and dies with the catalogue it was made from.
type ToolIndex struct {
	db *sql.DB
}

// NewToolIndex indexes the documents.
func NewToolIndex(documents []planner.Document) (*ToolIndex, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, fmt.Errorf("open tool index: %w", err)
	}
	db.SetMaxOpenConns(1) // every connection to :memory: is a database of its own
	x := &ToolIndex{db: db}
	if err := x.fill(documents); err != nil {
		db.Close()
		return nil, err
	}
	return x, nil
}

func (x *ToolIndex) fill(documents []planner.Document) error {
	ctx := context.Background()
	const create = `CREATE VIRTUAL TABLE tools USING fts5(tool UNINDEXED, name, summary, keywords, params, tokenize = 'porter unicode61')`
	if _, err := x.db.ExecContext(ctx, create); err != nil {
		return fmt.Errorf("create tool index: %w", err)
	}
	for _, d := range documents {
		if _, err := x.db.ExecContext(ctx, `INSERT INTO tools (tool, name, summary, keywords, params) VALUES (?, ?, ?, ?, ?)`,
			d.Tool, d.Name, d.Summary, d.Keywords, d.Params); err != nil {
			return fmt.Errorf("index tool %q: %w", d.Tool, err)
		}
	}
	// Every insert left a segment of its own that each query would look into.
	if _, err := x.db.ExecContext(ctx, `INSERT INTO tools (tools) VALUES ('optimize')`); err != nil {
		return fmt.Errorf("optimise tool index: %w", err)
	}
	return nil
}

// Search gives the tools with at least one of the terms, best first, ties by
// name. It is planner.Index.
func (x *ToolIndex) Search(terms []string, limit int) ([]planner.Hit, error) {
	match := matchAny(terms)
	if match == "" || limit <= 0 {
		return nil, nil
	}
	rows, err := x.db.QueryContext(context.Background(),
		`SELECT tool, `+indexRank+` AS score FROM tools WHERE tools MATCH ? ORDER BY score, tool LIMIT ?`, match, limit)
	if err != nil {
		return nil, fmt.Errorf("search tool index: %w", err)
	}
	defer rows.Close()
	var hits []planner.Hit
	for rows.Next() {
		var hit planner.Hit
		if err := rows.Scan(&hit.Tool, &hit.Score); err != nil {
			return nil, fmt.Errorf("read tool index: %w", err)
		}
		hit.Score = -hit.Score // bm25 of FTS5 is better the lower it is
		hits = append(hits, hit)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read tool index: %w", err)
	}
	return hits, nil
}

// Close frees the index.
func (x *ToolIndex) Close() error { return x.db.Close() }

// matchAny writes the FTS5 query. Every term is quoted: words such as NEAR, or a
// stray quote or star, are data and never syntax.
func matchAny(terms []string) string {
	var parts []string
	for _, term := range terms {
		term = strings.TrimSpace(strings.ReplaceAll(term, "\x00", " "))
		if term == "" || len(term) > indexTermBytesMax || len(parts) == indexTermsMax {
			continue
		}
		parts = append(parts, `"`+strings.ReplaceAll(term, `"`, `""`)+`"`)
	}
	return strings.Join(parts, " OR ")
}
