package handlers

import (
	"context"
	"time"

	"sluice/engine"
	"sluice/engine/trace"
)

// How a run is shown live (P40, ui.md §3.3).
const (
	batchEvery    = 50 * time.Millisecond
	playEvery     = 70 * time.Millisecond // when a young run is played
	coalesceAbove = 32                    // events in a batch before only the last per node is sent
	snapAbove     = 2000                  // facts a browser may be behind before it gets a snapshot
	youngUS       = 10e6                  // a run younger than this is played from its first fact
	playBatches   = 60                    // at most, so that playing never takes more than about 4 s
)

// follower sends one run to one socket: everything after a sequence number,
// then what comes. It reads the log itself, so a slow browser loses nothing.
type follower struct {
	socket  *socket
	run     string
	after   int64
	created int64
	p       *trace.Projector
	sent    time.Time
}

// batch is one message with events; the state after it equals the fold at Seq.
type batch struct {
	T       string        `json:"t"`
	Run     string        `json:"run"`
	From    int64         `json:"from"` // the state it follows: a browser elsewhere asks again
	Seq     int64         `json:"seq"`
	E       []trace.Event `json:"e"`
	Playing bool          `json:"catching_up"`
}

func (f *follower) follow(ctx context.Context) {
	woken, stop := f.socket.server.cfg.Engine.Watch(f.run)
	defer stop()
	f.p = trace.NewProjector(f.run)
	first := true
	for {
		rows, err := f.pending(ctx)
		if err != nil {
			return
		}
		play := first && f.after == 0 && f.socket.server.now()-f.created < youngUS
		if !f.deliver(ctx, rows, play, first) {
			return
		}
		first = false
		if len(rows) > 0 {
			f.socket.send(map[string]any{"t": "inv", "k": []string{"run:" + f.run}})
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return
		}
	}
}

// pending reads every row the browser has not had, folding those it has.
func (f *follower) pending(ctx context.Context) ([]engine.Row, error) {
	var fresh []engine.Row
	seq := f.p.Seq()
	for {
		rows, err := f.socket.server.cfg.Log.Rows(ctx, f.run, seq, factsChunk)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			seq = rows[i].Seq
			if seq <= f.after {
				f.p.Apply(rows[i].Fact)
				continue
			}
			fresh = append(fresh, rows[i])
		}
		if len(rows) == 0 {
			return fresh, nil
		}
	}
}

// deliver sends fresh rows: as a snapshot when there are too many or the
// browser is ahead of the log, else in batches.
func (f *follower) deliver(ctx context.Context, rows []engine.Row, play, first bool) bool {
	if len(rows) > snapAbove && !play || first && f.after > f.p.Seq() {
		for i := range rows {
			f.p.Apply(rows[i].Fact)
		}
		return f.snap()
	}
	for _, part := range split(rows, play) {
		if !f.pace(ctx, play) {
			return false
		}
		from := f.p.Seq()
		var events []trace.Event
		for i := range part {
			events = append(events, f.p.Apply(part[i].Fact)...)
		}
		events = append(coalesce(events), f.p.RunEvent())
		if !f.socket.send(batch{T: "ev", Run: f.run, From: from, Seq: f.p.Seq(), E: events, Playing: play}) {
			return false
		}
	}
	return true
}

func (f *follower) snap() bool {
	return f.socket.send(map[string]any{"t": "snap", "run": f.run, "seq": f.p.Seq(), "view": f.p.View()})
}

// pace keeps batches apart.
func (f *follower) pace(ctx context.Context, play bool) bool {
	every := batchEvery
	if play {
		every = playEvery
	}
	if wait := every - time.Since(f.sent); wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false
		}
	}
	f.sent = time.Now()
	return ctx.Err() == nil
}

// split groups rows into batches: one when live; when a young run is played,
// one per Step of the engine, joined so that there are at most playBatches.
func split(rows []engine.Row, play bool) [][]engine.Row {
	if len(rows) == 0 {
		return nil
	}
	if !play {
		return [][]engine.Row{rows}
	}
	var steps [][]engine.Row
	start := 0
	for i := 1; i <= len(rows); i++ {
		if i == len(rows) || rows[i].Cause != rows[start].Cause {
			steps = append(steps, rows[start:i])
			start = i
		}
	}
	each := (len(steps) + playBatches - 1) / playBatches
	var parts [][]engine.Row
	at := 0
	for i := 0; i < len(steps); i += each {
		n := 0
		for _, st := range steps[i:min(i+each, len(steps))] {
			n += len(st)
		}
		parts = append(parts, rows[at:at+n])
		at += n
	}
	return parts
}

// coalesce keeps the last change per node when many wait; cards that are new
// and versions are always kept, in order.
func coalesce(events []trace.Event) []trace.Event {
	if len(events) <= coalesceAbove {
		return events
	}
	last := map[string]int{}
	for i := range events {
		if events[i].K == "node" {
			last[events[i].ID] = i
		}
	}
	kept := make([]trace.Event, 0, len(events))
	for i := range events {
		if events[i].K != "node" || last[events[i].ID] == i {
			kept = append(kept, events[i])
		}
	}
	return kept
}
