//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// busyPlan has one of everything that a card can show at once: values that flow,
// a condition that does not hold, a failure with what it takes along, a choice
// between candidates, names as long as they may be, and a write that asks.
const busyPlan = `{"format": 1, "goal": "Collect the notes of the team, keep the newest and write the summary that the others read on Monday", "max_steps": 20, "steps": [
	{"id": "kernel", "tool": "sysinfo", "params": {}},
	{"id": "workspace", "tool": "file.list", "params": {}},
	{"id": "missing", "tool": "file.read", "params": {"path": "no-such-file.txt"}},
	{"id": "after_the_missing", "tool": "file.read", "params": {}, "param_refs": {"path": {"step": "missing", "field": "path"}}},
	{"id": "first_note", "tool": "file.read", "params": {}, "param_refs": {"path": {"step": "workspace", "field": "entries.0.path"}}},
	{"id": "only_on_plan9", "tool": "process_list", "params": {}, "guard": {"ref": {"step": "kernel", "field": "os"}, "op": "eq", "value": "plan9"}},
	{"id": "look_for_everything_that_mentions_a_reminder_or_a_deadline", "tool": "file.search", "params": {"query": "reminder"}, "depends_on": ["workspace"]},
	{"id": "whichever", "tool": "disk_usage", "params": {}, "depends_on": ["missing", "first_note"], "join": "any_of"},
	{"id": "summary", "tool": "file.write", "params": {"path": "summary.txt", "content": "Monday\n  call the printer\n  water the plants\n"},
		"approval": true, "depends_on": ["first_note", "look_for_everything_that_mentions_a_reminder_or_a_deadline"]},
	{"id": "read_back", "tool": "file.read", "params": {}, "param_refs": {"path": {"step": "summary", "field": "path"}}}]}`

// widePlan is a run of sixty steps: five chains of twelve.
func widePlan() string {
	var steps []string
	for i := range 60 {
		after := ""
		if i >= 5 {
			after = fmt.Sprintf(`, "depends_on": ["look_%d"]`, i-5)
		}
		steps = append(steps, fmt.Sprintf(`{"id": "look_%d", "tool": "file.search", "params": {"query": "word %d"}%s}`, i, i, after))
	}
	return `{"format": 1, "goal": "Look for sixty words", "max_steps": 100, "steps": [` + strings.Join(steps, ",") + `]}`
}

// scene is a server with every kind of run, and the address of each page by name.
func scene(t *testing.T) (*server, map[string]string) {
	t.Helper()
	s := serveWith(t, must(t, faulty), t.TempDir())
	for name, text := range map[string]string{"notes.txt": "reminder: call the printer\n", "plants.txt": "water them\n"} {
		writeFile(t, filepath.Join(s.data, "workspace", name), text)
	}
	api := s.api("override")
	unknown := api.submit(submission(deletePlan, "override"))
	waits := api.until(unknown, "waiting")
	s.stop()
	s.env = []string{"SLUICE_KILL=commit@" + strconv.FormatInt(waits.Seq+1, 10)}
	s.start()
	_, _, _ = s.person().try("/api/v1/approvals/"+waits.Waiting[0], api.verdict(waits.Waiting[0], "approve")) // it dies while it answers
	s.died()
	s.resume()

	partly := api.submit(map[string]any{"goal": "Show the kernel version and book a flight to Rome", "intent": "observe"})
	wide := api.submit(map[string]any{"plan": json.RawMessage(widePlan()), "intent": "observe"})
	refused := api.submit(map[string]any{"goal": "delete notes.txt", "intent": "operate"})
	done := api.submit(map[string]any{"goal": mainGoal, "intent": "observe"})
	for _, id := range []string{partly, wide, refused, done} {
		api.until(id, "ended")
	}
	busy := api.submit(map[string]any{"plan": json.RawMessage(busyPlan), "intent": "override"})
	writes := api.until(busy, "waiting").Waiting[0]
	live := api.submit(map[string]any{"goal": mainGoal + ", then delete notes.txt", "intent": "override"})
	deletes := api.until(live, "waiting").Waiting[0]
	return s, map[string]string{
		"home": "/", "runs": "/runs", "template": "/templates/overdue-invoices", "running": "/runs/" + live, "waiting": "/runs/" + live + "?view=list", "packet": "/approvals/" + deletes,
		"write": "/approvals/" + writes, "busy": "/runs/" + busy, "busy-list": "/runs/" + busy + "?view=list",
		"failed": "/runs/" + busy + "?view=list&node=missing", "verdict": "/runs/" + done + "?view=verdict", "log": "/runs/" + done + "?view=log",
		"partly": "/runs/" + partly + "?view=verdict", "refused": "/runs/" + refused + "?view=verdict", "wide": "/runs/" + wide,
		"unknown": "/runs/" + unknown, "answer": "/approvals/q." + unknown + ".gone.1",
	}
}

// pictureViews is the size of the pictures, where somebody wants them.
func pictureViews() []view {
	if os.Getenv("SHOTS") == "" {
		return nil
	}
	return []view{{1440, 900, "light"}, {1440, 900, "dark"}}
}

// picture names what a page's state looks like in this view; a page's own state
// at the size of the pictures is the one docs/ shows.
func (v view) picture(page, state string) string {
	if v.width == 1440 && page == state {
		return page + "-" + v.scheme
	}
	return fmt.Sprintf("%s-%s-%d-%s", page, state, v.width, v.scheme)
}

// caughtUp: a young run is played from its start (P40), and a picture is of its end.
const caughtUp = `Number(document.body.dataset.seq ?? 0) >= Number(document.getElementById("run-head")?.dataset.seq ?? 0)`

// TestAxe_EveryKindOfRunAtTheSizeOfThePictures looks at what a busy installation
// shows, and keeps the pictures of docs/ when SHOTS names that folder.
func TestAxe_EveryKindOfRunAtTheSizeOfThePictures(t *testing.T) {
	s, pages := scene(t)
	lookAtAll(t, s, pages)
}

// answeringModel plans two layers and writes the answer.
const answeringModel = `{"model": "demo", "rules": [
	{"role": "planner", "plan": {"format": 1, "goal": "What is this machine, and what do its notes want?", "steps": [
		{"id": "machine", "tool": "sysinfo"},
		{"id": "disks", "tool": "disk_usage"},
		{"id": "ports", "tool": "net_info"},
		{"id": "files", "tool": "file.list"},
		{"id": "notes", "tool": "file.read", "param_refs": {"path": {"step": "files", "field": "entries.0.path"}}},
		{"id": "reminders", "tool": "file.search", "params": {"query": "reminder"}, "depends_on": ["files"]}]}},
	{"role": "reflection", "answer": "A small machine with room to spare. Its notes ask for one call to be made."}]}`

// TestAxe_AModelsRunAtTheSizeOfThePictures: its plan, its answer, and what both cost.
func TestAxe_AModelsRunAtTheSizeOfThePictures(t *testing.T) {
	url := fakeModel(t, answeringModel)
	s := serveWith(t, must(t, shipped), t.TempDir(), "SLUICE_MODEL_URL="+url, "SLUICE_MODEL_NAME=demo",
		"SLUICE_MODEL_PRICE_IN=0.25", "SLUICE_MODEL_PRICE_OUT=2")
	writeFile(t, filepath.Join(s.data, "workspace", "notes.txt"), "reminder: call the printer\n")
	api := s.api("observe")
	id := api.submit(map[string]any{"goal": "What is this machine, and what do its notes want?", "intent": "observe"})
	if r := api.until(id, "ended"); r.Code != "SUCCESS" {
		t.Fatalf("got %s %v, want SUCCESS", r.Code, r.Causes)
	}
	lookAtAll(t, s, map[string]string{
		"model": "/runs/" + id, "model-node": "/runs/" + id + "?view=list&node=kernel.plan", "model-verdict": "/runs/" + id + "?view=verdict",
	})
}

// lookAtAll holds each page to axe-core and to the width of the window.
func lookAtAll(t *testing.T, s *server, pages map[string]string) {
	t.Helper()
	p := open(t, desktop)
	p.signIn(s)
	for name, path := range pages {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				p.look(view{1440, 900, scheme})
				p.visit(s.url(path))
				p.ready()
				p.wait("the present", func() bool { return script[bool](p, caughtUp) })
				for _, found := range p.axe() {
					t.Errorf("%s (%s):\n  %s", found.ID, found.Help, strings.Join(found.Where, "\n  "))
				}
				if wide := script[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
					t.Errorf("the page is %d px wider than the window", wide)
				}
				p.shot(name + "-" + scheme)
			})
		}
	}
}
