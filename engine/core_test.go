package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"sluice/engine"
	"sluice/engine/plan"
	"sluice/policy"
)

func declare(name string, effect policy.Effect, impact policy.Rank) plan.Tool {
	return plan.Tool{Tool: policy.Tool{Name: name, Effect: effect, Impact: impact}, Summary: name, Timeout: 1e9,
		Input: json.RawMessage(`{"type":"object"}`), Bytes: 1 << 20}
}

func testEnv(t testing.TB) engine.Env {
	t.Helper()
	cat, err := plan.NewCatalog([]plan.Tool{declare("noop", policy.Read, 0), declare("file.write", policy.Idempotent, policy.Operate),
		declare("file.delete", policy.Once, policy.Override)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Compile(policy.Default())
	if err != nil {
		t.Fatal(err)
	}
	doc := policy.Default()
	sc := doc.Scopes["default"]
	sc.Tools = append(sc.Tools, "noop")
	doc.Scopes["default"] = sc
	if p, err = policy.Compile(doc); err != nil {
		t.Fatal(err)
	}
	return engine.Env{Catalog: cat, Pinned: p, Current: p, Planner: "builtin/1"}
}

func compileDoc(t testing.TB, env engine.Env, doc string, intent policy.Rank) *plan.Compiled {
	t.Helper()
	p, f := plan.Parse([]byte(doc))
	if p == nil {
		t.Fatal(f)
	}
	c, f := plan.Compile(p, plan.Env{Catalog: env.Catalog, Policy: env.Pinned, Scopes: []string{"default"}, Intent: intent, Requester: "user:1", Author: plan.Person})
	if c == nil {
		t.Fatal(f)
	}
	return c
}

func TestSmokeRun(t *testing.T) {
	env := testEnv(t)
	doc := `{"format":1,"goal":"g","steps":[{"id":"a","tool":"noop"},{"id":"b","tool":"noop","params":{"x":1},"depends_on":["a"]}]}`
	c := compileDoc(t, env, doc, 0)
	s := engine.New(env)
	out, err := s.Step(&engine.Create{Head: engine.Head{At: 1, Actor: "user:1"}, Run: "r_1", Goal: "g", Scopes: []string{"default"}, Mode: "reflect", Plan: c, PlanDoc: []byte(doc)})
	if err != nil {
		t.Fatal(err)
	}
	for len(out.Commands) > 0 {
		for _, f := range out.Facts {
			fmt.Printf("%d %s %s %s\n", f.Seq, f.Kind, f.Node, f.Data)
		}
		switch cmd := out.Commands[0].(type) {
		case engine.Perform:
			out, err = s.Step(&engine.AttemptDone{Head: engine.Head{At: 2, Actor: "tool"}, Node: cmd.Node, Attempt: cmd.Attempt, Output: []byte(`{}`)})
		case engine.Conclude:
			out, err = s.Step(&engine.Concluded{Head: engine.Head{At: 2}, Attempt: cmd.Attempt, Ruling: "conclude", Verdict: engine.Verdict{By: "builtin"}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range out.Facts {
		fmt.Printf("%d %s %s %s\n", f.Seq, f.Kind, f.Node, f.Data)
	}
	fmt.Println(s.Status(), engine.Summarise(s).Code)
}
