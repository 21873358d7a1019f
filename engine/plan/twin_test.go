package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sluice/policy"
)

// randomPlan draws a small plan, good or bad: references to nothing, cycles,
// equal ids, equal calls and misplaced joins all occur.
func randomPlan(t *rapid.T) *Plan {
	count := rapid.IntRange(0, 7).Draw(t, "count")
	isTidy := rapid.Bool().Draw(t, "tidy") // mostly good plans, else any
	id := func(i int) string { return fmt.Sprintf("s%d", i) }
	p := &Plan{Format: 1, Goal: rapid.String().Draw(t, "goal")}
	for i := range count {
		s := Step{ID: id(i), Tool: rapid.SampledFrom([]string{"noop", "sum", "patch", "delete", "shell"}).Draw(t, "tool")}
		least, most := 0, i-1
		if !isTidy {
			most = count
			s.ID = id(rapid.IntRange(0, count-1).Draw(t, "id") * rapid.IntRange(0, 1).Draw(t, "again"))
		}
		value := i
		if !isTidy || rapid.IntRange(0, 9).Draw(t, "repeat") == 0 {
			value = rapid.IntRange(0, 3).Draw(t, "value")
		}
		s.Params = map[string]json.RawMessage{"n": json.RawMessage(fmt.Sprint(value)), "text": json.RawMessage(`"` + id(value) + `"`)}
		if least <= most {
			other := rapid.Map(rapid.IntRange(least, most), id)
			s.DependsOn = rapid.SliceOfN(other, 0, 3).Draw(t, "deps")
			if rapid.IntRange(0, 2).Draw(t, "ref") == 0 {
				s.Refs = map[string]Ref{"x": {Step: other.Draw(t, "from"), Field: "f"}}
			}
			if rapid.IntRange(0, 4).Draw(t, "guard") == 0 {
				s.Guard = &Guard{Ref: Ref{Step: other.Draw(t, "guarded"), Field: "f.0"}, Op: "eq", Value: json.RawMessage(`1.0`)}
			}
		}
		s.Join = rapid.SampledFrom([]Join{"", "", "", AllOf, AnyOf, AllDone}).Draw(t, "join")
		s.Approval = rapid.Bool().Draw(t, "approval")
		if rapid.IntRange(0, 5).Draw(t, "why") == 0 {
			s.Why = "because"
		}
		if rapid.IntRange(0, 5).Draw(t, "retries") == 0 {
			n := rapid.IntRange(0, 2).Draw(t, "n")
			s.Retries = &n
		}
		p.Steps = append(p.Steps, s)
	}
	if rapid.IntRange(0, 3).Draw(t, "max") == 0 {
		p.MaxSteps = rapid.IntRange(1, 8).Draw(t, "max_steps")
	}
	return p
}

// naive answers the same question as Compile in the plainest way: by looking at
// every pair of steps, without order, index or sharing.
type naive struct {
	p     *Plan
	tools map[string]Tool
}

func (n naive) isGood() bool {
	return n.hasOwnIDs() && n.refersToSteps() && n.isAcyclic() && n.joinsFit() && n.callsDiffer() && n.retriesFit() &&
		(n.p.MaxSteps == 0 || len(n.p.Steps) <= n.p.MaxSteps)
}

func (n naive) hasOwnIDs() bool {
	for i := range n.p.Steps {
		for j := range i {
			if n.p.Steps[i].ID == n.p.Steps[j].ID {
				return false
			}
		}
	}
	return true
}

func (n naive) at(id string) int {
	return slices.IndexFunc(n.p.Steps, func(s Step) bool { return s.ID == id })
}

// reads are the positions that a step reads from; -1 is nothing.
func (n naive) reads(i int) []int {
	var found []int
	for _, ref := range n.p.Steps[i].Refs {
		found = append(found, n.at(ref.Step))
	}
	if g := n.p.Steps[i].Guard; g != nil {
		found = append(found, n.at(g.Ref.Step))
	}
	return found
}

func (n naive) before(i int) []int {
	found := n.reads(i)
	for _, id := range n.p.Steps[i].DependsOn {
		found = append(found, n.at(id))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func (n naive) refersToSteps() bool {
	for i := range n.p.Steps {
		if slices.Contains(n.before(i), -1) {
			return false
		}
	}
	return true
}

// isAcyclic closes the relation over all triples.
func (n naive) isAcyclic() bool {
	count := len(n.p.Steps)
	reach := make([][]bool, count)
	for i := range reach {
		reach[i] = make([]bool, count)
		for _, from := range n.before(i) {
			reach[i][from] = true
		}
	}
	for k := range count {
		for i := range count {
			for j := range count {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	for i := range count {
		if reach[i][i] {
			return false
		}
	}
	return true
}

func (n naive) candidates(i int) []int {
	read := n.reads(i)
	return slices.DeleteFunc(n.before(i), func(from int) bool { return slices.Contains(read, from) })
}

func (n naive) joinsFit() bool {
	for i := range n.p.Steps {
		switch n.p.Steps[i].Join {
		case AllOf:
			if len(n.before(i)) == 0 {
				return false
			}
		case AnyOf:
			if len(n.candidates(i)) < 2 || !n.isSafeChoice(n.candidates(i)) {
				return false
			}
		}
	}
	return true
}

// isSafeChoice tries every order of the candidates for one in which each
// depends on the one before.
func (n naive) isSafeChoice(candidates []int) bool {
	isHigh := slices.ContainsFunc(candidates, func(i int) bool { return n.tools[n.p.Steps[i].Tool].Effect == policy.Once })
	if !isHigh {
		return true
	}
	var chain func(last int, rest []int) bool
	chain = func(last int, rest []int) bool {
		for k, next := range rest {
			if last >= 0 && !slices.Contains(n.before(next), last) {
				continue
			}
			others := slices.Delete(slices.Clone(rest), k, k+1)
			if len(others) == 0 || chain(next, others) {
				return true
			}
		}
		return false
	}
	return chain(-1, candidates)
}

func (n naive) callsDiffer() bool {
	for i := range n.p.Steps {
		for j := range i {
			a, b := &n.p.Steps[i], &n.p.Steps[j]
			if a.Why == "" && b.Why == "" && a.Tool == b.Tool && string(a.Params["n"]) == string(b.Params["n"]) && len(a.Refs) == len(b.Refs) && a.Refs["x"] == b.Refs["x"] {
				return false
			}
		}
	}
	return true
}

func (n naive) retriesFit() bool {
	for _, s := range n.p.Steps {
		if s.Retries != nil && *s.Retries > 0 && n.tools[s.Tool].Effect == policy.Once {
			return false
		}
	}
	return true
}

func TestC01_C17_CompileAgreesWithANaiveTwin(t *testing.T) {
	env := testEnv(t)
	tools := map[string]Tool{}
	for _, tool := range testTools() {
		tools[tool.Name] = tool
	}
	good := 0
	rapid.Check(t, func(t *rapid.T) {
		p := randomPlan(t)
		c, findings := Compile(p, env)
		want := naive{p: p, tools: tools}.isGood()
		if (c != nil) != want {
			t.Fatalf("accepted: got %v, want %v; findings:%s", c != nil, want, show(findings))
		}
		if (c == nil) != Refused(findings) {
			t.Fatalf("compiled %v, but Refused says %v", c != nil, Refused(findings))
		}
		if c != nil {
			good++
			checkCompiled(t, p, c, tools)
			checkLoad(t, c)
		}
	})
	if good == 0 {
		t.Error("no random plan was accepted: the test shows nothing")
	}
}

// checkCompiled compares what was derived with what the plan says.
func checkCompiled(t *rapid.T, p *Plan, c *Compiled, tools map[string]Tool) {
	n := naive{p: p}
	var entries, exits []int
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Index != i || s.ID != p.Steps[i].ID {
			t.Fatalf("step %d: got %s at %d", i, s.ID, s.Index)
		}
		var want []Dep
		for _, from := range n.before(i) {
			want = append(want, Dep{From: from, Data: slices.Contains(n.reads(i), from)})
		}
		if !reflect.DeepEqual(append([]Dep(nil), s.Deps...), want) {
			t.Fatalf("deps of %s: got %v, want %v", s.ID, s.Deps, want)
		}
		var next []int
		for j := range p.Steps {
			if slices.Contains(n.before(j), i) {
				next = append(next, j)
			}
		}
		if !slices.Equal(s.Next, next) {
			t.Fatalf("next of %s: got %v, want %v", s.ID, s.Next, next)
		}
		if len(want) == 0 {
			entries = append(entries, i)
		}
		if len(next) == 0 {
			exits = append(exits, i)
		}
		if s.Effect != tools[s.Tool].Effect || (s.Class == Act) != (s.Effect == policy.Once) {
			t.Fatalf("%s: got effect %s and class %s", s.ID, s.Effect, s.Class)
		}
	}
	if !slices.Equal(c.Entries, entries) || !slices.Equal(c.Exits, exits) {
		t.Fatalf("entries and exits: got %v %v, want %v %v", c.Entries, c.Exits, entries, exits)
	}
}

// checkLoad wants the canonical form to be canonical and to say everything.
func checkLoad(t *rapid.T, c *Compiled) {
	canonical, err := Canonical(c.Canonical)
	if err != nil || !bytes.Equal(canonical, c.Canonical) {
		t.Fatalf("canonical form: got %s, want %s (%v)", c.Canonical, canonical, err)
	}
	loaded, err := Load(c.Canonical)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	want := *c
	want.Findings = nil
	if text, wanted := describe(loaded), describe(&want); text != wanted {
		t.Fatalf("Load: got\n%s\nwant\n%s", text, wanted)
	}
}

// describe writes all of a compiled plan; nil and empty lists are alike.
func describe(c *Compiled) string {
	text := fmt.Sprintf("%s %q %d %s %v %v %v %s\n", c.Hash, c.Goal, c.MaxSteps, c.Contract, c.Entries, c.Exits, c.Findings, c.Canonical)
	for _, s := range c.Steps {
		guard := "none"
		if s.Guard != nil {
			guard = fmt.Sprintf("%+v", *s.Guard)
		}
		s.Guard = nil
		text += fmt.Sprintf("%+v guard %s\n", s, guard)
	}
	return text
}

func TestP18_LoadReadsEveryField(t *testing.T) {
	doc := `{"format":1,"goal":"all <&> of it","max_steps":4,"contract":{"schema":{"type":"object","required":["b"]}},"steps":[
	 {"id":"a","tool":"list","params":{"path":"x","depth":2}},
	 {"id":"b","tool":"write","params":{"path":null},"param_refs":{"text":{"step":"a","field":"first.a\\.b","template":"é {{value}}"}},"guard":{"ref":{"step":"a","field":"count"},"op":"ne","value":null},
	  "approval":true,"contract":{"schema":{"type":"object"}},"timeout_s":0.29,"retries":1,"why":"so"},
	 {"id":"c","tool":"noop","depends_on":["a","b"],"join":"all_done","guard":{"ref":{"step":"a","field":"names.0"},"op":"exists"}}]}`
	tools := testTools()
	tools[3].Input = json.RawMessage(`{"type":"object"}`)
	catalog, err := NewCatalog(tools)
	if err != nil {
		t.Fatalf("NewCatalog: %v", err)
	}
	c := mustCompile(t, doc, Env{Catalog: catalog})
	loaded, err := Load(c.Canonical)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	want := *c
	want.Findings = nil
	if got, wanted := describe(loaded), describe(&want); got != wanted {
		t.Errorf("got\n%s\nwant\n%s", got, wanted)
	}
	golden(t, "canonical.golden", json.RawMessage(c.Canonical))
}

func TestP18_LoadRefusesWhatCompileWouldNotWrite(t *testing.T) {
	good := string(mustCompile(t, steps(`{"id":"a","tool":"noop","params":{"x":1}},{"id":"b","tool":"sum","depends_on":["a"]}`), testEnv(t)).Canonical)
	if _, err := Load([]byte(good)); err != nil {
		t.Fatalf("Load of the good one: %v", err)
	}
	changes := [][2]string{
		{`"from":0`, `"from":1`}, {`"from":0`, `"from":7`}, {`"from":0`, `"from":-1`}, {`"class":"fetch"`, `"class":"act!"`}, {`"effect":"read"`, `"effect":"none"`},
		{`"join":"all_of"`, `"join":"first_of"`}, {`"value":1`, `"value": 1`}, {`"value":1`, `"value":1.0`}, {`"value":1`, `"value":{"a": 1}`}, {`"value":1`, `"value":{"a":1,"a":2}`}, {`"goal":"g"`, `"goal":"\u0067"`}, {`"format":1`, `"format":2`},
		{`"format":1`, `"extra":1,"format":1`}, {`"id":"b"`, `"id":""`}, {`"retries":2`, `"retries":99`}, {`"timeout_us":10000000`, `"timeout_us":0`}, {`}]}`, `}]`}, {`{"from":0}`, `{"from":0},{"from":0}`},
		{`"class":"fetch","effect"`, `"class":"fetch","deps":[{"from":1}],"effect"`}, {`"value":1}],"retries"`, `"value":1}],"refs":[{"field":"","from":1,"param":"y"}],"retries"`},
		{`"id":"a","impact":0`, `"guard":{"field":"","from":1,"op":"exists"},"id":"a","impact":0`},
	}
	for _, change := range changes {
		bad := replaceOnce(good, change[0], change[1])
		if bad == good {
			t.Fatalf("change %q does not apply to %s", change[0], good)
		}
		if _, err := Load([]byte(bad)); err == nil {
			t.Errorf("%s → %s: got accepted, want ErrNotCompiled", change[0], change[1])
		}
	}
	for _, bad := range []string{"", "null", "[]", "{}", "1"} {
		if _, err := Load([]byte(bad)); err == nil {
			t.Errorf("%q: got accepted, want an error", bad)
		}
	}
}

func replaceOnce(text, old, new string) string {
	return string(bytes.Replace([]byte(text), []byte(old), []byte(new), 1))
}

// FuzzParse wants an answer for every document: a plan, or findings that point
// somewhere and say something; and whatever compiles can be loaded.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{noops(3), `{"nodes":[{"id":"a","type":"act","tool":"send"}],"edges":[["a","a"]]}`, `{"steps":[{"tool":"noop","depends_on":[0]}]}`,
		steps(`{"id":"a","tool":"list","params":{"path":"x"},"guard":{"ref":{"step":"a","field":"x"},"op":"in","value":[1]},"contract":{"schema":{"type":"object"}}}`), `[`, `{"a":`, "\xff"} {
		f.Add([]byte(seed))
	}
	env := testEnv(f)
	f.Fuzz(func(t *testing.T, doc []byte) {
		p, findings := Parse(doc)
		if (p == nil) != Refused(findings) {
			t.Fatalf("plan %v with findings:%s", p != nil, show(findings))
		}
		c, findings := Check(doc, env)
		if (c == nil) != Refused(findings) || p == nil && c != nil {
			t.Fatalf("parsed %v, compiled %v with findings:%s", p != nil, c != nil, show(findings))
		}
		for _, finding := range findings {
			if finding.Rule == "" || finding.Message == "" || finding.Fix == "" || finding.Pointer != "" && finding.Pointer[0] != '/' {
				t.Fatalf("empty finding %+v", finding)
			}
		}
		if c == nil {
			return
		}
		loaded, err := Load(c.Canonical)
		if err != nil || loaded.Hash != c.Hash {
			t.Fatalf("Load: %v", err)
		}
	})
}
