package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"sluice/engine"
)

// event is one server-sent event.
type event struct {
	id   int64
	name string
	data string
}

// stream asks for a run's facts as server-sent events and gives them one by
// one; the channel closes when the server ends the stream.
func (c *caller) stream(path, lastID string) (*http.Response, <-chan event) {
	c.Helper()
	r := c.request(http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/event-stream")
	if lastID != "" {
		r.Header.Set("Last-Event-ID", lastID)
	}
	ctx, cancel := context.WithTimeout(r.Context(), messageWithin)
	c.Cleanup(cancel)
	resp, err := http.DefaultClient.Do(r.WithContext(ctx))
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = resp.Body.Close() })
	events := make(chan event, 64)
	go func() {
		defer close(events)
		var e event
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), ": ")
			switch key {
			case "id":
				e.id, _ = strconv.ParseInt(value, 10, 64)
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "":
				select {
				case events <- e:
				case <-c.Context().Done():
					return
				}
				e = event{}
			}
		}
	}()
	return resp, events
}

// wireFact is what tests read of a fact on the wire (P40).
type wireFact struct {
	ID       int64           `json:"id"`
	Stream   string          `json:"stream"`
	Seq      int64           `json:"seq"`
	V        int             `json:"v"`
	Run      string          `json:"run"`
	At       string          `json:"at"`
	Kind     string          `json:"kind"`
	Cause    int64           `json:"cause"`
	Node     string          `json:"node"`
	Attempt  int             `json:"attempt"`
	Actor    string          `json:"actor"`
	Data     json.RawMessage `json:"data"`
	Salt     string          `json:"salt"`
	DataHash string          `json:"data_hash"`
	PrevHash string          `json:"prev_hash"`
	Hash     string          `json:"hash"`
}

// facts reads a run's log whole through the API, a page at a time.
func (c *caller) facts(run string, page int) []wireFact {
	c.Helper()
	var all []wireFact
	for after := int64(0); ; {
		var got struct{ Facts []wireFact }
		c.want(http.StatusOK, c.get(fmt.Sprintf("/api/v1/runs/%s/facts?after=%d&limit=%d", run, after, page)), &got)
		if len(got.Facts) == 0 {
			return all
		}
		all = append(all, got.Facts...)
		after = got.Facts[len(got.Facts)-1].Seq
	}
}

// TestP40_FactsComeOnceAndInOrder: `after` is exclusive, pages join without a
// seam, and each row carries the columns of P27 with its chain.
func TestP40_FactsComeOnceAndInOrder(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	r := o.runToRest(someGoal)
	for _, page := range []int{1, 3, 1000} {
		all := o.facts(r.ID, page)
		if int64(len(all)) != r.Seq {
			t.Fatalf("pages of %d: got %d facts, want %d", page, len(all), r.Seq)
		}
		for i, f := range all {
			switch {
			case f.Seq != int64(i+1), f.Run != r.ID, f.Stream != "run/"+r.ID, f.V != 1, f.Kind == "", f.Actor == "":
				t.Errorf("fact %d: got %+v", i+1, f)
			case f.ID&(1<<32-1) != f.Seq || f.ID>>32 < 1:
				t.Errorf("fact %d: got id %d, want stream number × 2^32 + seq (P27)", i+1, f.ID)
			case i > 0 && f.PrevHash != all[i-1].Hash:
				t.Errorf("fact %d: its prev_hash is not the hash before it", i+1)
			case len(f.Hash) != 64 || len(f.DataHash) != 64 || f.Salt == "":
				t.Errorf("fact %d: got hash %q, data hash %q, salt %q", i+1, f.Hash, f.DataHash, f.Salt)
			}
		}
	}
	for _, bad := range []string{"after=-1", "after=x", "after=99999999999999999999"} {
		o.problemOf(http.StatusBadRequest, o.get("/api/v1/runs/"+r.ID+"/facts?"+bad))
	}
}

// TestP40_StreamResumesAndEnds: every fact once, from where the client says it
// was, on to the end of the run while it lives; then the stream ends.
func TestP40_StreamResumesAndEnds(t *testing.T) {
	s := newScene(t)
	waiting := s.owner.rest(s.run).Seq
	resp, events := s.owner.stream("/api/v1/runs/"+s.run+"/facts?after=2", "")
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("got content type %q, want text/event-stream", got)
	}
	next := int64(3)
	check := func(e event) {
		t.Helper()
		var f wireFact
		if err := json.Unmarshal([]byte(e.data), &f); err != nil || e.name != "fact" || e.id != next || f.Seq != next {
			t.Fatalf("got %+v, want fact %d: %v", e, next, err)
		}
		next++
	}
	for next <= waiting {
		check(<-events)
	}
	s.approver.want(http.StatusOK, s.approver.post("/api/v1/approvals/"+s.approval, `{"verdict":"approve","hash":"`+s.hash+`"}`), nil)
	last := ""
	for e := range events {
		check(e)
		last = e.data
	}
	if !strings.Contains(last, `"kind":"`+string(engine.RunEnded)+`"`) {
		t.Errorf("got %.200s last, want the end of the run", last)
	}
	head := next - 1
	_, resumed := s.owner.stream("/api/v1/runs/"+s.run+"/facts?after=1", strconv.FormatInt(head-2, 10))
	next = head - 1
	for e := range resumed {
		check(e)
	}
	if next != head+1 {
		t.Errorf("resumed: got facts to %d, want to %d", next-1, head)
	}
	over, none := s.owner.stream("/api/v1/runs/"+s.run+"/facts", strconv.FormatInt(head, 10))
	if e, more := <-none; over.StatusCode != http.StatusNoContent || more {
		t.Errorf("after the end: got %d and %+v, want 204, which tells an EventSource to stay away", over.StatusCode, e)
	}
}

// TestP35_SignOutEndsItsStreams, which would else go on telling who has left.
func TestP35_SignOutEndsItsStreams(t *testing.T) {
	s := newScene(t)
	resp, events := s.owner.stream("/api/v1/runs/"+s.run+"/facts", "")
	if e := <-events; e.id != 1 || resp.StatusCode != http.StatusOK {
		t.Fatalf("got %d and %+v, want the first fact", resp.StatusCode, e)
	}
	s.owner.form("/signout", "")
	for range events { // ends when the server ends the stream
	}
	if err := resp.Request.Context().Err(); err != nil {
		t.Errorf("the stream outlived its session: %v", err)
	}
}

// TestP39_RunHasItsShape: every member of P39 is there, with its type, before
// and after the end.
func TestP39_RunHasItsShape(t *testing.T) {
	s := newScene(t)
	members := map[string]string{"id": "string", "goal": "string", "status": "string", "causes": "array", "mode": "string",
		"mode_options": "object", "intent": "string", "requester": "string", "policy": "string", "plan_version": "number", "seq": "number",
		"counts": "object", "budget": "object", "unplanned": "array", "waiting": "array", "created_at": "string"}
	check := func(id string, more map[string]string) {
		t.Helper()
		var run map[string]any
		s.root.want(http.StatusOK, s.root.get("/api/v1/runs/"+id), &run)
		for name, kind := range members {
			if got := kindOf(run[name]); got != kind {
				t.Errorf("%s: got %s, want %s", name, got, kind)
			}
		}
		for name, kind := range more {
			if got, present := run[name]; !present || kindOf(got) != kind {
				t.Errorf("%s: got %s, want %s", name, kindOf(got), kind)
			}
		}
	}
	check(s.run, map[string]string{"code": "null", "verdict": "null", "ended_at": "null"})
	done := s.root.runToRest(`{"goal":"show disk usage"}`)
	check(done.ID, map[string]string{"code": "string", "verdict": "object", "ended_at": "string"})
	var list struct {
		Runs []map[string]any `json:"runs"`
		Next string           `json:"next"`
	}
	s.root.want(http.StatusOK, s.root.get("/api/v1/runs?limit=1"), &list)
	if len(list.Runs) != 1 || list.Runs[0]["id"] != done.ID || list.Next == "" {
		t.Fatalf("got %d runs, want the newest alone and a cursor", len(list.Runs))
	}
	s.root.want(http.StatusOK, s.root.get("/api/v1/runs?limit=1&cursor="+list.Next), &list)
	if list.Runs[0]["id"] != s.run {
		t.Errorf("second page: got %v, want %s", list.Runs[0]["id"], s.run)
	}
	s.root.problemOf(http.StatusUnprocessableEntity, s.root.get("/api/v1/runs?cursor=nonsense"))
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	}
	return "object"
}
