//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"
)

const mainGoal = "Check disk usage, list open ports, find git repos under the workspace, show the kernel version, " +
	"and check environment variables for leaked secrets"

// submit fills the home page's form as a person does and waits for the run page.
func (p *tab) submit(s *server, goal, intent string) {
	p.t.Helper()
	p.visit(s.url("/"))
	p.enter("textbox", "Goal", goal)
	p.click("radio", intent)
	p.click("button", "Run")
	p.wait("run page", func() bool { return script[bool](p, `/^\/runs\/r_/.test(location.pathname)`) })
}

// frame is one graph as the page showed it, settled for at least one repaint.
type frame struct {
	Seq    int64             `json:"seq"`
	States map[string]string `json:"states"` // by node id
	Places map[string]string `json:"places"` // transform in the graph's own coordinates, which no panning changes
}

// recorder keeps every graph that a page shows, from before its first load: at
// each repaint it looks, and takes what has the same sequence as the time before.
const recorder = `(() => {
	window.frames_ = [];
	let before = "";
	const look = () => {
		const seq = document.body?.dataset.seq ?? "", last = frames_.at(-1)?.seq;
		if (seq !== "" && seq === before && Number(seq) !== last) {
			const nodes = [...document.querySelectorAll("#graph [data-node]")];
			if (nodes.length) frames_.push({ seq: Number(seq),
				states: Object.fromEntries(nodes.map(n => [n.dataset.node, n.dataset.state])),
				places: Object.fromEntries(nodes.map(n => [n.dataset.node, n.closest(".react-flow__node")?.style.transform ?? ""])) });
		}
		before = seq;
		requestAnimationFrame(look);
	};
	requestAnimationFrame(look);
})()`

func (p *tab) record() {
	p.t.Helper()
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: recorder})
}

// frames waits until the page shows the run's last fact and gives all it showed.
func (p *tab) frames(last int64) []frame {
	p.t.Helper()
	var all []frame
	p.waitFor(runWithin, fmt.Sprintf("graph at sequence %d", last), func() bool {
		all = script[[]frame](p, "frames_")
		return len(all) > 0 && all[len(all)-1].Seq >= last
	})
	return all
}

// checkFrames: the sequence never goes back, every graph is the fold of the log
// at its sequence, and nothing placed ever moves.
func checkFrames(t *testing.T, api client, id string, frames []frame) {
	t.Helper()
	placed := map[string]string{}
	for i, f := range frames {
		if i > 0 && f.Seq <= frames[i-1].Seq {
			t.Errorf("got sequence %d after %d, want it to grow", f.Seq, frames[i-1].Seq)
		}
		durable := api.graph(id, f.Seq)
		for node, state := range f.States {
			if durable[node] != state {
				t.Errorf("at sequence %d the page shows %s as %q, the log says %q", f.Seq, node, state, durable[node])
			}
			if before, known := placed[node]; known && before != f.Places[node] {
				t.Errorf("at sequence %d node %s moved from %s to %s", f.Seq, node, before, f.Places[node])
			}
			placed[node] = f.Places[node]
		}
	}
	if len(placed) < 5 {
		t.Errorf("got %d placed nodes, want five or more", len(placed))
	}
}

// graph maps node ids to states as the log has them at a sequence.
func (c client) graph(id string, seq int64) map[string]string {
	c.t.Helper()
	var at struct {
		View struct {
			Nodes []struct{ ID, State string } `json:"nodes"`
		} `json:"view"`
	}
	c.want(http.StatusOK, http.MethodGet, fmt.Sprintf("/runs/%s/graph?at=%d", id, seq), nil, &at)
	out := map[string]string{}
	for _, n := range at.View.Nodes {
		out[n.ID] = n.State
	}
	return out
}

// runID is the id of the run page's run.
func (p *tab) runID() string {
	p.t.Helper()
	return script[string](p, `location.pathname.split("/")[2]`)
}

func TestR106_P40_P49_ObserveGrowsLiveAndEndsInAVerdict(t *testing.T) {
	s := serve(t)
	api := s.api("observe")
	p := open(t, desktop)
	p.record()
	p.signIn(s)
	p.submit(s, mainGoal, "Observe")
	p.ready()
	r := api.until(p.runID(), "ended")
	if r.Code != "SUCCESS" || r.Counts["executed"] < 5 {
		t.Fatalf("got code %s and counts %v, want SUCCESS and five steps or more", r.Code, r.Counts)
	}
	frames := p.frames(r.Seq)
	checkFrames(t, api, r.ID, frames)
	if len(frames) < 4 {
		t.Errorf("got %d different graphs, want at least three before the last", len(frames))
	}
	if r.Verdict == nil || len(r.Verdict.Claims) == 0 {
		t.Fatalf("got verdict %+v, want claims", r.Verdict)
	}
	for _, c := range r.Verdict.Claims {
		if len(c.Observations) == 0 {
			t.Errorf("claim %q points to no observation", c.Text)
		}
	}
	p.shot("run-light")
}

func TestR43_P6_DeleteAtOperateIsRefused(t *testing.T) {
	s := serve(t)
	notes := filepath.Join(s.data, "workspace", "notes.txt")
	writeFile(t, notes, "keep me")
	api := s.api("operate")
	r := api.until(api.submit(map[string]any{"goal": "delete notes.txt", "intent": "operate"}), "ended")
	if r.Code != "PERMISSION_DENIED" {
		t.Errorf("got code %s and causes %v, want PERMISSION_DENIED", r.Code, r.Causes)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Errorf("the file: got %v, want it kept", err)
	}
}

func TestR73_P23_DenyKeepsAndApproveRemoves(t *testing.T) {
	s := serve(t)
	notes := filepath.Join(s.data, "workspace", "notes.txt")
	writeFile(t, notes, "short-lived")
	api := s.api("override")
	p := open(t, desktop)
	p.signIn(s)

	p.submit(s, "delete notes.txt", "Override")
	first := p.runID()
	started := time.Now()
	waiting := api.until(first, "waiting")
	if took := time.Since(started); took > 10*time.Second {
		t.Errorf("the packet took %v, want about a second", took)
	}
	p.visit(s.url("/approvals/" + waiting.Waiting[0]))
	p.says("notes.txt")
	p.shot("packet-light")
	p.enter("textbox", "Reason", "still needed")
	p.click("button", "Deny")
	if r := api.until(first, "ended"); r.Code != "PERMISSION_DENIED" {
		t.Errorf("after Deny: got code %s, want PERMISSION_DENIED", r.Code)
	}
	if _, err := os.Stat(notes); err != nil {
		t.Errorf("after Deny: got %v, want the file kept", err)
	}

	p.submit(s, "delete notes.txt", "Override")
	second := p.runID()
	waiting = api.until(second, "waiting")
	p.visit(s.url("/approvals/" + waiting.Waiting[0]))
	p.click("button", "Approve once")
	if r := api.until(second, "ended"); r.Code != "SUCCESS" {
		t.Errorf("after Approve once: got code %s and causes %v, want SUCCESS", r.Code, r.Causes)
	}
	if _, err := os.Stat(notes); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Approve once: got %v, want the file gone", err)
	}
	for id, want := range map[string]string{first: "denied", second: "approved"} {
		if got := api.decided(id); got != want {
			t.Errorf("log of %s: got %q, want %q", id, got, want)
		}
	}
}

// TestP49_SubmitAndApproveByKeyboardAlone never touches the mouse.
func TestP49_SubmitAndApproveByKeyboardAlone(t *testing.T) {
	s := serve(t)
	notes := filepath.Join(s.data, "workspace", "notes.txt")
	writeFile(t, notes, "short-lived")
	api := s.api("override")
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/"))
	p.tabTo("textbox", "Goal")
	p.keys("delete notes.txt")
	p.tabTo("radio", "Observe") // a radio group is one stop: arrows choose in it
	p.keys(kb.ArrowRight + kb.ArrowRight)
	p.tabTo("button", "Run")
	p.keys(kb.Enter)
	p.wait("run page", func() bool { return script[bool](p, `/^\/runs\/r_/.test(location.pathname)`) })
	id := p.runID()
	waiting := api.until(id, "waiting")
	p.visit(s.url("/approvals/" + waiting.Waiting[0]))
	p.tabTo("button", "Approve once")
	p.keys(kb.Enter)
	if r := api.until(id, "ended"); r.Code != "SUCCESS" {
		t.Errorf("got code %s and causes %v, want SUCCESS", r.Code, r.Causes)
	}
}

// tabStopsMax bounds a walk over a page with the Tab key.
const tabStopsMax = 120

// tabTo presses Tab until the element of a role and name has the focus.
func (p *tab) tabTo(role, name string) {
	p.t.Helper()
	want := p.find(role, name)
	for range tabStopsMax {
		p.keys(kb.Tab)
		if p.focused() == want {
			return
		}
	}
	p.t.Fatalf("page: %s %q not reached within %d tab stops", role, name, tabStopsMax)
}

// decided is the result of the one approval in a run's log.
func (c client) decided(id string) string {
	c.t.Helper()
	for _, f := range c.facts(id) {
		if f.Kind == "approval.decided" {
			return f.Data.Result
		}
	}
	return ""
}
