//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// draftOf makes a draft of a plan for user 1 and gives its id.
func (s *server) draftOf(name, plan string) string {
	s.t.Helper()
	var d struct{ ID string }
	s.api("override").want(http.StatusCreated, http.MethodPost, "/drafts", map[string]any{"kind": "plan", "name": name, "doc": plan}, &d)
	return d.ID
}

// edit opens a draft in a builder of its own.
func (s *server) edit(p *tab, draft string) {
	s.t.Helper()
	p.visit(s.url("/builder?draft=" + draft))
	p.ready()
	p.yes("checked", settled)
}

func (s *server) draftText(id string) string {
	s.t.Helper()
	var d struct{ Doc, View string }
	s.api("override").want(http.StatusOK, http.MethodGet, "/drafts/"+id, nil, &d)
	return d.Doc + d.View
}

// spot is the middle of an element, in the window.
func (p *tab) spot(selector string) (x, y float64) {
	p.t.Helper()
	at := script[[]float64](p, `(() => { const r = document.querySelector(`+"`"+selector+"`"+`).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()`)
	return at[0], at[1]
}

const pair = `{"format":1,"goal":"look around","steps":[{"id":"first","tool":"sysinfo"},{"id":"second","tool":"disk_usage"}]}`

// TestP49_MouseMovesAndConnects drags a step, then an edge from handle to handle;
// each is one undo step and is saved with the draft.
func TestP49_MouseMovesAndConnects(t *testing.T) {
	s := serve(t)
	id := s.draftOf("pair", pair)
	p := open(t, desktop)
	p.signIn(s)
	s.edit(p, id)

	place := `document.querySelector(".react-flow__node[data-id=second]").style.transform`
	before := script[string](p, place)
	x, y := p.spot(`[data-node=second] b`)
	evaluate(p, chromedp.DragAndDropXY(x, y, x+250, y-60))
	p.shot("drag")
	p.yes("a moved card", place+` !== "`+before+`"`)
	moved := script[string](p, place)
	p.keys(kb.Escape)

	fromX, fromY := p.spot(`.react-flow__node[data-id=first] .react-flow__handle.source`)
	toX, toY := p.spot(`.react-flow__node[data-id=second] .react-flow__handle.target`)
	evaluate(p, chromedp.DragAndDropXY(fromX, fromY, toX, toY))
	p.yes("an edge", `document.querySelector("[data-id='first>second']")`)
	p.yes("saved", `document.querySelector("[data-saved=saved]")`)
	if text := s.draftText(id); !strings.Contains(text, `"depends_on":["first"]`) || !strings.Contains(text, `"places"`) {
		t.Errorf("got draft %s, want the edge and the places", text)
	}

	p.chord("z", chromedp.ModifierCtrl)
	p.yes("no edge after undo", `!document.querySelector("[data-id='first>second']")`)
	p.chord("z", chromedp.ModifierCtrl)
	p.yes("the old place after one more undo", place+` === "`+before+`"`)
	for range 2 {
		p.chord("z", chromedp.ModifierCtrl, chromedp.ModifierShift)
	}
	p.yes("both back after redo", place+` === "`+moved+`" && document.querySelector("[data-id='first>second']")`)
	p.visit(s.url("/builder?draft=" + id))
	p.ready()
	p.yes("the place survives a reload", place+` === "`+moved+`"`)
}

// TestP49_KeysMoveCopyAndDelete: arrows, copy, paste, delete and select all.
func TestP49_KeysMoveCopyAndDelete(t *testing.T) {
	s := serve(t)
	id := s.draftOf("pair", pair)
	p := open(t, desktop)
	p.signIn(s)
	s.edit(p, id)
	stops := `document.querySelectorAll("#builder [data-node][tabindex='0']").length`
	p.yes("one tab stop in the canvas", stops+` === 1`)
	p.walkTo("second")
	place := `document.querySelector(".react-flow__node[data-id=second]").style.transform`
	before := script[string](p, place)
	p.keys(kb.ArrowRight)
	p.chord(kb.ArrowRight, chromedp.ModifierShift)
	p.yes("moved by keys", place+` !== "`+before+`"`)
	p.chord("z", chromedp.ModifierCtrl)
	p.yes("one undo for one movement", place+` === "`+before+`"`)
	p.chord("c", chromedp.ModifierCtrl)
	p.chord("v", chromedp.ModifierCtrl)
	p.yes("a copy", onStep("second_2"))
	p.yes("said aloud", `document.querySelector("#announce").textContent.startsWith("Pasted second_2")`)
	p.keys(kb.Delete)
	p.yes("gone again", `!document.querySelector("[data-node=second_2]")`)
	p.chord("a", chromedp.ModifierCtrl)
	p.keys(kb.Delete)
	p.yes("an empty canvas", `document.querySelectorAll("[data-node]").length === 0`)
	p.chord("z", chromedp.ModifierCtrl)
	p.yes("both back", `document.querySelectorAll("#builder [data-node]").length === 2`)
	p.yes("still one tab stop", stops+` === 1`)
}

// TestP33_TwoTabsLoseNothing edits one draft in two tabs: the second save is a
// conflict, and both ways out keep both works.
func TestP33_TwoTabsLoseNothing(t *testing.T) {
	s := serve(t)
	id := s.draftOf("shared", pair)
	other := s.api("override")
	p := open(t, desktop)
	p.signIn(s)
	for _, way := range []string{"Load theirs", "Keep mine as a copy"} {
		s.edit(p, id)
		var d struct{ Revision int64 }
		other.want(http.StatusOK, http.MethodGet, "/drafts/"+id, nil, &d)
		theirs := strings.Replace(pair, "look around", "theirs: "+way, 1)
		other.want(http.StatusOK, http.MethodPut, "/drafts/"+id, map[string]any{"revision": d.Revision, "doc": theirs}, nil)
		p.keys(kb.Escape)
		p.enter("textbox", "Goal", "mine")
		p.chord("s", chromedp.ModifierCtrl)
		p.says("This draft was saved elsewhere")
		if text := s.draftText(id); !strings.Contains(text, "theirs") {
			t.Fatalf("%s: got %s, want theirs still there", way, text)
		}
		p.shot("builder-conflict")
		p.click("button", way)
		p.yes("an end of the conflict", `document.querySelector("[data-saved=saved]")`)
		goal := script[string](p, `document.querySelector("[data-field=goal]").value`)
		if way == "Load theirs" {
			if goal != "theirs: "+way {
				t.Errorf("got goal %q, want theirs", goal)
			}
			p.click("button", "Undo")
			p.yes("mine by undo", `document.querySelector("[data-field=goal]").value === "mine"`)
			p.click("button", "Redo")
			p.yes("theirs again", `document.querySelector("[data-saved=saved]")`)
			continue
		}
		if copied := script[string](p, `location.search.slice(7)`); copied == id || !strings.Contains(s.draftText(copied), `"goal":"mine"`) {
			t.Errorf("got draft %s, want one of its own with mine", copied)
		}
	}
	p.pardon(t, "409")
}

// TestP33_ADraftDeletedElsewhereLosesNothing: what is in the other tab is kept,
// through a reload too, and becomes a draft of its own.
func TestP33_ADraftDeletedElsewhereLosesNothing(t *testing.T) {
	s := serve(t)
	p := open(t, desktop)
	p.signIn(s)
	for _, reloads := range []bool{false, true} {
		id := s.draftOf("pair", pair)
		s.edit(p, id)
		s.api("override").want(http.StatusNoContent, http.MethodDelete, "/drafts/"+id, map[string]any{"revision": 1}, nil)
		p.enter("textbox", "Goal", "mine")
		p.chord("s", chromedp.ModifierCtrl)
		p.says("This draft was deleted elsewhere")
		if reloads {
			p.visit(s.url("/builder?draft=" + id))
			p.ready()
			p.says("What this browser had kept of it is here")
		} else {
			p.shot("builder-gone")
			p.click("button", "Keep mine as a copy")
		}
		p.yes("a draft of its own", `document.querySelector("[data-saved=saved]") && !location.search.endsWith("`+id+`")`)
		if text := s.draftText(script[string](p, `location.search.slice(7)`)); !strings.Contains(text, `"goal":"mine"`) {
			t.Errorf("reload %t: got draft %s, want what was typed", reloads, text)
		}
	}
	p.pardon(t, "404")
}

// pardon takes back what the browser says of one expected answer, and nothing else.
func (p *tab) pardon(t *testing.T, status string) {
	t.Helper()
	for _, c := range p.excuse() {
		if !strings.Contains(c, status) {
			t.Errorf("browser: %s", c)
		}
	}
}

// TestP08_JSONAndDrawingAreInStep: text becomes the drawing, broken text says
// where, leaves it alone and is not run past; what is typed survives a reload,
// readable or not.
func TestP08_JSONAndDrawingAreInStep(t *testing.T) {
	s := serve(t)
	id := s.draftOf("pair", pair)
	p := open(t, desktop)
	p.signIn(s)
	s.edit(p, id)
	p.click("button", "JSON")
	three := `{"format":1,"goal":"three","steps":[{"id":"a","tool":"sysinfo"},{"id":"b","tool":"disk_usage","depends_on":["a"]},{"id":"c","tool":"net_info","depends_on":["b"]}]}`
	p.enter("textbox", "Plan as JSON", three)
	p.says("3 steps")
	p.enter("textbox", "Plan as JSON", "{\n  \"format\": 1,\n  \"steps\": [{\"id\": \"a\" \"tool\"}]\n}")
	p.says("Line 3, column 24: expected “,” or “}”, found “\"”.")
	p.says("3 steps")
	p.says("the JSON can not be read yet")
	if strings.Contains(p.text(), "the plan compiles") {
		t.Error("the page says that the plan compiles beside a text that can not be read")
	}
	p.chord(kb.Enter, chromedp.ModifierCtrl)
	p.yes("no run of what stood there before", `document.querySelector("dialog[open] button[data-kind=primary]").disabled`)
	p.click("button", "Cancel")
	p.visit(s.url("/builder?draft=" + id)) // at once, before the pause that saves
	p.ready()
	p.yes("three steps after a reload", `document.querySelectorAll("#builder [data-node]").length === 3`)
	p.yes("saved", `document.querySelector("[data-saved=saved]")`)
	p.click("button", "Outline")
	p.yes("a list of three", `document.querySelectorAll(".outline-row").length === 3`)
	p.keys(kb.F8)
	p.yes("the text that was typed", `document.activeElement.matches("[data-json]") && document.activeElement.value.includes('"a" "tool"')`)
	p.click("button", "Back to that plan")
	p.yes("no finding", errorsAre(0))
	p.yes("the text of the drawing", `JSON.parse(document.querySelector("[data-json]").value).steps.length === 3`)
}

// latency notes how long it takes from a key to findings about what it typed.
const latency = `(() => {
	window.took_ = [];
	let down = 0;
	addEventListener("keydown", () => { down = performance.now(); }, true);
	const app = document.querySelector(".builder-app"), findings = document.querySelector(".checks");
	new MutationObserver(() => {
		if (down && app.dataset.rev === findings.dataset.checked) { const from = down; down = 0; requestAnimationFrame(() => took_.push(performance.now() - from)); }
	}).observe(findings, { attributes: true, attributeFilter: ["data-checked"] });
})()`

// TestP38_FindingsOf300StepsFollowTheKeys imports a plan of 300 steps, types into
// a parameter and reports the time from a key to its findings.
func TestP38_FindingsOf300StepsFollowTheKeys(t *testing.T) {
	s := serve(t)
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/builder"))
	p.ready()
	var steps []string
	for i := range 300 {
		after := ""
		if i >= 10 {
			after = fmt.Sprintf(`, "depends_on": ["look_%d", "look_%d"]`, i-10, i-i%10-10)
		}
		steps = append(steps, fmt.Sprintf(`{"id": "look_%d", "tool": "file.search", "params": {"query": "word %d"}%s}`, i, i, after))
	}
	script[bool](p, `document.querySelector("summary[aria-label='More actions']").click() || true`)
	p.click("button", "Import…")
	p.enter("textbox", "Or text", `{"format": 1, "goal": "Look for 300 words", "steps": [`+strings.Join(steps, ",")+`]}`)
	p.click("button", "Import")
	p.says("300 steps")
	p.yes("checked", settled)
	p.yes("tidied", `document.querySelector("[data-node=look_0]")`)
	p.walkTo("look_0")
	p.letter("Enter")
	p.yes("the form", `document.activeElement.dataset.field?.startsWith("param:")`)
	script[bool](p, latency+` || true`)
	const keys = 20
	for i := range keys {
		p.letter(string(rune('a' + i)))
		p.yes("findings", fmt.Sprintf("took_.length > %d", i))
	}
	took := script[[]float64](p, `took_`)
	slices.Sort(took)
	wire := script[[]float64](p, `performance.getEntriesByType("resource").filter(e => e.name.endsWith("/plans/check")).slice(-20).map(e => e.duration).sort((a, b) => a - b)`)
	t.Logf("of that, sending and checking: p50 %.0f ms, worst %.0f ms", wire[len(wire)/2], wire[len(wire)-1])
	t.Logf("from a key to the findings of 300 steps, %d keys: p50 %.0f ms, p95 %.0f ms, worst %.0f ms", keys, took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
	p.shot("builder-300")
}

// TestP43_APlanIsCheckedAndRunWithoutScript: the form says what is wrong, keeps
// the text, and starts a run.
func TestP43_APlanIsCheckedAndRunWithoutScript(t *testing.T) {
	s := serve(t)
	someone := s.person()
	send := func(action, plan string) (*http.Response, string) {
		r, err := someone.client.PostForm(s.url("/builder"), map[string][]string{"plan": {plan}, "intent": {"observe"}, "action": {action}})
		if err != nil {
			t.Fatal(err)
		}
		return r, readAll(t, r)
	}
	if r, text := send("run", `{"format":1,"goal":"x","steps":[{"id":"a","tool":"no.such"}]}`); r.StatusCode != http.StatusOK || !strings.Contains(text, "C10") || !strings.Contains(text, "no.such") {
		t.Errorf("got %d, want the page with the finding and the text", r.StatusCode)
	}
	if r, text := send("check", "format: 1\ngoal: x\nsteps:\n- id: a\n  tool: sysinfo\n"); r.StatusCode != http.StatusOK || !strings.Contains(text, "The plan compiles") {
		t.Errorf("got %d, want a page that says the plan compiles", r.StatusCode)
	}
	if r, _ := send("run", pair); !strings.HasPrefix(r.Request.URL.Path, "/runs/r_") {
		t.Errorf("got %s, want the page of the run", r.Request.URL.Path)
	}
}

// TestP10_TheRunsPlanOpensAsItIs: the plan of a run is drawn with its references.
func TestP10_TheRunsPlanOpensAsItIs(t *testing.T) {
	s := serve(t)
	writeFile(t, s.data+string(os.PathSeparator)+"workspace/notes.txt", "x")
	plan := `{"format":1,"goal":"read","steps":[{"id":"l","tool":"file.list"},{"id":"r","tool":"file.read","param_refs":{"path":{"step":"l","field":"entries.0.path"}}}]}`
	api := s.api("observe")
	run := api.submit(map[string]any{"plan": json.RawMessage(plan), "intent": "observe"})
	api.until(run, "ended")
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/builder?run=" + run))
	p.ready()
	p.yes("two steps and their edge", `document.querySelector("[data-node=r]") && document.querySelector("[data-id='l>r']")`)
	p.yes("no findings", errorsAre(0))
	p.yes("nothing to save", `document.querySelector("[data-saved=new]")`)
}

// TestP10_ADrawingBecomesATemplateAndComesBack saves a drawing as a template's
// source and opens a template that is there.
func TestP10_ADrawingBecomesATemplateAndComesBack(t *testing.T) {
	s := serve(t)
	id := s.draftOf("pair", pair)
	p := open(t, desktop)
	p.signIn(s)
	s.edit(p, id)
	script[bool](p, `document.querySelector("summary[aria-label='More actions']").click() || true`)
	p.click("button", "Save as a template…")
	p.yes("the page that makes templates", `location.pathname === "/templates/new" && location.search === "?draft=`+id+`"`)

	var known struct{ Templates []struct{ Name string } }
	s.api("observe").want(http.StatusOK, http.MethodGet, "/templates", nil, &known)
	if len(known.Templates) == 0 {
		t.Fatal("no template ships")
	}
	p.visit(s.url("/builder?template=" + known.Templates[0].Name))
	p.ready()
	p.yes("its steps", `document.querySelectorAll("#builder [data-node]").length > 0`)
}
