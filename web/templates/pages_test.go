package templates

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"
)

// pages renders every page in every state that looks different.
func pages() map[string]templ.Component {
	packet, question, decided := samplePacket(), sampleQuestion(), sampleDecided()
	may := samplePacket()
	may.State, may.MayNot = StateOthers, "You asked for this call yourself, and the policy wants somebody else to decide."
	problem := samplePacket()
	problem.Problem = "Write a reason of at most 2,000 characters."
	empty := Home{Shell: shellOf("Home", "home"), Intent: "observe", Problem: "Write a goal first."}
	waitingRun := sampleRun("list")
	waitingRun.Steps, waitingRun.Head.Counts = nil, nil
	conflict := ErrorPage{Shell: shellOf("Already decided", "approvals"), Status: 409, Title: "Somebody else was faster", Text: "Your answer was not used.", Who: "Mara Lindqvist", At: sampleNow, Detail: "conflict"}
	list := map[string]templ.Component{
		"signin":            SignInPage(SignIn{Shell: Shell{Title: "Sign in", Now: sampleNow, Assets: shellOf("", "").Assets}, Command: "sluice serve", Problem: "This link was used before or is too old."}),
		"home":              HomePage(sampleHome()),
		"home-empty":        HomePage(empty),
		"runs":              RunsPage(sampleRunsPage()),
		"runs-empty":        RunsPage(Runs{Shell: shellOf("Runs", "runs"), Query: "nothing"}),
		"run-graph":         RunPage(sampleRunWithNode("graph")),
		"run-graph-ended":   RunPage(sampleEnded("graph")),
		"run-list":          RunPage(sampleRunWithNode("list")),
		"run-list-empty":    RunPage(waitingRun),
		"run-log":           RunPage(sampleLog()),
		"run-verdict":       RunPage(sampleEnded("verdict")),
		"run-verdict-none":  RunPage(sampleRun("verdict")),
		"approvals":         ApprovalsPage(sampleApprovals(&packet)),
		"approvals-may-not": ApprovalsPage(sampleApprovals(&may)),
		"approvals-problem": ApprovalsPage(sampleApprovals(&problem)),
		"approvals-decided": ApprovalsPage(sampleApprovals(&decided)),
		"approvals-outcome": ApprovalsPage(sampleApprovals(&question)),
		"approvals-none":    ApprovalsPage(Approvals{Shell: shellOf("Approvals", "approvals"), Tab: "mine"}),
		"error-409":         ErrorView(conflict),
	}
	for status, title := range map[int]string{403: "Not permitted", 404: "No such page", 413: "Too large", 500: "This page could not be shown"} {
		v := ErrorPage{Shell: shellOf(title, ""), Status: status, Title: title, Text: "Nothing was changed."}
		list["error-"+px(status)] = ErrorView(v)
	}
	return list
}

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var out strings.Builder
	if err := c.Render(context.Background(), &out); err != nil {
		t.Fatalf("render: %v", err)
	}
	return out.String()
}

var (
	styleAttr = regexp.MustCompile(`<[a-zA-Z][^>]*\sstyle\s*=`)
	onAttr    = regexp.MustCompile(`<[a-zA-Z][^>]*\s(on[a-z]+|hx-on[^\s=]*)\s*=`)
	scriptTag = regexp.MustCompile(`(?s)<script([^>]*)>(.*?)</script>`)
)

func TestP43_NoStyleAttributeHandlerOrInlineScript(t *testing.T) {
	for name, page := range pages() {
		html := render(t, page)
		if got := styleAttr.FindString(html); got != "" {
			t.Errorf("%s: got %q, want no style attribute", name, got)
		}
		if got := onAttr.FindString(html); got != "" {
			t.Errorf("%s: got %q, want no event handler attribute", name, got)
		}
		if strings.Contains(html, "<style") || strings.Contains(html, "javascript:") {
			t.Errorf("%s: got an inline style sheet or a javascript: URL", name)
		}
		for _, m := range scriptTag.FindAllStringSubmatch(html, -1) {
			if !strings.Contains(m[1], `type="application/json"`) && strings.TrimSpace(m[2]) != "" {
				t.Errorf("%s: got an inline script %.60q, want JSON or an external file", name, m[2])
			}
		}
		if !strings.Contains(html, `<link rel="icon"`) {
			t.Errorf("%s: got no icon link", name)
		}
	}
}

func TestP49_NamesOfHomeAndPacket(t *testing.T) {
	for page, wants := range map[string][]string{
		"home":      {`<label class="vh" for="goal">Goal</label><textarea id="goal"`, `role="radiogroup" aria-label="Intent"`, `aria-label="Run"`, `value="observe"`, `value="operate"`, `value="override" checked`},
		"approvals": {`aria-label="Reason"`, `name="decision" value="deny"`, `name="decision" value="approve"`, `Approve once</button>`, `Deny</button>`},
		"run-list":  {`data-node="delete_notes" data-state="waiting_human"`, `data-seq="214"`},
		"run-graph": {`data-seq="214"`, `<script id="boot" type="application/json">`, `id="graph"`},
	} {
		html := squeeze(render(t, pages()[page]))
		for _, want := range wants {
			if !strings.Contains(html, want) {
				t.Errorf("%s: want %q in the page", page, want)
			}
		}
	}
}

var between = regexp.MustCompile(`>\s+<|\s+`)

// squeeze takes the white space out that differs between ways of writing a template.
func squeeze(html string) string {
	return between.ReplaceAllStringFunc(html, func(s string) string {
		if strings.HasPrefix(s, ">") {
			return "><"
		}
		return " "
	})
}

func TestP49_PageSaysReadyOnlyByScript(t *testing.T) {
	for name, page := range pages() {
		if strings.Contains(render(t, page), "data-ready") {
			t.Errorf("%s: got data-ready from the server, want it from the script alone", name)
		}
	}
}

// TestP2_StateIsIconAndWord: a state never stands by colour alone.
func TestP2_StateIsIconAndWord(t *testing.T) {
	words := map[string]string{
		"pending": "Pending", "ready": "Ready", "running": "Running", "waiting_human": "Waiting for you", "blocked": "Blocked", "executed": "Done",
		"failed_retryable": "Retrying", "failed": "Failed", "skipped": "Skipped", "cancelled": "Cancelled",
	}
	icons := map[string]string{}
	all := render(t, sprite())
	for state, word := range words {
		html := render(t, chip(nodeLook(state, true)))
		if !strings.Contains(html, word) {
			t.Errorf("%s: got %s, want the word %q", state, html, word)
		}
		icon := nodeLook(state, true).Icon
		if other, taken := icons[icon]; taken {
			t.Errorf("%s and %s share the icon %s", state, other, icon)
		}
		icons[icon] = state
		if !strings.Contains(all, `id="i-`+icon+`"`) {
			t.Errorf("%s: the sprite has no icon %s", state, icon)
		}
	}
	if got := nodeLook("waiting_human", false).Word; got != "Waiting for approval" {
		t.Errorf("waiting for somebody else: got %q, want %q", got, "Waiting for approval")
	}
}

var use = regexp.MustCompile(`href="#i-([a-z]+)"`)

func TestEveryUsedIconIsInTheSprite(t *testing.T) {
	all := render(t, sprite())
	for name, page := range pages() {
		for _, m := range use.FindAllStringSubmatch(render(t, page), -1) {
			if !strings.Contains(all, `id="i-`+m[1]+`"`) {
				t.Errorf("%s: uses the icon %s, which the sprite lacks", name, m[1])
			}
		}
	}
}

var idAttr = regexp.MustCompile(`\sid="([^"]+)"`)

// TestIdsAreUnique: live.ts finds refreshed parts by id.
func TestIdsAreUnique(t *testing.T) {
	for name, page := range pages() {
		seen := map[string]bool{}
		for _, m := range idAttr.FindAllStringSubmatch(render(t, page), -1) {
			if seen[m[1]] {
				t.Errorf("%s: the id %s is used twice", name, m[1])
			}
			seen[m[1]] = true
		}
	}
}

func TestTextFromOutsideIsEscaped(t *testing.T) {
	bad := `</script><img src=x onerror=alert(1)>`
	home := sampleHome()
	home.Goal, home.Needs[0].Title, home.Runs[0].Goal = bad, bad, bad
	packet := samplePacket()
	packet.Title, packet.Args[0].Value, packet.Preview.Lines[0].Text, packet.Dag.Self.ID = bad, bad, bad, bad
	run := sampleRun("graph")
	run.Boot = []byte(`{"goal":"` + bad + `"}`)
	for name, c := range map[string]templ.Component{"home": HomePage(home), "packet": ApprovalsPage(sampleApprovals(&packet)), "boot": RunPage(run)} {
		if html := render(t, c); strings.Contains(html, "<img src=x") {
			t.Errorf("%s: got the planted tag unescaped", name)
		}
	}
}

// TestPreview writes every page to a folder, for a look at them in a browser.
func TestPreview(t *testing.T) {
	dir := os.Getenv("PREVIEW_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	all := pages()
	all["frag-node"] = NodePanel(sampleNode())
	for name, page := range all {
		file := filepath.Join(dir, name+".html")
		if err := os.WriteFile(file, []byte(render(t, page)), 0o600); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Size() < 500 {
			t.Errorf("%s: got an empty page (%v)", name, err)
		}
	}
}

// TestP13_ASketchedStepIsToldFromAPlannedOne: its own word, what it means, and
// no link to an inspector that has nothing of it.
func TestP13_ASketchedStepIsToldFromAPlannedOne(t *testing.T) {
	run := sampleRun("list")
	run.Steps = []Step{{ID: "drawn", State: "pending", Sketch: true}, {ID: "planned", State: "pending"}}
	page := render(t, stepList(run))
	if strings.Count(page, "Sketched") != 1 || strings.Count(page, "Pending") != 1 || !strings.Contains(page, `title="From an answer that is still coming in.`) {
		t.Errorf("got %s, want one step sketched and one pending", page)
	}
	if strings.Contains(page, "node=drawn") || !strings.Contains(page, "node=planned") {
		t.Error("the sketched step is linked, or the planned one is not")
	}
}
