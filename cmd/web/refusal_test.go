package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sluice/engine/plan"
)

// planOf wraps steps into a plan.
func planOf(steps ...string) string {
	return `{"format":1,"goal":"test","max_steps":10,"steps":[` + strings.Join(steps, ",") + `]}`
}

func manySteps(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"s%d","tool":"sysinfo"}`, i)
	}
	return planOf(list...)
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// badPlan is a plan that must be refused, and where the refusal must point.
type badPlan struct{ name, plan, rule, step, pointer string }

func badPlans() []badPlan {
	sysinfo := `{"id":"a","tool":"sysinfo"}`
	return []badPlan{
		{"cycle", planOf(`{"id":"a","tool":"sysinfo","depends_on":["b"]}`, `{"id":"b","tool":"disk_usage","depends_on":["a"]}`), "C01", "a", "/steps/0/depends_on/0"},
		{"self-reference", planOf(`{"id":"a","tool":"sysinfo","depends_on":["a"]}`), "", "a", "/steps/0"},
		{"self-reading", planOf(`{"id":"a","tool":"file.read","param_refs":{"path":{"step":"a","field":"path"}}}`), "", "a", "/steps/0"},
		{"out-of-range index", `{"goal":"x","steps":[{"tool":"file.read","param_refs":{"path":{"step":7,"field":"path"}}}]}`, "", "", "/steps/0/param_refs/path/step"},
		{"unknown tool", planOf(`{"id":"a","tool":"no.such.tool"}`), "", "a", "/steps/0/tool"},
		{"unknown step key", planOf(`{"id":"a","tool":"sysinfo","colour":"red"}`), "P08", "a", "/steps/0/colour"},
		{"unknown top key", `{"format":1,"goal":"x","colour":1,"steps":[` + sysinfo + `]}`, "P08", "", "/colour"},
		{"intent in a plan", `{"format":1,"goal":"x","intent":"override","steps":[` + sysinfo + `]}`, "P08", "", "/intent"},
		{"reference to nothing", planOf(`{"id":"a","tool":"file.read","param_refs":{"path":{"step":"gone","field":"path"}}}`), "", "a", "/steps/0/param_refs/path"},
		{"dependency on nothing", planOf(`{"id":"a","tool":"sysinfo","depends_on":["gone"]}`), "", "a", "/steps/0/depends_on/0"},
		{"duplicate id", planOf(sysinfo, `{"id":"a","tool":"disk_usage"}`), "", "a", "/steps/1"},
		{"duplicate key", planOf(`{"id":"a","tool":"sysinfo","id":"b"}`), "P08", "", "/steps/0/id"},
		{"duplicate key in parameters", planOf(`{"id":"a","tool":"file.read","params":{"path":"x","path":"y"}}`), "P08", "a", "/steps/0/params/path"},
		{"100,000 steps", manySteps(100_000), "P14", "", "/steps"},
		{"deep parameters", planOf(`{"id":"a","tool":"file.read","params":{"path":` + nested(100) + `}}`), "P14", "a", "/steps/0/params/path"},
		{"huge integer", planOf(`{"id":"a","tool":"file.read","params":{"path":"x","offset":9007199254740993}}`), "P14", "a", "/steps/0/params/offset"},
		{"wrong type of steps", `{"format":1,"goal":"x","steps":{}}`, "P08", "", "/steps"},
		{"wrong type of step", planOf(`7`), "P08", "", "/steps/0"},
		{"wrong type of parameter", planOf(`{"id":"a","tool":"file.read","params":{"path":7}}`), "", "a", "/steps/0/params"},
		{"missing parameter", planOf(`{"id":"a","tool":"file.read"}`), "", "a", "/steps/0"},
		{"unknown parameter", planOf(`{"id":"a","tool":"sysinfo","params":{"x":1}}`), "", "a", "/steps/0/params"},
		{"bad id", planOf(`{"id":"A b","tool":"sysinfo"}`), "P08", "", "/steps/0/id"},
		{"no steps", `{"format":1,"goal":"x"}`, "P08", "", ""},
		{"a list", `[]`, "P08", "", ""},
		{"a string", `"plan"`, "P08", "", ""},
		{"unknown format", `{"format":2,"goal":"x","steps":[` + sysinfo + `]}`, "P08", "", "/format"},
		{"approval false", planOf(`{"id":"a","tool":"sysinfo","approval":false}`), "P08", "a", "/steps/0/approval"},
		{"unknown join", planOf(sysinfo, `{"id":"b","tool":"disk_usage","depends_on":["a"],"join":"first"}`), "P08", "b", "/steps/1/join"},
	}
}

// TestP41_EveryMalformedPlanIsAProblem: by both routes the refusal names rule,
// step and pointer where one was read, and nothing runs.
func TestP41_EveryMalformedPlanIsAProblem(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	before := w.content()
	for _, b := range badPlans() {
		p := o.problemOf(http.StatusUnprocessableEntity, o.post("/api/v1/runs", `{"plan":`+b.plan+`}`))
		if p.Code != "invalid" || p.Rule == "" || p.Fix == "" || len(p.Findings) == 0 {
			t.Errorf("%s: got %+v, want code invalid with rule, fix and findings", b.name, p)
		}
		if b.rule != "" && p.Rule != b.rule || p.Step != b.step && b.step != "" || !strings.HasPrefix(p.Pointer, b.pointer) {
			t.Errorf("%s: got rule %q, step %q, pointer %q, want %q, %q, %q…", b.name, p.Rule, p.Step, p.Pointer, b.rule, b.step, b.pointer)
		}
		if len(b.plan) < 1<<20 {
			o.checked(b)
		}
	}
	if after := w.content(); after != before {
		t.Errorf("a refused plan changed what is stored:\n%s\n%s", before, after)
	}
}

// checked sends a plan to /plans/check: it finds the same and stores nothing.
func (c *caller) checked(b badPlan) {
	c.Helper()
	got := c.post("/api/v1/plans/check", `{"plan":`+b.plan+`}`)
	if got.status == http.StatusUnprocessableEntity {
		c.problemOf(http.StatusUnprocessableEntity, got)
		return
	}
	var report struct {
		OK       bool           `json:"ok"`
		Hash     *string        `json:"hash"`
		Findings []plan.Finding `json:"findings"`
	}
	c.want(http.StatusOK, got, &report)
	if report.OK || report.Hash != nil || len(report.Findings) == 0 {
		c.Errorf("%s checked: got %.300s, want findings and no hash", b.name, got.body)
	}
}

// TestP38_APlanThatCompilesHasAHash, the same by the API as by the run it makes.
func TestP38_APlanThatCompilesHasAHash(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	doc := planOf(`{"id":"a","tool":"sysinfo"}`, `{"id":"b","tool":"disk_usage","depends_on":["a"]}`)
	var report struct {
		OK       bool            `json:"ok"`
		Hash     string          `json:"hash"`
		Findings json.RawMessage `json:"findings"`
	}
	o.want(http.StatusOK, o.post("/api/v1/plans/check", `{"plan":`+doc+`}`), &report)
	if !report.OK || report.Hash == "" || string(report.Findings) != "[]" {
		t.Fatalf("got %+v, want ok with a hash and an empty list", report)
	}
	r := o.runToRest(`{"plan":` + doc + `}`)
	var ran struct {
		Version int
		Hash    string
		Plan    json.RawMessage
	}
	o.want(http.StatusOK, o.get("/api/v1/runs/"+r.ID+"/plan"), &ran)
	if ran.Hash != report.Hash || ran.Version != 1 || r.code() != "SUCCESS" {
		t.Errorf("got hash %s, version %d, code %s, want %s, 1, SUCCESS", ran.Hash, ran.Version, r.code(), report.Hash)
	}
	o.problemOf(http.StatusNotFound, o.get("/api/v1/runs/"+r.ID+"/plan?version=2"))
}

// TestP41_EveryBadBodyIsAProblem: bodies that are no request at all.
func TestP41_EveryBadBodyIsAProblem(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	before := w.content()
	cases := []struct {
		name, body, pointer string
		status              int
	}{
		{"empty", "", "", 400}, {"space", " \n\t ", "", 400}, {"no JSON", "{", "", 400}, {"words", "hello", "", 400},
		{"two values", `{"goal":"x"}{"goal":"y"}`, "", 400}, {"a list", `["goal"]`, "", 400}, {"null", `null`, "", 422},
		{"unknown key", `{"goal":"x","colour":1}`, "/colour", 400}, {"wrong type", `{"goal":7}`, "/goal", 400},
		{"wrong inner type", `{"goal":"x","mode_options":{"checkpoints":7}}`, "/mode_options/checkpoints", 400},
		{"duplicate key", `{"goal":"x","goal":"y"}`, "/goal", 400},
		{"invalid UTF-8", "{\"goal\":\"a\xff\xfe\"}", "", 400}, {"NUL bytes", "\x00\x00\x00", "", 400},
		{"10,000 deep", `{"goal":"x","plan":` + nested(10_000) + `}`, "/plan", 400},
		{"10,000 deep, open", strings.Repeat(`{"plan":`, 10_000), "/plan", 400},
		{"unknown intent", `{"goal":"x","intent":"root"}`, "/intent", 422}, {"unknown mode", `{"goal":"x","mode":"swarm"}`, "", 422},
		{"unknown profile", `{"goal":"x","profile":"huge"}`, "", 422},
		{"empty goal", `{"goal":""}`, "", 422}, {"blank goal", `{"goal":" \n "}`, "", 422},
		{"long goal", `{"goal":"` + strings.Repeat("x", 9<<10) + `"}`, "", 422},
		{"long key", `{"goal":"x","idempotency_key":"` + strings.Repeat("k", 300) + `"}`, "/idempotency_key", 422},
		{"lone surrogate", `{"goal":"a\ud800"}`, "", 400},
	}
	for _, tc := range cases {
		p := o.problemOf(tc.status, o.post("/api/v1/runs", tc.body))
		if p.Code != "invalid" || !strings.HasPrefix(p.Pointer, tc.pointer) {
			t.Errorf("%s: got code %q, pointer %q, want invalid at %q: %s", tc.name, p.Code, p.Pointer, tc.pointer, p.Detail)
		}
	}
	if after := w.content(); after != before {
		t.Errorf("a refused body changed what is stored:\n%s\n%s", before, after)
	}
	if r := o.runToRest(`{"goal":"show disk usage"}`); r.code() != "SUCCESS" {
		t.Errorf("afterwards: got %s, want the server to work on", r.code())
	}
}

// TestP14_BodiesAboveTheLimit get 413 naming it, whether they say how long
// they are or not, and nothing is cut to fit.
func TestP14_BodiesAboveTheLimit(t *testing.T) {
	w := newWorld(t)
	o := w.operator()
	before := w.content()
	big := `{"goal":"` + strings.Repeat("x", 5<<20) + `"}`
	for _, path := range []string{"/api/v1/runs", "/api/v1/plans/check"} {
		for name, body := range map[string]io.Reader{"stated": strings.NewReader(big), "unstated": struct{ io.Reader }{strings.NewReader(big)}} {
			p := o.problemOf(http.StatusRequestEntityTooLarge, o.send(http.MethodPost, path, body))
			if !strings.Contains(p.Detail, "4 MiB") || p.Rule != "P14" || p.Code != "invalid" {
				t.Errorf("%s, length %s: got %+v, want the limit named", path, name, p)
			}
		}
	}
	goal := "goal=" + strings.Repeat("x", 300<<10)
	for name, body := range map[string]io.Reader{"stated": strings.NewReader(goal), "unstated": struct{ io.Reader }{strings.NewReader(goal)}} {
		r := o.request(http.MethodPost, "/runs", body)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if got := o.do(r); got.status != http.StatusRequestEntityTooLarge || !strings.Contains(got.text(), "256 KiB") {
			t.Errorf("form, length %s: got %d, want 413 naming the limit", name, got.status)
		}
	}
	if after := w.content(); after != before {
		t.Errorf("a refused body changed what is stored:\n%s\n%s", before, after)
	}
	under := `{"goal":"x","plan":` + planOf(`{"id":"a","tool":"sysinfo","why":"`+strings.Repeat("x", 4<<20-400)+`"}`) + `}`
	if got := o.post("/api/v1/runs", under); got.status == http.StatusRequestEntityTooLarge {
		t.Errorf("%d bytes: got 413, want the limit to be 4 MiB", len(under))
	}
}

// TestP41_BadBodiesOfTheOtherRoutes, by forms as well.
func TestP41_BadBodiesOfTheOtherRoutes(t *testing.T) {
	s := newScene(t)
	before := s.content()
	for path, bodies := range map[string][]string{
		"/api/v1/plans/propose":             {"", "{}", `{"goal":""}`, `{"goal":7}`, `{"goal":"` + strings.Repeat("x", 9<<10) + `"}`},
		"/api/v1/plans/check":               {"", "[]", `{"plan":{},"intent":"root"}`, `{"plans":{}}`},
		"/api/v1/tokens":                    {"", `{"name":""}`, `{"name":"x","ceiling":"root"}`, `{"name":"` + strings.Repeat("x", 200) + `","ceiling":"observe"}`},
		"/api/v1/approvals/" + s.approval:   {"", "{}", `{"verdict":7}`, `{"verdict":"maybe","hash":"` + s.hash + `"}`},
		"/api/v1/runs/" + s.run + "/erase":  {"", "{}", `{"reason":" "}`},
		"/api/v1/runs/" + s.run + "/cancel": {"x", `{"reason":7}`, `{"why":"x"}`, `{"reason":"` + strings.Repeat("x", 5<<10) + `"}`},
	} {
		for _, body := range bodies {
			got := s.root.post(path, body)
			if got.status != http.StatusBadRequest && got.status != http.StatusUnprocessableEntity && got.status != http.StatusConflict {
				t.Errorf("%s with %.60q: got %d, want a refusal: %.200s", path, body, got.status, got.body)
				continue
			}
			s.root.problemOf(got.status, got)
		}
	}
	var multipart bytes.Buffer
	multipart.WriteString("--x\r\nContent-Disposition: form-data; name=\"goal\"\r\n\r\nbroken")
	r := s.root.request(http.MethodPost, "/runs", &multipart)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	if got := s.root.do(r); got.status != http.StatusBadRequest {
		t.Errorf("broken form: got %d, want 400", got.status)
	}
	if after := s.content(); after != before {
		t.Errorf("a refused body changed what is stored:\n%s\n%s", before, after)
	}
}
