package main

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"sluice/store"
)

// made is the answer of POST /runs.
type made struct {
	ID       string `json:"id"`
	Existing bool   `json:"existing"`
}

// allRuns lists the ids the caller sees.
func (c *caller) allRuns() []string {
	c.Helper()
	var list struct{ Runs []shape }
	c.want(http.StatusOK, c.get("/api/v1/runs?limit=200"), &list)
	ids := make([]string, len(list.Runs))
	for i := range list.Runs {
		ids[i] = list.Runs[i].ID
	}
	return ids
}

// TestP41_TheSameKeyAndBodyIsTheSameRun, also while the first is new; another
// body is a conflict, and another person's key is their own.
func TestP41_TheSameKeyAndBodyIsTheSameRun(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	const body = `{"goal":"show disk usage","idempotency_key":"k1"}`
	var first, second made
	o.want(http.StatusAccepted, o.post("/api/v1/runs", body), &first)
	o.want(http.StatusAccepted, o.post("/api/v1/runs", body), &second)
	if first.Existing || !second.Existing || first.ID != second.ID {
		t.Errorf("got %+v and %+v, want one run, the second time as existing", first, second)
	}
	p := o.problemOf(http.StatusConflict, o.post("/api/v1/runs", `{"goal":"list processes","idempotency_key":"k1"}`))
	if p.Code != "conflict" || !strings.Contains(p.Detail, "key") {
		t.Errorf("got %+v, want a conflict that names the key", p)
	}
	other := w.stranger("other", store.RoleOperator)
	var third made
	other.want(http.StatusAccepted, other.post("/api/v1/runs", body), &third)
	if third.ID == first.ID || third.Existing {
		t.Errorf("another person's key: got %+v, want a run of their own", third)
	}
	var a, b made
	o.want(http.StatusAccepted, o.post("/api/v1/runs", `{"goal":"show disk usage"}`), &a)
	o.want(http.StatusAccepted, o.post("/api/v1/runs", `{"goal":"show disk usage"}`), &b)
	if a.ID == b.ID {
		t.Error("without a key: got one run, want two")
	}
}

// TestP41_AKeySurvivesARestart: it is as durable as the run (P33).
func TestP41_AKeySurvivesARestart(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	const body = `{"goal":"show disk usage","idempotency_key":"k1"}`
	var first, second made
	t.Run("before", func(t *testing.T) {
		o := worldOf(t, cfg).operator()
		o.want(http.StatusAccepted, o.post("/api/v1/runs", body), &first)
	})
	o := worldOf(t, cfg).operator()
	o.want(http.StatusAccepted, o.post("/api/v1/runs", body), &second)
	if !second.Existing || first.ID != second.ID {
		t.Errorf("got %+v after %+v, want the same run", second, first)
	}
}

// TestP41_ParallelPostsOfOneKeyMakeOneRun; of those with another body, at most
// one body wins.
func TestP41_ParallelPostsOfOneKeyMakeOneRun(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	const posts = 20
	answers := make([]*answer, posts)
	var wait sync.WaitGroup
	for i := range posts {
		wait.Go(func() {
			body := `{"goal":"show disk usage","idempotency_key":"same"}`
			if i%4 == 3 {
				body = `{"goal":"list processes","idempotency_key":"same"}`
			}
			answers[i] = o.post("/api/v1/runs", body)
		})
	}
	wait.Wait()
	runs, conflicts := map[string]int{}, 0
	for _, a := range answers {
		if a.status == http.StatusConflict {
			conflicts++
			continue
		}
		var m made
		o.want(http.StatusAccepted, a, &m)
		if !m.Existing {
			runs[m.ID]++
		} else {
			runs[m.ID] += 0
		}
	}
	all := o.allRuns()
	if len(runs) != 1 || len(all) != 1 || runs[all[0]] != 1 || conflicts != posts/4 && conflicts != posts-posts/4 {
		t.Errorf("got runs %v, %d conflicts and %v in the list, want one run, new to one post, and a conflict for every other body", runs, conflicts, all)
	}
	o.rest(all[0])
}

// TestP41_TheHomeFormIsSentOnce: a double click makes one run; what is refused
// comes back with the goal in place.
func TestP41_TheHomeFormIsSentOnce(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	key := between(t, o.get("/").text(), `name="key" value="`, `"`)
	if len(key) < 20 {
		t.Fatalf("got key %q on the home page, want a random one", key)
	}
	fields := url.Values{"goal": {"show disk usage"}, "intent": {"observe"}, "key": {key}}
	first, second := o.form("/runs", fields.Encode()), o.form("/runs", fields.Encode())
	if first.status != http.StatusSeeOther || first.header.Get("Location") != second.header.Get("Location") {
		t.Fatalf("got %d to %s, then %d to %s, want the same run", first.status, first.header.Get("Location"), second.status, second.header.Get("Location"))
	}
	fields.Set("goal", "list processes & more <b>")
	refused := o.form("/runs", fields.Encode())
	if refused.status != http.StatusConflict || !strings.Contains(refused.text(), "list processes &amp; more &lt;b&gt;") {
		t.Errorf("other goal: got %d, want 409 and the goal kept", refused.status)
	}
	if again := between(t, refused.text(), `name="key" value="`, `"`); again == key || again == "" {
		t.Errorf("got key %q again, want a fresh one to send the new goal with", again)
	}
	if runs := o.allRuns(); len(runs) != 1 {
		t.Errorf("got %d runs, want one", len(runs))
	}
	if got := o.form("/runs", "goal=+&intent=observe"); got.status != http.StatusUnprocessableEntity {
		t.Errorf("blank goal: got %d, want 422", got.status)
	}
	o.rest(strings.TrimPrefix(first.header.Get("Location"), "/runs/"))
}

// between gives the text between two marks, failing when they are not there.
func between(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, before)
	inner, _, closed := strings.Cut(rest, after)
	if !found || !closed {
		t.Fatalf("got no %q in %.300s", before, text)
	}
	return inner
}
