//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checked is the answer of plan check (P38).
type checked struct {
	OK       bool    `json:"ok"`
	Hash     *string `json:"hash"`
	Findings []struct {
		Rule    string `json:"rule"`
		Step    string `json:"step"`
		Pointer string `json:"pointer"`
		Message string `json:"message"`
		Fix     string `json:"fix"`
	} `json:"findings"`
}

func planFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plan.json")
	writeFile(t, name, text)
	return name
}

// steps wraps step objects into a plan.
func steps(list ...string) string {
	return `{"format": 1, "goal": "test", "max_steps": 10000, "steps": [` + strings.Join(list, ",") + `]}`
}

func manySteps(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"id":"s%d","tool":"sysinfo"}`, i)
	}
	return steps(list...)
}

// malformed are plans that must be refused with a finding, by name.
func malformed() map[string]string {
	return map[string]string{
		"bad JSON":              `{"format": 1, "goal": `,
		"cycle":                 steps(`{"id":"a","tool":"sysinfo","depends_on":["b"]}`, `{"id":"b","tool":"sysinfo","depends_on":["a"]}`),
		"self-reference":        steps(`{"id":"a","tool":"file.read","param_refs":{"path":{"step":"a","field":"path"}}}`),
		"out-of-range index":    `{"goal":"x","steps":[{"tool":"file.read","param_refs":{"path":{"step":7,"field":"path"}}}]}`,
		"unknown tool":          steps(`{"id":"a","tool":"no.such.tool"}`),
		"unknown key":           steps(`{"id":"a","tool":"sysinfo","colour":"red"}`),
		"reference to nothing":  steps(`{"id":"a","tool":"file.read","param_refs":{"path":{"step":"gone","field":"path"}}}`),
		"duplicate id":          steps(`{"id":"a","tool":"sysinfo"}`, `{"id":"a","tool":"disk_usage"}`),
		"duplicate key":         steps(`{"id":"a","id":"b","tool":"sysinfo"}`),
		"100,000 steps":         manySteps(100_000),
		"10,000-deep JSON":      `{"format":1,"goal":"x","steps":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
		"intent inside a plan":  `{"format":1,"goal":"x","intent":"override","steps":[{"id":"a","tool":"sysinfo"}]}`,
		"first_of has no place": steps(`{"id":"a","tool":"sysinfo"}`, `{"id":"b","tool":"sysinfo","why":"again","depends_on":["a"],"join":"first_of"}`),
	}
}

func TestP38_EveryMalformedPlanGetsFindings(t *testing.T) {
	for name, text := range malformed() {
		t.Run(name, func(t *testing.T) {
			got := decode[checked](t, sluice(t, "", "plan", "check", planFile(t, text), "--json").wantCode(t, 1))
			if got.OK || got.Hash != nil || len(got.Findings) == 0 {
				t.Fatalf("got %+v, want findings and no hash", got)
			}
			for _, f := range got.Findings {
				if f.Rule == "" || f.Message == "" {
					t.Errorf("got %+v, want rule and message", f)
				}
			}
		})
	}
}

func TestP36_PlanCheckExitCodes(t *testing.T) {
	good := planFile(t, steps(`{"id":"a","tool":"sysinfo"}`))
	if got := decode[checked](t, sluice(t, "", "plan", "check", good, "--json").wantCode(t, 0)); !got.OK || got.Hash == nil {
		t.Errorf("got %+v, want ok with a hash", got)
	}
	sluice(t, "", "plan", "check", filepath.Join(t.TempDir(), "missing.json")).wantCode(t, 2)
	sluice(t, "", "plan", "chekc", good).wantCode(t, 2)
}

// TestP14_TheServerSurvivesEveryBadBody: nothing runs, and the process goes on.
func TestP14_TheServerSurvivesEveryBadBody(t *testing.T) {
	s := serve(t)
	api := s.api("override")
	for name, text := range malformed() {
		body := `{"intent":"observe","plan":` + text + `}`
		code, answer := api.raw("/runs", body)
		wantOne := code == http.StatusBadRequest || code == http.StatusUnprocessableEntity
		if name == "100,000 steps" {
			wantOne = wantOne || code == http.StatusRequestEntityTooLarge
		}
		if !wantOne {
			t.Errorf("%s: got %d %.200s, want a refusal", name, code, answer)
		}
		var problem struct{ Code string }
		if err := json.Unmarshal(answer, &problem); err != nil || problem.Code == "" {
			t.Errorf("%s: got %.200s, want a problem with a code (P41)", name, answer)
		}
	}
	code, answer := api.raw("/runs", `{"goal":"`+strings.Repeat("x", 5<<20)+`"}`)
	if code != http.StatusRequestEntityTooLarge || !strings.Contains(string(answer), "4") {
		t.Errorf("5 MiB: got %d %.200s, want 413 naming the limit", code, answer)
	}
	var list struct {
		Runs []run `json:"runs"`
	}
	api.want(http.StatusOK, http.MethodGet, "/runs", nil, &list)
	if len(list.Runs) != 0 {
		t.Errorf("got %d runs, want none", len(list.Runs))
	}
	if got := status(t, http.DefaultClient, s.url("/healthz")); got != http.StatusOK {
		t.Errorf("afterwards: got %d, want a healthy server", got)
	}
}

// raw posts a body as it is.
func (c client) raw(path, body string) (int, []byte) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.base+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatalf("POST %s: %v", path, err)
	}
	return response.StatusCode, []byte(readAll(c.t, response))
}

func TestP37_GateCheckAnswersLineByLine(t *testing.T) {
	lines := strings.Join([]string{
		`{"id":"1","tool":"sysinfo","params":{},"intent":"observe","scopes":["default"]}`,
		`{"id":"2","tool":"file.delete","params":{"path":"a"},"intent":"operate","scopes":["default"]}`,
		`{"id":"3","tool":"file.delete","params":{"path":"a"},"intent":"override","scopes":["default"]}`,
		`not json`,
		`{"id":"5","tool":"sysinfo","params":{},"intent":"observe","scopes":["nobody"]}`,
	}, "\n") + "\n"
	r := sluice(t, lines, "gate", "check", "-").wantCode(t, 2)
	want := []string{"allow null", "deny impact", "ask null", "deny input", "deny scope"}
	scanner := bufio.NewScanner(strings.NewReader(r.stdout))
	var got []string
	for scanner.Scan() {
		var d struct {
			Decision string
			Stage    *string
			Impact   *int
			Policy   string
		}
		if err := json.Unmarshal(scanner.Bytes(), &d); err != nil {
			t.Fatalf("%s: %v", scanner.Text(), err)
		}
		stage := "null"
		if d.Stage != nil {
			stage = *d.Stage
		}
		if d.Impact == nil || !strings.HasPrefix(d.Policy, "sha256:") {
			t.Errorf("%s: want impact and policy", scanner.Text())
		}
		got = append(got, d.Decision+" "+stage)
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestP36_EveryCommandHasHelp(t *testing.T) {
	for _, words := range []string{"", "serve", "run", "plan check", "plan propose", "gate check", "audit verify", "audit export", "erase", "token add"} {
		r := sluice(t, "", append(strings.Fields(words), "--help")...).wantCode(t, 0)
		if len(r.stdout)+len(r.stderr) < 40 {
			t.Errorf("%q: got %q, want help", words, r.stdout+r.stderr)
		}
	}
	if _, err := os.Stat("sluice.db"); err == nil {
		t.Error("asking for help made a log")
	}
}
