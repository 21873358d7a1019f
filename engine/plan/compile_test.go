package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/policy"
)

// refusal is one minimal bad plan with what must be said of it.
type refusal struct {
	name, doc string
	want      expect
	related   []string
}

func runRefusals(t *testing.T, env Env, cases []refusal) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			compiled, findings := Compile(mustParse(t, c.doc), env)
			if compiled != nil {
				t.Error("got a compiled plan, want none")
			}
			f := wantFinding(t, findings, c.want)
			if f.Severity != Error {
				t.Errorf("severity: got %s, want error", f.Severity)
			}
			if c.related != nil && !reflect.DeepEqual(f.Related, c.related) {
				t.Errorf("related: got %v, want %v", f.Related, c.related)
			}
		})
	}
}

func TestC01_Cycles(t *testing.T) {
	runRefusals(t, testEnv(t), []refusal{
		{"two steps", steps(`{"id":"a","tool":"noop","depends_on":["b"]},{"id":"b","tool":"sum","depends_on":["a"]}`),
			expect{"C01", "a", "/steps/0/depends_on/0"}, []string{"b"}},
		{"self", steps(`{"id":"a","tool":"noop","depends_on":["a"]}`), expect{"C01", "a", "/steps/0/depends_on/0"}, []string{}},
		{"self by reference", steps(`{"id":"a","tool":"noop","param_refs":{"x":{"step":"a","field":""}}}`), expect{"C01", "a", "/steps/0/param_refs/x/step"}, nil},
		{"self by guard", steps(`{"id":"a","tool":"noop","guard":{"ref":{"step":"a","field":""},"op":"exists"}}`), expect{"C01", "a", "/steps/0/guard/ref/step"}, nil},
		{"through a reference", steps(`{"id":"a","tool":"noop","param_refs":{"x":{"step":"c","field":""}}},{"id":"b","tool":"sum","depends_on":["a"]},{"id":"c","tool":"list","params":{"path":"x"},"depends_on":["b"]}`),
			expect{"C01", "a", "/steps/0/param_refs/x/step"}, []string{"b", "c"}},
		{"the second of two", steps(`{"id":"x","tool":"noop","depends_on":["x"]},{"id":"a","tool":"noop","depends_on":["b"]},{"id":"b","tool":"sum","depends_on":["a"]}`),
			expect{"C01", "a", "/steps/1/depends_on/0"}, []string{"b"}},
	})
}

func TestC01_CycleOfTenThousandSteps(t *testing.T) {
	doc := strings.Replace(noops(StepsMax), `"params":{"n":0}`, `"params":{"n":0},"depends_on":["n9999"]`, 1)
	_, findings := Compile(mustParse(t, doc), testEnv(t))
	f := wantFinding(t, findings, expect{"C01", "n0", "/steps/0/depends_on/0"})
	if len(f.Message) > 1000 || len(f.Related) == 0 {
		t.Errorf("got a message of %d bytes and %d related, want a short one that names steps", len(f.Message), len(f.Related))
	}
}

func TestC02_StepsBehindOrBeforeACycle(t *testing.T) {
	const beside = `,{"id":"beside","tool":"list","params":{"path":"z"}}`
	runRefusals(t, testEnv(t), []refusal{
		{"no entry reaches it", steps(`{"id":"a","tool":"noop","depends_on":["b"]},{"id":"b","tool":"sum","depends_on":["a"]},{"id":"behind","tool":"sum","params":{"x":1},"depends_on":["b"]}` + beside),
			expect{"C02", "behind", "/steps/2"}, nil},
		{"it reaches no exit", steps(`{"id":"before","tool":"sum","params":{"x":1}},{"id":"a","tool":"noop","depends_on":["b","before"]},{"id":"b","tool":"sum","depends_on":["a"]}` + beside),
			expect{"C02", "before", "/steps/0"}, nil},
	})
	_, findings := Compile(mustParse(t, steps(`{"id":"a","tool":"noop","depends_on":["b"]},{"id":"b","tool":"sum","depends_on":["a"]}`+beside)), testEnv(t))
	if len(findings) != 1 {
		t.Errorf("a cycle alone: got %d findings, want C01 alone:%s", len(findings), show(findings))
	}
}

func TestC03_Joins(t *testing.T) {
	const a = `{"id":"a","tool":"noop"},{"id":"b","tool":"sum"},`
	runRefusals(t, testEnv(t), []refusal{
		{"any_of without candidates", steps(`{"id":"a","tool":"noop","join":"any_of"}`), expect{"C03", "a", "/steps/0/join"}, nil},
		{"any_of with one", steps(a + `{"id":"c","tool":"noop","params":{"c":1},"depends_on":["a"],"join":"any_of"}`), expect{"C03", "c", "/steps/2/join"}, nil},
		{"any_of with one twice", steps(a + `{"id":"c","tool":"noop","params":{"c":1},"depends_on":["a","a"],"join":"any_of"}`), expect{"C03", "c", "/steps/2/join"}, nil},
		{"any_of with one read", steps(a + `{"id":"c","tool":"noop","depends_on":["a","b"],"param_refs":{"x":{"step":"b","field":""}},"join":"any_of"}`), expect{"C03", "c", "/steps/2/join"}, nil},
		{"all_of without predecessor", steps(`{"id":"a","tool":"noop","join":"all_of"}`), expect{"C03", "a", "/steps/0/join"}, nil},
	})
	mustCompile(t, steps(a+`{"id":"c","tool":"noop","params":{"c":1},"depends_on":["a","b"],"join":"any_of"}`), testEnv(t))
	mustCompile(t, steps(`{"id":"a","tool":"noop","join":"all_done"}`), testEnv(t))
}

func TestC04_ContractsNeedARule(t *testing.T) {
	for _, c := range []struct{ doc, step, pointer string }{
		{steps(`{"id":"a","tool":"noop","contract":{}}`), "a", "/steps/0/contract"},
		{steps(`{"id":"a","tool":"noop","contract":{"checks":[]}}`), "a", "/steps/0/contract"},
		{steps(`{"id":"a","tool":"noop","contract":{"schema":{}}}`), "a", "/steps/0/contract/schema"},
		{steps(`{"id":"a","tool":"noop","contract":{"schema":true}}`), "a", "/steps/0/contract/schema"},
		{`{"format":1,"goal":"g","contract":{},"steps":[{"id":"a","tool":"noop"}]}`, "", "/contract"},
	} {
		_, findings := Check([]byte(c.doc), testEnv(t))
		wantFinding(t, findings, expect{"C04", c.step, c.pointer})
	}
}

func TestC05_HighEffectsAreNotSpeculated(t *testing.T) {
	join := func(a, b string) string {
		return steps(`{"id":"a",` + a + `},{"id":"b",` + b + `},{"id":"c","tool":"noop","depends_on":["a","b"],"join":"any_of"}`)
	}
	const remove, remove2 = `"tool":"delete","params":{"path":"a"}`, `"tool":"delete","params":{"path":"b"}`
	runRefusals(t, testEnv(t), []refusal{
		{"two deletes", join(remove, remove2), expect{"C05", "b", "/steps/2/depends_on/1"}, []string{"c", "a"}},
		{"a read and a delete", join(`"tool":"sum"`, remove), expect{"C05", "b", "/steps/2/depends_on/1"}, []string{"c", "a"}},
		{"a delete and a read", join(remove, `"tool":"sum"`), expect{"C05", "a", "/steps/2/depends_on/0"}, []string{"c", "b"}},
		{"once below override", join(`"tool":"patch","params":{"n":1}`, `"tool":"patch","params":{"n":2}`), expect{"C05", "b", "/steps/2/depends_on/1"}, []string{"c", "a"}},
	})
	mustCompile(t, join(remove, remove2+`,"depends_on":["a"],"join":"all_done"`), testEnv(t))
	mustCompile(t, join(`"tool":"list","params":{"path":"a"}`, `"tool":"list","params":{"path":"b"}`), testEnv(t))
	mustCompile(t, join(`"tool":"write","params":{"path":"a","text":"x"}`, `"tool":"write","params":{"path":"b","text":"x"}`), testEnv(t))
}

func TestC07_TooManySteps(t *testing.T) {
	const two = `[{"id":"a","tool":"noop"},{"id":"b","tool":"sum"}]}`
	runRefusals(t, testEnv(t), []refusal{{"own bound", `{"format":1,"goal":"g","max_steps":1,"steps":` + two, expect{"C07", "", "/max_steps"}, nil}})
	env := testEnv(t)
	env.Limits.Steps = 1
	runRefusals(t, env, []refusal{{"budget", `{"format":1,"goal":"g","steps":` + two, expect{"C07", "", "/steps"}, nil}})
	env.Limits.Steps = 2
	mustCompile(t, `{"format":1,"goal":"g","max_steps":2,"steps":`+two, env)
}

func TestC10_ToolsAndReferences(t *testing.T) {
	const list = `{"id":"l","tool":"list","params":{"path":"x"}},`
	read := func(field string) string {
		return steps(list + `{"id":"a","tool":"noop","param_refs":{"x":{"step":"l","field":"` + field + `"}}}`)
	}
	runRefusals(t, testEnv(t), []refusal{
		{"unknown tool", steps(`{"id":"a","tool":"nothing"}`), expect{"C10", "a", "/steps/0/tool"}, nil},
		{"dependency on nothing", steps(`{"id":"a","tool":"noop","depends_on":["z"]}`), expect{"C10", "a", "/steps/0/depends_on/0"}, nil},
		{"reference to nothing", steps(`{"id":"a","tool":"noop","param_refs":{"x":{"step":"z","field":""}}}`), expect{"C10", "a", "/steps/0/param_refs/x/step"}, nil},
		{"guard on nothing", steps(`{"id":"a","tool":"noop","guard":{"ref":{"step":"z","field":""},"op":"exists"}}`), expect{"C10", "a", "/steps/0/guard/ref/step"}, nil},
		{"missing parameter", steps(`{"id":"a","tool":"list","params":{"depth":1}}`), expect{"C10", "a", "/steps/0/params"}, nil},
		{"no parameters", steps(`{"id":"a","tool":"list"}`), expect{"C10", "a", "/steps/0"}, nil},
		{"wrong type", steps(`{"id":"a","tool":"list","params":{"path":1}}`), expect{"C10", "a", "/steps/0/params/path"}, nil},
		{"out of range", steps(`{"id":"a","tool":"list","params":{"path":"x","depth":0}}`), expect{"C10", "a", "/steps/0/params/depth"}, nil},
		{"unknown parameter", steps(`{"id":"a","tool":"list","params":{"path":"x","dept":1}}`), expect{"C10", "a", "/steps/0/params/dept"}, nil},
		{"wrong literal beside a reference", steps(list + `{"id":"a","tool":"write","params":{"path":1},"param_refs":{"text":{"step":"l","field":"names.0"}}}`), expect{"C10", "a", "/steps/1/params/path"}, nil},
		{"missing beside a reference", steps(list + `{"id":"a","tool":"write","param_refs":{"text":{"step":"l","field":"names.0"}}}`), expect{"C10", "a", "/steps/1"}, nil},
		{"unknown parameter by reference", steps(list + `{"id":"a","tool":"list","params":{"path":"y"},"param_refs":{"deep":{"step":"l","field":"count"}}}`), expect{"C10", "a", "/steps/1/param_refs/deep"}, nil},
		{"type by reference", steps(list + `{"id":"a","tool":"list","param_refs":{"path":{"step":"l","field":"count"}}}`), expect{"C10", "a", "/steps/1/param_refs/path"}, nil},
		{"text into an integer", steps(list + `{"id":"a","tool":"list","params":{"path":"y"},"param_refs":{"depth":{"step":"l","field":"count","template":"{{value}}"}}}`), expect{"C10", "a", "/steps/1/param_refs/depth"}, nil},
		{"no such field", read("name"), expect{"C10", "a", "/steps/1/param_refs/x/field"}, nil},
		{"a key of an array", read("names.first"), expect{"C10", "a", "/steps/1/param_refs/x/field"}, nil},
		{"an operator", read("names.#"), expect{"C10", "a", "/steps/1/param_refs/x/field"}, nil},
		{"below a string", read("names.0.x"), expect{"C10", "a", "/steps/1/param_refs/x/field"}, nil},
		{"dot not escaped", read("first.a.b"), expect{"C10", "a", "/steps/1/param_refs/x/field"}, nil},
		{"guard on no such field", steps(list + `{"id":"a","tool":"noop","guard":{"ref":{"step":"l","field":"size"},"op":"exists"}}`), expect{"C10", "a", "/steps/1/guard/ref/field"}, nil},
	})
	for _, field := range []string{"", "names", "names.0", "names.17", "count", `first.a\\.b`} {
		mustCompile(t, read(field), testEnv(t))
	}
	mustCompile(t, steps(list+`{"id":"a","tool":"list","param_refs":{"path":{"step":"l","field":"count","template":"n{{value}}"}}}`), testEnv(t))
}

func TestC10_OwnContractDecidesWhatFieldsExist(t *testing.T) {
	doc := func(field string) string {
		return steps(`{"id":"n","tool":"noop","contract":{"schema":{"type":"object","properties":{"x":{}},"additionalProperties":false}}},
		{"id":"a","tool":"sum","param_refs":{"v":{"step":"n","field":"` + field + `"}}}`)
	}
	mustCompile(t, doc("x.deep.down"), testEnv(t))
	runRefusals(t, testEnv(t), []refusal{{"closed", doc("y"), expect{"C10", "a", "/steps/1/param_refs/v/field"}, nil}})
}

func TestC12_TimeoutAndSchemaAreNeeded(t *testing.T) {
	runRefusals(t, testEnv(t), []refusal{
		{"no timeout", steps(`{"id":"a","tool":"untimed"}`), expect{"C12", "a", "/steps/0"}, nil},
		{"no schema", steps(`{"id":"a","tool":"bare"}`), expect{"C12", "a", "/steps/0/tool"}, nil},
	})
	if got := mustCompile(t, steps(`{"id":"a","tool":"untimed","timeout_s":2.5}`), testEnv(t)).Steps[0].Timeout; got != 2500*time.Millisecond {
		t.Errorf("timeout: got %s, want 2.5s", got)
	}
}

func TestC16_LowerBoundOfCost(t *testing.T) {
	const reads = `{"id":"a","tool":"noop"},{"id":"b","tool":"sum"},{"id":"c","tool":"list","params":{"path":"x"}}`
	const acts = `{"id":"a","tool":"write","params":{"path":"a","text":""}},{"id":"b","tool":"write","params":{"path":"b","text":""}}`
	const choice = acts + `,{"id":"c","tool":"noop","depends_on":["a","b"],"join":"any_of"}`
	const readOrAct = `{"id":"a","tool":"sum"},{"id":"b","tool":"write","params":{"path":"b","text":""}},{"id":"c","tool":"noop","depends_on":["a","b"],"join":"any_of"}`
	const guarded = reads + `,{"id":"d","tool":"noop","params":{"d":1},"guard":{"ref":{"step":"a","field":"x"},"op":"exists"}},{"id":"e","tool":"noop","params":{"e":1},"depends_on":["d"]}`
	const twoChoices = acts + `,{"id":"c","tool":"noop","depends_on":["a","b"],"join":"any_of"},{"id":"d","tool":"sum","depends_on":["a","b"],"join":"any_of"}`
	const followsCandidate = choice + `,{"id":"d","tool":"sum","depends_on":["a"]},{"id":"e","tool":"sum","param_refs":{"x":{"step":"d","field":"f"}},"join":"all_done"}`
	const guard = `,"guard":{"ref":{"step":"z","field":"count"},"op":"exists"}`
	const guardedChoice = `{"id":"z","tool":"list","params":{"path":"x"}},{"id":"a","tool":"sum"` + guard + `},{"id":"b","tool":"sum","params":{"b":1}` + guard + `},{"id":"c","tool":"noop","depends_on":["a","b"],"join":"any_of"}`
	const ordered = `{"id":"z","tool":"list","params":{"path":"x"}},{"id":"a","tool":"sum"` + guard + `},{"id":"c","tool":"noop","depends_on":["a"],"join":"all_done"}`
	cases := []struct {
		name, list     string
		calls, effects int64
	}{
		{"one success serves two choices", twoChoices, 3, 1},
		{"what follows a skipped candidate", followsCandidate, 2, 1},
		{"all candidates may be skipped", guardedChoice, 1, 0},
		{"mere order after a skipped step", ordered, 2, 0},
		{"every step a call", reads, 3, 0},
		{"every act an effect", acts, 2, 2},
		{"one of two candidates", choice, 2, 1},
		{"the cheapest candidate", readOrAct, 2, 0},
		{"what a guard may skip", guarded, 3, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			env := testEnv(t)
			env.Limits = Limits{ToolCalls: c.calls, SideEffects: c.effects}
			mustCompile(t, steps(c.list), env)
			if c.calls == 1 {
				return // a bound of zero is no bound
			}
			env.Limits = Limits{ToolCalls: c.calls - 1}
			_, findings := Compile(mustParse(t, steps(c.list)), env)
			wantFinding(t, findings, expect{"C16", "", "/steps"})
			if c.effects > 1 {
				env.Limits = Limits{SideEffects: c.effects - 1}
				_, findings = Compile(mustParse(t, steps(c.list)), env)
				wantFinding(t, findings, expect{"C16", "", "/steps"})
			}
		})
	}
}

func TestC17_IdsAndDuplicateCalls(t *testing.T) {
	const a = `{"id":"a","tool":"list","params":{"path":"x","depth":1}},`
	runRefusals(t, testEnv(t), []refusal{
		{"id twice", steps(a + `{"id":"a","tool":"noop"}`), expect{"C17", "a", "/steps/1/id"}, nil},
		{"same call", steps(a + `{"id":"b","tool":"list","params":{"depth":1.0,"path":"\u0078"}}`), expect{"C17", "b", "/steps/1"}, []string{"a"}},
		{"same reference", steps(a + `{"id":"b","tool":"noop","param_refs":{"x":{"step":"a","field":"count"}}},{"id":"c","tool":"noop","param_refs":{"x":{"step":"a","field":"count"}}}`), expect{"C17", "c", "/steps/2"}, []string{"b"}},
		{"no arguments", steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"noop"}`), expect{"C17", "b", "/steps/1"}, []string{"a"}},
		{"blank why", steps(`{"id":"a","tool":"noop"},{"id":"b","tool":"noop","why":"  "}`), expect{"C17", "b", "/steps/1"}, []string{"a"}},
	})
	mustCompile(t, steps(a+`{"id":"b","tool":"list","params":{"path":"x","depth":1},"why":"after the change"}`), testEnv(t))
	mustCompile(t, steps(a+`{"id":"b","tool":"list","params":{"path":"x","depth":2}}`), testEnv(t))
}

func TestP11_StatedClassMustFit(t *testing.T) {
	env := testEnv(t)
	runRefusals(t, env, []refusal{
		{"act in a transform", steps(`{"id":"a","tool":"delete","class":"transform"}`), expect{"P11", "a", "/steps/0/class"}, nil},
		{"fetch as act", steps(`{"id":"a","tool":"noop","class":"act"}`), expect{"P11", "a", "/steps/0/class"}, nil},
	})
	for tool, want := range map[string]Class{"noop": Fetch, "sum": Transform, "patch": Act, "delete": Act} {
		if got := mustCompile(t, steps(`{"id":"a","tool":"`+tool+`"}`), env).Steps[0].Class; got != want {
			t.Errorf("R5: class of %s: got %s, want %s", tool, got, want)
		}
	}
}

func TestP10_Normalisation(t *testing.T) {
	env := testEnv(t)
	c := mustCompile(t, steps(`{"id":"r","tool":"noop"},{"id":"w","tool":"write","params":{"path":"p","text":"t"}},{"id":"o","tool":"delete"},{"id":"z","tool":"sum","retries":0,"timeout_s":0.25}`), env)
	for i, want := range []struct {
		retries int
		timeout time.Duration
	}{{2, 10 * time.Second}, {2, 10 * time.Second}, {0, 10 * time.Second}, {0, 250 * time.Millisecond}} {
		if s := c.Steps[i]; s.Retries != want.retries || s.Timeout != want.timeout || s.Join != AllOf || s.Schema != nil {
			t.Errorf("%s: got retries %d timeout %s join %s schema %s, want %d %s all_of and the tool's", s.ID, s.Retries, s.Timeout, s.Join, s.Schema, want.retries, want.timeout)
		}
	}
	runRefusals(t, env, []refusal{{"once is never retried", steps(`{"id":"a","tool":"delete","retries":1}`), expect{"P10", "a", "/steps/0/retries"}, nil}})
	mustCompile(t, steps(`{"id":"a","tool":"delete","retries":0}`), env)
}

func TestR08_ReferencesAddDependencies(t *testing.T) {
	c := mustCompile(t, steps(`{"id":"b","tool":"noop","param_refs":{"x":{"step":"a","field":"names.0"}},"guard":{"ref":{"step":"d","field":""},"op":"exists"},"depends_on":["c","a"]},
	{"id":"a","tool":"list","params":{"path":"x"}},{"id":"c","tool":"sum"},{"id":"d","tool":"sum","params":{"d":1}}`), testEnv(t))
	want := []Dep{{From: 1, Data: true}, {From: 2}, {From: 3, Data: true}}
	if got := c.Steps[0].Deps; !reflect.DeepEqual(got, want) {
		t.Errorf("deps: got %v, want %v", got, want)
	}
	if got := c.Steps[1].Next; !reflect.DeepEqual(got, []int{0}) {
		t.Errorf("next of a: got %v, want [0]", got)
	}
	if !reflect.DeepEqual(c.Entries, []int{1, 2, 3}) || !reflect.DeepEqual(c.Exits, []int{0}) {
		t.Errorf("entries and exits: got %v %v, want [1 2 3] [0]", c.Entries, c.Exits)
	}
	if ref := c.Steps[0].Refs[0]; ref.Source != "step:a/names.0" || ref.From != 1 || !reflect.DeepEqual(ref.Path, []string{"names", "0"}) {
		t.Errorf("ref: got %+v", ref)
	}
}

func TestP20_LabelsFollowTheAuthor(t *testing.T) {
	doc := steps(`{"id":"a","tool":"noop","params":{"goal":"x","fix/ed":1}}`)
	for _, c := range []struct {
		author      Author
		goal, fixed policy.Label
	}{{Person, policy.LabelUser, policy.LabelUser}, {Builtin, policy.LabelUser, policy.LabelConstant}, {Model, policy.LabelUntrusted, policy.LabelUntrusted}, {"", policy.LabelUser, policy.LabelUser}} {
		env := testEnv(t)
		env.Author = c.author
		p := mustParse(t, doc)
		p.Steps[0].Labels = map[string]string{"goal": "user"}
		compiled, _ := Compile(p, env)
		literals := compiled.Steps[0].Literals
		if literals[0].Param != "fix/ed" || literals[0].Source != "plan:/steps/0/params/fix~1ed" {
			t.Errorf("literal: got %+v, want fix/ed first with its pointer", literals[0])
		}
		if !reflect.DeepEqual(literals[0].Labels, []policy.Label{c.fixed}) || !reflect.DeepEqual(literals[1].Labels, []policy.Label{c.goal}) {
			t.Errorf("author %q: got %v %v, want %s %s", c.author, literals[0].Labels, literals[1].Labels, c.fixed, c.goal)
		}
	}
	env := testEnv(t)
	env.Author = Builtin
	p := mustParse(t, doc)
	p.Steps[0].Labels = map[string]string{"goal": "sure"}
	if compiled, _ := Compile(p, env); compiled.Steps[0].Literals[1].Labels[0] != policy.LabelUntrusted {
		t.Errorf("unknown label: got %v, want untrusted", compiled.Steps[0].Literals[1].Labels)
	}
}

func TestR46_ImpactIsTheMostThatIsPossible(t *testing.T) {
	const list = `{"id":"l","tool":"list","params":{"path":"x"}},`
	for step, want := range map[string]policy.Rank{
		`{"id":"a","tool":"write","params":{"path":"a","text":"b"}}`:                        policy.Operate,
		`{"id":"a","tool":"shell","params":{"command":"ls"}}`:                               policy.Observe,
		`{"id":"a","tool":"shell","params":{"command":"rm"}}`:                               policy.RankMax,
		`{"id":"a","tool":"shell"}`:                                                         policy.RankMax,
		`{"id":"a","tool":"shell","param_refs":{"command":{"step":"l","field":"names.0"}}}`: policy.Override,
	} {
		c := mustCompile(t, steps(list+step), testEnv(t))
		if got := c.Steps[1].Impact; got != want {
			t.Errorf("%s: got impact %d, want %d", step, got, want)
		}
	}
}

func TestP14_PlansMadeInProcessAreCheckedToo(t *testing.T) {
	env := testEnv(t)
	big := &Plan{Format: 1, Steps: make([]Step, StepsMax+1)}
	if c, findings := Compile(big, env); c != nil || len(findings) != 1 || findings[0].Rule != "P14" {
		t.Errorf("10,001 steps: got %v and%s", c != nil, show(findings))
	}
	if c, findings := Compile(nil, env); c != nil || len(findings) != 1 {
		t.Errorf("nil: got %v and%s", c, show(findings))
	}
	bad := &Plan{Format: 1, Steps: []Step{{ID: "A", Tool: "noop", Join: "first_of"}, {Tool: "noop"}, {ID: "c", Tool: "noop", Params: map[string]json.RawMessage{"x": json.RawMessage(`{"a":1,"a":2}`)}},
		{ID: "d", Tool: "sum", Guard: &Guard{Ref: Ref{Step: "c"}, Op: "eq", Value: json.RawMessage(`{"a":1,"a":2}`)}}}}
	c, findings := Compile(bad, env)
	if c != nil {
		t.Error("got a compiled plan, want none")
	}
	for _, want := range []expect{{"P08", "A", "/steps/0/id"}, {"R23", "A", "/steps/0/join"}, {"P08", "", "/steps/1"}, {"P08", "c", "/steps/2/params/x"}, {"P08", "d", "/steps/3/guard/value"}} {
		wantFinding(t, findings, want)
	}
	if c, findings := Compile(&Plan{Format: 1, Steps: []Step{{ID: "a", Tool: "noop"}}}, Env{}); c != nil || findings[0].Rule != "C10" {
		t.Errorf("no catalogue: got %v and%s", c, show(findings))
	}
}

func TestR56_CompileChangesNeitherPlanNorLaterResults(t *testing.T) {
	p := mustParse(t, noops(50))
	first, _ := Compile(p, testEnv(t))
	again, _ := Compile(p, testEnv(t))
	if !reflect.DeepEqual(first, again) {
		t.Error("compiling twice: got different plans")
	}
	if !strings.HasPrefix(first.Hash, "sha256:") || len(first.Hash) != 71 {
		t.Errorf("hash: got %q", first.Hash)
	}
	other := mustCompile(t, strings.Replace(noops(50), `{"n":7}`, `{"n":70}`, 1), testEnv(t))
	if other.Hash == first.Hash {
		t.Error("another literal: got the same hash")
	}
}

func TestC04_PlanContractIsKeptAndChecked(t *testing.T) {
	c := mustCompile(t, `{"format":1,"goal":"g","contract":{"schema":{"required":["a"]}},"steps":[{"id":"a","tool":"noop"}]}`, testEnv(t))
	if err := c.CheckContract([]byte(`{"a":1}`)); err != nil {
		t.Errorf("with a: got %v, want accepted", err)
	}
	if err := c.CheckContract([]byte(`{"b":1}`)); err == nil {
		t.Error("without a: got accepted, want an error")
	}
	if err := mustCompile(t, steps(`{"id":"a","tool":"noop"}`), testEnv(t)).CheckContract([]byte(`{}`)); err != nil {
		t.Errorf("no contract: got %v, want accepted", err)
	}
}
