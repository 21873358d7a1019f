package handlers

import (
	"context"
	"encoding/json"

	"sluice/engine"
	"sluice/engine/trace"
	"sluice/policy"
)

// record is what pages read of a fact's data.
type record struct {
	Call      *callRecord      `json:"call"`
	Decision  *policy.Decision `json:"decision"`
	TimeoutMS int64            `json:"timeout_ms"`
	Input     struct {
		Output    json.RawMessage `json:"output"`
		Blob      *engine.Blob    `json:"blob"`
		Class     string          `json:"class"`
		Detail    string          `json:"detail"`
		Plan      json.RawMessage `json:"plan"`
		Answer    string          `json:"answer"`
		StartedAt int64           `json:"started_at"`
		EndedAt   int64           `json:"ended_at"`
	} `json:"input"`
	ID          string `json:"id"`
	Observation string `json:"observation"`
	To          string `json:"to"`
	Reason      string `json:"reason"`
	Detail      string `json:"detail"`
	Problem     string `json:"problem"`
	Result      string `json:"result"`
	Outcome     string `json:"outcome"`
	Note        string `json:"note"`
	VerifiedBy  string `json:"verified_by"`
	Cause       string `json:"cause"`
}

// callRecord is a gate input as its fact keeps it (P20).
type callRecord struct {
	Tool     string        `json:"tool"`
	Effect   policy.Effect `json:"effect"`
	External bool          `json:"external"`
	Params   []paramRecord `json:"params"`
	Scopes   []string      `json:"scopes"`
	Intent   policy.Rank   `json:"intent"`
	Held     []struct {
		Approvers []string `json:"approvers"`
	} `json:"held"`
	Cleared []policy.Clearance `json:"cleared"`
}

type paramRecord struct {
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
	Labels []string        `json:"labels"`
	Source string          `json:"source"`
}

func (c *callRecord) param(name string) string {
	if c == nil {
		return ""
	}
	for i := range c.Params {
		if c.Params[i].Name == name {
			var text string
			if json.Unmarshal(c.Params[i].Value, &text) == nil {
				return plain(text)
			}
			return plain(string(c.Params[i].Value))
		}
	}
	return ""
}

// nodeRecord is a row about one node with its data read.
type nodeRecord struct {
	row  engine.Row
	data record
}

// foldNode folds a run to its head and keeps the rows about one node.
func (s *Server) foldNode(ctx context.Context, run, node string) (*trace.Projector, []nodeRecord, error) {
	p, about, _, err := s.foldStory(ctx, run, node)
	return p, about, err
}

// foldStory is foldNode with the facts that say why steps stand where they stand.
func (s *Server) foldStory(ctx context.Context, run, node string) (*trace.Projector, []nodeRecord, *trace.Story, error) {
	p, story := trace.NewProjector(run), trace.NewStory()
	var about []nodeRecord
	for {
		rows, err := s.cfg.Log.Rows(ctx, run, p.Seq(), factsChunk)
		if err != nil {
			return nil, nil, nil, err
		}
		for i := range rows {
			p.Apply(rows[i].Fact)
			story.Take(&rows[i])
			if rows[i].Node == node && node != "" {
				about = append(about, readRecord(&rows[i]))
			}
		}
		if len(rows) == 0 {
			return p, about, story, nil
		}
	}
}

func readRecord(row *engine.Row) nodeRecord {
	r := nodeRecord{row: *row}
	if !row.Erased {
		_ = json.Unmarshal(row.Data, &r.data) // what cannot be read shows as absent
	}
	return r
}
