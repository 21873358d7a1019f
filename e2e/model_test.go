//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

const modelScript = `{"model":"demo","rules":[
	{"role":"planner","contains":["look around"],"delay_ms":70,"piece":16,"plan":{"format":1,"goal":"look around","steps":[
		{"id":"disks","tool":"disk_usage","params":{}},
		{"id":"machine","tool":"sysinfo","params":{}},
		{"id":"files","tool":"file.list","params":{}},
		{"id":"repos","tool":"git.find","params":{}},
		{"id":"state","tool":"git.status","param_refs":{"paths":{"step":"repos","field":"paths"}}}]}},
	{"role":"reflection","answer":"Looked around, and found what there was to find."}]}`

var modelAt = regexp.MustCompile(`(?m)^Model \S+ at (http://\S+)$`)

// model starts a scripted model and gives its base URL.
func fakeModel(t *testing.T, script string) string {
	t.Helper()
	url, _ := fakeModelServer(t, script)
	return url
}

func fakeModelServer(t *testing.T, script string) (string, *server) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.json")
	writeFile(t, file, script)
	s := &server{t: t, out: newOutput(), ended: make(chan struct{})}
	s.cmd = exec.Command(must(t, shipped), "fakemodel", "--script", file)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // its end is the test's end
		close(s.ended)
	}()
	t.Cleanup(s.stop)
	return s.print(modelAt)[1], s
}

// TestP13_AModelsPlanIsSeenToComeIn: steps stand in the graph one after another
// before there is a plan, then run, and the model writes the answer.
func TestP13_AModelsPlanIsSeenToComeIn(t *testing.T) {
	url := fakeModel(t, modelScript)
	s := serveWith(t, must(t, shipped), t.TempDir(), "SLUICE_MODEL_URL="+url, "SLUICE_MODEL_NAME=demo",
		"SLUICE_MODEL_PRICE_IN=1", "SLUICE_MODEL_PRICE_OUT=2")
	api := s.api("observe")
	p := open(t, desktop)
	p.record()
	p.signIn(s)
	p.visit(s.url("/"))
	p.says("Planned by model:demo")
	p.submit(s, "look around", "Observe")
	p.ready()
	p.wait("sketched steps", func() bool { return script[int](p, `document.querySelectorAll("#graph [data-node]").length`) >= 3 })
	p.shot("model-sketch-light")
	r := api.until(p.runID(), "ended")
	if r.Code != "SUCCESS" || r.Verdict == nil || r.Verdict.By != "model:demo" || len(r.Verdict.Claims) < 4 {
		t.Fatalf("got %s and verdict %+v, want SUCCESS and the model's answer with claims", r.Code, r.Verdict)
	}
	frames := p.frames(r.Seq)
	checkFrames(t, api, r.ID, frames)
	var planned int64
	for _, f := range api.facts(r.ID) {
		if f.Kind == "version.added" {
			planned = f.Seq
		}
	}
	var grew []int
	for _, f := range frames {
		if n := len(f.States); f.Seq < planned && (len(grew) == 0 || n > grew[len(grew)-1]) {
			grew = append(grew, n)
		}
	}
	if len(grew) < 4 {
		t.Errorf("got %v cards before the plan was there, want them one after another", grew)
	}
	p.visit(s.url("/runs/" + r.ID + "?view=list&node=kernel.plan"))
	p.says("model:demo")
	p.says("Input tokens")
	p.says("Cost")
	p.shot("model-node-light")
	p.visit(s.url("/runs/" + r.ID + "?view=verdict"))
	p.says("Looked around")
	p.shot("model-verdict-light")
}

// TestP42_AModelIsSetUpAndTestedOnThePage, by keyboard and mouse as a person does.
func TestP42_AModelIsSetUpAndTestedOnThePage(t *testing.T) {
	url := fakeModel(t, modelScript)
	s := serve(t)
	p := open(t, desktop)
	p.signIn(s)
	p.visit(s.url("/"))
	p.says("Built-in planner (no model)")
	p.visit(s.url("/settings"))
	script[bool](p, `(document.getElementById("planner-base_url").value = "`+url+`", document.getElementById("planner-model").value = "demo",
		document.getElementById("planner-key").value = "a-key-of-this-test-1", true)`)
	p.click("button", "Save planner")
	p.wait("saved", func() bool { return strings.Contains(p.text(), "Saved") })
	if html := script[string](p, "document.documentElement.outerHTML"); strings.Contains(html, "a-key-of-this-test-1") {
		t.Error("the page shows the key")
	}
	p.click("button", "Test planner")
	p.wait("result", func() bool { return strings.Contains(p.text(), "It works") })
	p.says("yes, by JSON schema")
	p.shot("settings-light")
	p.look(view{1280, 800, "dark"})
	p.shot("settings-dark")
	p.look(view{320, 640, "light"})
	p.shot("settings-phone")
	p.look(desktop)
	p.visit(s.url("/"))
	p.says("Planned by model:demo")
}

// TestP45_KilledWhileAModelIsAsked: the call is made again under its number, and
// the run ends as if nothing had been; also in the middle of an answer.
func TestP45_KilledWhileAModelIsAsked(t *testing.T) {
	for _, role := range []string{"planner", "reflection"} {
		for _, fault := range []string{"stall", "stall-mid"} {
			t.Run(role+" "+fault, func(t *testing.T) {
				t.Parallel()
				url, model := fakeModelServer(t, `{"model":"demo","rules":[{"role":"`+role+`","times":1,"fault":"`+fault+`"}]}`)
				s := serveWith(t, must(t, shipped), t.TempDir(), "SLUICE_MODEL_URL="+url, "SLUICE_MODEL_NAME=demo", "SLUICE_MODEL_TIMEOUT=600")
				env := s.env
				api := s.api("observe")
				id := api.submit(map[string]any{"goal": "check disk usage", "intent": "observe"})
				node := map[string]string{"planner": "kernel.plan", "reflection": "kernel.reflect"}[role]
				model.print(regexp.MustCompile(`asked role=` + role))
				s.kill()
				s.env = env
				s.start()
				r := api.until(id, "ended")
				if r.Code != "SUCCESS" || r.Verdict == nil || r.Verdict.By != "model:demo" {
					t.Errorf("got %s and verdict %+v, want SUCCESS by the model", r.Code, r.Verdict)
				}
				for _, f := range api.facts(id) {
					if f.Node == node && f.Attempt > 1 {
						t.Errorf("got attempt %d of %s, want the same one again", f.Attempt, f.Node)
					}
				}
				s.stop()
				verify(t, s)
			})
		}
	}
}
