//go:build e2e

package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

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

// frame is one graph as the page showed it.
type frame struct {
	seq    int64
	nodes  map[string]string // state by node id
	places map[string]string // where the graph has put each node
}

// watch collects the different graphs that a run page shows until its run ends.
func (p *tab) watch() []frame {
	p.t.Helper()
	var frames []frame
	p.waitFor(runWithin, "end of the run", func() bool {
		f := frame{seq: p.seq(), nodes: p.nodes(), places: p.places()}
		if len(frames) == 0 || frames[len(frames)-1].seq != f.seq {
			frames = append(frames, f)
		}
		return p.finished()
	})
	return frames
}

// places maps node ids to their transform in the graph's own coordinates, which
// no panning changes.
func (p *tab) places() map[string]string {
	p.t.Helper()
	return script[map[string]string](p, `Object.fromEntries([...document.querySelectorAll("#graph .react-flow__node")]
		.map(n => [(n.matches("[data-node]") ? n : n.querySelector("[data-node]"))?.dataset.node ?? n.dataset.id, n.style.transform]))`)
}

// checkPlaces: nothing placed ever moves.
func checkPlaces(t *testing.T, frames []frame) {
	t.Helper()
	placed := map[string]string{}
	for _, f := range frames {
		for node, place := range f.places {
			if before, known := placed[node]; known && before != place {
				t.Errorf("node %s moved from %s to %s at sequence %d", node, before, place, f.seq)
			}
			placed[node] = place
		}
	}
	if len(placed) < 5 {
		t.Errorf("got %d placed nodes, want five or more", len(placed))
	}
}

func (p *tab) seq() int64 {
	p.t.Helper()
	n, _ := strconv.ParseInt(script[string](p, `document.querySelector("[data-seq]")?.dataset.seq ?? "0"`), 10, 64)
	return n
}

func (p *tab) finished() bool {
	p.t.Helper()
	return script[bool](p, `/SUCCESS|PERMISSION_DENIED|Succeeded|Denied|Not permitted/i.test(document.body.innerText)`)
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
	p.signIn(s)
	p.submit(s, mainGoal, "Observe")
	p.ready()
	frames := p.watch()
	grown := map[int]bool{}
	for i, f := range frames {
		grown[len(f.nodes)] = true
		if i > 0 && f.seq < frames[i-1].seq {
			t.Errorf("got sequence %d after %d, want it never to go back", f.seq, frames[i-1].seq)
		}
	}
	checkPlaces(t, frames)
	if len(frames) < 4 {
		t.Errorf("got %d different graphs, want at least three before the last", len(frames))
	}
	r := api.until(p.runID(), "ended")
	if r.Code != "SUCCESS" || r.Counts["executed"] < 5 {
		t.Fatalf("got code %s and counts %v, want SUCCESS and five steps or more", r.Code, r.Counts)
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
