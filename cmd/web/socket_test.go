package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sluice/policy"
)

const someGoal = `{"goal":"check disk usage, list open ports, show the kernel version, list processes"}`

// TestP40_EveryResumePointLeadsToTheSameState: from any fact of the log on,
// nothing is missing, nothing comes twice, and each state is the fold.
func TestP40_EveryResumePointLeadsToTheSameState(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	r := o.runToRest(someGoal)
	head := r.Seq
	if head < 12 {
		t.Fatalf("got a run of %d facts, want at least 12", head)
	}
	for after := int64(1); after < head; after++ {
		b := o.open()
		b.at(r.ID, after)
		b.follow(r.ID)
		b.until(head)
		_ = b.conn.Close()
	}
}

// TestP40_AYoungRunIsPlayedFromItsStart: a run of some milliseconds is still
// seen to grow, in several batches, each a state the run was in.
func TestP40_AYoungRunIsPlayedFromItsStart(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	r := o.runToRest(someGoal)
	b := o.open()
	b.follow(r.ID)
	batches := b.until(r.Seq)
	if len(batches) < 4 {
		t.Errorf("got %d batches, want at least 4", len(batches))
	}
	grown := map[int]bool{}
	for _, n := range batches {
		if n.T != "ev" || !n.Plays {
			t.Errorf("got a %s to %d with catching_up %v, want events marked as catching up", n.T, n.Seq, n.Plays)
		}
		grown[len(o.graph(r.ID, n.Seq).Nodes)] = true
	}
	if len(grown) < 2 {
		t.Errorf("got graphs of %v nodes, want it to grow", grown)
	}
}

// TestP40_ALiveRunIsFollowed through a wait for a person to its end, with the
// key that ui.md §3.3 names.
func TestP40_ALiveRunIsFollowed(t *testing.T) {
	s := newScene(t)
	b := s.owner.open()
	waiting := s.owner.rest(s.run).Seq
	b.at(s.run, waiting)
	b.run = s.run
	b.say(fmt.Sprintf(`{"t":"hello","subs":[{"run":%q,"after_seq":%d}]}`, s.run, waiting))
	s.approver.want(http.StatusOK, s.approver.post("/api/v1/approvals/"+s.approval, `{"verdict":"approve","hash":"`+s.hash+`"}`), nil)
	end := s.owner.end(s.run)
	b.until(end.Seq)
	if got := b.view.Run.Code; got != "SUCCESS" {
		t.Errorf("got code %q at the end, want SUCCESS", got)
	}
}

// TestP40_ALargeRun: who is far behind gets a snapshot instead of thousands of
// changes, and who does not read is let go.
func TestP40_ALargeRun(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	r := o.runToRest(widePlan(1010))
	if r.code() != "SUCCESS" || r.Seq < 2010 {
		t.Fatalf("got %s with %d facts, want SUCCESS with more than 2,010", r.code(), r.Seq)
	}
	t.Run("snapshot", func(t *testing.T) { snapshotOf(t, o, r) })
	t.Run("slow reader", func(t *testing.T) { slowReader(t, o, r) })
}

func snapshotOf(t *testing.T, o *caller, r *shape) {
	b := o.open()
	b.at(r.ID, 2)
	b.follow(r.ID)
	batches := b.until(r.Seq)
	if len(batches) != 1 || batches[0].T != "snap" {
		t.Errorf("got %d messages, first a %s, want one snapshot", len(batches), batches[0].T)
	}
	near := o.open()
	near.at(r.ID, r.Seq-200)
	near.follow(r.ID)
	if batches := near.until(r.Seq); batches[0].T != "ev" {
		t.Errorf("200 facts behind: got a %s, want events", batches[0].T)
	}
	ahead := o.open()
	ahead.seq = r.Seq + 500
	ahead.follow(r.ID)
	n, err := ahead.next()
	for err == nil && n.T == "inv" {
		n, err = ahead.next()
	}
	if err != nil || n.T != "snap" || n.Seq != r.Seq {
		t.Errorf("ahead of the log: got %+v and %v, want a snapshot at %d", n, err, r.Seq)
	}
}

// widePlan is a submission of n independent steps.
func widePlan(n int) string {
	steps := make([]string, n)
	for i := range steps {
		steps[i] = fmt.Sprintf(`{"id":"s%d","tool":"file.read","params":{"path":"notes.txt","offset":%d}}`, i, i)
	}
	return fmt.Sprintf(`{"profile":"bench","plan":{"format":1,"goal":"wide","max_steps":%d,"steps":[%s]}}`, n, strings.Join(steps, ","))
}

// slowReader costs a bounded queue, and comes back by sequence number.
func slowReader(t *testing.T, o *caller, r *shape) {
	b := o.open()
	const asks = 1200 // answers of some 18 MB, more than any socket buffers
	ask := `{"t":"hello","subs":[{"run":"` + strings.Repeat("x", 15<<10) + `"}]}`
	for range asks {
		_ = b.conn.SetWriteDeadline(time.Now().Add(messageWithin))
		if b.conn.WriteMessage(websocket.TextMessage, []byte(ask)) != nil {
			break
		}
	}
	read := 0
	for {
		_, err := b.next()
		if isTimeout(err) {
			t.Fatal("the socket stayed open")
		}
		if err != nil {
			break
		}
		read++
	}
	if read >= asks {
		t.Errorf("got %d messages, want the socket closed before all were queued", read)
	}
	again := o.open()
	again.at(r.ID, r.Seq-50)
	again.follow(r.ID)
	again.until(r.Seq)
}

// TestP40_UpgradesWantThisSitesOrigin, present and matching, whatever a proxy's
// headers say (security.md: WS hijack, proxy header spoof).
func TestP40_UpgradesWantThisSitesOrigin(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	host := strings.TrimPrefix(w.base, "http://")
	for _, h := range []map[string]string{
		{}, {"Origin": ""}, {"Origin": "null"}, {"Origin": "https://evil.example"}, {"Origin": "http://127.0.0.1:1"},
		{"Origin": "http://" + host + ".evil.example"}, {"Origin": "//"}, {"Origin": "http://" + host + "@evil.example"},
		{"Origin": "https://evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "Forwarded": "host=evil.example"},
	} {
		conn, resp, err := o.dial(h)
		if err == nil {
			_ = conn.Close()
			t.Errorf("with %v: got a socket, want it refused", h)
			continue
		}
		if resp == nil || resp.StatusCode != http.StatusForbidden {
			t.Errorf("with %v: got %v and %v, want 403", h, resp, err)
		}
	}
	if _, resp, err := w.nobody().dial(map[string]string{"Origin": w.base}); err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("nobody: got %v and %v, want 401", resp, err)
	}
	o.open()
}

// TestP35_ASubscriptionChecksWhoAsks and tells a stranger no more than that
// there is no such run.
func TestP35_ASubscriptionChecksWhoAsks(t *testing.T) {
	s := newScene(t)
	for _, c := range []*caller{s.other, s.apiToken(3, policy.Override)} {
		b := c.open()
		var answers []string
		for _, run := range []string{s.run, "r_00000000000000000000000000"} {
			b.say(`{"t":"hello","subs":[{"run":"` + run + `","after":0}]}`)
			n, err := b.next()
			for err == nil && n.T == "inv" {
				n, err = b.next()
			}
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, n.T+" "+n.Code)
		}
		if answers[0] != "err not_found" || answers[0] != answers[1] {
			t.Errorf("%s: got %q for the run and %q for none, want the same not_found", c.name, answers[0], answers[1])
		}
	}
	b := s.auditor.open()
	b.at(s.run, 1)
	b.follow(s.run)
	b.until(s.owner.rest(s.run).Seq)
}

// TestP35_SignOutClosesItsSockets, and no others.
func TestP35_SignOutClosesItsSockets(t *testing.T) {
	s := newScene(t)
	leaving, staying := s.owner.open(), s.auditor.open()
	s.owner.form("/signout", "")
	for {
		if _, err := leaving.next(); err != nil {
			if isTimeout(err) {
				t.Fatal("the socket outlived its session")
			}
			break
		}
	}
	staying.at(s.run, 1)
	staying.follow(s.run)
	staying.until(s.auditor.rest(s.run).Seq)
}

// TestP40_ASocketTakesHelloOnly: what is not hello, or is too large, ends it;
// the server goes on.
func TestP40_ASocketTakesHelloOnly(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	deep := strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)
	for _, text := range []string{"", "x", `{"t":"approve"}`, `[]`, deep, strings.Repeat(" ", 32<<10), `{"t":"hello","subs":7}`} {
		b := o.open()
		_ = b.conn.WriteMessage(websocket.TextMessage, []byte(text))
		for {
			if _, err := b.next(); err != nil {
				if isTimeout(err) {
					t.Errorf("after %.20q: the socket stayed open", text)
				}
				break
			}
		}
	}
	for _, bad := range []string{"r_nothing", "", "../../etc/passwd", "' OR 1=1 --"} {
		b := o.open()
		b.say(`{"t":"hello","subs":[{"run":"` + bad + `","after":-5}]}`)
		if n, err := b.next(); err != nil || n.T != "err" {
			t.Errorf("run %q: got %+v and %v, want an err message", bad, n, err)
		}
	}
	if got := o.get("/healthz").status; got != http.StatusOK {
		t.Errorf("afterwards: got %d, want a healthy server", got)
	}
}
